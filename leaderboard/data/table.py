"""Tables of lengths of texts, ratings per pair, and replies without a rating."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leaderboard.pages.format import counted
from leaderboard.pages.guessed import guessed_rows
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import Cell
from leaderboard.snapshots.canonical import Content

LENGTHS: Final = {
    "words": "words",
    "tokens": "tokens",
    "unique_words": "unique words",
    "characters": "characters",
}

TEXTS: Final = {"prompt": "Prompts", "completion": "Answers", "demonstration": "Demonstrations"}

EVERYTHING: Final = "All prompts"

_SUMMARY: Final = ("count", "unknown", "mean", "sd", "min", "q1", "median", "q3", "max")
_COLUMNS: Final = ("n", "Unknown", "Mean", "SD", "Min", "Q1", "Median", "Q3", "Max")


@dataclass(frozen=True)
class TextLengths:
    """Lengths of one kind of texts in one part of a study; numbers are None without texts."""

    part: str
    prompts: int
    what: str
    measure: str
    count: int
    unknown: int
    mean: float | None
    sd: float | None
    min: float | None
    q1: float | None
    median: float | None
    q3: float | None
    max: float | None


def part_name(group: Mapping[str, Any]) -> str:
    if group["category"] is not None:
        return str(group["category"])
    return EVERYTHING if group["subset"] is None else f"Subset {group['subset']}"


def text_lengths(content: Content, measure: str) -> list[TextLengths]:
    """By category and subset; a subset that is a category of the same name stands once."""
    categories = {group["category"]: group["texts"] for group in content["groups"]}
    return [
        TextLengths(
            part_name(group),
            group["prompts"],
            row["what"],
            measure,
            **{name: row[name] for name in _SUMMARY},
        )
        for group in content["groups"]
        if group["subset"] is None or categories.get(group["subset"]) != group["texts"]
        for row in group["texts"]
        if row["measure"] == measure and row["count"] + row["unknown"]
    ]


def length_words(measure: str, tokenizer: str) -> str:
    return f"Length in {LENGTHS[measure]}" + (f" of {tokenizer}" if measure == "tokens" else "")


def lengths_table(lengths: Sequence[TextLengths], caption: str) -> DataTable:
    rows = (
        (one.part, TEXTS[one.what], *(_rounded(getattr(one, name)) for name in _SUMMARY)) for one in lengths
    )
    return guessed_rows(caption, ("Part", "Texts", *_COLUMNS), tuple(rows))


def all_lengths_table(content: Content) -> DataTable:
    rows = (
        (one.part, one.prompts, TEXTS[one.what], noun, *(_rounded(getattr(one, name)) for name in _SUMMARY))
        for measure, noun in LENGTHS.items()
        for one in text_lengths(content, measure)
    )
    columns = ("Part", "Prompts", "Texts", "Measure", *_COLUMNS)
    return guessed_rows(f"Lengths of texts. Tokens: {content['tokenizer']}", columns, tuple(rows))


def text_contestants_table(content: Content) -> DataTable:
    rows = (
        (
            row["contestant"] + (" (retired)" if row["retired"] else ""),
            "people" if row["kind"] == "people" else "model",
            *(row[name] for name in ("completions", "empty", "unknown")),
            *(_in_tenths(row[f"{measure}_{name}"]) for measure in LENGTHS for name in ("mean", "sd")),
        )
        for row in content["contestants"]
    )
    lengths = (
        f"{'Mean' if name == 'mean' else 'SD'} {noun}" for noun in LENGTHS.values() for name in ("mean", "sd")
    )
    columns = ("Contestant", "Kind", "Completions", "Empty", "Unknown", *lengths)
    return guessed_rows(f"Answers of each model. Tokens: {content['tokenizer']}", columns, tuple(rows))


def times_named(content: Content) -> list[str]:
    """Ratings per pair up to the most that occur: "0", "1", ... "10 or more"."""
    most = max((len(row["pairs"]) for row in content["coverage"]), default=1)
    return [f"{n} or more" if n == content["many"] else str(n) for n in range(most)]


def coverage_table(content: Content) -> DataTable:
    times = times_named(content)
    rows = (
        (row["label"], row["ratings"], *row["pairs"], *[0] * (len(times) - len(row["pairs"])))
        for row in content["coverage"]
    )
    columns = ("Raters", "Ratings", *(f"{each} rating{'' if each == '1' else 's'}" for each in times))
    return guessed_rows(f"Pairs by ratings, {counted(content['pairs'], 'pair')} in all", columns, tuple(rows))


def unscored_table(content: Content) -> DataTable:
    reasons = sorted({reason for row in content["unscored"] for reason in row["reasons"]})
    rows = []
    for row in content["unscored"]:
        total, identical = sum(row["reasons"].values()), row.get("identical", 0)
        replies = row["comparisons"] - identical
        share = round(100 * total / replies, 2) if replies else None
        by_reason = (row["reasons"].get(one, 0) for one in reasons)
        rows.append((row["label"], replies, total, share, *by_reason, identical))
    columns = (
        "Raters",
        "Replies",
        "Unscored",
        "Share, %",
        *(one.replace("_", " ").capitalize() for one in reasons),
        "Identical texts",
    )
    return guessed_rows("Pairs not rated", columns, tuple(rows))


def left_out_table(reasons: Mapping[str, int]) -> DataTable:
    return guessed_rows(
        "Rows of imported files that were left out", ("Reason", "Rows"), tuple(reasons.items())
    )


def _in_tenths(value: float | None) -> Cell:
    return None if value is None else round(value, 1)


def _rounded(value: float | None) -> Cell:
    if value is None:
        return None
    return int(value) if value == int(value) else round(value, 1)
