"""From database rows to arrays: the only bridge to the statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db.models import Model, Q

from arena.models import Comparison, Completion, Contestant, Prompt, Rater, Study
from arena.models.querysets import MAY_COME_LATE, VISITORS_GROUP, left_out_raters
from arena.rating.publication import Due, held_back
from arena.rules.subsets import LIVE_SUBSET, NO_PROMPT_SUBSET
from leaderboard.models import Snapshot
from leaderboard.snapshots import columns, pair_turns
from leaderboard.snapshots.copying import digest
from leaderboard.snapshots.rows import Column, Rows
from leaderboard.snapshots.settings import BOTH, CURATED, LIVE, left_out
from leaderboard.stats.ratings import Ratings, make_ratings
from leaderboard.stats.style import style_difference, style_of

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

NOBODY, RETIRED, OTHER_KIND, IDLE = -1, -2, -3, -4
"""Numbers of who is not ranked: no contestant, retired, of a kind that is left out, without a game."""

NOT_RANKED: Final = {"no_model": NOBODY, "retired": RETIRED, "other_kind": OTHER_KIND}

GIVEN: Final = [name for name, _ in columns.COMPARISON if name != "counts"]

OF_THE_PAIR: Final = ("first_text", "second_text")
"""What pair and order tell already, so that no digest needs it."""


@dataclass(frozen=True)
class Choice:
    selector: str
    label: str
    ids: frozenset[int]
    simulated: bool
    panel: bool = False


@dataclass(frozen=True)
class Uncounted:
    """Comparisons that count nowhere: by left-out ``raters``, and ``apart`` (repeats and checks)."""

    raters: int = 0
    comparisons: int = 0
    apart: int = 0


@dataclass(frozen=True)
class Apart:
    """Of a study with live prompts: their ids, the raters without an account, and which kind is usual.

    ``prompts`` and ``categories`` are those of each kind.
    """

    live: frozenset[int]
    visitors: frozenset[int]
    kinds: tuple[str, ...]
    """Those with comparisons, the usual one first."""
    prompts: Mapping[str, int]
    categories: Mapping[str, frozenset[str]]


@dataclass(frozen=True, eq=False)
class Opinions:
    """The current comparisons of a study that count, in the order given.

    ``rows`` have pair (at a turn, see ``pair_turns``), rater and prompt (ids), category (index into
    ``categories``), swapped, points, rating (0 for none), reason (bytes; empty where scored, ``identical``
    where a judge had two equal texts), first and second (indexes into ``names`` in presentation order, or
    below 0), first_text and second_text (ids of completions), and score_difference (first minus second score
    as shown, or NaN). ``names_prompts`` is false where no comparison names one; then ``prompt`` numbers the
    comparisons. ``mark`` is the data watermark: revision, number of comparisons, largest id; ``tail`` is
    their number among the last MAY_COME_LATE ids. ``provisional``: names of those that no operator has
    confirmed. ``apart`` tells live prompts from curated ones, and stands only where somebody rated live ones;
    most tables are of ``at()``.
    """

    rows: Rows
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    categories: tuple[str, ...]
    mark: tuple[int, int, int]
    prompts: int
    names_prompts: bool = True
    raters: tuple[Choice, ...] = ()
    uncounted: Uncounted = Uncounted()
    tail: int = 0
    provisional: tuple[str, ...] = ()
    apart: Apart | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def digest(self) -> str:
        """Of everything that tables about them are computed from, but for how raters are grouped."""
        columns = (self.rows[name] for name in self.rows.names if name not in OF_THE_PAIR)
        marked = [self.provisional] if self.provisional else []
        return digest([self.names, self.kinds, self.categories, self.names_prompts, *marked], *columns)

    @property
    def usual_prompts(self) -> str:
        """The kind of prompts that is counted unless another is asked for; empty without live ones."""
        return self.apart.kinds[0] if self.apart else ""

    def at(self, prompts: str = "", visitors: str = "") -> Opinions:
        """The opinions on a kind of prompts, the usual one or both, with or without anonymous votes."""
        if self.apart is None:
            return self
        kind = prompts or self.usual_prompts
        found = self if kind == BOTH else self._on(kind, self.apart)
        if visitors:
            found = found._only(~np.isin(found.rows["rater"], list(self.apart.visitors)))
        there = frozenset(np.unique(found.rows["rater"]).tolist())
        kept = (replace(choice, ids=choice.ids & there) for choice in self.raters)
        raters = tuple(choice for choice in kept if choice.ids)
        named = not len(found) or bool((found.rows["prompt"] >= 0).any())
        return replace(found, raters=raters, names_prompts=named, apart=None)

    def _on(self, kind: str, apart: Apart) -> Opinions:
        found = self._only(np.isin(self.rows["prompt"], list(apart.live)) == (kind == LIVE))
        names = [name for name in self.categories if name in apart.categories[kind]]
        number = np.array([names.index(name) if name in names else NOBODY for name in self.categories])
        rows = found.rows.replaced(category=number.astype(np.int32)[found.rows["category"]])
        return replace(found, rows=rows, categories=tuple(names), prompts=apart.prompts[kind])

    def by(self, raters: Iterable[int]) -> Opinions:
        return self._only(np.isin(self.rows["rater"], list(raters)))

    def about(self, category: str) -> Opinions:
        """The opinions on prompts of a category; all where it is empty."""
        if not category:
            return self
        return self._only(self.rows["category"] == self.categories.index(category))

    def but(self, category: str) -> Opinions:
        return self._only(self.rows["category"] != self.categories.index(category))

    def within(self, category: str) -> Opinions:
        """The opinions on a category as a setting names it: all, one, or all but one."""
        without = left_out(category, self.categories)
        return self.about(category) if without is None else self.but(without)

    @cached_property
    def turns(self) -> list[int]:
        """The turns that were rated, 0 for whole conversations."""
        found: list[int] = np.unique(pair_turns.turns(self.rows["pair"])).tolist()
        return found

    def at_turn(self, turn: str) -> Opinions:
        """The opinions on a turn, or with 0 on whole conversations; all where it is empty."""
        return self._only(pair_turns.turns(self.rows["pair"]) == int(turn)) if turn else self

    def by_criterion(self, ratings: npt.NDArray[Any]) -> Opinions:
        """The opinions with other ratings: of ``columns.criteria``. What has none of them is left out."""
        rows = self.rows[np.isin(self.rows["id"], ratings["id"])]
        given = ratings[np.searchsorted(ratings["id"], rows["id"])]
        identical = rows["reason"] == columns.IDENTICAL.encode()
        rows = rows.replaced(
            points=given["points"],
            rating=np.where(identical, 0, given["rating"]),
            reason=np.where(identical, rows["reason"], given["reason"]),
            score_difference=np.full(len(rows), math.nan),
        )
        return replace(self, rows=rows)

    def among_ids(self, ids: npt.NDArray[np.int64]) -> Opinions:
        return self._only(np.isin(self.rows["id"], ids))

    def among(self, kind: str) -> Opinions:
        """The opinions with only contestants of one kind ranked; no comparison is dropped."""
        others = [number for number, own in enumerate(self.kinds) if own != kind]
        return self._with_sides(lambda side: np.where(np.isin(side, others), OTHER_KIND, side))

    @property
    def people(self) -> frozenset[int]:
        return next((choice.ids for choice in self.raters if choice.selector == "people"), frozenset())

    @property
    def scored(self) -> BoolArray:
        found: BoolArray = self.rows["rating"] > 0
        return found

    @property
    def identical(self) -> BoolArray:
        """Which are a judge's about two identical texts."""
        found: BoolArray = self.rows["reason"] == columns.IDENTICAL.encode()
        return found

    @property
    def unscored(self) -> BoolArray:
        """Which should have a rating and do not."""
        found: BoolArray = ~self.scored & ~self.identical
        return found

    @property
    def ranked(self) -> BoolArray:
        """Which are between two different contestants that are ranked."""
        first, second = self.rows["first"], self.rows["second"]
        found: BoolArray = (first >= 0) & (second >= 0) & (first != second)
        return found

    @property
    def not_used(self) -> dict[str, int]:
        """How many are not to be ranked by, by reason; the first that applies."""
        first, second = self.rows["first"], self.rows["second"]
        reasons = {"identical": self.identical, "unscored": self.unscored}
        reasons |= {name: (first == side) | (second == side) for name, side in NOT_RANKED.items()}
        reasons["same_model"] = first == second
        left, found = np.ones(len(self), dtype=bool), {}
        for reason, applies in reasons.items():
            found[reason] = int((left & applies).sum())
            left &= ~applies
        return found

    def ratings(
        self,
        covariates: Mapping[str, npt.ArrayLike] | None = None,
        expected: npt.NDArray[Any] | None = None,
    ) -> Ratings:
        """The scored comparisons between ranked contestants; ``covariates`` have a number for each.

        ``expected`` (of ``columns.expected``) has every one of them, and ranks in place of the ratings.
        """
        rows = self.rows[self.scored & self.ranked]
        place = None if expected is None else np.searchsorted(expected["id"], rows["id"])
        return make_ratings(
            rows["first"],
            rows["second"],
            rows["rating"],
            rows["points"],
            len(self.names),
            prompt=rows["prompt"] if self.names_prompts else None,
            rater=rows["rater"],
            expected=None if expected is None else expected["expected"][place],
            covariates=covariates,
        )

    @property
    def in_play(self) -> list[int]:
        """The contestants that have a game, by number."""
        chosen = self.scored & self.ranked
        found: list[int] = np.union1d(self.rows["first"][chosen], self.rows["second"][chosen]).tolist()
        return found

    def present(self) -> Opinions:
        """The opinions with only the contestants that have a game."""
        kept = self.in_play
        number = np.full(len(self.names) - IDLE, IDLE)
        number[[NOBODY, RETIRED, OTHER_KIND]] = NOBODY, RETIRED, OTHER_KIND  # where these look, from the end
        number[kept] = np.arange(len(kept))
        names, kinds = (tuple(column[i] for i in kept) for column in (self.names, self.kinds))
        return replace(self._with_sides(lambda side: number[side]), names=names, kinds=kinds)

    def _with_sides(self, change: Callable[[Column], Column]) -> Opinions:
        sides = {name: change(self.rows[name]) for name in ("first", "second")}
        return replace(self, rows=self.rows.replaced(**sides))

    def _only(self, chosen: BoolArray) -> Opinions:
        return replace(self, rows=self.rows[chosen])


VISITORS: Final = f"group:{VISITORS_GROUP}"

NO_IDS: Final = np.empty(0, dtype=np.int64)


def opinions(study: Study, until: int | None = None, without: npt.NDArray[np.int64] = NO_IDS) -> Opinions:
    """Read a study's comparisons with their watermark, but for the ids of ``without``.

    With ``until`` they are read as they were when that was the largest id; any other later change shows in
    the watermark.
    """
    # Before the rows: if it is raised in between, the snapshot counts as stale and is made again.
    revision = Study.objects.values_list("revision", flat=True).get(pk=study.pk)
    read = columns.comparisons(study, revision)
    if until is not None:
        read = _as_of(study, read, until)
    if len(without):
        read = read[~np.isin(read["id"], without)]
    mark = (revision, len(read), int(read["id"][-1]) if len(read) else 0)
    tail = int((read["id"] > mark[2] - MAY_COME_LATE).sum())
    counted, uncounted = _counted(study, read)
    # Sorted here: databases order text differently, and the draws of a bootstrap follow this order.
    contestants = sorted(Contestant.objects.filter(study=study), key=lambda each: (each.name, each.pk))
    active = [contestant for contestant in contestants if contestant.retired_at is None]
    rated = Prompt.objects.rated().filter(study=study).values_list("pk", "category", "subset")
    prompts = {pk: category for pk, category, _ in rated}
    unnamed = {pk for pk, _, subset in rated if subset == NO_PROMPT_SUBSET}
    categories = tuple(sorted(set(prompts.values())))
    place = {name: number for number, name in enumerate(categories)}
    category = {pk: place[name] for pk, name in prompts.items()}
    numbers = dict.fromkeys((each.pk for each in contestants), RETIRED)
    numbers |= {each.pk: number for number, each in enumerate(active)}
    rows = _rows(study, read, counted, numbers, category, unnamed)
    live = frozenset(pk for pk, _, subset in rated if subset == LIVE_SUBSET)
    return Opinions(
        rows,
        tuple(contestant.name for contestant in active),
        tuple(contestant.kind for contestant in active),
        categories,
        mark,
        len(prompts) - len(unnamed),
        not len(rows) or bool((rows["prompt"] >= 0).any()),
        rater_choices(study, np.unique(rows["rater"]).tolist()),
        uncounted,
        tail,
        tuple(contestant.name for contestant in active if contestant.provisional),
        _apart(rows, live, prompts, len(unnamed)) if live else None,
    )


def _apart(rows: Rows, live: frozenset[int], categories: Mapping[int, str], unnamed: int) -> Apart | None:
    """What tells live prompts apart; None where nobody rated one."""
    on_live = np.isin(rows["prompt"], list(live))
    if not on_live.any():
        return None
    curated = categories.keys() - live
    visitors = Rater.objects.filter(pk__in=np.unique(rows["rater"]).tolist(), is_visitor=True)
    return Apart(
        live,
        frozenset(visitors.values_list("pk", flat=True)),
        (LIVE,) if on_live.all() else (CURATED, LIVE),
        {CURATED: len(curated) - unnamed, LIVE: len(live)},
        {
            CURATED: frozenset(categories[pk] for pk in curated),
            LIVE: frozenset(categories[pk] for pk in live),
        },
    )


def opinions_of(snapshot: Snapshot) -> Opinions:
    """The comparisons as the snapshot counted them; any later change shows in the watermark."""
    without = ids_held(snapshot.study, held_back(snapshot.pk)) if snapshot.holds_back else NO_IDS
    return opinions(snapshot.study, snapshot.last_comparison, without)


def waiting(study: Study, due: Due) -> npt.NDArray[np.int64]:
    """The ids of comparisons that the next snapshot must not count, if it counts those ``due``."""
    return ids_held(study, held_back(), due)


def ids_held(
    study: Study, held: Q, due: Collection[int] = (), kind: type[Model] = Comparison
) -> npt.NDArray[np.int64]:
    """The ids of opinions that are ``held`` back, but for answers to the assignments ``due``."""
    found = kind._default_manager.filter(held, study=study).order_by().values_list("pk", "assignment")
    ids = columns.fetched(found, [("id", "i8"), ("assignment", "i8")])
    return np.sort(ids["id"][~np.isin(ids["assignment"], list(due))])


@dataclass(frozen=True)
class Read:
    """Which scores, or answers, are read: all, or those up to an id without those held back."""

    until: int | None = None
    without: frozenset[int] = frozenset()


ALL: Final = Read()


def _counted(study: Study, read: npt.NDArray[Any]) -> tuple[BoolArray, Uncounted]:
    """Which of the comparisons count."""
    current, counts = read["current"], read["counts"]
    out = current & np.isin(read["rater"], left_out_raters(study))
    uncounted = Uncounted(
        raters=len(np.unique(read["rater"][out])),
        comparisons=int((out & counts).sum()),
        apart=int((current & ~counts).sum()),
    )
    return current & counts & ~out, uncounted


def _as_of(study: Study, read: npt.NDArray[Any], until: int) -> npt.NDArray[Any]:
    read = read[read["id"] <= until]
    later = Comparison.objects.filter(study=study, pk__gt=until, revises__isnull=False).order_by()
    revised = [pk for pk in later.values_list("revises", flat=True) if pk is not None]
    read["current"] |= np.isin(read["id"], revised)
    return read


def _rows(
    study: Study,
    read: npt.NDArray[Any],
    counted: BoolArray,
    contestants: dict[int, int],
    categories: dict[int, int],
    unnamed: Collection[int],
) -> Rows:
    pairs, completions = columns.pairs(study), columns.completions(study)
    author = _numbers(completions["contestant"], contestants)
    texts = np.stack([pairs[side] for side in ("first", "second")], axis=1)
    authors = author[np.searchsorted(completions["id"], texts)]
    category = _numbers(pairs["prompt"], categories)
    # Column by column: a copy of whole rows would take half as much memory as all of them.
    own = {name: read[name][counted] for name in GIVEN}
    place = np.searchsorted(pairs["id"], pair_turns.pair_ids(own["pair"])).astype(np.int32)
    swapped = own["swapped"].view(np.int8)
    return Rows(
        len(own["id"]),
        own
        | {
            "prompt": lambda: columns.prompts(pairs["prompt"][place], unnamed),
            "first": lambda: authors[place, swapped],
            "second": lambda: authors[place, 1 - swapped],
            "first_text": lambda: texts[place, swapped],
            "second_text": lambda: texts[place, 1 - swapped],
            "category": lambda: category[place],
        },
    )


def _numbers(ids: npt.NDArray[Any], numbers: dict[int, int]) -> npt.NDArray[Any]:
    distinct, place = np.unique(ids, return_inverse=True)
    return np.array([numbers.get(pk, NOBODY) for pk in distinct.tolist()], dtype=np.int32)[place]


class UnknownTextError(ValueError):
    """A text to adjust a ranking for is not known; the message is for the operator."""


STYLE: Final = ("length", "markdown")


@dataclass(frozen=True, eq=False)
class PairStyle:
    """How much more of each STYLE the first completion of a pair has, (pairs, STYLE); NaN where not known."""

    pair: npt.NDArray[np.int64]  # ids, in their order
    more: FloatArray

    def covariates(self, chosen: Opinions) -> dict[str, FloatArray]:
        """How much more of each the first completion as shown has, per rating of ``chosen.ratings()``.

        Raises UnknownTextError.
        """
        rows = chosen.rows[chosen.scored & chosen.ranked]
        more = self.more[np.searchsorted(self.pair, pair_turns.pair_ids(rows["pair"]))]
        without = np.isnan(more).any(axis=1)
        if without.any():
            unknown, pairs = (len(np.unique(some["pair"])) for some in (rows[without], rows))
            raise UnknownTextError(f"the texts of {unknown} of {pairs} pairs are not known")
        more[rows["swapped"]] *= -1.0
        return dict(zip(STYLE, more.T, strict=True))


def pair_style(study: Study) -> PairStyle:
    counted, pairs = _counted_texts(study), columns.pairs(study)
    sides = np.array([[counted[text] for text in pairs[side].tolist()] for side in ("first", "second")])
    first, second = sides.reshape(2, len(pairs), len(STYLE))
    return PairStyle(pairs["id"], style_difference(first, second))


def _counted_texts(study: Study) -> dict[int, tuple[float, float]]:
    """Characters and Markdown density by completion id; NaN where not known."""
    found = {}
    texts = Completion.objects.filter(prompt__study=study).order_by()
    for pk, turns, is_empty in texts.values_list("pk", "turns", "is_empty").iterator(chunk_size=500):
        style = style_of("\n\n".join(turns))
        known = bool(turns) or is_empty
        found[pk] = (float(style.characters), style.density) if known else (math.nan, math.nan)
    return found


def rater_choices(study: Study, rater_ids: list[int]) -> tuple[Choice, ...]:
    """The people, judges and groups of these raters, in this order, then by name."""
    found: dict[tuple[int, str], tuple[str, list[Rater]]] = {}
    raters = Rater.objects.in_study(study).filter(pk__in=rater_ids).prefetch_related("groups")
    for rater in raters.order_by("name", "pk"):
        if rater.kind == Rater.Kind.PERSON:
            own = (0, "people", "People")
        else:
            own = (1, f"judge:{rater.slug}", rater.name)
        groups = [(2, f"group:{group.slug}", group.name) for group in rater.groups.all()]
        groups += [(2, VISITORS, "Visitors")] if rater.is_visitor else []
        for rank, selector, label in (own, *groups):
            found.setdefault((rank, selector), (label, []))[1].append(rater)
    ordered = sorted(found.items(), key=lambda item: (item[0][0], item[1][0], item[0][1]))
    return tuple(
        Choice(
            selector,
            _marked(selector, label, members),
            frozenset(r.pk for r in members),
            any(r.simulated for r in members),
            _is_panel(selector, members),
        )
        for (_, selector), (label, members) in ordered
    )


def _is_panel(selector: str, members: list[Rater]) -> bool:
    return selector.startswith("judge:") and members[0].is_panel


def _marked(selector: str, label: str, members: list[Rater]) -> str:
    """The name, marked where it is of a panel or members are simulated, and it does not say so."""
    simulated = sum(rater.simulated for rater in members)
    kinds = {
        "panel": _is_panel(selector, members),
        "simulated": simulated == len(members),
        "some simulated": 0 < simulated < len(members),
    }
    marks = [kind for kind, there in kinds.items() if there and kind.split()[-1] not in label.lower()]
    return f"{label} ({', '.join(marks)})" if marks else label
