"""The stopping rule of a study: pause it once people's votes show who is first."""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction

from arena.models import Study, StudyEvent
from arena.studies.lifecycle import decide
from leaderboard.head_to_head.measuring import described
from leaderboard.head_to_head.verdict import Decision, Verdict
from leaderboard.snapshots.reading import Opinions
from leaderboard.stats.checks import StatsError
from leaderboard.stats.head_to_head import lead
from leaderboard.stats.ranking import drawn_by
from leaderboard.stats.ranking_method import Method

Kind = StudyEvent.Kind
_SAID: Final = "By the stopping rule."


def rule_of(study: Study, opinions: Opinions, method: Method) -> dict[str, Any] | None:
    """How far the rule is from stopping, for a snapshot; None without a rule or anybody to rank."""
    if study.stop_margin is None:
        return None
    players = opinions.by(opinions.people).present()
    ratings = players.ratings()
    try:
        games = ratings.games(ties=True, resample=drawn_by(method, ratings))
        found = lead(games, method)
    except StatsError:
        return None
    first, nearest = players.names[found.first], players.names[found.nearest]
    apart = described(found.apart, found.level)
    decision = Decision(first, nearest, apart, len(games), found.level, study.stop_margin, every_look=True)
    decided = decision.verdict in (Verdict.BETTER, Verdict.NOT_WORSE)
    return {
        "margin": study.stop_margin,
        "decided": decided,
        "first": first,
        "nearest": nearest,
        "sentence": decision.sentence,
    }


@transaction.atomic
def follow(study: Study, rule: dict[str, Any] | None) -> None:
    """Pause an open study whose rule has decided, once for each rule; one changed meanwhile says nothing."""
    if not rule or not rule["decided"]:
        return
    now = Study.objects.select_for_update(no_key=True).filter(pk=study.pk, stop_margin=rule["margin"]).first()
    if now and not now.is_closed and not _has_acted(now):
        decide(now, Kind.PAUSED, None, f"{_SAID} {rule['sentence']}")


def _has_acted(study: Study) -> bool:
    acted = study.events.filter(kind=Kind.PAUSED, by=None, note__startswith=_SAID).first()
    changed = study.events.filter(kind=Kind.SETTING, note__startswith="Stopping rule").first()
    return acted is not None and (changed is None or changed.at < acted.at)
