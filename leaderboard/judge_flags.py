"""What must be said of the judges of a study: from rows and stored tables to flags."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from arena.models import Study
from leaderboard.flags import Answers, Flag, flags
from leaderboard.judge_facts import kin_of


def judge_flags(
    study: Study,
    judges: Mapping[str, str],
    answers: Mapping[str, Answers] | None = None,
    own_family: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, list[Flag]]:
    """The flags of each judge among ``judges`` (selectors and labels); people and groups have none.

    ``answers`` count those of each, ``own_family`` holds tables of leaderboard.slices.own_family.
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
