"""How raters score the answers of each model, as ``scores`` prints it and pages show it.

Means are points of the scale, None where undefined. Each part of the scores (all, those of one turn, set or
category) has two kinds of tables: of all raters, and of the contestants by one kind of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from leaderboard.scores.reading import TextScores
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.reading import Choice
from leaderboard.snapshots.settings import PEOPLE
from leaderboard.stats import Method
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.pointwise_standings import PointwiseStandings, score_standings
from leaderboard.stats.score_agreement import people_agreement, score_agreement
from leaderboard.stats.scores import score_drift, score_length, score_summary

MOST_PAIRED: Final = 10
"""Kinds of raters among whom each is held against each; any others only against the first."""

FEWEST: Final = 10
"""Until a study closes, numbers of fewer opinions than this stay hidden."""


class NothingScoredError(ValueError):
    """Nobody scored what was asked for; the message is a sentence for the reader."""


@dataclass(frozen=True)
class Part:
    """Which scores: empty for all. ``sealed``: without what is hidden until the study closes."""

    subset: str = ""
    category: str = ""
    turn: str = ""
    sealed: bool = False


@dataclass(frozen=True)
class Asked(Part):
    """Whose scores, and which."""

    raters: str = ""

    @property
    def part(self) -> Part:
        return Part(self.subset, self.category, self.turn, self.sealed)


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores on one scale, and how their figures are made."""

    read: TextScores
    scale: tuple[float, float]
    method: Method
    fewest: int = 1

    @property
    def raters(self) -> list[Choice]:
        """Those with enough scores."""
        return [choice for choice in self.read.raters if len(self.read.by(choice)) >= self.fewest]

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
        own = self.read.by(choice)
        scores, level = own.scores(self.scale), self.method.interval
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

    def standings(self, choice: Choice) -> PointwiseStandings:
        return score_standings(self.read.by(choice).scores(self.scale), self.read.names, **self._run)

    def contestants(self, choice: Choice) -> list[dict[str, Any]]:
        """Best first, by what each is above others on the same prompts."""
        scores = self.read.by(choice).scores(self.scale)
        place = {name: number for number, name in enumerate(self.read.names)}
        found = []
        for row in self.standings(choice).rows:
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


def scored(read: TextScores, part: Part = Part()) -> Scored:
    """Raises NothingScoredError."""
    if not len(read):
        raise NothingScoredError("nobody has scored an answer of this study")
    known = [str(turn) for turn in read.turns]
    if part.turn and part.turn not in known:
        raise NothingScoredError(f"turn {part.turn} has no scores; those that have: {', '.join(known)}")
    chosen = read.about(part.subset, part.category)
    if part.turn:
        chosen = chosen.of_turn(int(part.turn))
    return Scored(chosen, read.scale, Method(), FEWEST if part.sealed else 1)


def of_contestants(found: Scored, asked: Asked) -> dict[str, Any]:
    """The table of the page: how one kind of raters scores each model. Raises NothingScoredError."""
    (choice,) = (each for each in found.read.raters if each.selector == asked.raters)
    own = len(found.read.by(choice))
    if own < found.fewest:
        raise NothingScoredError(
            f"fewer than {FEWEST} scores are here; until the study closes, they stay hidden"
            if own
            else "these raters have scored no answer here"
        )
    return {
        "parameters": {name: value or None for name, value in asdict(asked).items() if name != "sealed"},
        "label": choice.label,
        "simulated": choice.simulated,
        "contestants": found.contestants(choice),
    }


def score_tables(read: TextScores) -> Iterator[Table]:
    """The tables of a bundle: of all raters, and of the contestants by each kind of them."""
    found = scored(read)
    yield Table("scores", "", canonical(found.by_rater()))
    for choice in found.raters:
        yield Table("scores", choice.selector, canonical({"contestants": found.contestants(choice)}))


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
