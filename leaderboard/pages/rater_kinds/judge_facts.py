"""What everybody may know of a judge: its model and how it was asked, never where or with whose key.

Own judges are configured here; what is known of an imported one stands in its file (``Rater.facts``).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Max, Min

from arena.models import Rater, Study
from judging.models import Judge, JudgeRun
from judging.protocols.answer_scales import FORMS, TEXT_FORMS
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.protocol import About, Protocol, UnknownProtocolError

PUBLIC_OPTIONS: Final = (
    *("top_p", "top_k", "min_p", "typical_p", "seed", "n", "stop", "frequency_penalty", "presence_penalty"),
    *("repetition_penalty", "reasoning_effort", "verbosity", "max_completion_tokens"),
)
"""Options of a request that shape a sample; others may tell of accounts or machines."""


@dataclass(frozen=True)
class JudgeFacts:
    """A judge's public facts and its runs over one study. ``model`` is empty for a simulated one.

    ``protocol_name`` is short, for tables and files; ``family`` is that of the protocol, ``form`` the answer
    scale in words, ``setup`` what the protocol leaves to the judge. An ``order_free`` judge sees each answer
    alone, so its verdicts in both orders agree by themselves. An imported judge has no answer scale;
    ``prices`` and ``seconds`` are as its file says.
    """

    model: str
    protocol: str
    family: str = ""
    citation: str = ""
    form: str = ""
    points: int = 0
    setup: tuple[tuple[str, str], ...] = ()
    sampling: tuple[tuple[str, str], ...] = ()
    simulated: bool = False
    runs: int = 0
    first_run: datetime | None = None
    last_run: datetime | None = None
    order_free: bool = False
    imported: bool = False
    source: str = ""
    prices: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    protocol_name: str = ""

    @property
    def costs(self) -> Iterator[tuple[str, str]]:
        """What the ratings of an imported judge take, in words."""
        prices = [
            f"{self.prices[name]:g} for {words}" for name, words in _PRICED.items() if name in self.prices
        ]
        if prices:
            yield "price", f"{self.prices.get('currency', '')} {', '.join(prices)}".strip()
        if self.seconds is not None:
            yield "seconds a rating", f"{self.seconds:g}"


_PRICED: Final = {
    "prompt": "a million tokens read",
    "completion": "a million tokens written",
    "thousand_pairs": "a thousand pairs",
}


def judge_facts(study: Study, selector: str, until: datetime) -> JudgeFacts | None:
    """Facts of one judge, with its runs begun ``until`` then.

    None for people, groups, panels, and imported judges of whom nothing is known.
    """
    return facts_of_judges(study, [selector], until).get(selector)


def facts_of_judges(study: Study, selectors: Iterable[str], until: datetime) -> dict[str, JudgeFacts]:
    """By selector, in two queries; judges without facts are left out."""
    slugs = _slugs(selectors)
    imported = Rater.objects.filter(study=study, kind="judge", slug__in=slugs).exclude(facts={})
    found = {f"judge:{one.slug}": JudgeFacts(imported=True, **_told(one)) for one in imported}
    judges = list(Judge.objects.filter(rater__slug__in=slugs).whole()) if slugs else []
    if not judges:
        return found
    rows = JudgeRun.objects.filter(study=study, judge__in=judges, created_at__lte=until).order_by()
    counted = rows.values("judge").annotate(n=Count("pk"), first=Min("created_at"), last=Max("created_at"))
    runs: dict[int, Mapping[str, Any]] = {row["judge"]: row for row in counted}
    none = {"n": 0, "first": None, "last": None}
    own = {f"judge:{judge.slug}": _facts(judge, runs.get(judge.pk, none)) for judge in judges}
    return own | found


def _slugs(selectors: Iterable[str]) -> list[str]:
    return [slug for kind, _, slug in (one.partition(":") for one in selectors) if kind == "judge"]


def _told(rater: Rater) -> dict[str, Any]:
    facts = {"model": "", "protocol": "", **rater.facts}
    return {**facts, "protocol_name": facts["protocol"], "simulated": rater.simulated}


def to_export(raters: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The facts of own judges as a file of raters has them, by rater."""
    judges = Judge.objects.filter(rater__in=list(raters)).whole()
    told = {judge.rater_id: _facts(judge, {"n": 0, "first": None, "last": None}) for judge in judges}
    return {
        rater: {
            "model": facts.model or None,
            "protocol": facts.protocol_name,
            "order_free": facts.order_free or None,
        }
        for rater, facts in told.items()
    }


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
        _form(judge, protocol),
        judge.points if judge.compares else 0,
        _setup(judge, protocol),
        _sampling(judge),
        judge.is_simulated,
        runs["n"],
        runs["first"],
        runs["last"],
        protocol is not None and _is_order_free(protocol),
        protocol_name=judge.protocol,
    )


def _is_order_free(protocol: Protocol) -> bool:
    return bool(protocol.steps) and all(step.about is not About.PAIR for step in protocol.steps)


def _form(judge: Judge, protocol: Protocol | None) -> str:
    words = (FORMS | TEXT_FORMS).get(judge.form, judge.form)
    bounds = next((step.score for step in protocol.steps if step.score), None) if protocol else None
    return f"{words} from {bounds[0]} to {bounds[1]}" if bounds and not judge.compares else words


def _setup(judge: Judge, protocol: Protocol | None) -> tuple[tuple[str, str], ...]:
    defaults = protocol.parameters if protocol else {}
    values = {name: parameter.default for name, parameter in defaults.items()} | judge.parameters
    combined = values.pop("combine", "")
    found = [(name.replace("_", " "), _in_words(value)) for name, value in values.items()]
    samples = max(judge.samples, protocol.samples if protocol else 1)
    if samples > 1:
        how = f"their {combined} counts" if combined else "the majority decides"
        found.append(("samples", f"{samples}, {how}"))
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


def _sampling(judge: Judge) -> tuple[tuple[str, str], ...]:
    if judge.is_simulated:
        return ()
    own = {"temperature": judge.temperature, "longest reply in tokens": judge.max_tokens}
    given = {name: judge.options[name] for name in PUBLIC_OPTIONS if name in judge.options}
    return tuple(
        (name, "as the endpoint does by itself" if value is None else str(value))
        for name, value in (own | given).items()
    )
