"""The figures of every person who rated in a study."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db import models
from django.db.models import Case, Value, When
from django.template.defaultfilters import pluralize

from arena.models import Comparison, Pair, Prompt, Purpose, Rater, Study
from arena.models.querysets import left_out_raters
from leaderboard.snapshots import columns, pair_turns
from leaderboard.stats.clustered_means import ClusteredMean
from leaderboard.stats.intervals import exact_share
from leaderboard.stats.rater_quality import (
    ALPHA,
    Consistency,
    Outlier,
    Speed,
    WithOthers,
    consistency,
    majority_of_others,
    outliers,
    share_by_prompt,
    speed,
    with_others,
)
from leaderboard.stats.shares import Share, wilson_share
from leaderboard.stats.verdicts import verdicts

Rows = npt.NDArray[Any]


STUDY, REPEAT, CHECK, ADJUDICATION, CHOSEN = range(5)
"""The values of ``purpose`` in ``Votes.rows``."""

NO_GOLD: Final = 9
"""The gold verdict of a pair without a known right answer."""

_PURPOSES: Final = {
    Purpose.STUDY: STUDY,
    Purpose.REPEAT: REPEAT,
    Purpose.CHECK: CHECK,
    Purpose.ADJUDICATION: ADJUDICATION,
    Purpose.CHOSEN: CHOSEN,
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

    ``rating`` is as shown, ``straight`` in terms of the pair; ``verdict`` is -1 where the pair's first is
    better, 0 for a tie, else 1; ``first`` and ``second`` are contestants (0 for none); ``kept`` is False for
    raters the study leaves out.
    """

    rows: npt.NDArray[Any]


def votes(study: Study, around: Rater | None = None) -> Votes:
    """The votes of a study, or only those about pairs that the rater ``around`` has rated."""
    given, pairs = _given(study, around), columns.pairs(study)
    rows = np.zeros(len(given), dtype=_ALL)
    for name, _ in _GIVEN:
        rows[name] = given[name]
    place = np.searchsorted(pairs["id"], pair_turns.pair_ids(given["pair"]))
    completions = columns.completions(study)
    unnamed = Prompt.objects.unnamed().filter(study=study).values_list("pk", flat=True)
    rows["prompt"] = columns.prompts(pairs["prompt"][place], unnamed)
    for side in ("first", "second"):
        text = np.searchsorted(completions["id"], pairs[side])
        rows[side] = completions["contestant"][text][place] if len(completions) else 0
    rows["straight"] = np.where(rows["swapped"], rows["points"] + 1 - rows["rating"], rows["rating"])
    rows["verdict"] = verdicts(rows["straight"], rows["points"])
    rows["gold"] = _golds(study, pairs["id"])[place] if len(pairs) else NO_GOLD
    # The right answer is about the whole conversation; checks ask for its last turn in its place.
    rows["gold"][(pair_turns.turns(given["pair"]) > 0) & (rows["purpose"] != CHECK)] = NO_GOLD
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
    found = found.annotate(unit=columns.at_turn())
    fields = ("pk", "unit", "rater", "swapped", "points", "rating", why, "seconds")
    return columns.fetched(found.order_by("pk").values_list(*fields), _GIVEN)


def _golds(study: Study, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    known = Pair.objects.filter(prompt__study=study).exclude(gold="").order_by("pk").values_list("pk", "gold")
    found = np.full(len(pairs), NO_GOLD, dtype=np.int8)
    rows = list(known)
    found[np.searchsorted(pairs, [pk for pk, _ in rows])] = [_GOLD[Pair.Gold(gold)] for _, gold in rows]
    return found


LEVEL: Final = 95.0
"""Of every interval, in percent."""


@dataclass(frozen=True)
class Figures:
    """How one rater rates, or everybody together.

    ``checks`` are hidden checks, ``gold`` other pairs with a known answer, ``known`` both. ``first`` is the
    share of first answers among ratings with a side, ties off; ``outlier`` is None without a vote to compare.
    """

    comparisons: int
    agreement: WithOthers
    consistency: Consistency
    checks: Share
    gold: Share
    known: Share
    speed: Speed
    first: Share
    ties: Share
    outlier: Outlier | None


@dataclass(frozen=True)
class Compared:
    """Figures by the id of the rater, of everybody who is not left out, and of the visitors among these."""

    raters: dict[int, Figures]
    everybody: Figures
    visitors: Figures


def compare(votes: Votes, visitors: Collection[int] = ()) -> Compared:
    """Compare raters with each other; ``visitors`` are the ids of those without an account."""
    prepared, is_kept = _Prepared.of(votes), votes.rows["kept"]
    kept = _figures(prepared.only(is_kept), None)
    visiting = _figures(prepared.only(is_kept & np.isin(votes.rows["rater"], list(visitors))), None)
    order = np.argsort(votes.rows["rater"], kind="stable")
    raters, start = np.unique(votes.rows["rater"][order], return_index=True)
    parts = np.split(order, start[1:]) if len(raters) else []
    found = {
        int(pk): _figures(prepared.only(part), prepared.outliers.get(int(pk)))
        for pk, part in zip(raters, parts, strict=True)
    }
    return Compared(found, kept, visiting)


def of_parts(votes: Votes, *parts: npt.NDArray[np.bool_]) -> list[Figures]:
    """Figures of some parts of the rows, each compared with what others said."""
    prepared = _Prepared.of(votes)
    return [_figures(prepared.only(part), None) for part in parts]


def first(chosen: npt.NDArray[Any], step: int) -> npt.NDArray[np.bool_]:
    """The first of the chosen rows, as many as are a multiple of ``step``."""
    whole = int(chosen.sum()) // step * step
    found: npt.NDArray[np.bool_] = chosen & (np.cumsum(chosen) <= whole)
    return found


@dataclass(frozen=True, eq=False)
class _Prepared:
    rows: Rows
    majority: npt.NDArray[np.int64]
    has_majority: npt.NDArray[np.bool_]
    before: npt.NDArray[np.int64]
    outliers: dict[int, Outlier]

    @classmethod
    def of(cls, votes: Votes) -> _Prepared:
        rows = votes.rows
        majority, known = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.bool_)
        own = rows["purpose"] == STUDY
        majority[own], known[own] = majority_of_others(
            rows["pair"][own], rows["rater"][own], rows["verdict"][own], rows["kept"][own]
        )
        return cls(rows, majority, known, _before(rows), _outliers(rows[own]))

    def only(self, chosen: Any) -> _Prepared:
        return _Prepared(
            self.rows[chosen], self.majority[chosen], self.has_majority[chosen], self.before[chosen], {}
        )


def _before(rows: Rows) -> npt.NDArray[np.int64]:
    """For each repeat the rater's first rating, in terms of the pair; 0 where there is none."""
    found = np.zeros(len(rows), dtype=np.int64)
    pair = np.unique(rows["pair"], return_inverse=True)[1]
    key = rows["rater"] * (int(pair.max(initial=0)) + 1) + pair
    again = rows["purpose"] == REPEAT
    if not again.any():
        return found
    others = np.flatnonzero(~again & ((rows["purpose"] == STUDY) | (rows["purpose"] == CHECK)))
    keys, place = np.unique(key[others], return_index=True)
    where = np.minimum(np.searchsorted(keys, key[again]), max(len(keys) - 1, 0))
    if len(keys):
        earlier = others[place[where]]
        same = (keys[where] == key[again]) & (rows["points"][earlier] == rows["points"][again])
        found[again] = np.where(same, rows["straight"][earlier], 0)
    return found


def _outliers(rows: Rows) -> dict[int, Outlier]:
    votes = rows[
        (rows["verdict"] != 0)
        & (rows["first"] > 0)
        & (rows["second"] > 0)
        & (rows["first"] != rows["second"])
    ]
    return outliers(votes["rater"], votes["first"], votes["second"], votes["verdict"] < 0, kept=votes["kept"])


def _figures(own: _Prepared, outlier: Outlier | None) -> Figures:
    rows = own.rows
    study = rows["purpose"] == STUDY
    counted = study & own.has_majority
    repeated = own.before > 0
    check = rows["purpose"] == CHECK
    sides = np.sign(2 * rows["rating"][study] - rows["points"][study] - 1)
    return Figures(
        comparisons=int(study.sum()),
        agreement=with_others(
            rows["verdict"][counted], own.majority[counted], rows["prompt"][counted], LEVEL
        ),
        consistency=consistency(
            own.before[repeated],
            rows["straight"][repeated],
            rows["points"][repeated],
            rows["prompt"][repeated],
            LEVEL,
        ),
        checks=_right(rows[check]),
        gold=_right(rows[study]),
        known=_right(rows[check | study]),
        speed=speed(rows["seconds"][study], level=LEVEL),
        first=exact_share(int((sides < 0).sum()), int((sides != 0).sum()), LEVEL),
        ties=wilson_share(int((rows["verdict"][study] == 0).sum()), int(study.sum()), LEVEL),
        outlier=outlier,
    )


def _right(rows: Rows) -> Share:
    known = rows[rows["gold"] != NO_GOLD]
    return share_by_prompt(known["verdict"] == known["gold"], known["prompt"], LEVEL)


FEWEST: Final = 10


MUCH_TOO_FAST: Final = 0.1
"""A rater is remarked on for a larger share of comparisons made faster than they can be read."""


_ONE_END: Final = 0.025
"""How often one end of a 95 % interval is on the wrong side of the truth."""


@dataclass(frozen=True)
class Remark:
    """Something that stands out; ``key`` names it in files."""

    key: str
    words: str


Check = tuple[Remark, bool | None]
"""What was looked at and whether it stands out; None where there is too little to look at."""

_BY_CHANCE: Final = {
    "agreement": _ONE_END,
    "repeats": _ONE_END,
    "known": _ONE_END,
    "side": 2 * _ONE_END,
    "votes": ALPHA,
}
"""How often each makes a remark about a rater who is like all others; chance makes none about speed."""


def remarks(checks: Iterable[Check]) -> list[Remark]:
    return [remark for remark, found in checks if found]


def in_words(checks: Iterable[Check]) -> str:
    """How many remarks there are, and the most to expect if all raters were alike."""
    looked = [(remark, found) for remark, found in checks if found is not None]
    number = len(remarks(looked))
    if not number:
        return "No warnings." if looked else "Too few ratings for warnings."
    fewer_than = math.floor(by_chance(looked)) + 1
    said = f"{number:,} warning{pluralize(number)}"
    return f"{said}; by chance you would expect fewer than {fewer_than:,}."


def by_chance(checks: Iterable[Check]) -> float:
    """The most remarks to expect if all raters were alike."""
    return sum(_BY_CHANCE.get(remark.key, 0.0) for remark, found in checks if found is not None)


def looked_at(own: Figures, everybody: Figures) -> list[Check]:
    side = None if own.first.n < FEWEST else _not_half(own.first)
    bets = own.outlier
    return [
        agrees_less(own.agreement, everybody.agreement),
        (
            Remark("repeats", "contradicts earlier ratings more often than others"),
            _below(own.consistency.same, everybody.consistency.same),
        ),
        (
            Remark("known", "is right on known pairs less often than others"),
            _below(own.known, everybody.known),
        ),
        is_fast(own.speed),
        (Remark("side", f"prefers the {'first' if (own.first.value or 0) > 0.5 else 'second'} answer"), side),
        (
            Remark("votes", "keeps rating against the others"),
            None if bets is None or bets.votes < FEWEST else bets.flagged,
        ),
    ]


def agrees_less(own: WithOthers, everybody: WithOthers) -> Check:
    return Remark("agreement", "agrees with others less than people here do"), _below(
        own.share, everybody.share
    )


def is_fast(own: Speed) -> Check:
    found = None if own.below.n < FEWEST else (own.below.low or 0.0) > MUCH_TOO_FAST
    return Remark("speed", f"often faster than {own.floor:g} s"), found


def _below(own: Share | ClusteredMean, everybody: Share | ClusteredMean) -> bool | None:
    """Whether the whole interval lies below; None for too little."""
    if own.n < FEWEST or own.high is None or everybody.value is None:
        return None
    return own.high < everybody.value


def _not_half(share: Share) -> bool:
    return share.low is not None and share.high is not None and not share.low <= 0.5 <= share.high


class Checked:
    """What a table says of the checks of one rater."""

    checks: list[Check]

    @property
    def remarks(self) -> list[Remark]:
        return remarks(self.checks)

    @property
    def warnings(self) -> str:
        return in_words(self.checks)
