"""Position bias and length bias as tables and sentences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Any, Final

from arena.rules.verdicts import REASONS
from leaderboard.pages.columns import Column, ends_of
from leaderboard.pages.format import counted, number, probability, signed
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import COEFFICIENT, SHARE, Cell, Estimate, P, percent_cell
from leaderboard.raters.bias.content import Length, Measured, Ratings, in_one_order
from leaderboard.stats.bias_results import Flips, LengthBin, ScoreDifferences

_MIDDLE: Final = {8: (4, 5), 5: (3, 3), 3: (2, 2)}
"""The first and last rating that usually is a tie, by the points of the scale; a scale of 2 has none."""


@dataclass(frozen=True)
class Shown:
    """How one kind of raters used a scale: ratings as shown, and the unscored by reason in words.

    ``position`` is that of bias.content, empty where the snapshot has none; ``band`` holds the first and last
    tie, if not the usual ones. ``one_order``: nearly all pairs came in the same order.
    """

    label: str
    counts: tuple[int, ...]
    unscored: Mapping[str, int]
    share_first: float | None
    mean: float | None
    position: Mapping[str, Any] = field(default_factory=dict)
    band: tuple[int, int] | None = None
    one_order: bool = False

    @property
    def first(self) -> Estimate:
        """The share that prefers the answer shown first."""
        return Estimate.of(self.position, "share_first")._replace(value=self.share_first)

    @property
    def average(self) -> Estimate:
        """The mean rating."""
        return Estimate.of(self.position, "mean")._replace(value=self.mean)

    @property
    def side(self) -> int:
        """1 where the first place is preferred, -1 the second; 0 where neither is shown."""
        return 0 if self.one_order else self.first.side(0.5)

    @property
    def points(self) -> int:
        return len(self.counts)

    @property
    def scored(self) -> int:
        return sum(self.counts)

    @property
    def replies(self) -> int:
        return self.scored + sum(self.unscored.values())

    @property
    def ties(self) -> int:
        """Ratings in ``band`` if it is one of this scale, or else in the middle."""
        low, high = _MIDDLE.get(self.points, (1, 0))
        if self.band and sum(self.band) == self.points + 1:
            low, high = self.band
        return sum(self.counts[low - 1 : high])

    @property
    def neutral(self) -> float:
        return (self.points + 1) / 2


def shown(label: str, ratings: Ratings) -> list[Shown]:
    """The histograms of a table of ratings, one for each scale."""
    low, _, high = ratings.get("band", "").partition("-")
    band = (int(low), int(high)) if high else None
    return [
        Shown(
            label,
            tuple(scale["counts"]),
            {_words(reason): n for reason, n in scale["unscored"].items()},
            scale["share_first"],
            scale["mean"],
            scale.get("position") or {},
            band,
            in_one_order(ratings["swapped"], ratings["comparisons"]),
        )
        for scale in ratings["scales"]
    ]


def told_apart(found: Sequence[Shown]) -> Sequence[Shown]:
    """Histograms of one kind of raters, with the scale in the label where there are several."""
    if len(found) < 2:
        return found
    return [replace(one, label=f"{one.label}, {one.points} points") for one in found]


def shown_by_scale(ratings: Iterable[tuple[str, Ratings]]) -> dict[int, list[Shown]]:
    """Histograms by the points of their scale, largest scale first."""
    scales: dict[int, list[Shown]] = {}
    for label, content in ratings:
        for one in shown(label, content):
            scales.setdefault(one.points, []).append(one)
    return dict(sorted(scales.items(), reverse=True))


def _words(reason: str) -> str:
    return reason.replace("_", " ")


def unscored_reasons(found: Iterable[Shown]) -> list[str]:
    """The reasons that occur, in a fixed order."""
    present = {reason for one in found for reason in one.unscored}
    known = [word for word in map(_words, REASONS) if word in present]
    return known + sorted(present - set(known))


def unscored_words(reasons: Mapping[str, int]) -> str:
    """Unscored answers by reason: "3 refused, 1 empty"."""
    order = {reason: place for place, reason in enumerate(REASONS)}
    known = sorted(reasons.items(), key=lambda each: (order.get(each[0], len(order)), each[0]))
    return ", ".join(f"{n:,} {_words(reason)}" for reason, n in known)


def ratings_table(points: int, found: Sequence[Shown]) -> DataTable:
    rows: list[tuple[Cell, ...]] = [
        (f"Rating {rating}", *(one.counts[rating - 1] for one in found)) for rating in range(1, points + 1)
    ]
    rows += [
        (f"Unscored: {reason}", *(one.unscored.get(reason, 0) for one in found))
        for reason in unscored_reasons(found)
    ]
    rows.append(("All replies", *(one.replies for one in found)))
    share = (percent_cell(one.share_first) for one in found)
    rows.append(("Prefers the first (%), 50 without bias", *share))
    mean = (None if one.mean is None else round(one.mean, 3) for one in found)
    rows.append((f"Mean rating, {(points + 1) / 2:g} without bias", *mean))
    caption = f"Ratings as shown, scale of {points} points"
    return DataTable.plain(caption, ("Rating", *(one.label for one in found)), rows)


def mirror_table(one: Shown) -> DataTable:
    points = one.points
    rows: list[tuple[Cell, ...]] = [
        (f"Rating {rating}", one.counts[rating - 1], one.counts[points - rating])
        for rating in range(1, points + 1)
    ]
    rows += [(f"Unscored: {reason}", one.unscored[reason], None) for reason in unscored_reasons([one])]
    columns = ("Rating", "Given", "Given as the mirrored rating")
    return DataTable.plain(f"{one.label}: ratings as shown and mirrored, {points} points", columns, rows)


_POSITION: Final[Sequence[Column[Shown]]] = (
    Column("Raters", "label"),
    Column("Scale (points)", "points"),
    Column("Ratings (n)", "scored", label="Ratings"),
    Column("With a side", "position.sided"),
    Column("Prompts", "position.prompts"),
    Column("Prefers first %", "first", SHARE, label="Prefers the first", ends=("Low %", "High %")),
    Column("Mean rating", "average", ends=ends_of("Mean")),
    Column("Without bias", "neutral", label="Mean rating without bias"),
    Column("Chi-square", "position.chi2"),
    Column("df", "position.df"),
    Column("p (mirrored)", "position.p", P),
)


def position_table(found: Iterable[Shown]) -> DataTable:
    return DataTable.of("Position statistics", _POSITION, found)


def scores_table(found: Sequence[tuple[str, ScoreDifferences]]) -> DataTable:
    edges = sorted({edge for _, scores in found for edge in scores["bins"]})
    counts = [dict(zip(scores["bins"], scores["counts"], strict=False)) for _, scores in found]
    rows: list[tuple[Cell, ...]] = [
        (f"From {edge:g}", *(count.get(edge, 0) for count in counts)) for edge in edges
    ]
    rows += [
        ("Score pairs (n)", *(scores["n"] for _, scores in found)),
        ("Mean difference (0 without bias)", *(scores["mean"] for _, scores in found)),
        ("First higher", *(scores["first_higher"] for _, scores in found)),
        ("Equal", *(scores["equal"] for _, scores in found)),
        ("Second higher", *(scores["second_higher"] for _, scores in found)),
    ]
    columns = ("First minus second score", *(label for label, _ in found))
    return DataTable.plain("Differences of the two scores", columns, rows)


_FLIPS: Final[Sequence[Column[tuple[str, Flips]]]] = (
    Column("Raters", lambda each: each[0]),
    Column("Pairs in both orders", lambda each: each[1]["pairs"]),
    Column("Verdict changed", lambda each: each[1]["flipped"]),
    Column(
        "Changed %",
        lambda each: Estimate.bare(each[1], "rate"),
        SHARE,
        label="Changes its verdict",
        ends=("Low %", "High %"),
    ),
    Column("Followed the first", lambda each: each[1]["to_first"]),
    Column("Followed the second", lambda each: each[1]["to_second"]),
    Column("Exactly mirrored", lambda each: each[1]["exact"]),
)


def flips_table(rows: Iterable[tuple[str, Flips]]) -> DataTable:
    return DataTable.of("The same pair in both orders", _FLIPS, rows)


def position_sentences(
    shown: Sequence[Shown], flips: Flips | None, scores: ScoreDifferences | None, level: float
) -> list[str]:
    """``shown`` has an entry for each scale in use; ``level`` is that of the intervals in percent."""
    named = len(shown) > 1
    found = [line for one in shown if one.scored for line in _scale_sentences(one, level, named)]
    return [*found, *_flip_sentences(flips, level), *_score_sentences(scores)]


def _scale_sentences(one: Shown, level: float, named: bool) -> Iterator[str]:
    at, where = one.position, f" on the scale of {one.points} points" if named else ""
    if one.share_first is not None:
        ratings = f"{counted(one.scored, 'rating')}{where}"
        sided = f"{at['sided']:,} of {ratings} take a side" if "sided" in at else ratings
        prefer = SHARE.told_at(level, one.first, " prefer the answer shown first")
        yield f"{sided}: {prefer}; without position bias it would be 50%."
    if one.mean is not None:
        mean = COEFFICIENT.told_at(level, one.average)
        yield f"The mean rating{where} is {mean}; the middle of the scale is {one.neutral:g}."
    if at.get("p") is not None:
        yield _mirror_sentence(one)


def _mirror_sentence(one: Shown) -> str:
    """The interval of the share decides who is preferred; the test also sees how strongly."""
    at, side = one.position, one.side
    differ = "differ" if at["p"] < 0.05 else "do not clearly differ"
    image = f"the ratings {differ} from their mirror image (p {equals(at['p'])})"
    if one.one_order:
        return (
            "Nearly all pairs came in the same order, so a preference for a place may be one for the models "
            f"shown there; {image}."
        )
    if side:
        return f"The answer shown {'first' if side > 0 else 'second'} is preferred; {image}."
    return (
        f"Nothing shows that one side is preferred more often; {image}. It takes many ratings to see a small "
        "preference."
    )


def _flip_sentences(flips: Flips | None, level: float) -> Iterator[str]:
    if flips is None:
        yield (
            "Among the ratings that count, no rater has the same pair in both orders, so nothing here shows "
            "how often a verdict changes. Repeats that test a rater do not count."
        )
        return
    rate = SHARE.told_at(level, Estimate.bare(flips, "rate"))
    yield (
        f"The same rater rated {counted(flips['pairs'], 'pair')} in both orders and changed its verdict in "
        f"{flips['flipped']:,}, {rate}."
    )
    if flips["flipped"]:
        yield (
            f"Of the changed verdicts, {flips['to_first']:,} went with the answer shown first and "
            f"{flips['to_second']:,} with the one shown second."
        )


def _score_sentences(scores: ScoreDifferences | None) -> Iterator[str]:
    if scores is not None:
        yield (
            f"Over {counted(scores['n'], 'pair')} the answer shown first got {signed(scores['mean'])} "
            "points more than the second on average. It was higher "
            f"{counted(scores['first_higher'], 'time')}, the second "
            f"{counted(scores['second_higher'], 'time')}, and they were equal "
            f"{counted(scores['equal'], 'time')}."
        )


def equals(p: float) -> str:
    """A p-value with its sign: "= 0.031", "< 0.001"."""
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


MEASURES: Final = {
    "words": "words",
    "unique_words": "different words",
    "tokens": "tokens",
    "characters": "characters",
}

PER_DOUBLING: Final = "log-odds of winning per doubling"
"""The unit of a slope that is told as a factor of the odds."""


def difference(each: LengthBin) -> str:
    low, high = number(each["low"], "g"), number(each["high"], "g")
    return low if low == high else f"{low} to {high}"


def short_differences(bins: Sequence[LengthBin]) -> list[str]:
    """The differences of all bins for an axis; the outermost are open."""
    found = [difference(each) for each in bins]
    if len(bins) > 1:
        found[0], found[-1] = f"≤ {number(bins[0]['high'], 'g')}", f"≥ {number(bins[-1]['low'], 'g')}"
    return found


def won(each: LengthBin) -> Estimate:
    """The share of points that the longer of two answers won."""
    return Estimate(each["win_rate"], each["win_low"], each["win_high"])


_WON: Final[Sequence[Column[LengthBin]]] = (
    Column("Comparisons (n)", lambda each: each["n"], label="Ratings"),
    Column("Points won %", won, SHARE, label="Points won", ends=("Low %", "High %")),
)


def length_table(label: str, measure: Measured) -> DataTable:
    """Share of points won by difference in length, with both completions of a pair entered."""
    noun = MEASURES.get(measure["name"], measure["name"])
    columns = (Column(f"More {noun} by", difference), *_WON)
    return DataTable.of(f"{label}: points won by difference in {noun}", columns, measure["bins"])


def longer_wins(measure: Mapping[str, Any]) -> Estimate:
    """The share of points that the longer answer won; empty where unknown."""
    return Estimate.of(measure, "longer")._replace(value=measure.get("longer_wins"))


def length_sentence(measure: Measured, level: float) -> str:
    if measure.get("longer_wins") is None:
        return ""
    noun = MEASURES.get(measure["name"], measure["name"])
    of_points = SHARE.told_at(level, longer_wins(measure), " of the points")
    found = f"The answer with more {noun} won {of_points}."
    slope = measure["slope"]
    if slope is None or measure["unit"] != PER_DOUBLING:
        return found
    factors = Estimate(*(None if each is None else exp(each) for each in Estimate.of(measure, "slope")))
    odds = COEFFICIENT.told_at(level, factors)
    return f"{found} Twice as many {noun} multiply the odds of winning by {odds}."


def unknown_sentence(content: Length) -> str:
    unknown = content.get("unknown") or 0
    return f"{counted(unknown, 'rating')} left out, because a text is not known." if unknown else ""
