"""Records for imports in tests: one prompt p1, contestants A and B, the rater ann."""

from typing import Any

from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    GoldRecord,
    Item,
    Place,
    PromptRecord,
)
from arena.data.importing.import_report import ImportReport


def completion(contestant: str | None, text: str = "An answer.", **more: Any) -> CompletionRecord:
    return CompletionRecord(**{"prompt": "p1", "contestant": contestant, "turns": (text,), **more})


def vote(rating: int | None = 3, line: int = 0, file: str = "votes", **more: Any) -> ComparisonRecord:
    sides = {"prompt": "p1", "first": "A", "second": "B"}
    values = {
        "rater": "ann",
        "rater_kind": "person",
        "points": 8,
        "rating": rating,
        "place": Place(file, line),
    }
    return ComparisonRecord(**{**sides, **values, **more})


def gold(label: str = "first", line: int = 0, **more: Any) -> GoldRecord:
    sides = {"prompt": "p1", "first": "A", "second": "B"}
    values = {"gold": label, "source": "experts", "place": Place("gold", line)}
    return GoldRecord(**{**sides, **values, **more})


def stock(**texts: str) -> list[Item]:
    """One prompt and a completion of it by each of A and B, unless other texts are named."""
    texts = texts or {"A": "Answer of A.", "B": "Answer of B."}
    return [
        PromptRecord("p1", ("Say hello.",)),
        *(completion(contestant, text) for contestant, text in texts.items()),
    ]


def reasons(report: ImportReport) -> list[str]:
    return [str(problem) for problem in report.errors]


def added(report: ImportReport) -> dict[str, int]:
    return {kind: counts.added for kind, counts in report.counts.items() if counts.added}
