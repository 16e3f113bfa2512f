"""An ablation of a study as it is now: the content with what is known of each judge, its costs and flags."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from arena.models import Study
from leaderboard.judges.beside import beside
from leaderboard.judges.content import side_by_side
from leaderboard.judges.spending import spending_of
from leaderboard.rater_kinds.facts import judge_facts
from leaderboard.rater_kinds.flags_of_study import flags_of
from leaderboard.snapshots.opinions import opinions
from leaderboard.stats import Method


def report(study: Study, selectors: Sequence[str], method: Method) -> dict[str, Any]:
    """The raters side by side, from the comparisons as they are now. Raises NothingInCommonError."""
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


def _facts(study: Study, selector: str) -> dict[str, Any] | None:
    """How a judge was asked, as far as everybody may know it."""
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
