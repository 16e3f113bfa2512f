"""Kinds of raters as rows of a page and of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leaderboard.pages.format import counted, number_range, percent, percent_range, signed
from leaderboard.pages.guessed import guessed
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import Cell, percent_cell
from leaderboard.pages.wording import FEWEST_PAIRS
from leaderboard.raters.bias.content import Flips, Length, Ratings, ScoreDifferences
from leaderboard.raters.bias.table import Shown, shown, unscored_reasons

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of raters with its tables of one category; None where the snapshot has no such table.

    ``kappa`` (with people), ``correlation`` (of agreement.table.with_people) and ``within`` (alpha among
    themselves) are rows of tables.
    """

    selector: str
    label: str
    raters: int
    comparisons: int
    simulated: bool
    ratings: Ratings | None
    length: Length | None = None
    kappa: Values | None = None
    correlation: Values | None = None
    within: Values | None = None
    panel: bool = False

    @property
    def shown(self) -> list[Shown]:
        """Its histograms, the most used scale first."""
        found = shown(self.label, self.ratings) if self.ratings else []
        return sorted(found, key=lambda one: -one.replies)

    @property
    def replies(self) -> int:
        return sum(one.replies for one in self.shown)

    @property
    def unscored(self) -> int:
        return sum(sum(one.unscored.values()) for one in self.shown)

    @property
    def given(self) -> int:
        """How many ratings it gave."""
        return self.replies - self.unscored

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


LONGER: Final = "Longer wins"


def summary(kind: Kind) -> dict[str, RaterFigure]:
    """The numbers of one kind by the columns of the page."""
    members = counted(kind.raters, "rater") if kind.raters > 1 else ""
    unrated = f"{kind.unscored:,} of {kind.replies:,} not rated" if kind.unscored else ""
    return {
        "Ratings": RaterFigure(f"{kind.given:,}", "; ".join(filter(None, (members, unrated)))),
        "Agrees with people (r)": _with_people(kind),
        "Prefers the first": _position(kind.shown[0] if kind.shown else None, len(kind.shown) > 1),
        LONGER: _longer(kind.longer),
        "Changes its verdict": _flips(kind),
    }


def _position(main: Shown | None, several: bool) -> RaterFigure:
    if main is None or not main.scored:
        return RaterFigure("–")
    share = percent_range(main.position.get("share_first_low"), main.position.get("share_first_high"))
    if several:
        share = f"{share}; scale of {main.points} points".removeprefix("; ")
    return RaterFigure(percent(main.share_first), share)


def _flips(kind: Kind) -> RaterFigure:
    flips = kind.flips
    if flips is None:
        return RaterFigure("–", "no counted pair in both orders")
    interval = percent_range(flips.get("low"), flips.get("high"))
    n = counted(flips["pairs"], "pair")
    return RaterFigure(percent(flips["rate"]), f"{interval}; {n}" if interval else n)


def _longer(found: Values) -> RaterFigure:
    if found.get("longer_wins") is None:
        return RaterFigure("–")
    return RaterFigure(
        percent(found["longer_wins"]), percent_range(found.get("longer_low"), found.get("longer_high"))
    )


def _with_people(kind: Kind) -> RaterFigure:
    row = kind.correlation or {}
    value, pairs = row.get("pearson"), row.get("n", 0)
    if value is None:
        return RaterFigure("–", row.get("reason") or "")
    few = pairs < FEWEST_PAIRS
    ends = number_range(row.get("pearson_low"), row.get("pearson_high"))
    n = f"{'only ' if few else ''}{counted(pairs, 'pair')}"
    return RaterFigure(signed(value), f"{ends}; {n}" if ends else n, few)


def kinds_table(kinds: Sequence[Kind]) -> DataTable:
    return guessed("Kinds of raters", map(_plain, kinds))


def _plain(kind: Kind) -> dict[str, Cell]:
    main = kind.shown[0] if kind.shown else None
    at: Values = main.position if main else {}
    flips, people, r, within = kind.flips, kind.kappa or {}, kind.correlation or {}, kind.within or {}
    return {
        "Raters": kind.label,
        "Members": kind.raters,
        "Simulated": "yes" if kind.simulated else "no",
        "Comparisons": kind.given,
        "Unscored": kind.unscored,
        "Unscored by reason": kind.unscored_words,
        "Scale (points)": main.points if main else None,
        "Prefers first %": percent_cell(main.share_first if main else None),
        "Prefers first % low": percent_cell(at.get("share_first_low")),
        "Prefers first % high": percent_cell(at.get("share_first_high")),
        "Mean rating": main.mean if main else None,
        "Mean rating low": at.get("mean_low"),
        "Mean rating high": at.get("mean_high"),
        "Neutral mean": main.neutral if main else None,
        "p (mirrored)": at.get("p"),
        "Flip %": percent_cell(flips and flips["rate"]),
        "Flip % low": percent_cell(flips and flips["low"]),
        "Flip % high": percent_cell(flips and flips["high"]),
        "Pairs in both orders": flips and flips["pairs"],
        "Tie %": percent_cell(kind.tie_share),
        "Longer wins %": percent_cell(kind.longer.get("longer_wins")),
        "Longer wins % low": percent_cell(kind.longer.get("longer_low")),
        "Longer wins % high": percent_cell(kind.longer.get("longer_high")),
        "Kappa with people": people.get("kappa"),
        "Kappa low": people.get("kappa_low"),
        "Kappa high": people.get("kappa_high"),
        "Pairs for kappa": people.get("pairs", people.get("n")),
        "Pearson r with people": r.get("pearson"),
        "Pearson r low": r.get("pearson_low"),
        "Pearson r high": r.get("pearson_high"),
        "Pairs for r": r.get("n"),
        "Alpha among themselves": within.get("alpha"),
        "Alpha low": within.get("alpha_low"),
        "Alpha high": within.get("alpha_high"),
    }
