"""An ablation as text for a terminal. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leaderboard.presentation import aligned, printable
from leaderboard.tables.judges import Line, correlation_lines, lines, spent, standings_lines
from leaderboard.tables.parts import Content

_Rows = Sequence[tuple[str, Sequence[tuple[str, str]]]]


def as_text(report: Content, ties: Sequence[str] = ("on", "off")) -> str:
    """Everything of a report, one table below the other; ``ties`` are the rules of standings."""
    labels = [printable(own["label"]) for own in report["raters"]]
    parts = [_about(report), *(f"Warning: {each}" for each in report["warnings"])]
    parts += [f"Flag: {printable(flag['sentence'])}" for own in report["raters"] for flag in own["flags"]]
    parts += [_asked(own) for own in report["raters"] if own["judge"]]
    parts.append(_table("measure", labels, _of_lines(lines(report))))
    parts += _histograms(report)
    for rule in ties:
        rows = standings_lines(report, rule)
        if rows:
            parts.append(f"Elo, ties {rule}: rank and rating.\n{_table('contestant', labels, rows)}")
    correlated = correlation_lines(report)
    if correlated:
        parts.append(f"Correlation with people.\n{_table('category', labels, correlated)}")
    costs = spent(report, {own["selector"]: own["cost"] for own in report["raters"]})
    if costs:
        parts.append(f"Per thousand pairs.\n{_table('measure', labels, _of_lines(costs))}")
    return "\n\n".join(parts)


def _about(report: Content) -> str:
    names = ", ".join(printable(own["label"]) for own in report["raters"])
    simulated = any(own["simulated"] for own in report["raters"])
    note = " Simulated votes are among them: a program made them up." if simulated else ""
    both = "; ".join(
        f"{printable(own['label'])}: {own['pairs']}, {own['pairs_in_both_orders']} of them in both orders"
        for own in report["raters"]
    )
    return (
        f"{report['study']}: {names} on the {report['pairs']} pairs of {report['prompts']} prompts that "
        f"every judge rated ({both}). Intervals of {report['level']:g} % over prompts; {report['rounds']} "
        f"rounds, seed {report['seed']}.{note}"
    )


def _asked(own: Content) -> str:
    judge = own["judge"]
    setup = "".join(f"; {name}: {value}" for name, value in judge["setup"].items())
    model = judge["model"] or "no model, simulated"
    return printable(
        f"{own['label']}: {model}, {judge['protocol']}, {judge['answer_scale']} "
        f"({judge['points']} points){setup}"
    )


def _of_lines(shown: Sequence[Line]) -> _Rows:
    return [(line.name, line.texts) for line in shown]


def _histograms(report: Content) -> Iterator[str]:
    """How often each rating was given as shown, one table for each scale in use."""
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
        yield f"Ratings as shown, {points} points, in percent: 1 is the completion shown first.\n{table}"


def _share(scale: Mapping[str, Any], rating: int) -> str:
    return f"{100 * scale['counts'][rating - 1] / max(1, scale['scored']):.1f}"


def _table(first: str, labels: Sequence[str], rows: _Rows) -> str:
    cells = [
        (printable(name), *(f"{value} ({note})" if note else value for value, note in row))
        for name, row in rows
    ]
    return "\n".join(aligned([(first, *labels), *cells], {first, *labels})).replace("\u00a0", " ")
