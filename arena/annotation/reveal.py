"""Who wrote the two answers, in a study that tells its raters once they have rated."""

from arena import scales
from arena.models import Comparison, Completion, Study


def reveal(study: Study, comparison: Comparison) -> str:
    """A sentence about an answer stored in a study; empty where the study keeps the names to itself."""
    if not study.reveal_names or comparison.rating is None:
        return ""
    first, second = map(_author, comparison.pair.shown(comparison.swapped))
    side = scales.preference(comparison.rating, comparison.points)
    if comparison.rating in scales.TIE_BAND[comparison.points]:
        choice = "you called it about a tie"
    else:
        choice = f"you chose {'A' if side < 0 else 'B'} over {'B' if side < 0 else 'A'}"
    return f"The last pair: {choice}. A was written by {first}, B by {second}."


def _author(completion: Completion) -> str:
    return completion.contestant.name if completion.contestant else "somebody unknown"
