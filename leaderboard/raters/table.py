"""Kinds of raters as rows of a page and of a file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leaderboard.bias.content import Flips, Length, Ratings, ScoreDifferences
from leaderboard.bias.table import Shown, equals, shown, unscored_reasons
from leaderboard.pages.table import Cell, DataTable
from leaderboard.pages.wording import (
    FEWEST_PAIRS,
    agreement_word,
    correlation_word,
    counted,
    percent,
    percent_range,
    signed,
)

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of raters with its tables of one category; None where the snapshot has no such table.

    ``with_people`` (kappa), ``correlation`` (with people; of people with each other) and ``within`` (alpha
    among themselves) are rows of tables.
    """

    selector: str
    label: str
    raters: int
    comparisons: int
    simulated: bool
    ratings: Ratings | None
    length: Length | None = None
    with_people: Values | None = None
    correlation: Values | None = None
    within: Values | None = None

    @property
    def shown(self) -> list[Shown]:
        """Its histograms, the most used scale first."""
        if not self.ratings:
            return []
        found = [shown(self.label, scale, self.ratings.get("band", "")) for scale in self.ratings["scales"]]
        return sorted(found, key=lambda one: -one.replies)

    @property
    def told_apart(self) -> list[Shown]:
        """The histograms with the scale in the label where there are several."""
        found = self.shown
        if len(found) < 2:
            return found
        return [replace(one, label=f"{one.label}, {one.points} points") for one in found]

    @property
    def replies(self) -> int:
        return sum(one.replies for one in self.shown)

    @property
    def unscored(self) -> int:
        return sum(sum(one.unscored.values()) for one in self.shown)

    @property
    def unscored_words(self) -> str:
        """The unscored by reason: "3 refused, 1 empty"."""
        total: dict[str, int] = {}
        for one in self.shown:
            for reason in unscored_reasons([one]):
                total[reason] = total.get(reason, 0) + one.unscored[reason]
        return ", ".join(f"{n:,} {reason}" for reason, n in total.items())

    @property
    def flips(self) -> Flips | None:
        """None where no pair was asked in both orders."""
        found = self.ratings.get("flips") if self.ratings else None
        return found if found and found["pairs"] else None

    @property
    def scores(self) -> ScoreDifferences | None:
        """None for raters that give one rating."""
        found = self.ratings.get("scores") if self.ratings else None
        return found if found and found["n"] else None

    @property
    def longer(self) -> Values:
        """The effect of length in words; empty where unknown."""
        measures = {each["name"]: each for each in self.length["measures"]} if self.length else {}
        return measures.get("words") or next(iter(measures.values()), {})

    @property
    def tie_share(self) -> float | None:
        scored = sum(one.scored for one in self.shown)
        return sum(one.ties for one in self.shown) / scored if scored else None


@dataclass(frozen=True)
class RaterFigure:
    value: str
    note: str = ""
    warn: bool = False


def summary(kind: Kind) -> list[RaterFigure]:
    """Cells of the columns SUMMARY_COLUMNS."""
    main = kind.shown[0] if kind.shown else None
    return [
        RaterFigure(f"{kind.replies:,}", counted(kind.raters, "rater")),
        RaterFigure(f"{kind.unscored:,}", kind.unscored_words),
        *_position(main, len(kind.shown) > 1),
        _flips(kind.flips),
        RaterFigure(percent(kind.tie_share)),
        _longer(kind.longer),
        *_with_people(kind),
    ]


SUMMARY_COLUMNS = (
    *("Comparisons", "Unscored", "Prefers the first", "Mean rating", "Against its mirror image"),
    *("Flips", "Ties", "Longer wins", "Agreement with people", "Correlation with people"),
)


def _position(main: Shown | None, several: bool) -> tuple[RaterFigure, RaterFigure, RaterFigure]:
    if main is None or not main.scored:
        return RaterFigure("–"), RaterFigure("–"), RaterFigure("–")
    at = main.position
    share = percent_range(at.get("share_first_low"), at.get("share_first_high"))
    if several:
        share = f"{share}; scale of {main.points} points".removeprefix("; ")
    mean = f"{main.neutral:g} is neutral"
    if at.get("mean_low") is not None:
        mean = f"{signed(at['mean_low'])} to {signed(at['mean_high'])}; {mean}"
    p = at.get("p")
    lopsided = p is not None and p < 0.05
    word = "" if p is None else "lopsided" if lopsided else "as by chance"
    return (
        RaterFigure(percent(main.share_first), share),
        RaterFigure("–" if main.mean is None else f"{main.mean:.2f}", mean),
        RaterFigure(f"p {equals(p)}" if p is not None else "–", word, lopsided),
    )


def _flips(flips: Flips | None) -> RaterFigure:
    if flips is None:
        return RaterFigure("–", "no pair in both orders")
    interval = percent_range(flips.get("low"), flips.get("high"))
    n = counted(flips["pairs"], "pair")
    return RaterFigure(percent(flips["rate"]), f"{interval}; {n}" if interval else n)


def _longer(found: Values) -> RaterFigure:
    if found.get("longer_wins") is None:
        return RaterFigure("–")
    return RaterFigure(
        percent(found["longer_wins"]), percent_range(found.get("longer_low"), found.get("longer_high"))
    )


def _with_people(kind: Kind) -> tuple[RaterFigure, RaterFigure]:
    """Agreement with people; of people, among themselves."""
    if kind.selector == "people":
        alpha, other = _cell(kind.within, "alpha", agreement_word), "with the other people"
        alone = RaterFigure(alpha.value, f"alpha among themselves; {alpha.note}".rstrip("; "), alpha.warn)
        with_others = _cell(kind.correlation, "pearson", correlation_word)
        noted = RaterFigure(with_others.value, f"{other}; {with_others.note}".rstrip("; "), with_others.warn)
        return alone, noted
    return (
        _cell(kind.with_people, "kappa", agreement_word),
        _cell(kind.correlation or kind.with_people, "pearson", correlation_word),
    )


def _cell(row: Values | None, name: str, word: Callable[[float | None], str]) -> RaterFigure:
    found = row or {}
    value, pairs = found.get(name), found.get("pairs", found.get("n"))
    if value is None:
        return RaterFigure("–", found.get("reason") or "")
    few = pairs is not None and pairs < FEWEST_PAIRS
    n = "" if pairs is None else f"; {'only ' if few else ''}{counted(pairs, 'pair')}"
    return RaterFigure(signed(value), f"{word(value)}{n}", few)


def kinds_table(kinds: Sequence[Kind]) -> DataTable:
    columns = (
        *(
            "Raters",
            "Members",
            "Simulated",
            "Comparisons",
            "Unscored",
            "Unscored by reason",
            "Scale (points)",
        ),
        *("Prefers first %", "Prefers first % low", "Prefers first % high", "Mean rating", "Neutral mean"),
        *("p (mirrored)", "Flip %", "Pairs in both orders", "Tie %", "Longer wins %"),
        *("Kappa with people", "Pairs for kappa", "Pearson r with people", "Pairs for r"),
        *("Alpha among themselves",),
    )
    return DataTable("Kinds of raters", columns, tuple(_plain(kind) for kind in kinds))


def _plain(kind: Kind) -> tuple[Cell, ...]:
    main = kind.shown[0] if kind.shown else None
    at: Values = main.position if main else {}
    flips, people, r = kind.flips, kind.with_people or {}, kind.correlation or {}
    lean: tuple[Cell, ...] = (None, None, None)
    if main is not None:
        lean = (_percent(main.share_first), main.mean, main.neutral)
    share, mean, neutral = lean
    return (
        *(kind.label, kind.raters, "yes" if kind.simulated else "no", kind.replies, kind.unscored),
        *(kind.unscored_words, main.points if main else None),
        *(share, _percent(at.get("share_first_low")), _percent(at.get("share_first_high"))),
        *(mean, neutral, at.get("p")),
        *((_percent(flips["rate"]), flips["pairs"]) if flips else (None, None)),
        _percent(kind.tie_share),
        _percent(kind.longer.get("longer_wins")),
        *(people.get("kappa"), people.get("pairs", people.get("n")), r.get("pearson"), r.get("n")),
        (kind.within or {}).get("alpha"),
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)
