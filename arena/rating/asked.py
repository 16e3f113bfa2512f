"""The tasks of a study in words for its raters."""

from typing import Final

from arena.models import Study

_ALONE: Final = {
    "compare": "You read two answers to the same prompt and say which one is better.",
    "score": "You read answers to prompts and give each a score from {lowest} to {highest}.",
    "check": "You read answers and say which requirements of their prompts they meet.",
}
_MORE: Final = {
    "compare": "say which of two answers to the same prompt is better",
    "score": "score single answers from {lowest} to {highest}",
    "check": "say which requirements single answers meet",
}


def asked(study: Study) -> str:
    """Sentences to raters that name every task of the study, in its order."""
    *most, last = study.tasks
    several = f"You read answers to prompts. You {', '.join(_MORE[kind] for kind in most)} and {_MORE[last]}."
    said = several if most else _ALONE[last]
    return said.format(lowest=study.score_lowest, highest=study.score_highest)
