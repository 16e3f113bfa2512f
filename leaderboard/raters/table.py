"""Kinds of raters as rows of a page and of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leaderboard.pages.claim import pairs_of
from leaderboard.pages.columns import BLANK, Column, bare, ends_of
from leaderboard.pages.format import NONE, counted
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import COEFFICIENT, SHARE, Estimate, P
from leaderboard.pages.wording import FEWEST_PAIRS
from leaderboard.raters.bias.content import Length, Ratings
from leaderboard.raters.bias.table import Shown, longer_wins, shown, unscored_reasons
from leaderboard.stats.bias_results import Flips, ScoreDifferences

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
    def main(self) -> Shown | None:
        """How it used the scale that it used most."""
        return next(iter(self.shown), None)

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
AGREES: Final = "Agrees with people (r)"


def summary(kind: Kind) -> dict[str, RaterFigure]:
    """The numbers of one kind by the columns of the page."""
    members = counted(kind.raters, "rater") if kind.raters > 1 else ""
    unrated = f"{kind.unscored:,} of {kind.replies:,} not rated" if kind.unscored else ""
    return {
        "Ratings": RaterFigure(f"{kind.given:,}", _joined(members, unrated)),
        AGREES: _with_people(kind),
        "Prefers the first": _position(kind.main, len(kind.shown) > 1),
        LONGER: _longer(kind.longer),
        "Changes its verdict": _flips(kind),
    }


def _position(main: Shown | None, several: bool) -> RaterFigure:
    if main is None or not main.scored:
        return RaterFigure(NONE)
    scale = f"scale of {main.points} points" if several else ""
    return RaterFigure(SHARE.text(main.first.value), _joined(SHARE.range(*main.first[1:]), scale))


def _flips(kind: Kind) -> RaterFigure:
    flips = kind.flips
    if flips is None:
        return RaterFigure(NONE, "no counted pair in both orders")
    rate = Estimate.bare(flips, "rate")
    return RaterFigure(
        SHARE.text(rate.value), _joined(SHARE.range(*rate[1:]), counted(flips["pairs"], "pair"))
    )


def _longer(found: Values) -> RaterFigure:
    won = longer_wins(found)
    return RaterFigure(SHARE.text(won.value), "" if won.value is None else SHARE.range(*won[1:]))


def _with_people(kind: Kind) -> RaterFigure:
    row = kind.correlation or {}
    found, pairs = Estimate.of(row, "pearson"), row.get("n", 0)
    if found.value is None:
        return RaterFigure(NONE, row.get("reason") or "")
    few = pairs < FEWEST_PAIRS
    n = f"{'only ' if few else ''}{counted(pairs, 'pair')}"
    return RaterFigure(COEFFICIENT.text(found.value), _joined(COEFFICIENT.range(*found[1:]), n), few)


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))


_KINDS: Final[Sequence[Column[Kind]]] = (
    Column("Raters", "label"),
    Column("Members", "raters"),
    Column("Simulated", lambda kind: "yes" if kind.simulated else "no"),
    Column("Comparisons", "given", label="Ratings"),
    Column("Unscored", "unscored", label="Replies not rated"),
    Column("Unscored by reason", "unscored_words"),
    Column("Scale (points)", "main.points"),
    Column("Prefers first %", "main.first", SHARE, label="Prefers the first", ends=BLANK),
    Column("Mean rating", "main.average", ends=BLANK),
    Column("Neutral mean", "main.neutral", label="Mean rating without bias"),
    Column("p (mirrored)", "main.position.p", P),
    Column("Flip %", bare("flips.rate"), SHARE, label="Changes its verdict", ends=BLANK),
    Column("Pairs in both orders", "flips.pairs"),
    Column("Tie %", "tie_share", SHARE, label="Tie share"),
    Column("Longer wins %", lambda kind: longer_wins(kind.longer), SHARE, label=LONGER, ends=BLANK),
    Column("Kappa with people", "kappa.kappa", COEFFICIENT, label="Weighted kappa", ends=ends_of("Kappa")),
    Column("Pairs for kappa", lambda kind: pairs_of(kind.kappa) if kind.kappa else None),
    Column(
        "Pearson r with people", "correlation.pearson", COEFFICIENT, label=AGREES, ends=ends_of("Pearson r")
    ),
    Column("Pairs for r", "correlation.n"),
    Column("Alpha among themselves", "within.alpha", COEFFICIENT, label="Alpha", ends=ends_of("Alpha")),
)


def kinds_table(kinds: Sequence[Kind]) -> DataTable:
    return DataTable.of("Kinds of raters", _KINDS, kinds)
