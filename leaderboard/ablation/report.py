"""An ablation of a study as it is now: the content with what is known of each judge, its costs and flags."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from arena.models import Study
from leaderboard.ablation.beside import beside
from leaderboard.ablation.content import side_by_side
from leaderboard.ablation.spending import judges_behind, spending
from leaderboard.flags import Answers, Flag
from leaderboard.judge_facts import judge_facts
from leaderboard.judge_flags import judge_flags

if TYPE_CHECKING:
    from leaderboard.stats import Method


def report(study: Study, selectors: Sequence[str], method: Method) -> dict[str, Any]:
    """The raters side by side, from the comparisons as they are now. Raises NothingInCommonError."""
    from leaderboard.reading.games import opinions

    read = opinions(study)
    content = side_by_side(read, beside(study, read), selectors, method)
    spent = spending_of(study, content, method.interval)
    said = flags_of(study, content)
    for own in content["raters"]:
        selector = own["selector"]
        own["judge"] = _facts(study, selector)
        own["cost"] = spent.get(selector)
        own["flags"] = [asdict(flag) for flag in said.get(selector, [])]
    return {"study": study.slug} | content


def as_json(found: Mapping[str, Any]) -> str:
    """Indented JSON; the keys are those of docs/ablations.md."""
    return json.dumps(found, indent=2, allow_nan=False, ensure_ascii=False)


def spending_of(study: Study, content: Mapping[str, Any], level: float) -> dict[str, dict[str, Any] | None]:
    """What the answers of each judge in the content cost, by selector."""
    slugs = {
        own["selector"]: own["selector"].partition(":")[2]
        for own in content["raters"]
        if own["selector"].startswith("judge:")
    }
    behind = judges_behind(slugs.values())
    return {selector: spending(study, behind[slug], level) for selector, slug in slugs.items()}


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


def _facts(study: Study, selector: str) -> dict[str, Any] | None:
    """How a judge was asked, as far as everybody may know it."""
    from django.utils import timezone

    facts = judge_facts(study, selector, timezone.now())
    if facts is None:
        return None
    return {
        "model": facts.model or None,
        "protocol": facts.protocol,
        "family": facts.family,
        "citation": facts.citation,
        "answer_scale": facts.form,
        "points": facts.points,
        "setup": dict(facts.setup),
        "sampling": dict(facts.sampling),
    }
