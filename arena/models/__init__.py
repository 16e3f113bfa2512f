"""The tables: what is compared, by whom, and what they said."""

from arena.models.comparisons import Assignment, Comparison, CriterionRating, Flag, Purpose, TrainingAnswer
from arena.models.events import StudyEvent
from arena.models.features import CompletionFeature
from arena.models.imports import ImportChunk, ImportFile, ImportJob, LeftOutRows
from arena.models.raters import ApiToken, Invitation, Membership, Rater, RaterGroup, Role
from arena.models.replies import KeptReply
from arena.models.scores import Answer, Question, Score
from arena.models.studies import Completion, Contestant, Pair, Prompt, Reference, Rendering, Study
