"""The pairs a study has to offer to people and how often each is rated, as this process knows it.

Reading them all at every claim would cost as much as the study has pairs, one claim after the other. So they
are read once and kept, and each claim reads only what was answered since. A pair is counted anew, with its
row locked, before it is offered (arena.offering): what another process did a moment ago is not overlooked.
"""

import random
import time
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

import numpy as np
from django.db.models import Count, Max, QuerySet, Sum

from arena import adaptive, pairing, scales
from arena.models import Comparison, Completion, Pair, Rater, Study
from arena.querysets import left_out_raters

MOST_PAIRS = 400_000
"""Possible pairs of one study that are kept; of a study with more, those of the least rated prompts."""

MOST_KEPT = 2_000_000
"""Possible pairs of all studies together that are kept."""

LOOK_BACK = 64
"""How many of the comparisons known already are looked at again: a smaller id can be committed later."""

MOST_NEW = 20_000
"""With more new comparisons than this, everything is read again."""

OLDEST = 60.0
"""Seconds after which everything is read again, or 50 times as long as that takes."""


class Stock:
    """The possible pairs of a study with their ratings by people; ``refresh`` reads what is new."""

    def __init__(self, study: Study) -> None:
        started = time.monotonic()
        self._study = study.pk
        self._newest = _newest(study)
        texts, count = _texts(study)
        self.is_part = count > MOST_PAIRS
        elsewhere = Pair.objects.filter(prompt__study=study).exclude(use=Pair.Use.RATE)
        self.possible = pairing.possible_pairs(texts, without=set(elsewhere.values_list("first", "second")))
        self.ratings = np.zeros(len(self.possible), dtype=np.int64)
        rated = Pair.objects.filter(prompt__study=study, people_ratings__gt=0).order_by()
        self._note(rated.values_list("first", "second", "people_ratings"))
        self._lock = Lock()
        self._tally: Tally | None = None
        self._read_at = now = time.monotonic()
        self._best_before = now + max(OLDEST, 50 * (now - started))

    def refresh(self, behind: float = 0.0) -> bool:
        """Read what was rated since the last time; False where everything should be read again.

        Nothing is read where the last time is less than ``behind`` seconds ago.
        """
        with self._lock:
            now = time.monotonic()
            if now > self._best_before:
                return False
            if now < self._read_at + behind:
                return True
            new = Comparison.objects.filter(study=self._study, pk__gt=self._newest - LOOK_BACK).order_by("pk")
            rows = list(
                new.values_list("pk", "pair__first", "pair__second", "pair__people_ratings")[:MOST_NEW]
            )
            if len(rows) == MOST_NEW:
                return False
            self._note(row[1:] for row in rows)
            self._newest = max([self._newest, *(row[0] for row in rows)])
            self._read_at = now
            return True

    def places(self, pairs: list[pairing.PairKey]) -> pairing.IntArray:
        """Where these pairs are among the possible ones; those that are not are left away."""
        places = self.possible.places(pairs)
        return places[places >= 0]

    def worth(self) -> pairing.FloatArray:
        """What another comparison of each two contestants says about the standings (arena.adaptive)."""
        with self._lock:
            if self._tally is None:
                self._tally = Tally(self._study, self.possible.contestants)
            return self._tally.worth()

    def _note(self, rows: Iterable[tuple[int, int, int]]) -> None:
        known = {(first, second): ratings for first, second, ratings in rows}
        places = self.possible.places(list(known))
        ratings = np.fromiter(known.values(), dtype=np.int64, count=len(known))
        self.ratings[places[places >= 0]] = ratings[places >= 0]


class Tally:
    """How often people preferred which contestant of a study to which, with what follows from it."""

    def __init__(self, study: int, contestants: tuple[int, ...]) -> None:
        self._study = study
        self._place = {contestant: place for place, contestant in enumerate(contestants)}
        self._wins = np.zeros((len(contestants), len(contestants)))
        self._newest = 0
        self._fitted = -1.0
        self._worth = self._wins

    def worth(self) -> pairing.FloatArray:
        """``adaptive.worth`` of the comparisons there are, at most a hundredth of them ago."""
        self._read()
        games = float(self._wins.sum())
        if self._fitted < 0 or abs(games - self._fitted) > adaptive.REFIT * self._fitted:
            self._worth, self._fitted = adaptive.worth(self._wins), games
        return self._worth

    def _read(self) -> None:
        """Add the comparisons that came since the last time, and take away those that they revise."""
        given = Comparison.objects.filter(
            study=self._study,
            purpose="study",
            status=Comparison.Status.SCORED,
            rater__kind=Rater.Kind.PERSON,
            pk__gt=self._newest,
        ).exclude(rater__in=left_out_raters(Study(pk=self._study)))
        newest = given.aggregate(newest=Max("pk"))["newest"]
        if newest is None:
            return
        # At first only what stands; later all that is new, less what it revises.
        first = given.current() if self._newest == 0 else given
        self._add(first.filter(pk__lte=newest), "", 1.0)
        if self._newest:
            self._add(given.filter(pk__lte=newest, revises__isnull=False), "revises__", -1.0)
        np.maximum(self._wins, 0.0, out=self._wins)
        self._newest = newest

    def _add(self, given: "QuerySet[Comparison]", prefix: str, sign: float) -> None:
        sides = ("pair__first__contestant", "pair__second__contestant")
        said = [f"{prefix}{column}" for column in ("swapped", "points", "rating")]
        counts = given.order_by().values_list(*sides, *said).annotate(n=Count("pk"))
        for first, second, swapped, points, rating, n in counts:
            if first in self._place and second in self._place and rating is not None:
                share = scales.score(rating, points, ties=True)
                assert share is not None  # noqa: S101 - with ties every rating has a score
                a, b = self._place[first], self._place[second]
                self._wins[a, b] += sign * n * (1 - share if swapped else share)
                self._wins[b, a] += sign * n * (share if swapped else 1 - share)


def _newest(study: Study) -> int:
    newest = Comparison.objects.filter(study=study).aggregate(newest=Max("pk"))["newest"]
    return int(newest or 0)


def _texts(study: Study) -> tuple[list[pairing.Text], int]:
    """The texts to pair and how many pairs they make; of a very large study only some of the texts."""
    rows = Completion.objects.rateable_in(study).order_by()
    reserved = _reserved(study)
    texts: dict[int, list[pairing.Text]] = {}
    for pk, prompt, category, contestant in rows.values_list(
        "pk", "prompt", "prompt__category", "contestant"
    ):
        texts.setdefault(prompt, []).append(pairing.Text(pk, prompt, category, contestant))
    for prompt, some in texts.items():
        texts[prompt] = _combined(some, reserved)
    pairs = {prompt: len(some) * (len(some) - 1) // 2 for prompt, some in texts.items()}
    total = sum(pairs.values())
    if total > MOST_PAIRS:
        counted = Pair.objects.filter(prompt__study=study).order_by().values_list("prompt")
        ratings = dict(counted.annotate(n=Sum("people_ratings")))
        rng = random.Random(study.pk)  # noqa: S311 - fairness, not secrecy
        window = pairing.choose_window(pairs, ratings, MOST_PAIRS, rng)
        texts = {prompt: texts[prompt] for prompt in window}
    return [text for some in texts.values() for text in some], total


def _reserved(study: Study) -> set[int]:
    """The completions that only occur in pairs for training or checks."""
    pairs = list(Pair.objects.filter(prompt__study=study).exclude(use="rate").values_list("first", "second"))
    apart = {completion for pair in pairs for completion in pair}
    if apart:
        for side in ("first", "second"):
            rated = Pair.objects.filter(**{f"{side}__in": apart}, use="rate")
            apart -= set(rated.values_list(side, flat=True))
    return apart


def _combined(texts: list[pairing.Text], reserved: set[int]) -> list[pairing.Text]:
    """Of the texts of one prompt those that make new pairs.

    Those of training pairs and checks do not, unless a contestant wrote them and the prompt has others.
    """
    if all(text.pk in reserved for text in texts):
        return []
    return [text for text in texts if text.pk not in reserved or text.contestant is not None]


_kept: "OrderedDict[tuple[object, ...], Stock]" = OrderedDict()
_keeping = Lock()


def stock_of(study: Study, *, anew: bool = False, behind: float = 0.0) -> Stock:
    """The stock of a study as it is now, or was ``behind`` seconds ago; ``anew``: read in full."""
    # What other than comparisons changes the pairs raises the revision.
    key = (study.pk, study.created_at, study.revision, study.naming)
    with _keeping:
        found = None if anew else _kept.get(key)
    if found is None or not found.refresh(behind):
        found = Stock(study)
    with _keeping:
        for other in [known for known in _kept if known[0] == study.pk]:
            del _kept[other]
        _kept[key] = found
        while len(_kept) > 1 and sum(len(each.possible) for each in _kept.values()) > MOST_KEPT:
            _kept.popitem(last=False)
    return found
