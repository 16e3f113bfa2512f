"""How often judges are right, as JSON and as text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from leaderboard.pages.aligned_text import aligned, printable
from leaderboard.pages.format import counted
from leaderboard.pages.units import COEFFICIENT, POINTS, SHARE, Estimate
from leaderboard.pages.wording import enumerated, on_intervals
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.settings import LABELS
from leaderboard.trust.measures import ACCURACY, MEASURES, OVER_MODELS, OVER_PROTOCOLS
from leaderboard.trust.table import model_lines, protocol_lines

_COLUMNS: Final = tuple(each for each in MEASURES if each.key in ("hedging", "unscored", "first"))
_WITH_ENDS: Final = tuple(each for each in MEASURES if each.terminal and each not in (ACCURACY, *_COLUMNS))
"""In a table of their own, with their intervals."""


def as_json(found: Content) -> str:
    """Indented JSON; the keys are those of docs/api.md."""
    return json.dumps(found, indent=2, allow_nan=False, ensure_ascii=False)


def as_text(found: Content) -> str:
    used = found["parameters"]
    named = [*used["subsets"], *used["groups"], None] if len(used["subsets"]) > 1 else [*used["subsets"]]
    averaged = _averaged(found)
    parts = [_about(found)]
    for name in named:
        header = ("", ACCURACY.terminal, "interval", *(each.terminal for each in _COLUMNS), "ratings")
        title = f"Mean of {averaged}" if name is None else printable(name)
        parts.append(f"{title}, percent.\n" + "\n".join(aligned([header, *_rows(found, name)], {""})))
        header = ("", *(each.terminal for each in _WITH_ENDS))
        measures = aligned([header, *_measures(found, name)], {""})
        parts.append(f"{title}, percent, alpha and kappa, with intervals.\n" + "\n".join(measures))
    if found["lead"]:
        parts.append(_lead(found["lead"], len(found["judges"])))
    if found["matrix"]:
        parts += _matrix(found, named)
    return "\n\n".join(parts)


def _averaged(found: Content) -> str:
    """The subsets of the average, named where some are left out."""
    used = found["parameters"]
    few = len(used["averaged"]) < len(used["subsets"])
    return printable(", ".join(used["averaged"])) if few else "the subsets"


def _about(found: Content) -> str:
    used = found["parameters"]
    gold = (
        used["gold"] if used["gold"] == LABELS else f"the majority of {used['gold']}, {used['least']} or more"
    )
    left = f", {used['ties_left_out']} ties left out" if used["ties_left_out"] else ""
    few = f", {used['too_few_people']} rated by too few left out" if used["too_few_people"] else ""
    rule = f"as published by {used['as_published']}" if used["as_published"] else f"ties {used['ties']}"
    how = rule if used["as_published"] else f"not rated: {used['unscored']}; {rule}"
    apart = (
        f" No judge was asked about {printable(', '.join(used['not_asked']))}." if used["not_asked"] else ""
    )
    simulated = any(each["simulated"] for each in found["judges"])
    pairs = counted(used["instances"], "pair")
    intervals = on_intervals(
        f"Intervals of {used['level']:g}% over prompts; {used['rounds']} resamples, seed {used['seed']}.",
        found["judges"],
    )
    return (
        f"{found['study']}: {pairs} with a right answer by {gold}{left}{few}; {how}. {intervals}"
        f"{apart}{' Some judges are simulated.' if simulated else ''}"
    )


def _rows(found: Content, name: str | None) -> Iterator[tuple[str, ...]]:
    for called, own in _figures(found, name):
        right = ACCURACY.estimate(own)
        scored = f"{own['scored']} of {own['asked']}" if "scored" in own else ""
        shares = (SHARE.printed(own.get(each.key)) for each in _COLUMNS)
        yield called, SHARE.printed(right.value), SHARE.ends(right), *shares, scored


def _measures(found: Content, name: str | None) -> Iterator[tuple[str, ...]]:
    for called, own in _figures(found, name):
        yield (called, *(each.unit.with_ends(each.estimate(own)) for each in _WITH_ENDS))


def _figures(found: Content, name: str | None) -> Iterator[tuple[str, Content]]:
    """Names and figures of judges and baselines in a part; on average where it is None."""
    for each in (*found["judges"], *found["baselines"]):
        own = each["average"] if name is None else each["subsets"].get(name) or each["groups"][name]
        yield printable(each.get("judge") or each["baseline"]), own


def _lead(lead: Content, judges: int) -> str:
    first = [printable(name) for name in (lead["judge"], *lead["equal"])]
    are, share = "is" if len(first) == 1 else "are", f"{SHARE.printed(lead['accuracy'])}%"
    right = f"right most often: {share}" if judges > len(first) else f"right in {share} of ratings"
    sentences = [f"{enumerated(first)} {are} {right}."]
    for other in (None if lead["equal"] else lead.get("next"), lead.get("baseline")):
        if other:
            name = printable(other.get("judge") or f"the rule “{other['baseline']}”")
            sentences.append(f"Against {name}: {_difference(other)}.")
    return " ".join(sentences)


def _difference(found: Mapping[str, Any]) -> str:
    points = POINTS.with_ends(Estimate.bare(found, "difference"), " points")
    counts = f"alone right, where asked in the same order, {found['only_judge']} to {found['only_base']}"
    p = _p("McNemar by prompt p", found["mcnemar"])
    return f"{points}; {counts}, {p}"


def _p(name: str, value: float) -> str:
    return f"{name} < 0.0001" if value < 1e-4 else f"{name} {value:.2g}"


def _matrix(content: Content, parts: Sequence[str | None]) -> Iterator[str]:
    for part in parts:
        where = f"mean of {_averaged(content)}" if part is None else printable(part)
        for first, over, lines, measures in (
            ("protocol", "models", protocol_lines, OVER_MODELS),
            ("model", "protocols", model_lines, OVER_PROTOCOLS),
        ):
            rows = [
                (
                    printable(line.name),
                    *(each.unit.with_ends(each.estimate(line.figures)) for each in measures),
                )
                for line in lines(content, part or "")
            ]
            header = (first, *(each.terminal for each in measures))
            title = f"Each {first} over {over}, {where}; percent, points, p and alpha, with intervals."
            yield f"{title}\n" + "\n".join(aligned([header, *rows], {first}))
    matrix = content["matrix"]
    header = ("", "n", "Spearman", "Kendall")
    rows = [
        (
            printable(f"{each['one']} and {each['other']}, over {each['over']}"),
            str(each["n"]),
            *(COEFFICIENT.with_ends(Estimate.of(each, name)) for name in ("spearman", "kendall")),
        )
        for each in matrix["correlations"]
    ]
    yield "Rank correlations.\n" + "\n".join(aligned([header, *rows], {""}))
    for each in matrix["differences"]:
        holm = _p("by Holm", each["mcnemar_adjusted"])
        yield f"{printable(each['judge'])} against {printable(each['base'])}: {_difference(each)}, {holm}."
