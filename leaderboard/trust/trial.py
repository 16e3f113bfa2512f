"""The judges of a study on its pairs with a right answer, and what needs no judge beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from django.utils import timezone

from arena.models import Study
from arena.people.rater_data import pseudonym
from leaderboard.pages.rater_kinds.judge_facts import JudgeFacts, facts_of_judges
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.settings import FEWEST_SEALED, PEOPLE
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.gold import Judged, Rule
from leaderboard.stats.gold_averages import Accuracies, Difference, accuracies, difference, groups
from leaderboard.stats.gold_baselines import BASELINES, baseline
from leaderboard.stats.sums import mean_of_known
from leaderboard.trust.reading import (
    Gold,
    Instances,
    as_they_come,
    held_by,
    instances,
    judges_of,
    verdicts_of,
)

Told = TypeVar("Told")


@dataclass(frozen=True)
class Asked:
    """What to compute: judges by slug (all if empty), the base judge, and how to count.

    ``without``: subsets that are no part of averages. ``sealed``: only what raters may see before a study
    closes, which is judges alone, on subsets of FEWEST_SEALED pairs or more.
    """

    judges: tuple[str, ...] = ()
    base: str = ""
    gold: Gold = field(default_factory=Gold)
    rule: Rule = field(default_factory=Rule)
    matrix: bool = False
    level: float = 95.0
    rounds: int = ROUNDS
    without: tuple[str, ...] = ()
    sealed: bool = False


@dataclass(frozen=True, eq=False)
class Known:
    """What ratings do not tell: right answers, facts of judges by selector, pseudonyms of people by id."""

    study: str
    instances: Instances
    facts: Mapping[str, JudgeFacts]
    names: Mapping[int, str]

    @classmethod
    def of(cls, study: Study, read: Opinions, gold: Gold) -> Known:
        """Raises NothingToJudgeError without a judge or a right answer."""
        facts = facts_of_judges(study, [each.selector for each in judges_of(read, ())], timezone.now())
        names = {pk: pseudonym(study, pk) for pk in sorted(read.people)}
        return cls(study.slug, instances(study, read, gold), facts, names)


@dataclass(frozen=True, eq=False)
class Trial:
    """Judges on instances with a right answer. Arrays follow ``choices``."""

    known: Known
    read: Opinions
    asked: Asked
    instances: Instances
    choices: tuple[Choice, ...]

    @classmethod
    def of(cls, known: Known, read: Opinions, asked: Asked) -> Trial:
        """Raises NothingToJudgeError."""
        choices = judges_of(read, asked.judges)
        if asked.base:
            choices = list(dict.fromkeys((*choices, *judges_of(read, (asked.base,)))))
        answered = read.by(frozenset().union(*(each.ids for each in choices))).rows["pair"]
        found = known.instances.asked(answered)
        if asked.sealed:
            found = found.with_at_least(FEWEST_SEALED)
        found.check_left_out(asked.without)
        return cls(known, read, asked, found, tuple(choices))

    @cached_property
    def slugs(self) -> tuple[str, ...]:
        return tuple(choice.selector.partition(":")[2] for choice in self.choices)

    @cached_property
    def models(self) -> tuple[str | None, ...]:
        return tuple((self._facts(choice).model or None) for choice in self.choices)

    @cached_property
    def protocols(self) -> tuple[str | None, ...]:
        return tuple((self._facts(choice).protocol_name or None) for choice in self.choices)

    def of_judges(self, values: FloatArray) -> FloatArray:
        """Values (choices, ...) with NaN for panels, which follow from judges and are none."""
        panels = np.array([choice.panel for choice in self.choices], dtype=np.bool_)
        return np.where(panels.reshape(-1, *[1] * (values.ndim - 1)), np.nan, values)

    def _facts(self, choice: Choice) -> JudgeFacts:
        return self.known.facts.get(choice.selector, JudgeFacts("", ""))

    @cached_property
    def judged(self) -> list[list[Judged]]:
        """By judge and subset; after the judges BASELINES."""
        pairs = self.instances.pair
        own = [
            self._by_subset(verdicts_of(self.read, choice, pairs), number, self._facts(choice).order_free)
            for number, choice in enumerate(self.choices)
        ]
        return own + [self._by_subset(baseline(name, self.instances.longer)) for name in BASELINES]

    def _by_subset(self, verdicts: IntArray, number: int = 0, pointwise: bool = False) -> list[Judged]:
        parts = zip(self.golds, self.instances.split(verdicts), self.prompts, strict=True)
        return [
            Judged(gold, said, self.asked.rule, pointwise, number * len(self.golds) + subset, prompt)
            for subset, (gold, said, prompt) in enumerate(parts)
        ]

    @cached_property
    def golds(self) -> list[IntArray]:
        return self.instances.split(self.instances.gold)

    @cached_property
    def prompts(self) -> list[IntArray]:
        """The prompt of each instance, numbered in each subset."""
        return [as_they_come(own) for own in self.instances.split(self.instances.prompt)]

    @cached_property
    def longer(self) -> list[IntArray]:
        return self.instances.split(self.instances.longer)

    @cached_property
    def held(self) -> list[IntArray]:
        """The side that a majority of people takes on each instance, NO_GOLD without one."""
        gold = replace(self.asked.gold, source=PEOPLE)
        labels, _, _ = held_by(self.read, gold, self.instances.pair)
        return self.instances.split(labels)

    @cached_property
    def points(self) -> FloatArray:
        """What each judge earns on each instance (judges, instances); NaN where nothing counts."""
        found = np.full((len(self.choices), len(self.instances.pair)), np.nan)
        for row, own in zip(found, self.judged, strict=False):
            for subset, part in enumerate(own):
                row[self.instances.subset == subset] = mean_of_known(part.credits, 0)
        return found

    @cached_property
    def groups(self) -> Mapping[str, list[int]]:
        """Several subsets with a mean of their own."""
        return groups(self.instances.subsets)

    @cached_property
    def parts(self) -> dict[str, list[int]]:
        """Subsets, then groups of them."""
        return {name: [number] for number, name in enumerate(self.instances.subsets)} | dict(self.groups)

    @cached_property
    def averaged(self) -> list[int]:
        """The subsets of the average."""
        names = self.instances.subsets
        return [number for number, name in enumerate(names) if name not in self.asked.without]

    def by_part(self, told: Callable[[Sequence[int]], Told]) -> dict[str, Any]:
        """What is told of each subset, of each group, and of the average."""
        return {
            "subsets": {name: told([number]) for number, name in enumerate(self.instances.subsets)},
            "groups": {name: told(subsets) for name, subsets in self.groups.items()},
            "average": told(self.averaged),
        }

    @cached_property
    def accuracies(self) -> list[Accuracies]:
        return accuracies(self.judged, self.asked.rounds, self.asked.rule.seed)

    def averages_on(self, subsets: Sequence[int]) -> FloatArray:
        """The accuracy of each judge, then of BASELINES, on average over subsets; NaN where undefined."""
        return np.array([each.estimate[list(subsets)].mean() for each in self.accuracies])

    def ranking(self, subsets: Sequence[int]) -> list[int]:
        """The judges whose average over subsets is known, the most accurate first."""
        own = self.averages_on(subsets)[: len(self.choices)]
        return [judge for judge in np.argsort(-own, kind="stable").tolist() if not np.isnan(own[judge])]

    def difference(self, base: int, judge: int, subsets: Sequence[int] | None = None) -> Difference:
        """On these subsets, or on those of the average."""
        kept = list(self.averaged if subsets is None else subsets)
        of_base, of_judge = ([self.judged[each][subset] for subset in kept] for each in (base, judge))
        on_base, on_judge = (self.accuracies[each].on(kept) for each in (base, judge))
        found = difference(on_base, on_judge, of_base, of_judge, self.asked.level)
        return replace(found, subsets=tuple(kept[place] for place in found.subsets))

    def names(self, subsets: Iterable[int]) -> list[str]:
        return [self.instances.subsets[subset] for subset in subsets]

    def named(self, found: Difference) -> dict[str, Any]:
        """A difference for JSON."""
        return found.as_dict() | {"subsets": self.names(found.subsets)}
