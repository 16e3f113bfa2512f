"""The features of answers that have a name here: what they mean, and what it takes to get them. Pure.

A name is that of a feature, such as ``entropy``, and after a point each of the ``WAYS`` in which it was
taken, such as ``entropy.full.calibrated``; without any it is about the tokens of the answer alone, written
without a reference. A bound is named as its feature with _low or _high, as ``entropy_low.full``. Files may
bring other features, under names of this spelling.
"""

import re
from enum import StrEnum
from typing import Final, NamedTuple

LARGEST: Final = 1e12
"""Of a value."""

LONGEST: Final = 100
"""Characters of a name."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")


class Variant(StrEnum):
    """By whose formula a value was computed; values of different variants are different numbers."""

    PAPER = "paper"
    RELEASED = "released"
    BOUNDS = "bounds"

    @property
    def label(self) -> str:
        return _VARIANTS[self]


_VARIANTS: Final = {
    Variant.PAPER: "published formula",
    Variant.RELEASED: "released code",
    Variant.BOUNDS: "bounds",
}


class Needs(StrEnum):
    """What a model has to give."""

    TOKENS = "the probability of each token"
    DISTRIBUTIONS = "whole distributions over the vocabulary"
    DROPOUT = "several passes with dropout"
    ATTENTION = "the attention of every head and layer"
    REFERENCE = "the probability of each token of a reference answer"


class Feature(NamedTuple):
    """``higher_is_better``: whether the paper expects better answers to have higher values, if it says so."""

    name: str
    label: str
    meaning: str
    needs: Needs
    higher_is_better: bool | None


FEATURES: Final = {
    one.name: one
    for one in (
        Feature(
            "mean_logprob",
            "Mean log-probability",
            "The mean log-probability of the answer's tokens.",
            Needs.TOKENS,
            True,
        ),
        Feature(
            "sentence_logprob",
            "Log-probability of the text",
            "The sum of the log-probabilities of the answer's tokens.",
            Needs.TOKENS,
            True,
        ),
        Feature(
            "logprob_variance",
            "Variance of log-probability",
            "How much the log-probabilities of the answer's tokens vary.",
            Needs.TOKENS,
            False,
        ),
        Feature(
            "entropy",
            "Entropy",
            "How evenly the model's probability is spread over the vocabulary, on average over tokens.",
            Needs.DISTRIBUTIONS,
            False,
        ),
        Feature(
            "entropy_variance_sum",
            "Entropy and variance",
            "Entropy and variance of log-probability, each scaled from 0 to 1 in the set of answers, added.",
            Needs.DISTRIBUTIONS,
            False,
        ),
        Feature(
            "dropout_mean",
            "Mean under dropout",
            "The mean log-probability of the answer's tokens, on average over passes with dropout.",
            Needs.DROPOUT,
            True,
        ),
        Feature(
            "dropout_variance",
            "Variance under dropout",
            "How much the mean log-probability of the tokens varies between passes with dropout.",
            Needs.DROPOUT,
            False,
        ),
        Feature(
            "attention_entropy_mean",
            "Entropy of attention, mean",
            "How evenly attention is spread over tokens, on average over all heads and layers.",
            Needs.ATTENTION,
            False,
        ),
        Feature(
            "attention_entropy_min",
            "Entropy of attention, least",
            "How evenly attention is spread over tokens, in the head and layer where it is least even.",
            Needs.ATTENTION,
            False,
        ),
        Feature(
            "reference_surprise",
            "Surprise at the reference",
            "The mean of −p log p over the tokens of the prompt's reference answer.",
            Needs.REFERENCE,
            None,
        ),
    )
}

RELEASED_DIFFERS: Final = {"entropy", "logprob_variance", "entropy_variance_sum"}
"""Those of which the released code computes other numbers, for which the paper expects nothing."""

TELLING: Final = (
    "logprob_variance",
    "entropy",
    *(name for name, one in FEATURES.items() if one.higher_is_better is not None),
)
"""Those of which the paper expects better answers on one side; what correlated best there comes first."""

WAYS: Final = {
    "full": "prompt and answer",
    "illustrated": "with a reference shown before",
    "calibrated": "less the surprise at the reference",
}
"""How a feature may be taken, in the order in which names have them."""

ENDS: Final = {"_low": "at least", "_high": "at most"}


class Named(NamedTuple):
    """A name taken apart; ``end`` is that of a bound, or empty."""

    base: str
    end: str
    ways: tuple[str, ...]

    @classmethod
    def read(cls, name: str) -> "Named":
        first, *ways = name.split(".")
        end = next((end for end in ENDS if first.endswith(end)), "")
        return cls(first.removesuffix(end), end, tuple(ways))

    @property
    def feature(self) -> Feature | None:
        return FEATURES.get(self.base)

    @property
    def name(self) -> str:
        """Return the name of the feature of which this may be a bound."""
        return ".".join((self.base, *self.ways))

    @property
    def label(self) -> str:
        """The name in words, without that it is a bound; what has no words here stays as it is spelt."""
        words = self.feature.label if self.feature else self.base
        return words + "".join(f", {WAYS[way]}" if way in WAYS else f".{way}" for way in self.ways)

    def higher_is_better(self, variant: str) -> bool | None:
        """Return True if better answers should have higher values of this variant; None if nobody says."""
        if self.feature is None or (variant == Variant.RELEASED and self.base in RELEASED_DIFFERS):
            return None
        return self.feature.higher_is_better

    @property
    def whole_label(self) -> str:
        """The label, which says of a bound that it is one."""
        return f"{self.label} ({ENDS[self.end]})" if self.end else self.label


_LOGARITHMS: Final = {"mean_logprob", "sentence_logprob", "dropout_mean"}
_TOLERANCE: Final = 1e-6
"""What rounding may add to 0."""


def value_fault(name: str, variant: str, value: float) -> str:
    """Why the published formula cannot give this value, or empty."""
    named = Named.read(name)
    if not named.feature or variant == Variant.RELEASED or named.ways[-1:] == ("calibrated",):
        return ""
    if named.base in _LOGARITHMS:
        if value > _TOLERANCE:
            return f"{value} is above 0, which a log-probability never is; check its sign"
    elif value < -_TOLERANCE:
        return f"{value} is below 0, which {name} never is; check its sign"
    return ""


def bound_names(name: str) -> tuple[str, str]:
    """The names of the lower and the upper bound of a feature."""
    first, point, ways = name.partition(".")
    low, high = (f"{first}{end}{point}{ways}" for end in ENDS)
    return low, high


def fault(name: str, variant: str) -> str:
    """Why no feature can have this name in this variant, or empty."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        spelling = f"lower-case letters, digits, _ and points, at most {LONGEST} characters"
        return f'"{name[:LONGEST]}" cannot name a feature; use {spelling}'
    is_bound = bool(Named.read(name).end)
    if is_bound and variant != Variant.BOUNDS:
        return f'"{name}" is a bound by its name; give the variant bounds, or another name'
    if not is_bound and variant == Variant.BOUNDS:
        return f'"{name}" is not the name of a bound; give {" and ".join(bound_names(name))}'
    return ""
