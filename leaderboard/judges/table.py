"""Judges side by side as tables: every measure with its interval, and what answers cost."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Final, NamedTuple

from leaderboard.pages.columns import Column, ends_of
from leaderboard.pages.format import NONE, counted, in_points
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import COEFFICIENT, SHARE, WHOLE, Estimate, Unit
from leaderboard.raters.agreement.table import PEARSON_WITH_MEAN, same_category
from leaderboard.raters.bias.table import unscored_words
from leaderboard.snapshots.canonical import Content

Spending = Mapping[str, Content | None]
"""What answers cost, by selector (leaderboard.pages.rater_kinds.spending)."""


class Measured(NamedTuple):
    """A number with its interval; ``n`` says of how many of what, or why there is none."""

    found: Estimate = Estimate()
    n: str = ""


@dataclass(frozen=True)
class Line:
    """One measure of every kind of raters; ``noun`` names its unit."""

    name: str
    meaning: str
    unit: Unit
    noun: str
    cells: tuple[Measured, ...]
    labels: tuple[str, ...]

    @property
    def named(self) -> list[tuple[str, str, str]]:
        """The texts of each cell with whose they are: on a phone a row is a card."""
        return [(label, *texts) for label, texts in zip(self.labels, self.texts, strict=True)]

    @property
    def texts(self) -> list[tuple[str, str]]:
        """What stands in each cell: the number, and below it interval and n."""
        noun = f" {self.noun}" if self.noun not in ("", PERCENT) else ""
        return [
            (
                self.unit.text(found.value) + noun * (found.value is not None),
                "; ".join(filter(None, (between and between + noun, n))),
            )
            for found, n in self.cells
            for between in (self.unit.range(found.low, found.high),)
        ]


PERCENT: Final = "%"


def _of(content: Content | None, name: str, n: str = "") -> Measured:
    """A value with its ends, NAME_low and NAME_high."""
    return Measured(Estimate.of(content, name), n if content else "")


def _bare(content: Content | None, name: str, n: str) -> Measured:
    """A value with its ends, low and high."""
    return Measured(Estimate.bare(content, name), n if content else "")


def _main_scale(own: Content) -> Content | None:
    """The statistics of position on the scale that was used most."""
    scales = own["ratings"]["scales"]
    most: Content | None = max(scales, key=lambda scale: scale["scored"], default=None)
    return most["position"] if most else None


def _first(own: Content) -> Measured:
    at = _main_scale(own)
    return _of(at, "share_first", counted(at["sided"], "rating") if at else "")


def _unscored(own: Content) -> Measured:
    found = own["unscored"]
    if not found:
        return Measured()
    reasons = unscored_words(found["reasons"])
    n = f"{found['unscored']:,} of {counted(found['answers'], 'reply', 'replies')}"
    return _of(found, "share", f"{n}: {reasons}" if reasons else n)


def _worth(own: Content) -> Measured:
    found = own["place"]["worth"]
    return _bare(found, "points", found["reason"] or "")


def _correlation(own: Content) -> Measured:
    row = next((row for row in own["correlation"] if same_category(row, "")), None)
    if row is None:
        return Measured(n="no pair rated by people")
    return _of(row, "pearson", row["reason"] or counted(row["n"], "pair"))


def _pairs(found: Content | None, key: str, noun: str) -> str:
    return counted(found[key], noun) if found else ""


def _own_family(own: Content) -> Measured:
    found = own["own_family"]
    return _bare(
        found, "difference", f"against {found['against']}, {counted(found['n'], 'pair')}" if found else ""
    )


@dataclass(frozen=True)
class _Measure:
    """How a line is read from the content of one kind of raters."""

    name: str
    meaning: str
    read: Callable[[Content], Measured]
    unit: Unit = COEFFICIENT
    noun: str = ""


def _in_points(measured: Measured, *, to_the_first: bool = False) -> Measured:
    """From preferences on [-1, 1], where 1 is for the second, to points on a scale of 1–8."""
    return Measured(measured.found.times(in_points(-1.0 if to_the_first else 1.0)), measured.n)


_IN_POINTS: Final = "in points on a scale of 1–8"
_SHARE: Final = (SHARE, PERCENT)
_OF_SCALE: Final = (COEFFICIENT, "points")
_ELO: Final = (WHOLE, "Elo points")

MEASURES: Final = (
    _Measure(
        "Pairs",
        "How many of the pairs that every judge rated these raters rated.",
        lambda own: Measured(Estimate(own["pairs"])),
        WHOLE,
    ),
    _Measure(
        "Not rated",
        "Replies without a rating, among the pairs that every judge was asked about, by reason.",
        _unscored,
        *_SHARE,
    ),
    _Measure(
        "Prefers the first",
        "Of ratings that take a side. Without position bias it is 50%.",
        _first,
        *_SHARE,
    ),
    _Measure(
        "Shift towards the first, both orders",
        f"How far the order moves a rating towards the answer shown first, {_IN_POINTS}, from pairs rated in "
        "both orders. Below 0 it moves towards the second.",
        lambda own: _in_points(
            _bare(own["place"]["both_orders"], "value", _pairs(own["place"]["both_orders"], "n", "pair")),
            to_the_first=True,
        ),
        *_OF_SCALE,
    ),
    _Measure(
        "Shift towards the first, every rating",
        "The same from the mean of all ratings, which is right if the order is drawn at random.",
        lambda own: _in_points(
            _bare(own["place"]["every_rating"], "value", _pairs(own["place"]["every_rating"], "n", "rating")),
            to_the_first=True,
        ),
        *_OF_SCALE,
    ),
    _Measure(
        "Second place is worth",
        "How many points the second place adds to a model, if the steps of the scale are even: a rater gives "
        "r of n where it sees a chance of winning between (r − 1)/n and r/n. Below 0 the first place is "
        "better.",
        _worth,
        *_ELO,
    ),
    _Measure(
        "Noise, if steps are even",
        "The standard deviation of the error in one rating that such a rater would need. One that uses the "
        "scale otherwise, as one that scores each answer does, errs by more or less than this. Compare "
        "raters of the same answer scale.",
        lambda own: _of(own["place"]["worth"], "noise"),
        *_ELO,
    ),
    _Measure(
        "Changes its verdict",
        "How often the verdict changes when the pair comes in the other order.",
        lambda own: _bare(own["ratings"]["flips"], "rate", _pairs(own["ratings"]["flips"], "pairs", "pair")),
        *_SHARE,
    ),
    _Measure(
        "Same rating again",
        "How often the same question gets the very same rating again.",
        lambda own: _of(own["retest"], "exact", _pairs(own["retest"], "n", "repeat")),
        *_SHARE,
    ),
    _Measure(
        "Same verdict again",
        "How often the same question gets the same verdict again: first, tie or second.",
        lambda own: _of(own["retest"], "same", _pairs(own["retest"], "n", "repeat")),
        *_SHARE,
    ),
    _Measure(
        "Identical texts: takes a side",
        "How often it takes a side although both answers are the same text.",
        lambda own: _of(own["controls"], "sided", _pairs(own["controls"], "n", "answer")),
        *_SHARE,
    ),
    _Measure(
        "Identical texts: shift towards the first",
        f"How far the mean rating of such pairs is from a tie, {_IN_POINTS}. Without position bias it is 0.",
        lambda own: _in_points(
            _of(own["controls"], "shift", _pairs(own["controls"], "n", "answer")), to_the_first=True
        ),
        *_OF_SCALE,
    ),
    _Measure(
        "Expected minus sampled",
        "The expected rating, where the probabilities of the reply are known, minus the rating given, "
        f"{_IN_POINTS}.",
        lambda own: _in_points(_of(own["expected"], "difference", _pairs(own["expected"], "n", "rating"))),
        *_OF_SCALE,
    ),
    _Measure(
        "Expected on the same side",
        "How often the expected rating takes the side of the rating given.",
        lambda own: _of(own["expected"], "same_side", _pairs(own["expected"], "n", "rating")),
        *_SHARE,
    ),
    _Measure(
        PEARSON_WITH_MEAN,
        "On these pairs. The mean of several people is easier to agree with than one person, so it is often "
        "above the agreement on other pages. For people: of each with the others.",
        _correlation,
    ),
    _Measure(
        "Prefers what may be its family",
        "How much more it prefers models that may, by name, be of its own family than others do on the "
        f"same pairs, {_IN_POINTS}.",
        lambda own: _in_points(_own_family(own)),
        *_OF_SCALE,
    ),
)


def lines(content: Content, order_free: Container[str] = ()) -> list[Line]:
    """Every measure that is known of somebody, in the order of the table.

    The order of answers cannot change what the ``order_free`` raters say.
    """
    raters, labels = [_asked(own, order_free) for own in content["raters"]], _labels(content)
    # Where everybody rated every pair, the caption has said so.
    measures = MEASURES[1:] if all(own["pairs"] == content["pairs"] for own in raters) else MEASURES
    found = [
        Line(each.name, each.meaning, each.unit, each.noun, tuple(map(each.read, raters)), labels)
        for each in measures
    ]
    return [line for line in found if any(cell.found.value is not None for cell in line.cells)]


def _asked(own: Content, order_free: Container[str]) -> Content:
    return {**own, "ratings": {**own["ratings"], "flips": None}} if own["selector"] in order_free else own


def _labels(content: Content) -> tuple[str, ...]:
    return tuple(own["label"] for own in content["raters"])


def _money(value: float | None) -> str:
    return NONE if value is None else f"{value:,.4g}" if value < 1 else f"{value:,.2f}"


_SPENT: Final = (
    ("calls", "Calls", "Questions sent to an endpoint.", WHOLE, ""),
    ("cached_share", "From the cache", "Replies used again.", SHARE, PERCENT),
    ("prompt_tokens", "Prompt tokens", "", WHOLE, ""),
    ("completion_tokens", "Reply tokens", "With thinking.", WHOLE, ""),
    ("reasoning_tokens", "Thinking tokens", "", WHOLE, ""),
    ("seconds", "Endpoint time", "Added up over calls, though several run at once.", WHOLE, "s"),
    ("cost", "Cost", "Of the calls that have a price.", replace(WHOLE, text=_money), ""),
)


def spent(content: Content, spending: Spending) -> list[Line]:
    """What answers cost per thousand pairs, a line for each kind of cost; none without a call."""
    own = [spending.get(each["selector"]) for each in content["raters"]]
    found = [
        Line(name, meaning, unit, noun, tuple(_cost(each, key) for each in own), _labels(content))
        for key, name, meaning, unit, noun in _SPENT
    ]
    return [line for line in found if any(cell.found.value is not None for cell in line.cells)]


def _cost(own: Content | None, key: str) -> Measured:
    found = _of(own, key)
    if own is None or key != "cost":
        return found
    notes = [own["currency"] or "", f"{own['unpriced']:,} without a price" if own["unpriced"] else ""]
    return Measured(found.found, ", ".join(filter(None, notes)))


def lines_table(caption: str, content: Content, shown: Sequence[Line]) -> DataTable:
    """Lines as plain numbers with both ends and what is said of n."""
    columns = chain.from_iterable(map(_of_rater, count(), _labels(content)))
    return DataTable.of(caption, [Column[Line]("Measure", "name"), Column("Unit", "noun"), *columns], shown)


def _of_rater(at: int, label: str) -> Iterator[Column[Line]]:
    def read(line: Line) -> Estimate:
        numbers = line.cells[at].found.times(line.unit.scale)
        return Estimate(*(None if each is None else round(each, 6) for each in numbers))

    yield Column(label, read, ends=ends_of(f"{label},"))
    yield Column(f"{label}, about", lambda line: line.cells[at].n)
