"""Judges by model and protocol: the part ``matrix`` of the content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from leaderboard.stats.checks import FloatArray
from leaderboard.stats.gold_averages import adjusted
from leaderboard.stats.gold_matrix import Matrix, difficulty
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.sums import mean_of_known
from leaderboard.trust.trial import Trial

_BASES: Final = ("vanilla", "base")
"""Protocols that others are compared with if no base is named."""


def matrix(trial: Trial) -> dict[str, Any]:
    """Judges by model and protocol; those that lack either are cells only."""
    models = list(dict.fromkeys(model for model in trial.models if model))
    protocols = list(dict.fromkeys(protocol for protocol in trial.protocols if protocol))
    estimates = _estimates(trial)
    cells = list(zip(trial.slugs, trial.models, trial.protocols, estimates, strict=True))
    samples = np.array([each.samples for each in trial.accuracies[: len(trial.choices)]])
    accuracy, drawn = (_placed(trial, models, protocols, each) for each in (estimates, samples))
    base = _base(trial)
    found, rounds = (Matrix(each, protocols.index(base) if base else None) for each in (accuracy, drawn))
    return {
        "models": models,
        "protocols": protocols,
        "base": base,
        "cells": [
            {"judge": slug, "model": model, "protocol": protocol, **_row(trial, own)}
            for slug, model, protocol, own in cells
        ],
        "gain": _rows(trial, models, found.gain),
        "optimum": _rows(trial, protocols, found.optimum),
        "averages": {
            "models": _rows(trial, models, found.of_models),
            "protocols": _rows(trial, protocols, found.of_protocols),
            "judges": _row(trial, mean_of_known(trial.of_judges(estimates), 0)),
        },
        "best": list(_best(trial, base)),
        "correlations": [
            each.as_dict() for each in found.correlations(trial.instances.subsets, rounds, trial.asked.level)
        ],
        "differences": list(_differences(trial, base)),
        "difficulty": _difficulty(trial),
    }


def _placed(trial: Trial, models: Sequence[str], protocols: Sequence[str], values: FloatArray) -> FloatArray:
    """Values of judges by model and protocol; NaN without one, and the first of several counts."""
    found = np.full((len(models), len(protocols), *values.shape[1:]), np.nan)
    for model, protocol, own in reversed(list(zip(trial.models, trial.protocols, values, strict=True))):
        if model and protocol:
            found[models.index(model), protocols.index(protocol)] = own
    return found


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
    """Accuracies (subsets,) by name, with their mean."""
    named = dict(zip(trial.instances.subsets, values.tolist(), strict=True))
    return {"subsets": rounded(named), "average": rounded(float(values.mean()))}


def _rows(trial: Trial, names: Sequence[str], values: FloatArray) -> dict[str, Any]:
    return {name: _row(trial, row) for name, row in zip(names, values, strict=True)}


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
    ranked = trial.ranking(range(len(trial.golds)))
    order = np.array([judge for judge in ranked if not trial.choices[judge].panel], dtype=np.int64)
    return {
        name: difficulty(credits[:, own.subset == subset], order).as_dict()
        for subset, name in enumerate(own.subsets)
    }
