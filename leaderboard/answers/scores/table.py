"""Text scores, in words and tables."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Final

from leaderboard.answers.table import Lead, few_prompts, lead, some_models, strength
from leaderboard.pages.columns import COLON, Column, bare, place
from leaderboard.pages.format import NONE, counted, number_range, signed
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import COEFFICIENT, SHARE, Estimate
from leaderboard.pages.wording import correlation_word, enumerated
from leaderboard.snapshots.canonical import Content

COEFFICIENTS: Final = {
    "pearson": ("Pearson", "Pearson r of scores"),
    "spearman": ("Spearman", "Spearman rho of scores"),
    "kendall": ("Kendall", "Kendall tau of scores"),
    "icc": ("ICC", "ICC of scores"),
    "alpha": ("Alpha", "Alpha of scores"),
}
"""Their names in files and, beside those of pairs, on pages."""
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
    yield from apart(rows)
    if content["other_scales"]:
        stretched = counted(content["other_scales"], "score")
        yield f"{stretched} on another scale: stretched evenly to {_scale(content)}."


def apart(rows: Sequence[Content]) -> Iterator[str]:
    """Who is not compared with the first of these models."""
    found = [each["contestant"] for each in rows if each["component"] != rows[0]["component"]]
    if found:
        they = "it is" if len(found) == 1 else "they are"
        above = f"the models above, so {they} not compared with them"
        yield f"No prompt connects {enumerated(found)} with {above}."


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


_MEAN: Final = Column[Content]("Mean", "mean", COEFFICIENT, label="Mean text score", ends=COLON)
_USE: Final[Sequence[Column[Content]]] = (
    Column("Standard deviation", "sd", label="SD"),
    Column("Scores", "n"),
    Column("Prompts", "prompts"),
    Column("No score", "unscored"),
)
_MODELS: Final[Sequence[Column[Content]]] = (
    Column("Model", "contestant"),
    Column("Rank", "rank"),
    Column("Best possible rank", "rank_ub", label="Best rank by intervals"),
    Column("Group", "group"),
    _MEAN,
    Column("Above average", "above_average", COEFFICIENT, ends=COLON),
    *_USE,
)


def models_table(content: Content, edges: list[float]) -> DataTable:
    counts = [Column[Content](f"Score {name}", place("counts", at)) for at, name in enumerate(bins(edges))]
    return DataTable.of("Text scores by model", [*_MODELS, *counts], content["contestants"])


def raters_table(content: Content) -> DataTable:
    """How each kind of raters uses the scale."""
    found = [
        {**each, "shares": [n / each["n"] if each["n"] else None for n in each["counts"]]}
        for each in content["raters"]
    ]
    shares = [
        Column[Content](f"Score {name} (%)", place("shares", at), SHARE)
        for at, name in enumerate(bins(edges_of(content)))
    ]
    columns = [Column[Content]("Raters", "label"), _MEAN, *_USE, *shares]
    return DataTable.of("How raters use the scale", columns, found)


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


_AGREEMENT: Final[Sequence[Column[Content]]] = (
    Column("Raters", "name"),
    Column("Answers", "texts"),
    Column("Prompts", "prompts"),
    *(
        Column[Content](name, key, COEFFICIENT, label=label, ends=COLON)
        for key, (name, label) in COEFFICIENTS.items()
    ),
    Column("First scores higher by", "difference", COEFFICIENT, ends=COLON),
    Column("Why none", "reason"),
)


def agreement_table(content: Content) -> DataTable:
    found = ({**each, "name": name} for name, each in pairs_of_raters(content))
    return DataTable.of("Raters on the same answers", _AGREEMENT, found)


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
        yield (
            f"Pearson’s correlation of {label[asked]} and {label[other]} is {_pearson(each)} on "
            f"{counted(each['texts'], 'answer')}{_strength(each)}"
        )
    people = content["people"]
    if people and people["pearson"] is not None:
        that = "That" if known else "Pearson’s correlation"
        yield f"{that} of a person and the mean of the others is {_pearson(people)}."


def _pearson(found: Content) -> str:
    return COEFFICIENT.told(Estimate.of(found, "pearson"))


def _strength(found: Content) -> str:
    return strength(Estimate.of(found, "pearson"), correlation_word(found["pearson"]))


LENGTH: Final = {"within_prompt": "All differences", "alike": "Without those between models"}


def slopes(content: Content, kind: str) -> list[tuple[str, Content]]:
    """Labels of raters and slopes: of length (a key of LENGTH), or "drift"."""
    found = [
        (each["label"], each["drift"] if kind == "drift" else each["length"].get(kind))
        for each in content["raters"]
    ]
    return [(label, slope) for label, slope in found if slope and slope["slope"] is not None]


def _slope(label: str, path: str) -> Iterator[Column[Content]]:
    yield Column(label, bare(f"{path}.slope"), COEFFICIENT, ends=COLON)
    yield Column(f"{label}: correlation", f"{path}.correlation", COEFFICIENT, over=label)
    yield Column(f"{label}: scores", f"{path}.n", over=label)


_LENGTH: Final[Sequence[Column[Content]]] = (
    Column("Raters", "label"),
    *chain.from_iterable(_slope(label, f"length.{kind}") for kind, label in LENGTH.items()),
)
_DRIFT: Final[Sequence[Column[Content]]] = (Column("Raters", "label"), *_slope("Change", "drift"))


def length_table(content: Content) -> DataTable:
    return DataTable.of("Points for an answer twice as long", _LENGTH, content["raters"])


def drift_table(content: Content) -> DataTable:
    return DataTable.of("Points from the first score to the last", _DRIFT, content["raters"])


def slope_sentence(found: list[tuple[str, Content]], more: str, less: str) -> str:
    """Whose slopes are clearly above or below zero."""
    up = [label for label, own in found if Estimate.bare(own, "slope").side() > 0]
    down = [label for label, own in found if Estimate.bare(own, "slope").side() < 0]
    raters = "kinds of raters"
    told = [f"{words} {some_models(each, raters)}." for each, words in ((up, more), (down, less)) if each]
    return " ".join(told) or "No effect is clear."
