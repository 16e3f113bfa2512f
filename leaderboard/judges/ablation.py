"""Judges side by side as JSON and as text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from arena.models import Study
from leaderboard.judges.measuring import beside, side_by_side
from leaderboard.judges.table import Line, lines, spent
from leaderboard.pages.aligned_text import aligned, printable
from leaderboard.pages.format import NONE, counted, signed
from leaderboard.pages.rater_kinds.flags import flags_of
from leaderboard.pages.rater_kinds.judge_facts import judge_facts
from leaderboard.pages.rater_kinds.spending import spending_of
from leaderboard.pages.wording import on_intervals
from leaderboard.raters.agreement.table import category_names, without_pools
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.reading import opinions
from leaderboard.stats.ranking_method import Method


def report(study: Study, selectors: Sequence[str], method: Method) -> dict[str, Any]:
    """The raters side by side, from the comparisons of now. Raises NothingInCommonError."""
    read = opinions(study).at()
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
    """Indented JSON; the keys are those of docs/api.md."""
    return json.dumps(found, indent=2, allow_nan=False, ensure_ascii=False)


def _facts(study: Study, selector: str) -> dict[str, Any] | None:
    facts = judge_facts(study, selector, timezone.now())
    if facts is None:
        return None
    return {
        "model": facts.model or None,
        "protocol": facts.protocol,
        "family": facts.family,
        "citation": facts.citation,
        "answer_scale": facts.form or None,
        "points": facts.points or None,
        "setup": dict(facts.setup),
        "sampling": dict(facts.sampling),
        "order_free": facts.order_free,
        "simulated": facts.simulated,
        "source": facts.source or None,
        "prices": dict(facts.prices),
        "seconds": facts.seconds,
    }


_Rows = Sequence[tuple[str, Sequence[tuple[str, str]]]]


def as_text(report: Content, ties: Sequence[str] = ("on", "off")) -> str:
    """``ties`` are the rules of standings."""
    labels = [printable(own["label"]) for own in report["raters"]]
    parts = [_about(report), *(f"Warning: {each}" for each in report["warnings"])]
    parts += [f"Flag: {printable(flag['sentence'])}" for own in report["raters"] for flag in own["flags"]]
    parts += [_asked(own) for own in report["raters"] if own["judge"]]
    free = [own["selector"] for own in report["raters"] if own["judge"] and own["judge"]["order_free"]]
    parts.append(_table("measure", labels, _of_lines(lines(report, free))))
    parts += _histograms(report)
    for rule in ties:
        rows = _standings(report, rule)
        if rows:
            parts.append(f"Elo, ties {rule}: rank and score.\n{_table('model', labels, rows)}")
    correlated = _correlations(report)
    if correlated:
        parts.append(f"Pearson r with the mean of people.\n{_table('category', labels, correlated)}")
    costs = spent(report, {own["selector"]: own["cost"] for own in report["raters"]})
    if costs:
        parts.append(f"Per thousand pairs.\n{_table('measure', labels, _of_lines(costs))}")
    return "\n\n".join(parts)


def _about(report: Content) -> str:
    names = ", ".join(printable(own["label"]) for own in report["raters"])
    simulated = any(own["simulated"] for own in report["raters"])
    note = " Some ratings are simulated." if simulated else ""
    both = "; ".join(
        f"{printable(own['label'])}: {own['pairs']}, {own['pairs_in_both_orders']} of them in both orders"
        for own in report["raters"]
    )
    intervals = on_intervals(
        f"Intervals of {report['level']:g}% over prompts; {report['rounds']} resamples, "
        f"seed {report['seed']}.",
        report["raters"],
    )
    return (
        f"{report['study']}: {names} on the {counted(report['pairs'], 'pair')} of "
        f"{counted(report['prompts'], 'prompt')} that every judge rated ({both}). "
        f"{intervals}{note}"
    )


def _asked(own: Content) -> str:
    judge = own["judge"]
    setup = "".join(f"; {name}: {value}" for name, value in judge["setup"].items())
    model = judge["model"] or ("no model, simulated" if judge["simulated"] else "")
    scale = f"{judge['answer_scale']} ({judge['points']} points)" if judge["points"] else ""
    source = f"imported from {judge['source']}" if judge["source"] else ""
    known = filter(None, (model, judge["protocol"], scale, source))
    return printable(f"{own['label']}: {', '.join(known) or 'imported'}{setup}")


def _of_lines(shown: Sequence[Line]) -> _Rows:
    return [(line.name, line.texts) for line in shown]


def _histograms(report: Content) -> Iterator[str]:
    by_scale: dict[int, dict[str, Mapping[str, Any]]] = {}
    for own in report["raters"]:
        for scale in own["ratings"]["scales"]:
            by_scale.setdefault(scale["points"], {})[own["label"]] = scale
    for points, found in sorted(by_scale.items(), reverse=True):
        rows = [
            (str(rating), [(_share(scale, rating), "") for scale in found.values()])
            for rating in range(1, points + 1)
        ]
        table = _table("rating", [printable(label) for label in found], rows)
        yield f"Ratings as shown, {points} points, in percent: 1 favours the answer shown first.\n{table}"


def _share(scale: Mapping[str, Any], rating: int) -> str:
    return f"{100 * scale['counts'][rating - 1] / max(1, scale['scored']):.1f}"


def _standings(content: Content, ties: str) -> _Rows:
    boards = [_board(own, ties) for own in content["raters"]]
    return [(name, [_standing(board.get(name)) for board in boards]) for name in _order(boards)]


def _board(own: Content, ties: str) -> dict[str, Content]:
    found = own["standings"][ties]
    return {row["contestant"]: row for row in found["standings"]} if found else {}


def _order(boards: Sequence[Mapping[str, Any]]) -> list[str]:
    """Contestants as the first who ranks them does, then those that others add."""
    return list(dict.fromkeys(name for board in boards for name in board))


def _standing(row: Content | None) -> tuple[str, str]:
    if row is None or row["rating"] is None:
        return NONE, ""
    interval = "" if row["low"] is None else f"{row['low']:.0f} to {row['high']:.0f}"
    return f"{row['rank']}. {row['rating']:.0f}", interval


def _correlations(content: Content) -> _Rows:
    own = [_by_category(each) for each in content["raters"]]
    names = list(dict.fromkeys(name for each in own for name in each))
    return [(name, [_coefficient(each.get(name)) for each in own]) for name in names]


def _by_category(own: Content) -> dict[str, Content]:
    rows = without_pools({"rows": own["correlation"]})["rows"]
    return dict(zip(category_names(rows), rows, strict=True))


def _coefficient(row: Content | None) -> tuple[str, str]:
    if row is None or row["pearson"] is None:
        return NONE, (row or {}).get("reason") or ""
    low, high = row["pearson_low"], row["pearson_high"]
    interval = "" if low is None else f"{signed(low)} to {signed(high)}; "
    return signed(row["pearson"]), interval + counted(row["n"], "pair")


def _table(first: str, labels: Sequence[str], rows: _Rows) -> str:
    cells = [
        (printable(name), *(f"{value} ({note})" if note else value for value, note in row))
        for name, row in rows
    ]
    return "\n".join(aligned([(first, *labels), *cells], {first, *labels})).replace("\u00a0", " ")
