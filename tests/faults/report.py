"""The table at the end of a drill: one column for every place."""

from collections.abc import Mapping, Sequence

from tests.faults.evidence import Line

MARKS = {True: " ok", False: " BROKEN", None: ""}


def plain(reports: Mapping[str, Sequence[Line]]) -> str:
    """For a terminal."""
    head, *rows = _table(reports)
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    )


def markdown(reports: Mapping[str, Sequence[Line]]) -> str:
    """For docs/reliability.md."""
    head, *rows = _table(reports)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def _table(reports: Mapping[str, Sequence[Line]]) -> list[list[str]]:
    """Head and rows; a line that a place does not have stays empty there."""
    names: dict[str, None] = {}
    for report in sorted(reports.values(), key=len, reverse=True):  # the order of the fullest one
        names.update((line.what, None) for line in report)
    cells = {
        place: {line.what: line.value + MARKS[line.holds] for line in report}
        for place, report in reports.items()
    }
    return [["", *reports], *([name, *(cells[place].get(name, "") for place in reports)] for name in names)]
