"""Pairs of contestants made from scores of single texts, and sources of annotations beside a gold one.

After InFoBench (Qin et al. 2024): on each prompt every two contestants get a label, by their scores or by
their shares of requirements met. Fleiss' kappa says how far raters agree on labels, the pairwise label
distance (PLD, 0 to 2) how far labels lie from gold ones.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.agreement_estimates import Wanted, estimates
from leaderboard.stats.agreement_opinions import Topics, opinion_rows
from leaderboard.stats.alpha import VALUES, repeated_pairs, within_measure
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.checks import BoolArray, IntArray, ParameterError
from leaderboard.stats.clustered_means import (
    ClusteredMean,
    mean_over_prompts,
    prompt_numbers,
    share_over_prompts,
)
from leaderboard.stats.plain_values import UNDEFINED, Estimate, Result
from leaderboard.stats.requirements import NO, YES, Answers, Questions, majority, met_shares
from leaderboard.stats.scores import Scores
from leaderboard.stats.sums import group_means

CONTESTED: Final = 2
"""A question with this level of disagreement or more, medium to high for InFoBench's five contestants."""

_EQUAL: Final = 9  # decimals


@dataclass(frozen=True, eq=False)
class Labels:
    """What each rater's scores say of every two contestants on a prompt."""

    rater: IntArray
    prompt: IntArray
    first: IntArray  # the contestant with the lower number
    second: IntArray
    label: IntArray  # FIRST where that one is better

    def only(self, chosen: npt.NDArray[Any]) -> "Labels":
        return Labels(*(each[chosen] for each in vars(self).values()))


def pair_labels(scores: Scores) -> Labels:
    """The labels of scores, or of ``requirements.met_shares``; several scores of a text are averaged."""
    own = scores.scored
    contestants, prompts = (1 + each.max(initial=0) for each in (own.contestant, own.prompt))
    block, row = np.unique(own.rater * prompts + own.prompt, return_inverse=True)
    cells = len(block) * contestants
    value = group_means(row * contestants + own.contestant, own.value, cells).reshape(-1, contestants)
    parts = [np.empty((4, 0))]
    for first in range(int(contestants) - 1):
        lead = (value[:, first, None] - value[:, first + 1 :]).round(_EQUAL)
        rows, after = np.nonzero(~np.isnan(lead))
        one = np.full(len(rows), first)
        parts.append(np.stack((rows, one, one + 1 + after, np.sign(lead[rows, after]))))
    rows, one, other, label = np.concatenate(parts, axis=1).astype(np.int64)
    return Labels(block[rows] // prompts, block[rows] % prompts, one, other, label)


@dataclass(frozen=True)
class LabelAgreement(Result):
    """Raters on the ``pairs`` that at least two of them labelled: two contestants on one prompt each.

    ``fleiss``: of the pairs with the commonest number of raters; ``alpha_verdict``: Krippendorff's, nominal.
    Published values enter each pair once (``unmirrored``).
    """

    pairs: int
    raters: int
    prompts: int
    fleiss: Estimate = UNDEFINED
    fleiss_unmirrored: Estimate = UNDEFINED
    alpha_verdict: Estimate = UNDEFINED
    alpha_verdict_unmirrored: Estimate = UNDEFINED


def label_agreement(
    labels: Labels, *, level: float = 95.0, rounds: int = ROUNDS, seed: int = 0
) -> LabelAgreement:
    """How far raters agree which of two contestants is better on a prompt."""
    key, pair = np.unique(_keys(labels, labels), return_inverse=True)
    prompt = np.zeros(len(key), dtype=np.int64)
    prompt[pair] = prompt_numbers(labels.prompt, len(pair))
    topics = Topics(prompt, np.zeros(int(prompt.max(initial=-1)) + 1, dtype=np.int64), ("",))
    rows = opinion_rows(pair, labels.rater, 2 - labels.label, 3, False)
    repeated = repeated_pairs(rows, len(key))
    known: dict[str, Any] = {
        "pairs": len(repeated.pair),
        "raters": len(np.unique(labels.rater[np.isin(pair, repeated.pair)])),
        "prompts": len(np.unique(prompt[repeated.pair])),
    }
    if not len(repeated.pair):
        return LabelAgreement(**known)
    measure = within_measure(topics, repeated)
    (found,) = estimates(
        [Wanted(measure, repeated.pair, measure.estimate)], level=level, rounds=rounds, seed=seed
    )
    told = zip(VALUES, found.row(0), strict=True)
    known |= {name: each for name, each in told if name in LabelAgreement.__dataclass_fields__}
    return LabelAgreement(**known)


def _keys(labels: Labels, beside: Labels) -> IntArray:
    """A number for each prompt and pair, the same in both."""
    size = 1 + max(int(each.second.max(initial=0)) for each in (labels, beside))
    return (labels.prompt * size + labels.first) * size + labels.second


@dataclass(frozen=True)
class LabelDistance(Result):
    """``n`` labels beside gold: shares with a distance of 0, 1 and 2 (``pld``), and the mean distance."""

    n: int
    prompts: int
    pld: tuple[float, float, float] | None
    wpld: Estimate


def label_distance(labels: Labels, gold: Labels, level: float = 95.0) -> LabelDistance:
    """Every rater's labels beside those of ``gold``, which holds one rater's."""
    wanted = _keys(gold, labels)
    order = np.argsort(wanted)
    key = _keys(labels, gold)
    place = np.searchsorted(wanted[order], key)
    found = place < len(wanted)
    found[found] = wanted[order][place[found]] == key[found]
    apart = np.abs(labels.label[found] - gold.label[order][place[found]])
    mean = mean_over_prompts(apart, labels.prompt[found], level).clipped(0.0, 2.0)
    shares = np.bincount(apart, minlength=3) / max(1, len(apart))
    pld = (float(shares[0]), float(shares[1]), float(shares[2])) if len(apart) else None
    return LabelDistance(len(apart), mean.prompts, pld, mean.estimate)


def question_accuracy(
    questions: Questions, answers: Answers, gold: Answers, missing: str = "exclude", level: float = 95.0
) -> ClusteredMean:
    """The share of answers equal to those of ``gold``, which holds one rater's, such as a ``majority``.

    Where gold has no yes or no, nothing is compared. A missing answer that counts is a no.
    """
    sided = gold.only(np.isin(gold.value, (NO, YES)))
    size = len(questions)
    right = np.full((1 + max(each.contestant.max(initial=0) for each in (answers, gold))) * size, -1)
    right[sided.contestant * size + sided.question] = sided.value
    held = right[answers.contestant * size + answers.question]
    kept = (held >= 0) & answers.counts(missing)
    said = np.where(answers.is_missing, NO, answers.value)
    return share_over_prompts((said == held)[kept], questions.prompt[answers.question[kept]], level)


@dataclass(frozen=True)
class Disagreement(Result):
    """On how many contestants' texts raters do not all say the same, by question.

    ``levels``: None for a question that no two raters answered about one text; ``texts``: how many texts two
    raters answered it about. ``counts``: questions of each level from 0.
    """

    levels: tuple[int | None, ...]
    texts: tuple[int, ...]
    counts: tuple[int, ...]

    def contested(self, from_level: int = CONTESTED) -> BoolArray:
        """Which questions have this level or a higher one."""
        return np.array([level is not None and level >= from_level for level in self.levels], dtype=bool)


def disagreement(questions: Questions, answers: Answers) -> Disagreement:
    """InFoBench's disagreement level: 0 to 5 for three raters of five contestants' texts."""
    size = len(questions)
    key, place = np.unique(answers.contestant * size + answers.question, return_inverse=True)
    yes, no = (np.bincount(place[answers.value == value], minlength=len(key)) for value in (YES, NO))
    several = yes + no > 1
    texts = np.bincount(key[several] % size, minlength=size)
    level = np.bincount(key[several & (yes > 0) & (no > 0)] % size, minlength=size)
    most = int(answers.contestant.max(initial=-1)) + 1
    return Disagreement(
        tuple(own if of else None for own, of in zip(level.tolist(), texts.tolist(), strict=True)),
        tuple(texts.tolist()),
        tuple(np.bincount(level[texts > 0], minlength=most + 1).tolist()),
    )


def without(answers: Answers, contested: BoolArray) -> Answers:
    """The answers to the other questions."""
    return answers.only(~contested[answers.question])


@dataclass(frozen=True)
class Source(Result):
    """A source of annotations, by the majority of its raters: what it costs, and how near to gold it is."""

    raters: int
    answers: int
    cost: float | None
    minutes: float | None
    accuracy: ClusteredMean
    distance: LabelDistance


def annotation_source(
    questions: Questions,
    answers: Answers,
    gold: Answers,
    *,
    cost: float | None = None,
    minutes: float | None = None,
    missing: str = "exclude",
    level: float = 95.0,
) -> Source:
    """One source's answers beside the majority of ``gold``, the answers of a chosen group."""
    own, held = majority(answers), majority(gold)
    labels, beside = (pair_labels(met_shares(questions, each, missing)) for each in (own, held))
    return Source(
        raters=len(np.unique(answers.rater)),
        answers=int((~answers.is_missing).sum()),
        cost=cost,
        minutes=minutes,
        accuracy=question_accuracy(questions, own, held, missing, level),
        distance=label_distance(labels, beside, level),
    )


def cost_by_hour(hours: float, pay: float, people: int = 1) -> float:
    """What ``people`` cost who each work so many hours."""
    return _not_negative(hours=hours, pay=pay, people=people)


def cost_by_task(tasks: int, pay: float, people: int = 1, fee: float = 0.0) -> float:
    """What tasks cost that ``people`` do each, with the platform's fee as a share of the pay."""
    return _not_negative(tasks=tasks, pay=pay, people=people) * (1.0 + _not_negative(fee=fee))


def _not_negative(**amounts: float) -> float:
    """Their product; raises ParameterError."""
    for name, amount in amounts.items():
        if not 0 <= amount < np.inf:
            raise ParameterError(f"{name} is {amount}; it must be a number from 0 on")
    return float(np.prod(list(amounts.values())))
