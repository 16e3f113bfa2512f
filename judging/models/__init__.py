from judging.models.battles import Battle, BattleCall, BattleRules
from judging.models.calls import JudgeCall
from judging.models.endpoints import Author, Endpoint, Price
from judging.models.judges import Judge, Panel
from judging.models.limits import Outage, RateLimit, WorkerProcess
from judging.models.live_prompts import HandLabel, LabelCall, Labelling, Publication
from judging.models.proposals import ProposalCall
from judging.models.purses import PaidCall, Purse
from judging.models.runs import JudgeRun, RunAssignment
from judging.models.submissions import Submission
from judging.models.traces import Trace
from judging.models.trials import TrialCall
from judging.models.writing import WritingCall, WritingProgress, WritingRun
