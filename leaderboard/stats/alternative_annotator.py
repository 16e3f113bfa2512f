"""The alternative annotator test: may a judge stand in for a person?

Calderon, Reichart and Dror (2025): "The Alternative Annotator Test for LLM-as-a-Judge: How to Statistically
Justify Replacing Human Annotators with LLMs", ACL; limits as in their code. Each person is left out in turn.
On each pair, whoever says the same as more of the other people represents them: the judge, the person, or
both where they tie. A one-sided paired t-test asks whether the judge does so less often by less than epsilon.
Pairs of one prompt are not independent, so its variance is the one between prompts, with a degree of freedom
less than these; where every pair has a prompt of its own it is the published test.
The p-values of all people are adjusted together (Benjamini and Yekutieli 2001). The winning rate is the share
of people with a rejection; from one half on the judge passes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray
from leaderboard.stats.clustered_means import prompt_numbers, sum_error, sums
from leaderboard.stats.p_values import benjamini_yekutieli
from leaderboard.stats.plain_values import Result

EPSILON: Final = 0.1
"""The authors advise 0.1 for crowd workers, 0.15 for skilled annotators and 0.2 for experts."""

LEVEL: Final = 0.05
"""Of false discoveries among people."""

FEWEST_PAIRS: Final = 30
"""A person with fewer pairs is not tested, as the t-test needs them; nor is one with a single prompt."""

FEWEST_PEOPLE: Final = 3
ENOUGH: Final = 0.5


@dataclass(frozen=True)
class LeftOut(Result):
    """A person's place, taken by the judge on ``pairs`` pairs."""

    pairs: int
    prompts: int
    judge: float  # share of pairs on which the judge represents the other people at least as well
    person: float  # share on which the person does
    p: float
    p_adjusted: float
    won: bool


@dataclass(frozen=True)
class AlternativeAnnotator(Result):
    epsilon: float
    level: float
    people: tuple[LeftOut, ...]
    too_few: int  # people who are not tested
    winning_rate: float | None
    advantage: float | None  # mean of ``judge`` over people
    passes: bool | None
    reason: str | None = None  # why there is no result


def alternative_annotator(
    pair: npt.ArrayLike,
    rater: npt.ArrayLike,
    label: npt.ArrayLike,
    judge: npt.ArrayLike,
    epsilon: float = EPSILON,
    level: float = LEVEL,
    *,
    prompt: npt.ArrayLike | None = None,
) -> AlternativeAnnotator:
    """The test from people's labels, one for each rater and pair, and the judge's and prompt of each pair.

    Pairs are numbered from 0, labels are whole numbers from 0, ``judge`` is -1 where there is none. Without
    ``prompt`` every pair has its own.
    """
    pairs, raters, labels, judged = (np.asarray(each, dtype=np.int64) for each in (pair, rater, label, judge))
    kinds = 1 + int(max(labels.max(initial=0), judged.max(initial=0)))
    counts = np.zeros((len(judged), kinds))
    np.add.at(counts, (pairs, labels), 1.0)
    kept = (judged[pairs] >= 0) & (counts.sum(axis=1)[pairs] > 1)
    pairs, raters, labels, own = pairs[kept], raters[kept], labels[kept], judged[pairs[kept]]
    # How many of the other people say as the judge does, less how many say as the person does.
    lead = (counts[pairs, own] - (own == labels)) - (counts[pairs, labels] - 1.0)
    prompts = (np.arange(len(judged)) if prompt is None else np.asarray(prompt, dtype=np.int64))[pairs]
    everybody = ((lead[own], prompt_numbers(prompts[own], int(own.sum()))) for own in _by_rater(raters))
    tested = [(own, of) for own, of in everybody if len(own) >= FEWEST_PAIRS and of.max() > 0]
    p = np.array([_p(-np.sign(own), of, epsilon) for own, of in tested])
    people = tuple(
        LeftOut(
            len(own),
            int(of.max()) + 1,
            float((own >= 0).mean()),
            float((own <= 0).mean()),
            *(one, adjusted, adjusted <= level),
        )
        for (own, of), one, adjusted in zip(tested, p.tolist(), benjamini_yekutieli(p).tolist(), strict=True)
    )
    too_few = len(set(np.asarray(rater).tolist())) - len(people)
    if len(people) < FEWEST_PEOPLE:
        reason = (
            f"fewer than {FEWEST_PEOPLE} people rated {FEWEST_PAIRS} pairs or more with the judge and "
            "somebody else, on two prompts or more"
        )
        return AlternativeAnnotator(epsilon, level, people, too_few, None, None, None, reason)
    rate = float(np.mean([each.won for each in people]))
    advantage = float(np.mean([each.judge for each in people]))
    return AlternativeAnnotator(epsilon, level, people, too_few, rate, advantage, rate >= ENOUGH)


def _by_rater(raters: IntArray) -> Iterator[BoolArray]:
    yield from (raters == each for each in np.unique(raters))


def _p(worse: FloatArray, prompt: IntArray, epsilon: float) -> float:
    """Of the hypothesis that the judge loses by ``epsilon`` or more; ``worse`` is 1, 0 or -1 of each pair."""
    mean = float(worse.mean())
    if not worse.std():
        return float(mean >= epsilon)
    apart = sums(prompt, worse - mean)
    if np.abs(apart).max() < 1e-9:  # prompts that happen to be equal do not make pairs certain
        apart = worse - mean
    error = float(sum_error(apart)) / len(worse)
    return float(stdtr(len(apart) - 1.0, (mean - epsilon) / error))
