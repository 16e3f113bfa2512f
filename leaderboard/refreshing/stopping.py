"""The stopping rule of a study: pause it once people's votes show who is first."""

from __future__ import annotations

from typing import Any

from arena.models import Study, StudyEvent
from arena.studies.lifecycle import decide
from leaderboard.head_to_head.measuring import described
from leaderboard.head_to_head.verdict import Decision, Verdict
from leaderboard.snapshots.reading import Opinions
from leaderboard.stats import Method, StatsError
from leaderboard.stats.head_to_head import lead

Kind = StudyEvent.Kind


def rule_of(study: Study, opinions: Opinions, method: Method) -> dict[str, Any] | None:
    """How far the rule is from stopping, for a snapshot; None without a rule or anybody to rank."""
    if study.stop_margin is None:
        return None
    players = opinions.by(opinions.people).present()
    ratings = players.ratings()
    try:
        games = ratings.games(ties=True, resample="games" if ratings.prompt is None else "prompts")
        found = lead(games, method)
    except StatsError:
        return None
    first, nearest = players.names[found.first], players.names[found.nearest]
    apart = described(found.apart, found.level)
    decision = Decision(first, nearest, apart, len(games), found.level, study.stop_margin, every_look=True)
    decided = decision.verdict in (Verdict.BETTER, Verdict.NOT_WORSE)
    return {"decided": decided, "first": first, "nearest": nearest, "sentence": decision.sentence}


def follow(study: Study, rule: dict[str, Any] | None) -> None:
    """Pause an open study whose rule has decided, once for each rule."""
    if rule and rule["decided"] and not study.is_closed and not _has_acted(study):
        decide(study, Kind.PAUSED, None, f"By the stopping rule. {rule['sentence']}")


def _has_acted(study: Study) -> bool:
    acted = study.events.filter(kind=Kind.PAUSED, by=None).first()
    changed = study.events.filter(kind=Kind.SETTING, note__startswith="Stopping rule").first()
    return acted is not None and (changed is None or changed.at < acted.at)
