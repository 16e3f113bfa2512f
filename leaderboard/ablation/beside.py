"""What answers hold beside their rating: expected ratings, and what was said of identical texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from arena.models import Comparison, Study

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Beside:
    """Structured arrays with a row for each answer, by id.

    ``expected`` has the fields id and expected, on the scale of the rating. ``controls`` are rated answers
    about pairs of identical texts, with rater, prompt, points and rating as shown. ``identical`` are the ids
    of all answers about such pairs: none of them is a game.
    """

    expected: npt.NDArray[Any]
    controls: npt.NDArray[Any]
    identical: npt.NDArray[Any]


_EXPECTED = [("id", "i8"), ("expected", "f8")]
_CONTROL = [("id", "i8"), ("rater", "i8"), ("prompt", "i8"), ("points", "i8"), ("rating", "i8")]


def beside(study: Study, until: int | None = None) -> Beside:
    """Read them from the comparisons that were current when ``until`` was the largest id, or are now."""
    import numpy as np

    rows = Comparison.objects.filter(study=study).order_by("pk")
    if until is None:
        rows = rows.filter(is_current=True)
    else:
        then = Q(is_current=True) | Q(revised_by__pk__gt=until)
        rows = rows.filter(then, pk__lte=until)
    identical = rows.filter(status=Comparison.Status.IDENTICAL)
    controls = identical.filter(rating__isnull=False)
    fields = ("pk", "rater", "pair__prompt", "points", "rating")
    given = rows.filter(expected__isnull=False, rating__isnull=False).exclude(
        status=Comparison.Status.IDENTICAL
    )
    return Beside(
        np.array(list(given.values_list("pk", "expected")), dtype=_EXPECTED),
        np.array(list(controls.values_list(*fields)), dtype=_CONTROL),
        np.array(list(identical.values_list("pk", flat=True)), dtype=np.int64),
    )
