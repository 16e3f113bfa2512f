"""What answers hold beside their rating: expected ratings, and what was said of identical texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Q

from arena.models import Comparison, Study
from leaderboard.rater_kinds.facts import kin_of
from leaderboard.snapshots.opinions import Opinions


@dataclass(frozen=True, eq=False)
class Beside:
    """Structured arrays with a row for each answer, by id.

    ``expected`` has the fields id and expected, on the scale of the rating. ``controls`` are rated answers
    about pairs of identical texts, with rater, prompt, points and rating as shown. ``identical`` are the ids
    of all answers about such pairs: none of them is a game. ``kin`` names the contestants that each judge
    is, or may be related to, by selector.
    """

    expected: npt.NDArray[Any]
    controls: npt.NDArray[Any]
    identical: npt.NDArray[Any]
    kin: Mapping[str, tuple[str, ...]]


_EXPECTED = [("id", "i8"), ("expected", "f8")]
_CONTROL = [("id", "i8"), ("rater", "i8"), ("prompt", "i8"), ("points", "i8"), ("rating", "i8")]


def beside(study: Study, opinions: Opinions, until: int | None = None) -> Beside:
    """Read them from the comparisons that were current when ``until`` was the largest id, or are now.

    ``opinions`` are of the same study and say which judges there are.
    """
    rows = Comparison.objects.filter(study=study).order_by("pk")
    if until is None:
        rows = rows.filter(is_current=True)
    else:
        then = Q(is_current=True) | Q(revised_by__pk__gt=until)
        rows = rows.filter(then, pk__lte=until)
    labels = {each.selector: each.label for each in opinions.raters if each.selector.startswith("judge:")}
    identical = rows.filter(status=Comparison.Status.IDENTICAL)
    controls = identical.filter(rating__isnull=False)
    fields = ("pk", "rater", "pair__prompt", "points", "rating")
    # What a panel keeps there is its mean before it was rounded, and tells of no probabilities.
    given = rows.filter(expected__isnull=False, rating__isnull=False).exclude(
        Q(status=Comparison.Status.IDENTICAL) | Q(source=Comparison.Source.PANEL)
    )
    return Beside(
        np.array(list(given.values_list("pk", "expected")), dtype=_EXPECTED),
        np.array(list(controls.values_list(*fields)), dtype=_CONTROL),
        np.array(list(identical.values_list("pk", flat=True)), dtype=np.int64),
        {selector: kin.everyone for selector, kin in kin_of(study, labels).items()} if labels else {},
    )
