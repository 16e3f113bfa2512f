"""Judges by model and protocol: the part ``matrix`` of the content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray
from leaderboard.stats.gold_averages import Accuracies, adjusted
from leaderboard.stats.gold_matrix import Matrix, OverModels, difficulty, mean_alpha, over_models
from leaderboard.stats.p_values import holm
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.sums import mean_of_known
from leaderboard.trust.trial import Trial

_Found = tuple[Matrix, Matrix]  # of estimates, and of the rounds of a bootstrap
HALVES: Final = ("strong", "weak")
_BASES: Final = ("vanilla", "base")
"""Protocols that others are compared with if no base is named."""


def matrix(trial: Trial) -> dict[str, Any]:
    """Judges by model and protocol; those that lack either are cells only."""
    named = list(zip(trial.models, trial.protocols, strict=True))
    models = list(dict.fromkeys(model for model, protocol in named if model and protocol))
    protocols = list(dict.fromkeys(protocol for model, protocol in named if model and protocol))
    estimates = _estimates(trial)
    cells = list(zip(trial.slugs, trial.models, trial.protocols, estimates, strict=True))
    samples = np.array([each.samples for each in trial.accuracies[: len(trial.choices)]])
    place = _places(trial, models, protocols, np.asarray(~np.isnan(estimates).all(axis=1)))
    base = _base(trial)
    found, rounds = (
        Matrix(_placed(place, each), protocols.index(base) if base in protocols else None)
        for each in (estimates, samples)
    )
    halves = found.halves(trial.averaged)
    return {
        "models": models,
        "protocols": protocols,
        "base": base,
        "halves": {name: [models[own] for own in half] for name, half in zip(HALVES, halves, strict=True)},
        "cells": [
            {"judge": slug, "model": model, "protocol": protocol, **_row(trial, own)}
            for slug, model, protocol, own in cells
        ],
        "over_models": _over_models(trial, protocols, place, (found, rounds), halves),
        "over_protocols": _over_protocols(trial, models, place, (found, rounds)),
        "average": _row(trial, mean_of_known(trial.of_judges(estimates), 0)),
        "best": list(_best(trial, base)),
        "correlations": [
            each.as_dict()
            for each in found.correlations(trial.parts, trial.averaged, rounds, trial.asked.level)
        ],
        "differences": list(_differences(trial, base)),
        "difficulty": _difficulty(trial),
    }


def _places(trial: Trial, models: Sequence[str], protocols: Sequence[str], rated: BoolArray) -> IntArray:
    """Judges by model and protocol (models, protocols); -1 without one.

    The first of several counts that rated pairs with a right answer, as ``table.cells`` shows.
    """
    found = np.full((len(models), len(protocols)), -1)
    for judge in sorted(range(len(trial.models)), key=lambda each: (bool(rated[each]), -each)):
        model, protocol = trial.models[judge], trial.protocols[judge]
        if model and protocol:
            found[models.index(model), protocols.index(protocol)] = judge
    return found


def _placed(place: IntArray, values: FloatArray) -> FloatArray:
    """Values of judges by model and protocol; NaN without one."""
    lacking = place.reshape(*place.shape, *[1] * (values.ndim - 1)) < 0
    return np.where(lacking, np.nan, values[place])


def _over_models(
    trial: Trial, protocols: Sequence[str], place: IntArray, found: _Found, halves: Sequence[Sequence[int]]
) -> list[dict[str, Any]]:
    """Each protocol over models; p of differences from the base is adjusted for all protocols."""
    accuracy, base = found[0].accuracy, found[0].base
    values = [(own.of_protocols, own.optimum, *map(own.of_half, halves)) for own in found]
    shares = dict(zip(("average", "optimum", *HALVES), zip(*values, strict=True), strict=True))

    def of_part(subsets: Sequence[int]) -> list[dict[str, Any]]:
        means = accuracy[:, :, list(subsets)].mean(axis=2).T
        others = [None if base in (None, at) else means[base] for at in range(len(means))]
        apart = [
            OverModels() if other is None else over_models(other, own, trial.asked.level)
            for own, other in zip(means, others, strict=True)
        ]
        p = np.array([np.nan if each.p is None else each.p for each in apart])
        p[~np.isnan(p)] = holm(p[~np.isnan(p)])
        return [
            _shares(trial, place[:, at], shares, at, subsets)
            | each.as_dict()
            | {"p_adjusted": rounded(float(p[at]))}
            for at, each in enumerate(apart)
        ]

    return _turned(trial, of_part, [{"protocol": name} for name in protocols], "models", place.T)


def _over_protocols(
    trial: Trial, models: Sequence[str], place: IntArray, found: _Found
) -> list[dict[str, Any]]:
    """Each model over protocols."""
    shares = {
        "average": tuple(own.of_models for own in found),
        "optimum": tuple(own.best for own in found),
        "base": tuple(own.of_base for own in found),
    }
    gains = [own.gain for own in found]

    def of_part(subsets: Sequence[int]) -> list[dict[str, Any]]:
        told = []
        for at, judges in enumerate(place):
            gain, _ = _together(trial, judges, gains, at).apart(subsets, trial.asked.level)
            told.append(_shares(trial, judges, shares, at, subsets) | rounded({"gain": gain}))
        return told

    return _turned(trial, of_part, [{"model": name} for name in models], "protocols", place)


def _together(trial: Trial, judges: IntArray, values: Sequence[FloatArray], at: int) -> Accuracies:
    """A row of values, and of their rounds, that were made of these judges."""
    estimate, samples = values
    return Accuracies.of_several(
        estimate[at], samples[at], [trial.accuracies[judge] for judge in judges[judges >= 0].tolist()]
    )


def _shares(
    trial: Trial,
    judges: IntArray,
    shares: Mapping[str, Sequence[FloatArray]],
    at: int,
    subsets: Sequence[int],
) -> dict[str, Any]:
    """A row of shares, and self-agreement, of these judges on average over subsets."""
    found: dict[str, Any] = {}
    for name, values in shares.items():
        found[name] = _together(trial, judges, values, at).mean(subsets, trial.asked.level)
    judged = [[trial.judged[judge][subset] for subset in subsets] for judge in judges[judges >= 0].tolist()]
    return dict(rounded(found | {"alpha": mean_alpha(judged, trial.asked.level)}))


def _turned(
    trial: Trial,
    of_part: Callable[[Sequence[int]], list[dict[str, Any]]],
    named: Sequence[dict[str, Any]],
    others: str,
    place: IntArray,
) -> list[dict[str, Any]]:
    """Rows with their figures by part, and how many ``others`` each has."""
    parts = trial.by_part(of_part)
    return [
        name
        | {others: int((place[at] >= 0).sum())}
        | {kind: {part: rows[at] for part, rows in parts[kind].items()} for kind in ("subsets", "groups")}
        | {"average": parts["average"][at]}
        for at, name in enumerate(named)
    ]


def _estimates(trial: Trial) -> FloatArray:
    return np.array([each.estimate for each in trial.accuracies[: len(trial.choices)]])


def _base(trial: Trial) -> str | None:
    """The protocol that others are compared with: that of the base judge, or what is called so."""
    if trial.asked.base:
        return trial.protocols[_base_judge(trial)]
    return next((each for each in trial.protocols if is_base(each)), None)


def is_base(protocol: str | None) -> bool:
    return (protocol or "").casefold() in _BASES


def _base_judge(trial: Trial) -> int:
    return trial.slugs.index(trial.asked.base.removeprefix("judge:"))


def _row(trial: Trial, values: FloatArray) -> dict[str, Any]:
    """Accuracies (subsets,) by part."""
    return trial.by_part(lambda subsets: rounded(float(values[list(subsets)].mean())))


def _best(trial: Trial, base: str | None) -> Iterator[dict[str, Any]]:
    """The most accurate judge on each subset, beside the base of its model."""
    estimates = _estimates(trial)
    for subset, name in enumerate(trial.instances.subsets):
        own = estimates[:, subset]
        if np.isnan(own).all():
            continue
        best = int(np.nanargmax(own))
        against = _base_of(trial, best, base)
        yield {
            "subset": name,
            "judge": trial.slugs[best],
            "accuracy": rounded(float(own[best])),
            "base": None if against is None else trial.slugs[against],
            "base_accuracy": None if against is None else rounded(float(own[against])),
        }


def _base_of(trial: Trial, judge: int, base: str | None) -> int | None:
    """The judge of the same model with the base protocol; without one, or if it is that, the base judge."""
    named = [_base_judge(trial)] if trial.asked.base else []
    for number in (*named, *range(len(trial.choices))):
        if base and (trial.models[number], trial.protocols[number]) == (trial.models[judge] or "", base):
            return number if number != judge else next(iter(named), None)
    return next(iter(named), None)


def _differences(trial: Trial, base: str | None) -> Iterator[dict[str, Any]]:
    """Each judge less its base; p-values are adjusted for the judges of one model, or of others than its."""
    families: dict[tuple[int, bool], list[int]] = {}
    for judge in range(len(trial.choices)):
        against = _base_of(trial, judge, base)
        if against is not None and against != judge:
            same = trial.models[judge] == trial.models[against]
            families.setdefault((against, same), []).append(judge)
    for (against, _), judges in families.items():
        found = adjusted([trial.difference(against, judge) for judge in judges])
        for judge, each in zip(judges, found, strict=True):
            named = {"judge": trial.slugs[judge], "base": trial.slugs[against]}
            about = {"model": trial.models[judge], "protocol": trial.protocols[judge]}
            yield named | about | trial.named(each)


def _difficulty(trial: Trial) -> dict[str, Any]:
    own, credits = trial.instances, trial.of_judges(trial.points)
    ranked = trial.ranking(trial.averaged)
    order = np.array([judge for judge in ranked if not trial.choices[judge].panel], dtype=np.int64)
    return {
        name: difficulty(credits[:, own.subset == subset], order).as_dict()
        for subset, name in enumerate(own.subsets)
    }
