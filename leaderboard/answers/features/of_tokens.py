"""The features of an answer by name, from what is known about its tokens. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

import numpy as np

from arena.rules.feature_names import Variant, bound_names
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.token_features import (
    calibrated,
    logprob_variance,
    mean_logprob,
    reference_surprise,
    sentence_logprob,
)

CALIBRATED: Final = ("entropy", "logprob_variance")
"""The features from which the paper subtracts the surprise at the reference (section 3.2)."""


class Value(NamedTuple):
    name: str
    variant: Variant
    value: float


@dataclass(frozen=True, eq=False)
class Tokens:
    """The log-probability of each token, and where known the entropy of its step, or bounds of it."""

    log_p: FloatArray
    entropy: FloatArray | None = None
    low: FloatArray | None = None
    high: FloatArray | None = None

    @classmethod
    def together(cls, parts: Sequence[Tokens]) -> Tokens:
        """What is known of all parts."""
        joined: dict[str, Any] = {}
        for field in fields(cls):
            known = [each for each in (getattr(part, field.name) for part in parts) if each is not None]
            joined[field.name] = np.concatenate(known) if len(known) == len(parts) else None
        return cls(**joined)


def of_turns(answers: Mapping[int, Tokens], turns: Collection[int]) -> Tokens | None:
    """Those of these turns' answers together; None unless all are there."""
    if not set(turns) <= answers.keys():
        return None
    return Tokens.together([answers[turn] for turn in turns])


def features(
    answer: Tokens,
    full: Tokens | None = None,
    illustrated: Tokens | None = None,
    reference: Tokens | None = None,
) -> Iterator[Value]:
    """Those of the answer, of prompt and answer, of the answer after an illustration, of the reference."""
    surprise = None if reference is None else reference_surprise(reference.log_p)
    if surprise is not None:
        yield Value("reference_surprise", Variant.PAPER, surprise)
    for way, tokens in (("", answer), (".full", full), (".illustrated", illustrated)):
        if tokens is None:
            continue
        found = dict(_of(tokens))
        for name, value in found.items():
            yield Value(f"{name}{way}", Variant.PAPER, value)
        for name in CALIBRATED if way != ".illustrated" else ():
            less = calibrated(found.get(name), surprise)
            if less is not None:
                yield Value(f"{name}{way}.calibrated", Variant.PAPER, less)
        for name, ends in zip(bound_names(f"entropy{way}"), (tokens.low, tokens.high), strict=True):
            if ends is not None and len(ends):
                yield Value(name, Variant.BOUNDS, float(ends.mean()))


def _of(tokens: Tokens) -> Iterator[tuple[str, float]]:
    for measure in (mean_logprob, sentence_logprob, logprob_variance):
        value = measure(tokens.log_p)
        if value is not None:
            yield measure.__name__, value
    if tokens.entropy is not None and len(tokens.entropy):
        yield "entropy", float(tokens.entropy.mean())
