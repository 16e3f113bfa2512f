"""What a study asks of its raters, in words."""

from typing import Final

from arena.models import Study

_FIRST: Final = {
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
    first, *more = study.tasks
    also = f" You also {' and '.join(_MORE[kind] for kind in more)}." if more else ""
    return f"{_FIRST[first]}{also}".format(lowest=study.score_lowest, highest=study.score_highest)
