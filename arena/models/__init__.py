"""The tables: what is compared, by whom, and what they said."""

from arena.models.comparisons import Assignment, Comparison, CriterionRating
from arena.models.imports import ImportChunk, ImportFile, ImportJob
from arena.models.raters import ApiToken, Invitation, Membership, Rater, RaterGroup
from arena.models.studies import Completion, Contestant, Pair, Prompt, Reference, Rendering, Study

__all__ = [
    "ApiToken",
    "Assignment",
    "Comparison",
    "Completion",
    "Contestant",
    "CriterionRating",
    "ImportChunk",
    "ImportFile",
    "ImportJob",
    "Invitation",
    "Membership",
    "Pair",
    "Prompt",
    "Rater",
    "RaterGroup",
    "Reference",
    "Rendering",
    "Study",
]
