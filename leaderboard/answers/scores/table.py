"""Text scores, in words and tables."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from leaderboard.answers.table import Lead, few_prompts, lead, some_models, strength
from leaderboard.pages.format import NONE, counted, number_range, signed
from leaderboard.pages.guessed import guessed
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import Cell, percent_cell
from leaderboard.pages.wording import correlation_word, enumerated
from leaderboard.snapshots.canonical import Content

COEFFICIENTS: Final = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "icc": "ICC",
    "alpha": "Alpha",
}
OF_SCORES: Final = {
    "Pearson": "Pearson r of scores",
    "Spearman": "Spearman rho of scores",
    "Kendall": "Kendall tau of scores",
    "ICC": "ICC of scores",
    "Alpha": "Alpha of scores",
}
"""What pages call the coefficients, beside those of pairs."""
MEAN: Final = {"Mean": "Mean text score"}
PEOPLE_AMONG: Final = "One person and the others"


def scale_words(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g}–{ends[1]:g}"


def _scale(content: Content) -> str:
    return scale_words((content["lowest"], content["highest"]))


def points(value: float | None) -> str:
    return NONE if value is None else signed(value)


def verdict(content: Content) -> tuple[str, str]:
    """Which models score highest, from whom they cannot be told apart, and how much is known."""
    rows = content["contestants"]
    found = lead(rows, "mean")
    if found is None:
        return "No answer has a score.", " ".join(_coverage(rows))
    said = f"{found.who} {_scores(found)}, on a scale of {_scale(content)}."
    return said, " ".join([*found.sentences(), *_coverage(rows)])


def _scores(found: Lead) -> str:
    """Their means, where these are the same; their order is that of what they score on the same prompts."""
    means = list(dict.fromkeys(points(each["mean"]) for each in found.first))
    ends = {number_range(each["mean_low"], each["mean_high"]) for each in found.first}
    told = " ".join([enumerated(means), *(f"({each})" for each in ends if each and len(ends) == 1)])
    if not found.others:
        alike = " on the same prompts" if len(means) > 1 else ""
        return f"{found.does('score')} {'alike' if alike else f'{told} on average'}{alike}"
    lowest = min(each["mean"] for each in found.first)
    unequal = len(means) > 1 or any(each["mean"] > lowest for each in found.others)
    how = " on the same prompts" if unequal else ""
    return f"{found.does('score')} highest{found.among}{how}: {told} on average"


def _coverage(rows: list[Content]) -> Iterator[str]:
    scored, lost = sum(each["n"] for each in rows), sum(each["unscored"] for each in rows)
    if lost:
        of = f"{counted(lost, 'reply', 'replies')} of {scored + lost:,}"
        yield f"{of} held no score and {'does' if lost == 1 else 'do'} not count."


def notes(content: Content) -> Iterator[str]:
    """What must be said beside the numbers."""
    rows = [each for each in content["contestants"] if each["n"]]
    yield from few_prompts(_prompts(content), len(rows))
    apart = [each["contestant"] for each in rows if each["component"] != rows[0]["component"]]
    if apart:
        they = "it is" if len(apart) == 1 else "they are"
        above = f"the models above, so {they} not compared with them"
        yield f"No prompt connects {enumerated(apart)} with {above}."
    if content["other_scales"]:
        stretched = counted(content["other_scales"], "score")
        yield f"{stretched} on another scale: stretched evenly to {_scale(content)}."


def _prompts(content: Content) -> int:
    """Those of which an answer has a score by the raters asked for, or of which it is known."""
    asked = content["parameters"]["raters"]
    told = [each["prompts"] for each in content["raters"] if each["rater"] == asked]
    return max((*told, *(each["prompts"] for each in content["contestants"])), default=0)


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
    words = {**MEAN, "Best possible rank": "Best rank by intervals"}
    return guessed("Text scores by model", rows, words)


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
    return guessed("How raters use the scale", rows, MEAN)


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
    return guessed("Raters on the same answers", rows, OF_SCORES)


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
            f"{f' ({ends})' if ends else ''} on {counted(each['texts'], 'answer')}{_strength(each)}"
        )
    people = content["people"]
    if people and people["pearson"] is not None:
        ends = number_range(people["pearson_low"], people["pearson_high"])
        yield (
            f"{'That' if known else 'Pearson’s correlation'} of a person and the mean of the others is "
            f"{signed(people['pearson'])}"
            f"{f' ({ends})' if ends else ''}."
        )


def _strength(found: Content) -> str:
    value = found["pearson"]
    return strength(value, found["pearson_low"], found["pearson_high"], correlation_word(value))


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
    return guessed("Points for an answer twice as long", rows)


def drift_table(content: Content) -> DataTable:
    rows = [{"Raters": each["label"], **_slope("Change", each["drift"])} for each in content["raters"]]
    return guessed("Points from the first score to the last", rows)


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
    raters = "kinds of raters"
    told = [f"{words} {some_models(each, raters)}." for each, words in ((up, more), (down, less)) if each]
    return " ".join(told) or "No effect is clear."
