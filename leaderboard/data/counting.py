"""Lengths of texts, ratings per pair and missing ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.snapshots.reading import Opinions
from leaderboard.snapshots.text_sizes import NO_TEXT, Texts
from leaderboard.stats.descriptive import describe
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.style import MEASURES

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

MANY: Final = 10


def data(opinions: Opinions, texts: Texts) -> dict[str, Any]:
    """Sizes of texts in all, by category and by subset; pairs and comparisons by kind of raters.

    Demonstrations are completions of human contestants, and references. Replaced completions are left out.
    ``sets`` counts prompts and requirements in all and by subset, beside a subset that holds every prompt.
    ``coverage`` counts pairs by scored ratings, ``unscored`` comparisons without a rating by reason.
    """
    categories, subsets = (sorted(set(names) - {""}) for names in (texts.category, texts.subset))
    places = [(None, None), *((name, None) for name in categories), *((None, name) for name in subsets)]
    return {
        "tokenizer": texts.tokenizer,
        "groups": [_group(texts, *place) for place in places],
        "sets": [_set(texts, None, np.ones(len(texts.prompts), dtype=np.bool_)), *_subsets(texts, subsets)],
        "contestants": list(_contestants(texts)),
        "pairs": texts.pairs,
        "many": MANY,
        "coverage": list(_coverage(opinions, texts.pairs)),
        "unscored": list(_unscored(opinions)),
    }


def _group(texts: Texts, category: str | None, subset: str | None) -> dict[str, Any]:
    asked = np.ones(len(texts.prompts), dtype=np.bool_)
    for wanted, column in ((category, texts.category), (subset, texts.subset)):
        if wanted is not None:
            asked &= np.array(column) == wanted
    return {
        "category": category,
        "subset": subset,
        "prompts": int(asked.sum()),
        "texts": [
            {"what": what, "measure": measure, "unknown": int(np.isnan(sizes[:, place]).sum())}
            | describe(sizes[:, place]).as_dict()
            for what, sizes in _sizes(texts, asked)
            for place, measure in enumerate(MEASURES)
        ],
    }


def _sizes(texts: Texts, asked: BoolArray) -> Iterator[tuple[str, FloatArray]]:
    answers = texts.current & asked[texts.prompt]
    by_people = np.array([kind == "people" for _, kind, _ in texts.contestants] + [False])[texts.contestant]
    references = texts.references[asked[texts.reference_prompt]]
    yield "prompt", texts.prompts[asked]
    yield "completion", texts.completions[answers & ~by_people]
    yield "demonstration", np.concatenate((texts.completions[answers & by_people], references))


def _subsets(texts: Texts, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        own = np.array(texts.subset) == name
        if not own.all():
            yield _set(texts, name, own)


def _set(texts: Texts, subset: str | None, own: BoolArray) -> dict[str, Any]:
    """``by_number``: how many prompts have how many requirements, as pairs of the two, requirements first."""
    numbers = np.bincount(texts.asked_of, minlength=len(own))[own]
    known = texts.spaced[own & (texts.spaced != NO_TEXT)]
    asked = [kinds for kinds, at in zip(texts.kinds, texts.asked_of.tolist(), strict=True) if own[at]]
    kinds = Counter(chain.from_iterable(asked))
    requirements, prompts = len(asked), int(own.sum())
    return {
        "subset": subset,
        "prompts": prompts,
        "words_mean": rounded(float(known.mean())) if len(known) else None,
        "categories": len({each for each, mine in zip(texts.category, own, strict=True) if mine and each}),
        "requirements": requirements,
        "requirements_mean": rounded(requirements / prompts) if requirements else None,
        "by_number": np.column_stack(np.unique(numbers, return_counts=True)).tolist() if requirements else [],
        "kinds": dict(sorted(kinds.items())),
    }


def _contestants(texts: Texts) -> Iterator[dict[str, Any]]:
    for number, (name, kind, retired) in enumerate(texts.contestants):
        own = texts.current & (texts.contestant == number)
        sizes = texts.completions[own]
        found: dict[str, Any] = {
            "contestant": name,
            "kind": kind,
            "retired": retired,
            "completions": int(own.sum()),
            "empty": int((own & texts.empty).sum()),
            "unknown": int(np.isnan(sizes[:, 0]).sum()),
        }
        for place, measure in enumerate(MEASURES):
            described = describe(sizes[:, place]).as_dict()
            found |= {f"{measure}_mean": described["mean"], f"{measure}_sd": described["sd"]}
        yield found


def _coverage(opinions: Opinions, pairs: int) -> Iterator[dict[str, Any]]:
    """How many pairs have 0, 1, 2, ... ratings, the last number being MANY or more."""
    for choice in _kinds_of_raters(opinions):
        own = opinions.by(choice.ids)
        rated = own.rows[own.scored]
        times = np.unique(rated["pair"], return_counts=True)[1]
        counts = np.bincount(np.minimum(times, MANY), minlength=MANY + 1)
        counts[0] = max(0, pairs - len(times))
        last = int(np.flatnonzero(counts).max(initial=0))
        yield {
            "raters": choice.selector,
            "label": choice.label,
            "simulated": choice.simulated,
            "ratings": len(rated),
            "pairs": counts[: last + 1].tolist(),
        }


def _unscored(opinions: Opinions) -> Iterator[dict[str, Any]]:
    for choice in _kinds_of_raters(opinions):
        own = opinions.by(choice.ids)
        reasons = Counter(own.rows["reason"][own.unscored].tolist())
        yield {
            "raters": choice.selector,
            "label": choice.label,
            "comparisons": len(own),
            "identical": int(own.identical.sum()),
            "reasons": {reason.decode(): count for reason, count in sorted(reasons.items())},
        }


def _kinds_of_raters(opinions: Opinions) -> Iterator[Any]:
    return (choice for choice in opinions.raters if not choice.selector.startswith("group:"))
