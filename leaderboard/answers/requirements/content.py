"""Which share of requirements each model meets, as ``drfr`` prints it and pages show it.

Shares are fractions, None where undefined. ``missing`` is one of MISSING of leaderboard.stats.requirements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self

import numpy as np

from leaderboard.answers.asked import FEWEST, AskedOfTexts, Known, NoOpinionsError, asked_of_all
from leaderboard.answers.requirements.reading import Checked
from leaderboard.pages.rater_kinds.choices import one_of
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.reading import Choice
from leaderboard.snapshots.settings import PEOPLE
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.checks import BoolArray
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.pointwise_standings import PointwiseStandings, requirement_standings
from leaderboard.stats.requirement_pairs import (
    annotation_source,
    disagreement,
    label_agreement,
    pair_labels,
)
from leaderboard.stats.requirements import (
    MISSING,
    Answers,
    Rate,
    Requirements,
    by_question,
    met_shares,
    requirements,
)
from leaderboard.stats.sides import NOT_ASKED

LEVEL: Final = 95.0
KINDS: Final = {"labels": "Kind", "domains": "Domain", "sets": "Set", "categories": "Category"}
"""The parts of which a model has figures of its own."""

OUT: Final = "out"
"""Value of ``contested`` that leaves contested questions out."""


@dataclass(frozen=True)
class Asked(AskedOfTexts):
    """How they count, besides.

    ``beside`` selects the raters that others are held against (people, if there are some); it may be empty.
    """

    missing: str = MISSING[0]
    contested: str = ""
    beside: str = ""

    @classmethod
    def of(cls, wanted: Mapping[str, str], known: Known) -> Self:
        """Raises UnknownSettingError."""
        return cls(
            **asked_of_all(wanted, known),
            missing=one_of(wanted, "missing", MISSING, MISSING[0]),
            contested=one_of(wanted, "contested", (OUT,), ""),
            beside=one_of(wanted, "beside", known.selectors, ""),
        )

    def parts(self) -> list[tuple[str, str]]:
        usual = ("missing", MISSING[0])
        return [each for each in super().parts() if each != usual]


def drfr(checked: Checked, raters: Sequence[str] = (), missing: str = "exclude") -> dict[str, Any]:
    """The figures of the command, by kind of raters. Raises NoOpinionsError."""
    chosen = choices(checked, raters)
    return {
        "study": checked.study,
        "parameters": {"raters": [each.selector for each in chosen], "missing": missing, "level": LEVEL},
        "raters": [
            {"rater": each.selector, "contestants": _printed(checked, each, missing)} for each in chosen
        ],
    }


def choices(checked: Checked, raters: Sequence[str]) -> list[Choice]:
    """Those named, or all. Raises NoOpinionsError."""
    known = {each.selector: each for each in checked.raters}
    if not known:
        raise NoOpinionsError("nobody has checked an answer against its requirements yet")
    for selector in raters:
        if selector not in known:
            raise NoOpinionsError(
                f'no raters "{selector[:100]}" have checked requirements; those that have: {", ".join(known)}'
            )
    return [known[selector] for selector in dict.fromkeys(raters)] or list(known.values())


def _printed(checked: Checked, choice: Choice, missing: str) -> list[dict[str, Any]]:
    return [
        {
            "contestant": name,
            "sets": {part: _counted(rate) for part, rate in own.groups["sets"].items()}
            | {"": _counted(own.overall)},
            "labels": {part: _counted(rate) for part, rate in own.labels.items()},
            "domains": {part: _counted(rate) for part, rate in own.groups["domains"].items()},
            "all_met": rounded(own.all_met.value),
        }
        for name, own in _by_contestant(checked, checked.told(choice), missing)
    ]


def _counted(rate: Rate) -> dict[str, Any]:
    """A rate as printed: "cannot tell" is not among the questions."""
    told = rate.as_dict()
    names = ("met", "unanswered", "drfr", "low", "high")
    return {"questions": rate.questions - rate.unknown, **{name: told[name] for name in names}}


def _by_contestant(checked: Checked, answers: Answers, missing: str) -> Iterator[tuple[str, Requirements]]:
    for number, name in enumerate(checked.names):
        own = answers.only(answers.contestant == number)
        if len(own):
            yield name, requirements(checked.questions, own, missing, LEVEL)


@dataclass(frozen=True, eq=False)
class Figures:
    """The figures of what is asked, whose ever the answers are."""

    checked: Checked
    asked: Asked

    @cached_property
    def _all(self) -> Checked:
        return self.checked.about(self.asked.subset, self.asked.category)

    @cached_property
    def _contested(self) -> BoolArray:
        return contested_questions(self._all)

    @cached_property
    def _part(self) -> Checked:
        if self.asked.contested != OUT:
            return self._all
        return self._all.only(~self._contested[self._all.answers.question])

    @cached_property
    def _of_everybody(self) -> dict[str, Any]:
        return {
            "contested": int(self._contested.sum()),
            "agreement": _agreement(self._part, self.asked.missing),
            "sources": _sources(self._part, self.asked),
        }

    def by(self, choice: Choice) -> dict[str, Any]:
        """All figures of the page, for JSON. Raises NoOpinionsError."""
        part, missing = self._part, self.asked.missing
        answers, own = part.told(choice), part.by(choice)
        if not len(answers):
            raise NoOpinionsError("these raters have checked no requirement here")
        found = dict(_by_contestant(part, answers, missing))
        shown: dict[str, Any] = {
            "parameters": {
                **replace(self.asked, raters=choice.selector).parameters(),
                "level": LEVEL,
                "rounds": ROUNDS,
                "seed": 0,
                "raters_per_text": _raters_per_text(own),
            },
            "label": choice.label,
            "simulated": choice.simulated,
            "answers": len(own),
            "contestants": [
                {
                    "contestant": each.contestant,
                    "rank": each.rank,
                    "rank_ub": each.rank_ub,
                    "group": each.group,
                    "prompts": _prompts(part, answers, each.contestant),
                    **_figures(found[each.contestant]),
                }
                for each in self.standings(choice).rows
                if each.contestant in found
            ],
            **self._of_everybody,
            "questions": _questions(part, answers, self._contested),
        }
        return {name: rounded(value) for name, value in shown.items()}

    def standings(self, choice: Choice) -> PointwiseStandings:
        """Computed once for the same raters."""
        if choice not in self._standings:
            part = self._part
            self._standings[choice] = requirement_standings(
                part.questions, part.told(choice), part.names, self.asked.missing, level=LEVEL
            )
        return self._standings[choice]

    @cached_property
    def _standings(self) -> dict[Choice, PointwiseStandings]:
        return {}


def _prompts(part: Checked, answers: Answers, contestant: str) -> int:
    own = answers.question[answers.contestant == part.names.index(contestant)]
    return len(np.unique(part.questions.prompt[own]))


def _figures(own: Requirements) -> dict[str, Any]:
    told = own.as_dict()
    means = {name: getattr(own, name).estimate for name in ("macro", "all_met", "required_met")}
    return {
        "texts": own.texts,
        "labels": told["labels"],
        **told["overall"],
        **told["groups"],
        **rounded(means),
    }


def _raters_per_text(own: Checked) -> float | None:
    texts = len(np.unique(own.text))
    seen = len(np.unique(own.text * (own.answers.rater.max(initial=0) + 1) + own.answers.rater))
    return seen / texts if texts else None


def people_of(checked: Checked) -> Checked | None:
    """The answers of people, if several answered about one text."""
    people = next((each for each in checked.raters if each.selector == PEOPLE), None)
    own = checked.by(people) if people else None
    return own if own is not None and (_raters_per_text(own) or 0) > 1 else None


def contested_questions(checked: Checked) -> BoolArray:
    """The questions that people contest; none where no two people answered about one text."""
    own = people_of(checked)
    if own is None:
        return np.zeros(len(checked.asked), dtype=bool)
    return disagreement(checked.questions, own.answers).contested()


def _agreement(part: Checked, missing: str) -> dict[str, Any] | None:
    """How far people agree which of two models is better, by the share of requirements each meets."""
    own = people_of(part)
    if own is None:
        return None
    labels = pair_labels(met_shares(part.questions, own.answers, missing))
    apart = disagreement(part.questions, own.answers)
    return {**label_agreement(labels, level=LEVEL).as_dict(), "disagreement": list(apart.counts)}


def held_against(checked: Checked, beside: str = "") -> Choice | None:
    """The raters that others are held against; None without others."""
    if len(checked.raters) < 2:
        return None
    return next((each for each in checked.raters if each.selector == beside), checked.raters[0])


def _sources(part: Checked, asked: Asked) -> dict[str, Any] | None:
    """Each kind of raters beside one of them, on what both answered."""
    gold = held_against(part, asked.beside)
    if gold is None:
        return None
    right = part.told(gold)
    rows = []
    for each in part.raters:
        own = part.by(each)
        if not len(own):
            continue
        given = own.seconds[own.answers.value != NOT_ASKED]
        known = given[~np.isnan(given)]
        found = annotation_source(
            part.questions,
            own.answers,
            right,
            minutes=len(given) * float(known.mean()) / 60 if len(known) else None,
            missing=asked.missing,
            level=LEVEL,
        )
        rows.append(
            {
                "rater": each.selector,
                "label": each.label,
                "is_gold": each.selector == gold.selector,
                "texts": len(np.unique(own.text)),
                **found.as_dict(),
            }
        )
    return {"beside": gold.selector, "label": gold.label, "rows": rows} if len(rows) > 1 else None


def _questions(part: Checked, answers: Answers, contested: BoolArray) -> list[dict[str, Any]]:
    """Each question that has a yes or no, in order."""
    return [
        {
            "prompt": part.asked[each.question].name,
            "subset": part.asked[each.question].subset,
            "position": part.asked[each.question].position,
            "labels": list(part.asked[each.question].labels),
            "texts": each.texts,
            "met": each.met,
            "share": each.share,
            "tells_apart": each.tells_apart,
            "contested": bool(contested[each.question]),
        }
        for each in by_question(part.questions, answers)
        if each.texts
    ]


def seal(content: Content) -> Content:
    """What everybody may see while people rate. Raises NoOpinionsError.

    Of few requirements the share of a model would tell what others said of a single answer.
    """
    shown = [_sealed(each) for each in content["contestants"] if each["questions"] >= FEWEST]
    if not shown:
        raise NoOpinionsError(
            f"fewer than {FEWEST} requirements of each model are checked here; until the study closes, they "
            "stay hidden"
        )
    return {**content, "contestants": shown, "questions": []}


def _sealed(model: Content) -> dict[str, Any]:
    few = {
        kind: {name: rate for name, rate in model[kind].items() if rate["questions"] >= FEWEST}
        for kind in KINDS
    }
    return {**model, **few}
