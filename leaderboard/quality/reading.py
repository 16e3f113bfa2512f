"""What people said in a study, repeats and hidden checks included, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db import models
from django.db.models import Case, Value, When

from arena.models import Comparison, Pair, Purpose, Rater, Study
from arena.querysets import left_out_raters
from leaderboard.reading import columns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

STUDY, REPEAT, CHECK, ADJUDICATION = range(4)
"""Why a comparison was given, as in ``Votes.rows``."""

NO_GOLD: Final = 9
"""The gold verdict of a pair whose right answer nobody knows."""

_PURPOSES: Final = {
    Purpose.STUDY: STUDY,
    Purpose.REPEAT: REPEAT,
    Purpose.CHECK: CHECK,
    Purpose.ADJUDICATION: ADJUDICATION,
}
_GOLD: Final = {Pair.Gold.FIRST: -1, Pair.Gold.TIE: 0, Pair.Gold.SECOND: 1}
_GIVEN: Final = [
    ("id", "i8"),
    ("pair", "i8"),
    ("rater", "i8"),
    ("swapped", "?"),
    ("points", "i8"),
    ("rating", "i8"),
    ("purpose", "i1"),
    ("seconds", "f8"),
]
_ALL: Final = [
    *_GIVEN,
    ("prompt", "i8"),
    ("first", "i8"),
    ("second", "i8"),
    ("gold", "i1"),
    ("straight", "i8"),
    ("verdict", "i1"),
    ("kept", "?"),
]


@dataclass(frozen=True, eq=False)
class Votes:
    """The current ratings by people as a structured array, in the order they were given.

    ``rating`` is as shown, ``straight`` the same in terms of the pair, ``verdict`` -1 where the pair's first
    is better, 0 for a tie (4 and 5 of 8, the middle of 3 and 5), 1 for its second. ``first`` and ``second``
    are the contestants of the pair (0 for none), ``gold`` its right verdict or NO_GOLD, ``purpose`` one of
    STUDY, REPEAT, CHECK and ADJUDICATION; ``kept`` is False for raters that the study leaves out.
    """

    rows: npt.NDArray[Any]


def votes(study: Study, around: Rater | None = None) -> Votes:
    """Read them; only those about pairs that somebody has rated where ``around`` names one."""
    import numpy as np

    from leaderboard.stats.rater_quality.consistency import verdicts

    given, pairs = _given(study, around), columns.pairs(study)
    rows = np.zeros(len(given), dtype=_ALL)
    for name, _ in _GIVEN:
        rows[name] = given[name]
    place = np.searchsorted(pairs["id"], given["pair"])
    completions = columns.completions(study)
    rows["prompt"] = pairs["prompt"][place]
    for side in ("first", "second"):
        text = np.searchsorted(completions["id"], pairs[side])
        rows[side] = completions["contestant"][text][place] if len(completions) else 0
    rows["straight"] = np.where(rows["swapped"], rows["points"] + 1 - rows["rating"], rows["rating"])
    rows["verdict"] = verdicts(rows["straight"], rows["points"])
    rows["gold"] = _golds(study, pairs["id"])[place] if len(pairs) else NO_GOLD
    rows["kept"] = ~np.isin(rows["rater"], left_out_raters(study))
    return Votes(rows)


def _given(study: Study, around: Rater | None) -> npt.NDArray[Any]:
    why: Any = Case(
        *(When(purpose=name, then=Value(number)) for name, number in _PURPOSES.items()),
        output_field=models.SmallIntegerField(),
    )
    found = Comparison.objects.current().filter(
        study=study, rater__kind=Rater.Kind.PERSON, rating__isnull=False
    )
    if around is not None:
        own = Comparison.objects.current().filter(study=study, rater=around)
        found = found.filter(pair__in=own.values("pair"))
    fields = ("pk", "pair", "rater", "swapped", "points", "rating", why, "seconds")
    return columns.fetched(found.order_by("pk").values_list(*fields), _GIVEN)


def _golds(study: Study, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """The right verdict of each pair, or NO_GOLD."""
    import numpy as np

    known = Pair.objects.filter(prompt__study=study).exclude(gold="").order_by("pk").values_list("pk", "gold")
    found = np.full(len(pairs), NO_GOLD, dtype=np.int8)
    rows = list(known)
    found[np.searchsorted(pairs, [pk for pk, _ in rows])] = [_GOLD[Pair.Gold(gold)] for _, gold in rows]
    return found
