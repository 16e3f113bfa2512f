"""Small studies as a new user makes them, drawn from a seed: whatever a page says of one has to be so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Final

from django.test import Client
from django.utils import timezone

from arena.models import (
    Assignment,
    Comparison,
    Completion,
    Contestant,
    Membership,
    Pair,
    Prompt,
    Rater,
    Study,
)
from leaderboard.refreshing import services as snapshots
from tests import factories as make

NAMES: Final = ("Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot")
PEOPLE: Final = ("Ann", "Ben", "Cleo", "Dan")
MANNERS: Final = ("agrees", "contradicts", "random", "constant", "first", "unreadable")
"""How a judge rates: as people do, the other way round, by lot, always 3, always the first, not at all."""

WAYS: Final = ("apart", "equal", "clean sweep", "provisional")
"""How the models do: some better than others, all alike, one wins everything, one in a single pair."""

STATES: Final = ("open", "open and private", "paused", "closed")


@dataclass(frozen=True)
class Small:
    """What a small study is made of."""

    seed: int
    prompts: int
    models: int
    people: int
    contrary: bool  # the second person rates the other way round
    judges: tuple[str, ...]
    way: str
    without_answers: bool
    categories: int
    gold: bool
    tasks: tuple[str, ...]
    alike: bool  # all scores and checks are the same
    state: str
    imported: bool
    both_orders: bool
    points: int

    @classmethod
    def drawn(cls, seed: int) -> Small:
        lot = Random(seed)
        return cls(
            seed=seed,
            prompts=lot.choice((1, 1, 2, 2, 3, 3, 5, 8, 12, 15)),
            models=lot.choice((2, 2, 3, 3, 4, 5, 6)),
            people=lot.choice((0, 1, 1, 2, 2, 3, 4)),
            contrary=lot.random() < 0.2,
            judges=tuple(lot.choices(MANNERS, k=lot.choice((0, 1, 1, 2, 3)))),
            way=lot.choice(WAYS),
            without_answers=lot.random() < 0.15,
            categories=lot.choice((1, 1, 2)),
            gold=lot.random() < 0.4,
            tasks=lot.choice(
                (("compare",), ("compare",), ("compare", "score"), ("compare", "score", "check"))
            ),
            alike=lot.random() < 0.3,
            state=lot.choice((*STATES, "closed", "closed")),
            imported=lot.random() < 0.5,
            both_orders=lot.random() < 0.4,
            points=lot.choice((8, 8, 8, 5, 3, 2)),
        )


@dataclass
class Made:
    """A small study in the database, with its snapshot."""

    small: Small
    study: Study
    models: list[Contestant] = field(default_factory=list)
    people: list[Rater] = field(default_factory=list)
    judges: list[Rater] = field(default_factory=list)
    clients: dict[str, Client] = field(default_factory=dict)

    def client(self, who: str) -> Client:
        """The browser of a visitor or an operator."""
        if who not in self.clients:
            self.clients[who] = client = Client()
            if who == "operator":
                client.force_login(make.make_user(is_staff=True, is_superuser=True))
        return self.clients[who]


def make_small(small: Small) -> Made:
    """The study with its ratings, and its numbers computed."""
    lot = Random(f"rows {small.seed}")
    study = make.make_study(
        slug=f"small-{small.seed}",
        name=f"Small study {small.seed}",
        visibility="private" if "private" in small.state else "public",
        tasks=list(small.tasks),
        points=small.points,
        paused_at=timezone.now() if small.state == "paused" else None,
        closed_at=timezone.now() if small.state == "closed" else None,
        ratings_per_pair_people=lot.choice((1, 2, 3)),
        guidelines="Choose the better answer.",
    )
    made = Made(small, study)
    made.models = [
        make.make_contestant(study=study, name=name, slug=name.lower()) for name in NAMES[: small.models]
    ]
    prompts = [
        make.make_prompt(study=study, category=("facts", "poems")[number % small.categories])
        for number in range(small.prompts)
    ]
    answering = made.models[:-1] if small.without_answers and small.models > 2 else made.models
    texts = {
        (prompt.pk, model.pk): make.make_completion(
            prompt=prompt, contestant=model, turns=["word " * lot.randint(1, 30)]
        )
        for prompt in prompts
        for model in answering
    }
    pairs = list(_pairs(small, lot, prompts, answering, texts))
    made.people = [_person(study, small, name) for name in PEOPLE[: small.people]]
    made.judges = [
        make.make_rater(
            kind="judge", slug=f"{manner}-{number}", name=f"{manner.title()} {number}", study=study
        )
        for number, manner in enumerate(small.judges, 1)
    ]
    _compare(made, lot, pairs)
    if "score" in small.tasks:
        _score(made, lot, list(texts.values()))
    if "check" in small.tasks:
        _check(made, lot, prompts, texts)
    snapshots.refresh(study)
    return made


def _person(study: Study, small: Small, name: str) -> Rater:
    if small.imported:
        return make.make_rater(name=name, slug=name.lower(), study=study)
    rater = make.make_rater(
        name=name, slug=f"{name.lower()}-{small.seed}", user=make.make_user(password=None)
    )
    Membership.objects.create(study=study, rater=rater, guidelines_read_at=timezone.now())
    return rater


def _pairs(
    small: Small,
    lot: Random,
    prompts: list[Prompt],
    models: list[Contestant],
    texts: Mapping[tuple[int, int], Completion],
) -> Iterator[tuple[Pair, float]]:
    """Pairs, and by how much the first of each is the better one."""
    strength = [0.0 if small.way == "equal" else lot.gauss(0, 1) for _ in models]
    for place, prompt in enumerate(prompts):
        for one, other in combinations(range(len(models)), 2):
            last = other == len(models) - 1
            if small.way == "provisional" and last and len(models) > 2 and (place or one):
                continue
            first, second = (texts[prompt.pk, models[each].pk] for each in (one, other))
            better = strength[one] - strength[other]
            if small.way == "clean sweep" and one == 0:
                better = 9.0
            gold = "first" if better + lot.gauss(0, 0.3) > 0 else "second"
            known = {"gold": gold, "gold_source": "by hand"} if small.gold else {}
            yield make.make_pair(prompt=prompt, first=first, second=second, **known), better


def _compare(made: Made, lot: Random, pairs: list[tuple[Pair, float]]) -> None:
    small, rows = made.small, []
    for pair, better in pairs:
        seen = _rating(small, better, lot) if small.way != "equal" or lot.random() < 0.8 else None
        for number, person in enumerate(made.people):
            if lot.random() < 0.1:
                continue
            said = _rating(small, better, lot) if number else seen or _rating(small, 0.0, lot)
            if number == 1 and small.contrary and seen:
                said = small.points + 1 - seen
            rows.append(_row(made, lot, pair, person, said))
        for judge, manner in zip(made.judges, small.judges, strict=True):
            for swapped in (False, True) if small.both_orders else (lot.random() < 0.5,):
                said = _judged(small, manner, seen or _rating(small, better, lot), lot)
                rows.append(_row(made, lot, pair, judge, said, swapped))
    Comparison.objects.bulk_create(rows)


def _rating(small: Small, better: float, lot: Random) -> int:
    """In stored order: 1 is for the first."""
    share = 0.5 - 0.18 * better + lot.gauss(0, 0.15 if small.way != "clean sweep" else 0.01)
    return max(1, min(small.points, 1 + int(small.points * max(0.0, share))))


def _judged(small: Small, manner: str, person: int, lot: Random) -> int | None:
    """In stored order, like the person's; None cannot be read, and −3 is 3 in whatever order it is shown."""
    ways: Mapping[str, Callable[[], int | None]] = {
        "agrees": lambda: (
            person if lot.random() < 0.8 else max(1, min(small.points, person + lot.choice((-1, 1))))
        ),
        "contradicts": lambda: small.points + 1 - person,
        "random": lambda: lot.randint(1, small.points),
        "constant": lambda: -min(3, small.points),
        "first": lambda: -1,
        "unreadable": lambda: None,
    }
    return ways[manner]()


def _row(
    made: Made, lot: Random, pair: Pair, rater: Rater, stored: int | None, swapped: bool | None = None
) -> Comparison:
    small = made.small
    turned = lot.random() < 0.5 if swapped is None else swapped
    rating = stored and (-stored if stored < 0 else small.points + 1 - stored if turned else stored)
    web = rater.kind == "person" and not small.imported
    assignment = (
        make.make_assignment(
            pair=pair,
            rater=rater,
            swapped=turned,
            state=Assignment.State.SUBMITTED,
            leased_until=None,
            finished_at=timezone.now(),
        )
        if web
        else None
    )
    return Comparison(
        study=made.study,
        pair=pair,
        rater=rater,
        assignment=assignment,
        swapped=turned,
        points=small.points,
        status="unscored" if rating is None else "scored",
        reason="unparsable" if rating is None else "",
        rating=rating,
        source="web" if web else "import",
    )


def _score(made: Made, lot: Random, texts: list[Completion]) -> None:
    for rater in [*made.people[:2], *made.judges[:1]]:
        for text in texts:
            value = 3.0 if made.small.alike else float(lot.randint(1, 5))
            make.make_score(completion=text, rater=rater, value=value)


def _check(
    made: Made, lot: Random, prompts: list[Prompt], texts: Mapping[tuple[int, int], Completion]
) -> None:
    for prompt in prompts:
        for question in (make.make_question(prompt=prompt) for _ in range(lot.choice((1, 3)))):
            for rater in [*made.people[:2], *made.judges[:1]]:
                for (of, _), text in texts.items():
                    if of == prompt.pk:
                        value = "yes" if made.small.alike or lot.random() < 0.6 else "no"
                        make.make_answer(completion=text, question=question, rater=rater, value=value)
