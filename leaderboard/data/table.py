"""Tables of lengths of texts, ratings per pair, and replies without a rating."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from leaderboard.pages.columns import Column, place
from leaderboard.pages.format import counted
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import HUNDREDTHS, PERCENT, PLAIN, SHARE, TENTHS, Cell
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


def _rounded(value: float | None) -> Cell:
    if value is None:
        return None
    return int(value) if value == int(value) else round(value, 1)


_ROUNDED: Final = replace(PLAIN, cell=_rounded)
_NUMBERS: Final[Sequence[Column[TextLengths]]] = [
    Column(name, key, _ROUNDED) for key, name in zip(_SUMMARY, _COLUMNS, strict=True)
]
_PART: Final = Column[TextLengths]("Part", "part")
_TEXTS: Final = Column[TextLengths]("Texts", lambda one: TEXTS[one.what])


def lengths_table(lengths: Sequence[TextLengths], caption: str) -> DataTable:
    return DataTable.of(caption, (_PART, _TEXTS, *_NUMBERS), lengths)


def all_lengths_table(content: Content) -> DataTable:
    columns: list[Column[TextLengths]] = [
        *(_PART, Column("Prompts", "prompts"), _TEXTS),
        Column("Measure", lambda one: LENGTHS[one.measure]),
        *_NUMBERS,
    ]
    found = chain.from_iterable(text_lengths(content, measure) for measure in LENGTHS)
    return DataTable.of(f"Lengths of texts. Tokens: {content['tokenizer']}", columns, found)


_OF_MODELS: Final[Sequence[Column[Content]]] = (
    Column(
        "Contestant",
        lambda row: row["contestant"] + (" (retired)" if row["retired"] else ""),
        label="Model",
    ),
    Column("Kind", lambda row: "people" if row["kind"] == "people" else "model"),
    Column("Completions", "completions", label="Answers"),
    Column("Empty", "empty"),
    Column("Unknown", "unknown"),
    *(
        Column[Content](f"{label} {noun}", f"{measure}_{key}", TENTHS)
        for measure, noun in LENGTHS.items()
        for key, label in (("mean", "Mean"), ("sd", "SD"))
    ),
)


def text_contestants_table(content: Content) -> DataTable:
    caption = f"Answers of each model. Tokens: {content['tokenizer']}"
    return DataTable.of(caption, _OF_MODELS, content["contestants"])


_SETS: Final[Sequence[Column[Content]]] = (
    Column("Part", lambda row: set_name(row)),
    Column("Prompts", "prompts"),
    Column("Words per prompt", "words_mean", HUNDREDTHS),
    Column("Requirements", lambda row: row["requirements"] or None),
    Column("Requirements per prompt", "requirements_mean", HUNDREDTHS),
    Column("Categories", lambda row: row["categories"] or None),
)


def set_name(row: Content) -> str:
    return part_name({"category": None, **row})


def sets_title(content: Content) -> str:
    return "Prompts and requirements" if content["sets"][0]["requirements"] else "Prompts"


def sets_table(content: Content) -> DataTable:
    return DataTable.of(sets_title(content), _SETS, content["sets"])


@dataclass(frozen=True)
class Share:
    """How many of the prompts or requirements of a part have what ``name`` says."""

    part: str
    name: str
    count: int
    of: int

    @property
    def share(self) -> float:
        return self.count / self.of


@dataclass(frozen=True)
class Spread:
    """Prompts by their number of requirements, or requirements by kind: the ``names``, and each share."""

    what: str
    axis: str
    names: Sequence[str]
    shares: Sequence[Share]


def requirement_numbers(content: Content) -> Spread:
    rows = [row for row in content["sets"] if row["requirements"]]
    numbers = sorted({number for row in rows for number, _ in row["by_number"]})
    shares = [
        Share(set_name(row), f"{number:,}", dict(row["by_number"]).get(number, 0), row["prompts"])
        for row in rows
        for number in numbers
    ]
    return Spread("prompt", "Requirements", [f"{number:,}" for number in numbers], shares)


def requirement_kinds(content: Content) -> Spread:
    """The most frequent kind first."""
    total: Mapping[str, int] = content["sets"][0]["kinds"]
    kinds = sorted(total, key=lambda kind: (-total[kind], kind))
    shares = [
        Share(set_name(row), kind, row["kinds"].get(kind, 0), row["requirements"])
        for row in content["sets"]
        if row["kinds"]
        for kind in kinds
    ]
    return Spread("requirement", "Kind", kinds, shares)


def spread_table(title: str, spread: Spread) -> DataTable:
    columns: list[Column[Share]] = [
        Column("Part", "part"),
        Column(spread.axis, "name"),
        Column(f"{spread.what.capitalize()}s", "count"),
        Column(f"Share of {spread.what}s (%)", "share", SHARE, label=f"Share of {spread.what}s"),
    ]
    return DataTable.of(title, columns, spread.shares)


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
    return DataTable.plain(f"Pairs by ratings, {counted(content['pairs'], 'pair')} in all", columns, rows)


def unscored_table(content: Content) -> DataTable:
    reasons = sorted({reason for row in content["unscored"] for reason in row["reasons"]})
    columns: list[Column[Content]] = [
        Column("Raters", "label"),
        Column("Replies", "replies"),
        Column("Unscored", "total", label="Replies not rated"),
        Column("Share, %", "share", PERCENT, label="Not rated"),
        *(
            Column[Content](reason.replace("_", " ").capitalize(), place("by_reason", at))
            for at, reason in enumerate(reasons)
        ),
        Column("Identical texts", "identical"),
    ]
    return DataTable.of("Pairs not rated", columns, (_unscored(row, reasons) for row in content["unscored"]))


def _unscored(row: Content, reasons: Sequence[str]) -> Content:
    total, identical = sum(row["reasons"].values()), row.get("identical", 0)
    replies = row["comparisons"] - identical
    return {
        "label": row["label"],
        "replies": replies,
        "total": total,
        "share": 100 * total / replies if replies else None,
        "by_reason": [row["reasons"].get(reason, 0) for reason in reasons],
        "identical": identical,
    }


def left_out_table(reasons: Mapping[str, int]) -> DataTable:
    columns = ("Reason", "Rows")
    return DataTable.plain("Rows of imported files that were left out", columns, reasons.items())
