"""Measures of a judge, or of a rule in place of one, on pairs with a right answer: each is declared once.

Content, page, files, terminal and what is sealed follow from MEASURES. Pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from leaderboard.pages.columns import COLON, Column
from leaderboard.pages.units import COEFFICIENT, COUNT, POINTS, SHARE, Estimate, P, Unit

Item = TypeVar("Item")


@dataclass(frozen=True)
class Measure:
    """A number of a judge, a model or a protocol, by its ``key`` in contents, JSON and API.

    ``label``: its name in files, and on pages unless these write ``heading``; ``help`` its meaning there,
    empty for what only files have. ``terminal``: its name in ``meta_evaluate``, empty for what that leaves
    out. ``usual``: shown before all columns are asked for. ``sealed``: not told of a study that is not closed
    to those who may rate. ``by_rule``: known of a rule without an interval. ``between_people``: of people it
    says something else.
    """

    key: str
    unit: Unit
    label: str
    heading: str = ""
    help: str = ""
    terminal: str = ""
    usual: bool = False
    sealed: bool = True
    by_rule: bool = False
    between_people: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its number and of its interval, which counts and p do not have."""
        prefix = "" if self.key == "accuracy" else f"{self.key}_"
        return (self.key,) if self.unit in (COUNT, P) else (self.key, f"{prefix}low", f"{prefix}high")

    def estimate(self, figures: Mapping[str, Any]) -> Estimate:
        return Estimate(*map(figures.get, self.keys))

    def column(self, figures: Callable[[Item], Mapping[str, Any]]) -> Column[Item]:
        """Its column in a table of items with ``figures``."""
        return Column(
            f"{self.label}{self.unit.suffix}",
            lambda item: self.estimate(figures(item)),
            self.unit,
            label=self.heading or self.label,
            ends=COLON if self.keys[1:] else None,
            key={"hedging": "ties"}.get(self.key, self.key.replace("_", "-")),
            help=self.help,
        )


ACCURACY: Final = Measure(
    "accuracy",
    SHARE,
    "Right",
    help="Share of ratings that have the right answer.",
    terminal="right",
    usual=True,
    sealed=False,
)
MEASURES: Final = (
    ACCURACY,
    Measure("n", COUNT, "Pairs", help="Pairs with a right answer.", sealed=False),
    Measure(
        "agreement",
        SHARE,
        "Same in both orders",
        heading="Same side in both orders",
        help="How often a verdict is for the same answer in both orders; – if a judge sees them one by one. "
        "4 and 5 of 8 take a side here; in “Changes its verdict” on other pages they are ties.",
        terminal="agrees",
        usual=True,
        sealed=False,
        by_rule=True,
        between_people=True,
    ),
    Measure(
        "alpha",
        COEFFICIENT,
        "Alpha",
        heading="Alpha between orders",
        help="Krippendorff’s alpha between the orders: 1 is the same every time.",
        terminal="alpha",
        sealed=False,
        by_rule=True,
        between_people=True,
    ),
    Measure(
        "both_right",
        SHARE,
        "Right in both orders",
        help="Share of pairs.",
        terminal="right twice",
        sealed=False,
    ),
    Measure(
        "hedging",
        SHARE,
        "Ties",
        heading="Prefers neither",
        help="Ties, of all replies. A rating on 2 or 8 points is never one.",
        terminal="ties",
        sealed=False,
    ),
    Measure(
        "unscored",
        SHARE,
        "Not rated",
        help="Replies without a rating.",
        terminal="not rated",
        usual=True,
        sealed=False,
        by_rule=True,
    ),
    Measure(
        "kappa",
        COEFFICIENT,
        "Kappa",
        heading="Kappa with right answers",
        help="Cohen’s kappa with the right answers: 0 is chance.",
        terminal="kappa",
        sealed=False,
    ),
    *(
        Measure(
            key,
            COEFFICIENT,
            label,
            help=f"{meaning}, on average over both sides and ties, where ties are a class.",
            terminal=label if key == "f1" else "",
            sealed=False,
        )
        for key, label, meaning in (
            ("precision", "Macro precision", "Share of verdicts that are right"),
            ("recall", "Macro recall", "Share of right answers that are found"),
            ("f1", "Macro F1", "Harmonic mean of precision and recall"),
        )
    ),
    Measure(
        "first",
        SHARE,
        "Prefers the first",
        help="Of ratings that take a side. 50% is no preference.",
        terminal="first",
        sealed=False,
        by_rule=True,
    ),
    Measure(
        "longer",
        SHARE,
        "Prefers the longer",
        help="Of ratings that take a side, the answer with more characters.",
    ),
    Measure(
        "people", SHARE, "As people", help="How often it takes the side of most people.", between_people=True
    ),
    Measure("asked", COUNT, "Replies", sealed=False),
    Measure("scored", COUNT, "Rated replies", sealed=False),
    Measure("both", COUNT, "Pairs rated in both orders", sealed=False),
)
COUNTS: Final = tuple(each for each in MEASURES if each.unit is COUNT)
AVERAGED: Final = tuple(each for each in MEASURES if each.unit is not COUNT and each is not ACCURACY)
"""What has a mean of subsets, in the order of JSON."""
PUBLIC: Final = {key for each in MEASURES if not each.sealed for key in each.keys} | {"accuracy_bounds"}
"""The keys of what raters may be told of judges before the study closes; everything else is sealed."""
CERTAIN: Final = {end for each in MEASURES if each.by_rule for end in each.keys[1:]}
"""The keys of intervals that a rule does not have, as it is the same on any other prompt."""


BASE: Final = Measure("base", SHARE, "Base", terminal="base")
MEAN_OF_MODELS: Final = Measure("average", SHARE, "Average over models", terminal="average")
BEST_MODEL: Final = Measure("optimum", SHARE, "Best model", terminal="best")
MEAN_OF_PROTOCOLS: Final = Measure("average", SHARE, "Average over protocols", terminal="average")
BEST_PROTOCOL: Final = Measure("optimum", SHARE, "Best protocol but the base", terminal="best")
STRONG: Final = Measure("strong", SHARE, "Stronger half of models", terminal="stronger")
WEAK: Final = Measure("weak", SHARE, "Weaker half of models", terminal="weaker")
SELF_AGREEMENT: Final = Measure("alpha", COEFFICIENT, "Alpha between orders", terminal="alpha")
OVER_MODELS: Final = (
    MEAN_OF_MODELS,
    BEST_MODEL,
    Measure("difference", POINTS, "More than the base", terminal="over base"),
    Measure("p_adjusted", P, "p (Holm)", terminal="p (Holm)"),
    STRONG,
    WEAK,
    SELF_AGREEMENT,
)
OVER_PROTOCOLS: Final = (
    BASE,
    MEAN_OF_PROTOCOLS,
    BEST_PROTOCOL,
    Measure("gain", POINTS, "Best other protocol, more than the base", terminal="gain"),
    SELF_AGREEMENT,
)
"""What is told of a protocol over models, and of a model over protocols."""
