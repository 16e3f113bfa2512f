"""Records for imports in tests: one prompt p1, contestants A and B, the rater ann."""

from typing import Any

from arena.data.formats.records import (
    AnswerRecord,
    ComparisonRecord,
    CompletionRecord,
    FeatureRecord,
    GoldRecord,
    Item,
    Place,
    PromptRecord,
    QuestionRecord,
    ScoreRecord,
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


_OF_A: dict[str, Any] = {"prompt": "p1", "contestant": "A", "rater": "ann", "rater_kind": "person"}


def question(text: str = "Is it polite?", position: int | None = 1, **more: Any) -> QuestionRecord:
    return QuestionRecord(**{"prompt": "p1", "text": text, "position": position, **more})


def text_score(score: float | None = 4, line: int = 0, file: str = "scores", **more: Any) -> ScoreRecord:
    return ScoreRecord(**{**_OF_A, "score": score, "place": Place(file, line), **more})


def answer(value: str | None = "yes", line: int = 0, file: str = "answers", **more: Any) -> AnswerRecord:
    return AnswerRecord(**{**_OF_A, "question": 1, "answer": value, "place": Place(file, line), **more})


def feature(value: float = 0.5, line: int = 0, **more: Any) -> FeatureRecord:
    whose: dict[str, Any] = {"prompt": "p1", "contestant": "A", "name": "entropy", "variant": "paper"}
    return FeatureRecord(**{**whose, "value": value, "place": Place("features", line), **more})


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
