"""What a judge's answers cost in calls, tokens, money and time per thousand pairs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from django.db.models import Case, Count, F, FloatField, Q, Sum, Value, When
from django.db.models.functions import Cast, Coalesce

from arena.models import Study
from judging.models import Judge, JudgeCall, Panel
from leaderboard.stats.clustered_means import mean_estimate, share_estimate
from leaderboard.stats.plain_values import UNDEFINED, rounded

PER: Final = 1000
"""Pairs."""

_SUMMED: Final = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "seconds": "latency",
    "cost": "cost",
}

_MEASURED: Final = ("calls", *_SUMMED)


def judges_behind(slugs: Iterable[str]) -> dict[str, list[int]]:
    """The judges behind each slug: itself, or the members of the panel."""
    wanted = list(slugs)
    found: dict[str, list[int]] = {slug: [] for slug in wanted}
    for slug, pk in Judge.objects.filter(rater__slug__in=wanted).values_list("rater__slug", "pk"):
        found[slug].append(pk)
    members = Panel.objects.filter(rater__slug__in=wanted).values_list("rater__slug", "members")
    for slug, member in members:
        if member is not None:
            found[slug].append(member)
    return found


def spending(study: Study, judges: list[int], level: float = 95.0) -> dict[str, Any] | None:
    """The cost of calls per thousand pairs, with intervals over prompts; None without a call.

    ``calls`` were sent to an endpoint, ``cached`` replies were not; ``cached_share`` is of both. ``seconds``
    add up over calls, of which several may have been in flight. ``cost`` is that of priced calls, None
    without any; ``unpriced`` counts the others.
    """
    rows = list(_by_prompt(study, judges))
    if not rows:
        return None
    column = {name: np.array([float(row[name]) for row in rows]) for name in (*_MEASURED, "pairs", "cached")}
    priced, unpriced = (sum(row[name] for row in rows) for name in ("priced", "unpriced"))
    found: dict[str, Any] = {
        "pairs": int(column["pairs"].sum()),
        "prompts": len(rows),
        "per": PER,
        "failed": sum(row["failed"] for row in rows),
        "unpriced": unpriced,
        "currency": _currency(study, judges),
    }
    for name in _MEASURED:
        each = mean_estimate(PER * column[name], column["pairs"], level)
        found[name] = each.clipped(0.0, np.inf).estimate if name != "cost" or priced else UNDEFINED
    share = share_estimate(column["cached"], column["cached"] + column["calls"], level)
    return dict(rounded(found | {"cached_share": share.estimate}))


def _by_prompt(study: Study, judges: list[int]) -> Iterator[dict[str, Any]]:
    asked = Q(cached_from__isnull=True)
    calls = JudgeCall.objects.filter(run__study=study, run__judge__in=judges).exclude(state="in_flight")
    rows = calls.order_by().values(prompt=F("assignment__pair__prompt"))
    paid = asked & Q(state="replied")

    def total(field: str) -> Coalesce:
        of_asked = Case(When(asked, then=Cast(field, FloatField())), default=Value(0.0))
        return Coalesce(Sum(of_asked), 0.0)

    found = rows.annotate(
        pairs=Count("assignment__pair", distinct=True),
        calls=Count("pk", filter=asked),
        cached=Count("pk", filter=~asked),
        failed=Count("pk", filter=Q(state="failed")),
        priced=Count("pk", filter=paid & Q(cost__isnull=False)),
        unpriced=Count("pk", filter=paid & Q(cost__isnull=True)),
        **{f"{name}_total": total(field) for name, field in _SUMMED.items()},
    )
    for row in found:
        sums: dict[str, Any] = {**row}
        yield sums | {name: sums[f"{name}_total"] for name in _SUMMED}


def _currency(study: Study, judges: list[int]) -> str | None:
    """The currency of the runs; several are joined by commas."""
    runs = study.judge_runs.filter(judge__in=judges).exclude(purse__currency="").order_by()
    return ", ".join(sorted(set(runs.values_list("purse__currency", flat=True)))) or None


def spending_of(study: Study, content: Mapping[str, Any], level: float) -> dict[str, dict[str, Any] | None]:
    """Costs of each judge in the content, by selector."""
    slugs = {
        own["selector"]: own["selector"].partition(":")[2]
        for own in content["raters"]
        if own["selector"].startswith("judge:")
    }
    behind = judges_behind(slugs.values())
    return {selector: spending(study, behind[slug], level) for selector, slug in slugs.items()}
