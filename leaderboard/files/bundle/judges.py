"""How each judge was set up when a bundle was packed, without addresses, keys and accounts."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Q

from arena.models import Rater
from judging.judges.asked import all_asked_by
from judging.judges.services import JudgeError
from judging.models import Judge, Panel
from judging.protocols.protocol import UnknownProtocolError
from judging.spending.reservations import prices_of
from leaderboard.pages.rater_kinds.judge_facts import PUBLIC_OPTIONS


def configurations(raters: Iterable[int]) -> list[dict[str, Any]]:
    """The judges among raters, and the members of their panels, by slug, as JSON values."""
    ids = list(raters)
    judges = Judge.objects.filter(Q(rater__in=ids) | Q(panels__rater__in=ids))
    found = {judge.rater_id: _judge(judge) for judge in judges.whole().distinct()}
    panels = Panel.objects.filter(rater__in=ids).select_related("rater")
    found |= {panel.rater_id: _panel(panel) for panel in panels}
    others = Rater.objects.filter(pk__in=ids, kind=Rater.Kind.JUDGE).exclude(pk__in=found)
    found |= {rater.pk: {**_named(rater), **_from_elsewhere(rater)} for rater in others}
    return sorted(found.values(), key=lambda one: (one["judge"], one["name"]))


def _named(rater: Rater) -> dict[str, Any]:
    return {"judge": rater.slug, "name": rater.name, "simulated": rater.simulated}


def _panel(panel: Panel) -> dict[str, Any]:
    members = panel.members.order_by("rater__slug").values_list("rater__slug", flat=True)
    return {**_named(panel.rater), "kind": "panel", "rule": panel.rule, "members": list(members)}


def _from_elsewhere(rater: Rater) -> dict[str, Any]:
    if rater.is_panel:
        return {"kind": "panel", "members": rater.derived_from}
    return {"kind": "ratings from elsewhere", **rater.facts}


def _judge(judge: Judge) -> dict[str, Any]:
    options = judge.options
    return {
        **_named(judge.rater),
        "kind": "model",
        "endpoint": judge.provider,
        "model": "" if judge.is_simulated else judge.model,
        "protocol": judge.protocol,
        "answer_scale": judge.form,
        "points": judge.points,
        **_asked(judge),
        **{
            name: getattr(judge, name)
            for name in (
                "samples",
                "rates_criteria",
                "both_orders",
                "logprobs",
                "temperature",
                "max_tokens",
                "timeout",
            )
        },
        "options": {name: options[name] for name in PUBLIC_OPTIONS if name in options},
        "options_withheld": sorted(set(options) - set(PUBLIC_OPTIONS)),
        "simulation": judge.simulation,
        "prices": [] if judge.is_simulated else list(_prices(judge)),
    }


def _asked(judge: Judge) -> dict[str, Any]:
    """Parameters and wording; without the wording where this version would word it otherwise."""
    try:
        configured = judge.configured_protocol
    except UnknownProtocolError:  # of another version of this program
        return {"parameters": judge.parameters, "prompt_hash": judge.prompt_hash, "wording": None}
    as_asked = judge.prompt_hash in ("", configured.prompt_hash)
    return {
        "parameters": dict(configured.values),
        "prompt_hash": judge.prompt_hash or configured.prompt_hash,
        "wording": configured.shape if as_asked else None,
    }


def _prices(judge: Judge) -> Iterator[dict[str, Any]]:
    """The prices of a million tokens of every model it asks; None where not known."""
    try:
        asked = all_asked_by(judge)
    except (JudgeError, UnknownProtocolError):
        return
    for each, price in zip(asked, prices_of(asked), strict=True):
        known = price and {"prompt": str(price.prompt), "completion": str(price.completion)}
        yield {"model": each.model, "currency": price and price.currency, **(known or {})}
