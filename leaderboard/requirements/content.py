"""Which share of requirements each model meets, as ``drfr`` prints it and pages show it.

Shares are fractions, None where undefined. ``missing`` is one of MISSING of leaderboard.stats.requirements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from leaderboard.requirements.reading import Checked
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.reading import Choice
from leaderboard.snapshots.settings import PEOPLE
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.checks import BoolArray
from leaderboard.stats.gold import NOT_ASKED
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
from leaderboard.texts.asked import FEWEST, AskedOfTexts, NoOpinionsError

LEVEL: Final = 95.0
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


def content(checked: Checked, asked: Asked) -> dict[str, Any]:
    """All figures of the page, for JSON. Raises NoOpinionsError."""
    (choice,) = choices(checked, [asked.raters])
    part = checked.about(asked.subset, asked.category)
    contested = contested_questions(part)
    if asked.contested == OUT:
        part = part.only(~contested[part.answers.question])
    answers = part.told(choice)
    if not len(answers):
        raise NoOpinionsError("these raters have checked no requirement here")
    # Of few requirements the share of a model would tell what others said of a single answer.
    least = FEWEST if asked.sealed else 0
    counted = _by_contestant(part, answers, asked.missing)
    found = {name: own for name, own in counted if own.overall.questions >= least}
    if not found:
        raise NoOpinionsError(
            f"fewer than {FEWEST} requirements of each model are checked here; until the study closes, they "
            "stay hidden"
        )
    standings = requirement_standings(part.questions, answers, part.names, asked.missing, level=LEVEL)
    ranked = [each for each in standings.rows if each.contestant in found]
    shown: dict[str, Any] = {
        "parameters": {
            **asked.parameters(),
            "level": LEVEL,
            "rounds": ROUNDS,
            "seed": 0,
            "raters_per_text": _raters_per_text(part.by(choice)),
        },
        "label": choice.label,
        "simulated": choice.simulated,
        "answers": len(part.by(choice)),
        "contested": int(contested.sum()),
        "contestants": [
            {
                "contestant": each.contestant,
                "rank": each.rank,
                "rank_ub": each.rank_ub,
                "group": each.group,
                **_figures(found[each.contestant], sealed=asked.sealed),
            }
            for each in ranked
        ],
        "agreement": _agreement(part, asked.missing),
        "sources": _sources(part, asked),
        "questions": [] if asked.sealed else _questions(part, answers, contested),
    }
    return {name: rounded(value) for name, value in shown.items()}


def standings(checked: Checked, asked: Asked) -> PointwiseStandings:
    """With contested requirements."""
    (choice,) = choices(checked, [asked.raters])
    part = checked.about(asked.subset, asked.category)
    return requirement_standings(part.questions, part.told(choice), part.names, asked.missing, level=LEVEL)


def _figures(own: Requirements, *, sealed: bool) -> dict[str, Any]:
    def shown(rates: Mapping[str, Rate]) -> dict[str, Any]:
        return {
            name: rate.as_dict() for name, rate in rates.items() if not sealed or rate.questions >= FEWEST
        }

    return {
        **own.overall.as_dict(),
        "texts": own.texts,
        **own.macro.named("macro"),
        **own.all_met.named("all_met"),
        **own.required_met.named("required_met"),
        "labels": shown(own.labels),
        **{kind: shown(rates) for kind, rates in own.groups.items()},
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


def requirement_tables(checked: Checked) -> Iterator[Table]:
    """The tables of a bundle: the usual figures of each kind of raters."""
    for choice in checked.raters:
        payload = canonical(content(checked, Asked(choice.selector)))
        yield Table("requirements", choice.selector, payload)
