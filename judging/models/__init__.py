from judging.models.calls import JudgeCall
from judging.models.judges import Judge, Panel, Price
from judging.models.proposals import ProposalCall
from judging.models.runs import JudgeRun, RunAssignment

__all__ = ["Judge", "JudgeCall", "JudgeRun", "Panel", "Price", "ProposalCall", "RunAssignment"]
