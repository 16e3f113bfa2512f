"""What must be said of the judges of a study: from rows and stored tables to flags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.rater_kinds.facts import kin_of
from leaderboard.rater_kinds.flags import Answers, Flag, flags


def judge_flags(
    study: Study,
    judges: Mapping[str, str],
    answers: Mapping[str, Answers] | None = None,
    own_family: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, list[Flag]]:
    """The flags of each judge among ``judges`` (selectors and labels); people and groups have none.

    ``answers`` count those of each, ``own_family`` holds tables of leaderboard.bias.content.
    """
    chosen = {one: label for one, label in judges.items() if one.startswith("judge:")}
    if not chosen:
        return {}
    return {
        selector: flags(
            chosen[selector],
            kin,
            (answers or {}).get(selector),
            settings.JUDGE_UNSCORED_SHARE,
            (own_family or {}).get(selector),
        )
        for selector, kin in kin_of(study, chosen).items()
    }


def snapshot_flags(study: Study, snapshot: Snapshot, *chosen: str) -> dict[str, list[Flag]]:
    """The flags of the judges of a snapshot, or of the chosen ones, over all of their answers.

    What a snapshot made before an update lacks is said after the next refresh.
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
    return judge_flags(study, labels, answers, counts.get("own_family"))


def flags_of(study: Study, content: Mapping[str, Any]) -> dict[str, list[Flag]]:
    """What must be said of each judge in the content, by selector."""
    raters = {own["selector"]: own for own in content["raters"]}
    answers = {
        selector: Answers(own["unscored"]["answers"], own["unscored"]["unscored"])
        for selector, own in raters.items()
        if own["unscored"]
    }
    labels = {selector: own["label"] for selector, own in raters.items()}
    families = {selector: own["own_family"] for selector, own in raters.items()}
    return judge_flags(study, labels, answers, families)
