"""Text scores, in words and tables."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from leaderboard.pages.table import Cell, DataTable, percent_cell
from leaderboard.pages.wording import (
    correlation_word,
    counted,
    enumerated,
    number_range,
    signed,
)
from leaderboard.snapshots.canonical import Content
from leaderboard.texts.table import MOST_NAMED, alike, few_prompts, lead

COEFFICIENTS: Final = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "icc": "ICC",
    "alpha": "Alpha",
}
PEOPLE_AMONG: Final = "One person and the others"


def scale_words(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g}–{ends[1]:g}"


def _scale(content: Content) -> str:
    return scale_words((content["lowest"], content["highest"]))


def points(value: float | None) -> str:
    return "–" if value is None else signed(value)


def verdict(content: Content) -> tuple[str, str]:
    """Which model scores highest, from whom it cannot be told apart, and how much is known."""
    rows = content["contestants"]
    first, others = lead(rows, "mean")
    if first is None:
        return "No answer has a score.", ""
    ends = number_range(first["mean_low"], first["mean_high"])
    mean = points(first["mean"]) + (f" ({ends})" if ends else "")
    on_scale = f"on a scale of {_scale(content)}"
    if len(rows) == 1:
        said = f"{first['contestant']} scores {mean} on average, {on_scale}."
    elif any(each["mean"] is not None and each["mean"] > first["mean"] for each in rows):
        said = f"{first['contestant']} scores highest on the same prompts: {mean} on average, {on_scale}."
    else:
        said = f"{first['contestant']} scores highest: {mean} on average, {on_scale}."
    return said, " ".join([*alike(others, len(rows)), *_coverage(rows)])


def _coverage(rows: list[Content]) -> Iterator[str]:
    scored, lost = sum(each["n"] for each in rows), sum(each["unscored"] for each in rows)
    if lost:
        yield f"{counted(lost, 'reply', 'replies')} of {scored + lost:,} held no score and do not count."


def notes(content: Content) -> Iterator[str]:
    """What must be said beside the numbers."""
    rows = content["contestants"]
    yield from few_prompts(max((each["prompts"] for each in rows), default=0))
    apart = [each["contestant"] for each in rows if each["component"] != rows[0]["component"]]
    if apart:
        yield f"No prompt connects {enumerated(apart)} with the models above, so they are not compared."
    if content["other_scales"]:
        stretched = counted(content["other_scales"], "score")
        yield f"{stretched} on another scale: stretched evenly to {_scale(content)}."


def bins(edges: list[float]) -> list[str]:
    """What the scores between two neighbours of ``edges`` are called."""
    whole = edges[1] - edges[0] == 1 and edges[0] % 1 == 0.5
    return [f"{(low + high) / 2:g}" if whole else f"{low:.3g}–{high:.3g}" for low, high in pairwise(edges)]


def edges_of(content: Content) -> list[float]:
    """Those of all raters who have scores."""
    return next((list(each["edges"]) for each in content["raters"]), [])


def _ends(label: str, own: Mapping[str, Any], name: str) -> dict[str, Cell]:
    keys = {"": "", ": low": "_low", ": high": "_high"}
    return {f"{label}{end}": own.get(f"{name}{key}") for end, key in keys.items()}


def models_table(content: Content, edges: list[float]) -> DataTable:
    rows = [
        {
            "Model": each["contestant"],
            "Rank": each["rank"],
            "Best possible rank": each["rank_ub"],
            "Group": each["group"],
            **_ends("Mean", each, "mean"),
            **_ends("Above average", each, "above_average"),
            "Standard deviation": each["sd"],
            "Scores": each["n"],
            "Prompts": each["prompts"],
            "No score": each["unscored"],
            **{f"Score {name}": n for name, n in zip(bins(edges), each["counts"], strict=True)},
        }
        for each in content["contestants"]
    ]
    return DataTable.of("Text scores by model", rows)


def raters_table(content: Content) -> DataTable:
    """How each kind of raters uses the scale."""
    rows = []
    for each in content["raters"]:
        shares = [percent_cell(n / each["n"] if each["n"] else None) for n in each["counts"]]
        named = zip(bins(each["edges"]), shares, strict=True)
        rows.append(
            {
                "Raters": each["label"],
                **_ends("Mean", each, "mean"),
                "Standard deviation": each["sd"],
                "Scores": each["n"],
                "Prompts": each["prompts"],
                "No score": each["unscored"],
                **{f"Score {name} (%)": share for name, share in named},
            }
        )
    return DataTable.of("How raters use the scale", rows)


def pairs_of_raters(content: Content) -> list[tuple[str, Content]]:
    """Names and agreement of every two kinds of raters with answers in common, and of people."""
    label = {each["rater"]: each["label"] for each in content["raters"]}
    found = [
        (f"{label[each['one']]} and {label[each['other']]}", each)
        for each in content["agreement"]
        if each["texts"]
    ]
    people = content["people"]
    return [*found, *([(PEOPLE_AMONG, people)] if people and people["texts"] else [])]


def agreement_table(content: Content) -> DataTable:
    rows = []
    for name, each in pairs_of_raters(content):
        row: dict[str, Cell] = {"Raters": name, "Answers": each["texts"], "Prompts": each["prompts"]}
        for key, label in COEFFICIENTS.items():
            row |= _ends(label, each, key)
        row |= _ends("First scores higher by", each, "difference")
        rows.append({**row, "Why none": each["reason"]})
    return DataTable.of("Raters on the same answers", rows)


def agreement_sentences(content: Content) -> Iterator[str]:
    """How far the chosen raters agree with people, or else with the first others; and people's ceiling."""
    asked = content["parameters"]["raters"]
    label = {each["rater"]: each["label"] for each in content["raters"]}
    known = [
        each
        for each in content["agreement"]
        if each["pearson"] is not None and asked in (each["one"], each["other"])
    ]
    if known:
        each = known[0]
        other = each["other"] if each["one"] == asked else each["one"]
        ends = number_range(each["pearson_low"], each["pearson_high"])
        yield (
            f"Pearson’s correlation of {label[asked]} and {label[other]} is {signed(each['pearson'])}"
            f"{f' ({ends})' if ends else ''} on {counted(each['texts'], 'answer')}: "
            f"{correlation_word(each['pearson'])}."
        )
    people = content["people"]
    if people and people["pearson"] is not None:
        ends = number_range(people["pearson_low"], people["pearson_high"])
        yield (
            f"That of a person and the mean of the others is {signed(people['pearson'])}"
            f"{f' ({ends})' if ends else ''}."
        )


LENGTH: Final = {"within_prompt": "All differences", "alike": "Without those between models"}


def slopes(content: Content, kind: str) -> list[tuple[str, Content]]:
    """Labels of raters and slopes: of length (a key of LENGTH), or "drift"."""
    found = [
        (each["label"], each["drift"] if kind == "drift" else each["length"].get(kind))
        for each in content["raters"]
    ]
    return [(label, slope) for label, slope in found if slope and slope["slope"] is not None]


def length_table(content: Content) -> DataTable:
    rows = []
    for each in content["raters"]:
        row: dict[str, Cell] = {"Raters": each["label"]}
        for kind, label in LENGTH.items():
            row |= _slope(label, each["length"][kind])
        rows.append(row)
    return DataTable.of("Points for an answer twice as long", rows)


def drift_table(content: Content) -> DataTable:
    rows = [{"Raters": each["label"], **_slope("Change", each["drift"])} for each in content["raters"]]
    return DataTable.of("Points from the first score to the last", rows)


def _slope(label: str, own: Content) -> dict[str, Cell]:
    return {
        label: own["slope"],
        f"{label}: low": own["low"],
        f"{label}: high": own["high"],
        f"{label}: correlation": own["correlation"],
        f"{label}: scores": own["n"],
    }


def slope_sentence(found: list[tuple[str, Content]], more: str, less: str) -> str:
    """Whose slopes are clearly above or below zero."""
    up = [label for label, own in found if own["low"] is not None and own["low"] > 0]
    down = [label for label, own in found if own["high"] is not None and own["high"] < 0]
    told = [f"{words} {_named(names)}." for names, words in ((up, more), (down, less)) if names]
    return " ".join(told) or "No effect is clear."


def _named(raters: list[str]) -> str:
    return enumerated(raters) if len(raters) <= MOST_NAMED else f"{len(raters)} kinds of raters"
