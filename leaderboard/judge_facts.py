"""What everybody may know of a judge: its model and how it was asked, never where or with whose key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Max, Min

from arena.models import Contestant, Study
from judging.models import Judge, JudgeRun
from judging.protocols import PROTOCOLS
from leaderboard import families

SHOWN: Final = (
    *("rater__slug", "rater__name", "provider", "model", "protocol", "points"),
    *("temperature", "max_tokens", "options"),
)
"""The columns of a judge that pages show something of."""

PUBLIC_OPTIONS: Final = (
    *("top_p", "top_k", "min_p", "typical_p", "seed", "n", "stop", "frequency_penalty", "presence_penalty"),
    *("repetition_penalty", "reasoning_effort", "verbosity", "max_completion_tokens"),
)
"""Options of a request that shape a sample. Others may tell of accounts or machines and are not shown."""


@dataclass(frozen=True)
class JudgeFacts:
    """A judge's public facts and its runs over one study. ``model`` is empty for a simulated one."""

    model: str
    protocol: str
    citation: str
    points: int
    sampling: tuple[tuple[str, str], ...]
    simulated: bool
    runs: int
    first_run: datetime | None
    last_run: datetime | None


def judge_facts(study: Study, selector: str, until: datetime) -> JudgeFacts | None:
    """The facts of the judge a selector names, with its runs begun until then.

    None for people, groups, and judges that votes were imported from.
    """
    kind, _, slug = selector.partition(":")
    judge = Judge.objects.filter(rater__slug=slug).first() if kind == "judge" else None
    if judge is None:
        return None
    runs = JudgeRun.objects.filter(study=study, judge=judge, created_at__lte=until).aggregate(
        n=Count("pk"), first=Min("created_at"), last=Max("created_at")
    )
    protocol = PROTOCOLS.get(judge.protocol)
    return JudgeFacts(
        "" if judge.is_simulated else judge.model,
        protocol.title if protocol else judge.protocol,
        protocol.citation if protocol else "",
        judge.points,
        _sampling(judge),
        judge.is_simulated,
        runs["n"],
        runs["first"],
        runs["last"],
    )


def as_they_are(selectors: Iterable[str]) -> list[tuple[Any, ...]]:
    """What pages show of some judges, for telling whether that changed: no snapshot holds it."""
    slugs = [slug for kind, _, slug in (one.partition(":") for one in selectors) if kind == "judge"]
    return list(Judge.objects.filter(rater__slug__in=slugs).order_by("pk").values_list(*SHOWN))


def _sampling(judge: Judge) -> tuple[tuple[str, str], ...]:
    if judge.is_simulated:
        return ()
    own = {"temperature": judge.temperature, "longest reply in tokens": judge.max_tokens}
    given = {name: judge.options[name] for name in PUBLIC_OPTIONS if name in judge.options}
    return tuple(
        (name, "as the endpoint does by itself" if value is None else str(value))
        for name, value in (own | given).items()
    )


def relatives(study: Study, judges: Mapping[str, str]) -> dict[str, list[str]]:
    """Contestants that share a name with each judge; ``judges`` are selectors and labels.

    A judge is known by its model, or by its label where its votes were imported; simulated ones are nobody.
    """
    slugs = {selector: selector.partition(":")[2] for selector in judges}
    rows = Judge.objects.filter(rater__slug__in=slugs.values())
    models = {judge.slug: "" if judge.is_simulated else judge.model for judge in rows.select_related("rater")}
    models_in_study = Contestant.objects.filter(study=study, kind=Contestant.Kind.MODEL)
    contestants = [families.Contestant(*row) for row in models_in_study.values_list("name", "family")]
    return {
        selector: families.relatives(models.get(slugs[selector], label), contestants)
        for selector, label in judges.items()
    }
