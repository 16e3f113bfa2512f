"""How raters score the answers of each model, as ``scores`` prints it and pages show it.

Means are points of the scale, None where undefined. Each turn, and all of them together, has two kinds of
tables: ``raters``, of all raters, and ``contestants``, of one kind of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leaderboard.scores.reading import TextScores
from leaderboard.snapshots.reading import Choice
from leaderboard.snapshots.settings import PEOPLE
from leaderboard.stats import Method
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.pointwise_standings import score_standings
from leaderboard.stats.score_agreement import people_agreement, score_agreement
from leaderboard.stats.scores import score_drift, score_length, score_summary

MOST_PAIRED: Final = 10
"""Kinds of raters among whom each is held against each; any others only against the first."""


class NothingScoredError(ValueError):
    """Nobody scored what was asked for; the message is a sentence for the reader."""


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of one turn, or of all, on one scale, and how their figures are made."""

    read: TextScores
    scale: tuple[float, float]
    method: Method

    def by_rater(self) -> dict[str, Any]:
        """What each kind of raters does, how they agree, and how people agree among themselves."""
        raters = [choice for choice in self.read.raters if len(self.read.by(choice))]
        return {
            "lowest": self.scale[0],
            "highest": self.scale[1],
            "level": self.method.interval,
            "scores": len(self.read),
            "other_scales": self.read.other_scales,
            "raters": [self._rater(choice) for choice in raters],
            "agreement": list(self._agreement(raters)),
            "people": self._people(raters),
        }

    def _rater(self, choice: Choice) -> dict[str, Any]:
        own = self.read.by(choice)
        scores, level = own.scores(self.scale), self.method.interval
        return {
            "rater": choice.selector,
            "label": choice.label,
            "simulated": choice.simulated,
            "raters": len(set(own.rows["rater"].tolist())),
            **score_summary(scores, level).as_dict(),
            "length": score_length(scores, own.rows["length"], level).as_dict(),
            "drift": score_drift(scores, own.rows["when"], level).as_dict(),
        }

    def _agreement(self, raters: Sequence[Choice]) -> Iterator[dict[str, Any]]:
        """No pair of kinds that share a rater."""
        scores = [self.read.by(choice).scores(self.scale) for choice in raters]
        for number, one in enumerate(raters[:MOST_PAIRED]):
            for place, other in enumerate(raters[number + 1 :], start=number + 1):
                if (place < MOST_PAIRED or not number) and not one.ids & other.ids:
                    found = score_agreement(scores[number], scores[place], **self._run)
                    yield {"one": one.selector, "other": other.selector, **found.as_dict()}

    def _people(self, raters: Sequence[Choice]) -> dict[str, Any] | None:
        people = next((each for each in raters if each.selector == PEOPLE and len(each.ids) > 1), None)
        if people is None:
            return None
        return people_agreement(self.read.by(people).scores(self.scale), **self._run).as_dict()

    def contestants(self, choice: Choice) -> list[dict[str, Any]]:
        """Best first, by what each is above others on the same prompts."""
        scores = self.read.by(choice).scores(self.scale)
        standings = score_standings(scores, self.read.names, **self._run)
        place = {name: number for number, name in enumerate(self.read.names)}
        found = []
        for row in standings.rows:
            own = scores.only(scores.contestant == place[row.contestant])
            if len(own):
                summary = score_summary(own, self.method.interval).as_dict()
                del summary["edges"]
                found.append(
                    {
                        "contestant": row.contestant,
                        **rounded({name: getattr(row, name) for name in _OF_STANDINGS}),
                        "above_average": rounded(row.rating),
                        "above_average_low": rounded(row.low),
                        "above_average_high": rounded(row.high),
                        **summary,
                    }
                )
        return found

    @property
    def _run(self) -> dict[str, Any]:
        rounds = self.method.rounds or ROUNDS
        return {"level": self.method.interval, "rounds": rounds, "seed": self.method.seed}


_OF_STANDINGS: Final = ("rank", "rank_ub", "group", "component")


def scored(read: TextScores, method: Method, turn: int | None = None) -> Scored:
    """Raises NothingScoredError."""
    if not len(read):
        raise NothingScoredError("nobody has scored an answer of this study")
    if turn is not None and turn not in read.turns:
        known = ", ".join(map(str, read.turns))
        raise NothingScoredError(f"turn {turn} has no scores; those that have: {known}")
    return Scored(read if turn is None else read.of_turn(turn), read.scale, method)


def as_printed(study: str, found: Scored, raters: Sequence[str], turn: int | None) -> dict[str, Any]:
    """The figures of the command. Raises NothingScoredError."""
    content = found.by_rater()
    choices = {each.selector: each for each in found.read.raters}
    known = [each["rater"] for each in content["raters"]]
    for selector in raters:
        if selector not in known:
            raise NothingScoredError(
                f'no raters "{selector[:100]}" have scored answers; those that have: {", ".join(known)}'
            )
    chosen = list(dict.fromkeys(raters)) or known
    return {
        "study": study,
        "parameters": {
            "raters": chosen,
            "turn": turn,
            "lowest": content["lowest"],
            "highest": content["highest"],
            "level": content["level"],
            "rounds": found.method.rounds or ROUNDS,
            "seed": found.method.seed,
            "other_scales": content["other_scales"],
        },
        "raters": [
            {**each, "contestants": found.contestants(choices[each["rater"]])}
            for each in content["raters"]
            if each["rater"] in chosen
        ],
        "agreement": [each for each in content["agreement"] if {each["one"], each["other"]} <= {*chosen}],
        "people": content["people"],
    }
