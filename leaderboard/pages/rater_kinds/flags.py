"""What must be said beside a judge's numbers wherever one may choose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from django.conf import settings

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.pages.format import counted, in_points, number
from leaderboard.pages.rater_kinds.families import Kin, kin_of, named, warning
from leaderboard.stats.plain_values import Estimate

Kind = Literal["competes", "family", "unscored", "self-preference"]

FEWEST_ANSWERS: Final = 20
"""With fewer answers a judge is not flagged for those without a rating."""


@dataclass(frozen=True)
class Flag:
    """``sure``: neither a guess from names nor what may be chance."""

    kind: Kind
    sentence: str
    sure: bool


@dataclass(frozen=True)
class Answers:
    given: int
    unscored: int

    @property
    def share(self) -> float:
        return self.unscored / self.given if self.given else 0.0


def flags(
    label: str,
    kin: Kin,
    answers: Answers | None,
    most_unscored: float,
    own_family: Mapping[str, Any] | None = None,
) -> list[Flag]:
    """``most_unscored`` is the share above which a judge is flagged.

    ``own_family`` is of bias.measures: empty where too few pairs tell, None where it was not measured.
    """
    found: list[Flag] = []
    if kin.itself:
        found.append(
            Flag(
                "competes",
                f"{label} judges its own answers: it is also ranked here as {named(kin.itself)}.",
                sure=True,
            )
        )
    if kin.family:
        found.append(Flag("family", warning(label, kin.family), sure=False))
    if answers and answers.given >= FEWEST_ANSWERS and answers.share > most_unscored:
        found.append(
            Flag(
                "unscored",
                f"{label} gave no rating to {answers.unscored:,} of {counted(answers.given, 'pair')} "
                f"({100 * answers.share:.1f}%). The pairs it rated may be the easier ones.",
                sure=True,
            )
        )
    if own_family:
        sentence = preference_sentence(label, own_family)
        found.append(Flag("self-preference", sentence, sure=not _may_be_chance(own_family)))
    elif kin.everyone and own_family is not None:
        untested = f"Too few pairs are rated by others to test whether {label} favours its own family."
        found.append(Flag("self-preference", untested, sure=False))
    return found


def preference_sentence(label: str, measured: Mapping[str, Any]) -> str:
    low, high, apart = measured["low"], measured["high"], measured["difference"]
    between = "" if low is None else f" (interval {_signed(low)} to {_signed(high)})"
    what = (
        "may be chance"
        if _may_be_chance(measured)
        else "may be self-preference"
        if apart > 0
        else "is more than chance explains"
    )
    return (
        f"{label} rates models that may be of its own family ({named(measured['kin'])}) "
        f"{abs(in_points(apart)):.2f} points {'lower' if apart < 0 else 'higher'} than "
        f"{measured['against']} do{between}, over {counted(measured['n'], 'pair')}, with all ratings put on "
        f"a scale of 1–8. This {what}."
    )


def _may_be_chance(measured: Mapping[str, Any]) -> bool:
    return not Estimate.bare(measured, "difference").side()


def _signed(preference: float) -> str:
    return number(round(in_points(preference), 2) + 0.0, "+.2f")


def judge_flags(
    study: Study,
    judges: Mapping[str, str],
    answers: Mapping[str, Answers] | None = None,
    own_family: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, list[Flag]]:
    """Flags of each judge among ``judges`` (selectors and labels); people and groups have none."""
    chosen = {one: label for one, label in judges.items() if one.startswith("judge:")}
    if not chosen:
        return {}
    return {
        selector: flags(
            chosen[selector],
            kin,
            (answers or {}).get(selector),
            settings.JUDGE_UNSCORED_SHARE,
            None if own_family is None else own_family.get(selector) or {},
        )
        for selector, kin in kin_of(study, chosen).items()
    }


def kin_sentences(study: Study, judges: Mapping[str, str]) -> list[str]:
    """Which judges (selectors and labels) rate their own answers, or those of their family."""
    found = judge_flags(study, judges).values()
    return [flag.sentence for flags in found for flag in flags if flag.kind in ("competes", "family")]


def snapshot_flags(study: Study, snapshot: Snapshot, *chosen: str, turn: str = "") -> dict[str, list[Flag]]:
    """Flags of the chosen judges of a snapshot, or of all; fewer for snapshots of old versions.

    Beside the numbers of a ``turn`` they say that what they measure is of all turns.
    """
    counts = snapshot.counts
    entries = {each["selector"]: each for each in counts["raters"]}
    wanted = {one: entries[one] for one in (chosen or entries) if one in entries}
    answers = {
        one: Answers(each["comparisons"], each["unscored"])
        for one, each in wanted.items()
        if "unscored" in each
    }
    labels = {one: each["label"] for one, each in wanted.items()}
    found = judge_flags(study, labels, answers, counts.get("own_family"))
    return {one: [_of_all_turns(flag) for flag in own] for one, own in found.items()} if turn else found


def _of_all_turns(flag: Flag) -> Flag:
    measured = flag.kind in ("unscored", "self-preference")
    return replace(flag, sentence=f"All turns: {flag.sentence}") if measured else flag


def flag_sentences(study: Study, snapshot: Snapshot, *chosen: str, turn: str = "") -> list[str]:
    """What must be said of the chosen judges, or of all; nothing of people and groups."""
    return sentences(snapshot_flags(study, snapshot, *chosen, turn=turn))


def sentences(flags: Mapping[str, Sequence[Flag]]) -> list[str]:
    """Those of all judges, what is sure first, and of that what was measured."""
    found = [flag for own in flags.values() for flag in own]
    return [
        flag.sentence
        for flag in sorted(found, key=lambda flag: (not flag.sure, flag.kind != "self-preference"))
    ]


def flags_of(study: Study, content: Mapping[str, Any]) -> dict[str, list[Flag]]:
    """Flags of the judges of a content of side_by_side."""
    raters = {own["selector"]: own for own in content["raters"]}
    answers = {
        selector: Answers(own["unscored"]["answers"], own["unscored"]["unscored"])
        for selector, own in raters.items()
        if own["unscored"]
    }
    labels = {selector: own["label"] for selector, own in raters.items()}
    families = {selector: own["own_family"] for selector, own in raters.items()}
    return judge_flags(study, labels, answers, families)
