"""How raters score the answers of each model, as ``scores`` prints it and pages show it.

Means are points of the scale, None where undefined. Each part of the scores (all, those of one turn, set or
category) has two kinds of tables: of all raters, and of the contestants by one kind of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Self

import numpy as np

from leaderboard.answers.asked import FEWEST, AskedOfTexts, Known, NoOpinionsError, asked_of_all
from leaderboard.answers.scores.reading import TextScores
from leaderboard.pages.rater_kinds.choices import one_of
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.reading import Choice
from leaderboard.snapshots.settings import PEOPLE
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.plain_values import Estimate, rounded
from leaderboard.stats.pointwise_standings import PointwiseStandings, score_standings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.score_agreement import people_agreement, score_agreement
from leaderboard.stats.scores import Scores, score_drift, score_length, score_summary
from leaderboard.stats.separation import SAME

MOST_PAIRED: Final = 10
"""Kinds of raters among whom each is held against each; any others only against the first."""


@dataclass(frozen=True)
class Asked(AskedOfTexts):
    """``turn`` is one of an answer's turns, or "0" for scores of whole answers."""

    turn: str = ""

    @classmethod
    def of(cls, wanted: Mapping[str, str], known: Known) -> Self:
        """Raises UnknownSettingError."""
        turns = [str(turn) for turn in known.turns]
        return cls(**asked_of_all(wanted, known), turn=one_of(wanted, "turn", turns, ""))


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores on one scale, and how their figures are made."""

    read: TextScores
    scale: tuple[float, float]
    method: Method = field(default_factory=Method)

    @cached_property
    def _everybody(self) -> Scores:
        return self.read.scores(self.scale)

    def by(self, choice: Choice) -> Scores:
        """In bins that are those of all raters."""
        return self._everybody.only(np.isin(self.read.rows["rater"], list(choice.ids)))

    @property
    def raters(self) -> list[Choice]:
        """Those with scores."""
        return [choice for choice in self.read.raters if len(self.by(choice))]

    def like(self, selector: str) -> Choice | None:
        """These raters, or else the first that scored; None where they scored nothing here."""
        known = {each.selector: each for each in self.read.raters}
        found = known.get(selector) or next(iter(known.values()), None)
        return found if found and len(self.by(found)) else None

    def by_rater(self) -> dict[str, Any]:
        """What each kind of raters does, how they agree, and how people agree among themselves."""
        raters = self.raters
        return {
            "lowest": self.scale[0],
            "highest": self.scale[1],
            "level": self.method.interval,
            "rounds": self.method.rounds or ROUNDS,
            "seed": self.method.seed,
            "scores": len(self.read),
            "other_scales": self.read.not_on(self.scale),
            "raters": [self._rater(choice) for choice in raters],
            "agreement": list(self._agreement(raters)),
            "people": self._people(raters),
        }

    def _rater(self, choice: Choice) -> dict[str, Any]:
        own, scores, level = self.read.by(choice), self.by(choice), self.method.interval
        return {
            "rater": choice.selector,
            "label": choice.label,
            "simulated": choice.simulated,
            "raters": len(set(own.rows["rater"].tolist())),
            **score_summary(scores, level).as_dict(),
            "length": score_length(scores, own.rows["length"], level).as_dict(),
            "drift": score_drift(scores, own.rows["moment"], level).as_dict(),
        }

    def _agreement(self, raters: Sequence[Choice]) -> Iterator[dict[str, Any]]:
        """No pair of kinds that share a rater."""
        scores = [self.by(choice) for choice in raters]
        for number, one in enumerate(raters[:MOST_PAIRED]):
            for place, other in enumerate(raters[number + 1 :], start=number + 1):
                if (place < MOST_PAIRED or not number) and not one.ids & other.ids:
                    found = score_agreement(scores[number], scores[place], **self._run)
                    yield {"one": one.selector, "other": other.selector, **found.as_dict()}

    def _people(self, raters: Sequence[Choice]) -> dict[str, Any] | None:
        people = next((each for each in raters if each.selector == PEOPLE and len(each.ids) > 1), None)
        if people is None:
            return None
        return people_agreement(self.by(people), **self._run).as_dict()

    def standings(self, choice: Choice) -> PointwiseStandings:
        """Computed once for the same raters."""
        if choice not in self._standings:
            self._standings[choice] = score_standings(self.by(choice), self.read.names, **self._run)
        return self._standings[choice]

    @cached_property
    def _standings(self) -> dict[Choice, PointwiseStandings]:
        return {}

    def contestants(self, choice: Choice) -> list[dict[str, Any]]:
        """Best first, by what each is above the average model on the same prompts."""
        scores = self.by(choice)
        place = {name: number for number, name in enumerate(self.read.names)}
        found = []
        for row in self.standings(choice).rows:
            own = scores.only(scores.contestant == place[row.contestant])
            # Nobody's average is its own. As of means, there is no interval where all prompts say the same.
            above = None if row.rank is None else row.rating
            ends = (row.low, row.high) if above is not None and _differ(row.low, row.high) else ()
            if len(own):
                summary = score_summary(own, self.method.interval).as_dict()
                del summary["edges"]
                found.append(
                    {
                        "contestant": row.contestant,
                        **rounded({name: getattr(row, name) for name in _OF_STANDINGS}),
                        **rounded({"above_average": Estimate(above, *ends)}),
                        **summary,
                    }
                )
        return found

    @property
    def _run(self) -> dict[str, Any]:
        rounds = self.method.rounds or ROUNDS
        return {"level": self.method.interval, "rounds": rounds, "seed": self.method.seed}


def _differ(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and high - low > SAME


_OF_STANDINGS: Final = ("rank", "rank_ub", "group", "component")


def scored(read: TextScores, asked: Asked) -> Scored:
    """The scores about what is asked, whose ever they are. Raises NoOpinionsError."""
    if not len(read):
        raise NoOpinionsError("nobody has scored an answer of this study yet")
    known = [str(turn) for turn in read.turns]
    if asked.turn and asked.turn not in known:
        raise NoOpinionsError(f"turn {asked.turn} has no scores; those that have: {', '.join(known)}")
    chosen = read.about(asked.subset, asked.category)
    if asked.turn:
        chosen = chosen.of_turn(int(asked.turn))
    return Scored(chosen, read.scale)


def of_contestants(found: Scored, choice: Choice) -> dict[str, Any]:
    """How one kind of raters scores each model. Raises NoOpinionsError."""
    if not len(found.by(choice)):
        raise NoOpinionsError("these raters have scored no answer here")
    return {"contestants": found.contestants(choice)}


def seal(content: Content) -> Content:
    """What everybody may see while people rate. Raises NoOpinionsError.

    Of few scores, numbers would tell what others said of a single answer; of lengths, whose it is.
    """
    shown = [each for each in content["contestants"] if _is_enough(each["n"])]
    if not shown:
        raise NoOpinionsError(
            f"fewer than {FEWEST} scores of each model are given here; until the study closes, they stay "
            "hidden"
        )
    raters = [{**each, "length": {}} for each in content["raters"] if _is_enough(each["n"])]
    known, people = {each["rater"] for each in raters}, content["people"]
    return {
        **content,
        "contestants": shown,
        "raters": raters,
        "agreement": [
            each
            for each in content["agreement"]
            if {each["one"], each["other"]} <= known and _is_enough(each["texts"])
        ],
        "people": people if people and PEOPLE in known and _is_enough(people["texts"]) else None,
    }


def _is_enough(scores: int) -> bool:
    return not 0 < scores < FEWEST


def as_printed(study: str, found: Scored, raters: Sequence[str], turn: int | None) -> dict[str, Any]:
    """The figures of the command. Raises NoOpinionsError."""
    content = found.by_rater()
    choices = {each.selector: each for each in found.read.raters}
    known = [each["rater"] for each in content["raters"]]
    for selector in raters:
        if selector not in known:
            raise NoOpinionsError(
                f'no raters "{selector[:100]}" have scored answers; those that have: {", ".join(known)}'
            )
    chosen = list(dict.fromkeys(raters)) or known
    parameters = ("lowest", "highest", "level", "rounds", "seed", "other_scales")
    return {
        "study": study,
        "parameters": {"raters": chosen, "turn": turn, **{name: content[name] for name in parameters}},
        "raters": [
            {**each, "contestants": found.contestants(choices[each["rater"]])}
            for each in content["raters"]
            if each["rater"] in chosen
        ],
        "agreement": [each for each in content["agreement"] if {each["one"], each["other"]} <= {*chosen}],
        "people": content["people"],
    }
