"""What everybody may know of a judge: its model and how it was asked, never where or with whose key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Max, Min

from arena.models import Study
from judging.models import Judge, JudgeRun
from judging.protocols.answer_scales import FORMS
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.protocol import Protocol, UnknownProtocolError

SHOWN: Final = (
    *("rater__slug", "rater__name", "provider", "model", "protocol", "form", "points"),
    *("parameters", "wording", "samples", "temperature", "max_tokens", "options"),
)
"""The columns of a judge that pages show something of."""

PUBLIC_OPTIONS: Final = (
    *("top_p", "top_k", "min_p", "typical_p", "seed", "n", "stop", "frequency_penalty", "presence_penalty"),
    *("repetition_penalty", "reasoning_effort", "verbosity", "max_completion_tokens"),
)
"""Options of a request that shape a sample; others may tell of accounts or machines."""


@dataclass(frozen=True)
class JudgeFacts:
    """A judge's public facts and its runs over one study. ``model`` is empty for a simulated one.

    ``family`` is that of the protocol, ``form`` the answer scale in words, ``setup`` what the protocol leaves
    to the judge.
    """

    model: str
    protocol: str
    family: str
    citation: str
    form: str
    points: int
    setup: tuple[tuple[str, str], ...]
    sampling: tuple[tuple[str, str], ...]
    simulated: bool
    runs: int
    first_run: datetime | None
    last_run: datetime | None


def judge_facts(study: Study, selector: str, until: datetime) -> JudgeFacts | None:
    """Facts of one judge, with its runs begun ``until`` then.

    None for people, groups, panels, and judges whose votes were imported.
    """
    return facts_of_judges(study, [selector], until).get(selector)


def facts_of_judges(study: Study, selectors: Iterable[str], until: datetime) -> dict[str, JudgeFacts]:
    """By selector, in two queries; judges without facts are left out."""
    slugs = [slug for kind, _, slug in (one.partition(":") for one in selectors) if kind == "judge"]
    judges = list(Judge.objects.filter(rater__slug__in=slugs).select_related("rater")) if slugs else []
    if not judges:
        return {}
    rows = JudgeRun.objects.filter(study=study, judge__in=judges, created_at__lte=until).order_by()
    counted = rows.values("judge").annotate(n=Count("pk"), first=Min("created_at"), last=Max("created_at"))
    runs: dict[int, Mapping[str, Any]] = {row["judge"]: row for row in counted}
    none = {"n": 0, "first": None, "last": None}
    return {f"judge:{judge.slug}": _facts(judge, runs.get(judge.pk, none)) for judge in judges}


def _facts(judge: Judge, runs: Mapping[str, Any]) -> JudgeFacts:
    protocol: Protocol | None
    try:
        protocol = PROTOCOLS.named(judge.protocol)
    except UnknownProtocolError:  # of another version of this program
        protocol = None
    return JudgeFacts(
        "" if judge.is_simulated else judge.model,
        protocol.title if protocol else judge.protocol,
        protocol.family if protocol else "",
        protocol.citation if protocol else "",
        FORMS.get(judge.form, judge.form),
        judge.points,
        _setup(judge, protocol),
        _sampling(judge),
        judge.is_simulated,
        runs["n"],
        runs["first"],
        runs["last"],
    )


def _setup(judge: Judge, protocol: Protocol | None) -> tuple[tuple[str, str], ...]:
    defaults = protocol.parameters if protocol else {}
    values = {name: parameter.default for name, parameter in defaults.items()} | judge.parameters
    found = [(name.replace("_", " "), _in_words(value)) for name, value in values.items()]
    samples = max(judge.samples, protocol.samples if protocol else 1)
    if samples > 1:
        found.append(("samples", f"{samples}, the majority decides"))
    if judge.wording:
        texts = ", ".join(sorted(judge.wording))
        found.append(("wording", f"own wording, hash {wording_hash(judge)[:12]} ({texts})"))
    return tuple(found)


def _in_words(value: Any) -> str:
    listed = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return listed or "none"


def wording_hash(judge: Judge) -> str:
    """The hash, in hex, of the wording of the judge's first run, or of how it would ask now."""
    return judge.prompt_hash or judge.current_prompt_hash()


def as_they_are(selectors: Iterable[str]) -> list[tuple[Any, ...]]:
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
