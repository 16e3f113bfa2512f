"""The decomposed requirements following ratio: what share of the requirements of its prompts a text meets.

DRFR after InFoBench (Qin et al. 2024): met / asked over all questions, each of which counts under each of its
labels. "Cannot tell" is not counted. Intervals are clustered by prompt.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import (
    BoolArray,
    IntArray,
    LengthMismatchError,
    ParameterError,
    ScoreError,
    check_length,
    column,
    number_column,
    whole_numbers,
)
from leaderboard.stats.clustered_means import ClusteredMean, share_over_prompts
from leaderboard.stats.plain_values import Result
from leaderboard.stats.scores import Scores
from leaderboard.stats.sides import NOT_ASKED, UNSCORED
from leaderboard.stats.sums import ratio
from leaderboard.stats.verdicts import commonest

NO, YES, UNKNOWN = 0, 1, 2
"""Values of an answer; it may also be UNSCORED (asked, but no answer could be read) or NOT_ASKED."""

MISSING: Final = ("exclude", "no", "script")
"""How a missing answer counts: not at all, as NO, or as InFoBench's released script does, where an unreadable
answer is a NO and a question never asked does not count."""


def check_missing(missing: str) -> str:
    """The rule; raises ParameterError for one that does not exist."""
    if missing not in MISSING:
        raise ParameterError(f"missing is {missing!r}; it must be one of {', '.join(MISSING)}")
    return missing


@dataclass(frozen=True, eq=False)
class Questions:
    """Requirements numbered from 0, with facts about each, and names of each prompt's groups."""

    prompt: IntArray
    labels: tuple[tuple[str, ...], ...]
    required: BoolArray
    groups: Mapping[str, tuple[str, ...]]  # by kind, such as "sets": a name for each prompt, "" for none

    def __len__(self) -> int:
        return len(self.prompt)


def make_questions(
    prompt: npt.ArrayLike,
    labels: Iterable[Collection[str]] | None = None,
    required: npt.ArrayLike | None = None,
    **groups: Sequence[str],
) -> Questions:
    """Questions of prompts numbered from 0; all are required by default. Raises a StatsError.

    ``groups`` are ``sets``, ``domains``, ``categories``: a name for each prompt.
    """
    of = whole_numbers("prompt", prompt)
    named = tuple(tuple(dict.fromkeys(own)) for own in labels) if labels is not None else ((),) * len(of)
    if len(named) != len(of):
        raise LengthMismatchError(f"there are {len(of)} questions but labels for {len(named)}")
    needed = np.ones(len(of), dtype=bool) if required is None else column("required", required).astype(bool)
    check_length("required", needed, "prompt", len(of))
    for kind, names in groups.items():
        if len(of) and not 0 <= int(of.min()) <= int(of.max()) < len(names):
            raise LengthMismatchError(f"{kind} names {len(names)} prompts, but there are {int(of.max()) + 1}")
    return Questions(of, named, needed, {kind: tuple(names) for kind, names in groups.items()})


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers as parallel arrays: one of each rater to each question about each contestant's text.

    Repeats of a judge are raters of their own. A question that was to be put, but was not, is NOT_ASKED.
    """

    rater: IntArray
    contestant: IntArray
    question: IntArray
    value: IntArray

    def __len__(self) -> int:
        return len(self.value)

    def only(self, chosen: npt.NDArray[Any]) -> "Answers":
        return Answers(self.rater[chosen], self.contestant[chosen], self.question[chosen], self.value[chosen])

    @property
    def is_missing(self) -> BoolArray:
        return np.asarray(self.value >= UNSCORED)

    def counts(self, missing: str) -> BoolArray:
        """Which answers are in the denominator."""
        from_value = {"exclude": UNSCORED, "no": NOT_ASKED + 1, "script": NOT_ASKED}[check_missing(missing)]
        return np.asarray((self.value != UNKNOWN) & (self.value < from_value))

    def texts(self, questions: Questions) -> tuple[IntArray, IntArray]:
        """The text that each answer is about, as one rater saw it, and the place of its first answer."""
        prompt = questions.prompt[self.question]
        seen = self.rater * (self.contestant.max(initial=0) + 1) + self.contestant
        key = seen * (prompt.max(initial=0) + 1) + prompt
        _, first, text = np.unique(key, return_index=True, return_inverse=True)
        return text, first


def make_answers(
    rater: npt.ArrayLike, contestant: npt.ArrayLike, question: npt.ArrayLike, value: npt.ArrayLike
) -> Answers:
    """Answers with whole numbers from 0 for raters, contestants and questions; raises a StatsError."""
    given = whole_numbers("value", value)
    if not np.isin(given, (NO, YES, UNKNOWN, UNSCORED, NOT_ASKED)).all():
        raise ScoreError("every answer must be NO, YES, UNKNOWN, UNSCORED or NOT_ASKED")
    return Answers(
        number_column("rater", rater, given),
        number_column("contestant", contestant, given),
        number_column("question", question, given),
        given,
    )


@dataclass(frozen=True)
class Rate(Result):
    """``met`` of ``questions`` requirements; ``drfr`` with the ends of its interval.

    ``unanswered``: no answer could be read, or the question was never asked; ``unknown``: "cannot tell".
    ``counted``: of how many the share is. ``coverage``: share of questions answered yes or no.
    ``drfr_bounds``: if all missing answers were no, or yes.
    """

    questions: int
    met: int
    counted: int
    unanswered: int
    unknown: int
    coverage: float | None
    drfr: float | None
    low: float | None
    high: float | None
    drfr_bounds: tuple[float, float] | None


@dataclass(frozen=True)
class Requirements(Result):
    """DRFR over all questions and by group: ``groups`` by kind and name, ``labels`` by label.

    ``macro``: the mean over texts of the share met. ``all_met``, ``required_met``: shares of texts that meet
    all their questions, and all required ones; with ``exclude``, texts with a missing answer do not count.
    """

    missing: str
    texts: int
    overall: Rate
    labels: Mapping[str, Rate]
    groups: Mapping[str, Mapping[str, Rate]]
    macro: ClusteredMean
    all_met: ClusteredMean
    required_met: ClusteredMean


def requirements(
    questions: Questions, answers: Answers, missing: str = "exclude", level: float = 95.0
) -> Requirements:
    """What the answers say, taken together: those of one rater about one contestant, or of any."""
    of = questions.prompt[answers.question]
    counted = answers.counts(missing)

    def rate(chosen: BoolArray) -> Rate:
        return _rate(of[chosen], answers.only(chosen), counted[chosen], level)

    with_label: dict[str, list[int]] = {}
    for number, own in enumerate(questions.labels):
        for name in own:
            with_label.setdefault(name, []).append(number)
    shares = met_shares(questions, answers, missing)
    satisfied = _satisfied(questions, answers, missing, level)
    return Requirements(
        missing=missing,
        texts=len(shares),
        overall=rate(np.ones(len(answers), dtype=bool)),
        labels=_each(sorted(with_label), lambda name: rate(np.isin(answers.question, with_label[name]))),
        groups={
            kind: _by_group(np.array(names, dtype=object)[of], rate)
            for kind, names in questions.groups.items()
        },
        macro=_macro(shares.scored, int(counted.sum()), level),
        all_met=satisfied(np.ones(len(answers), dtype=bool)),
        required_met=satisfied(questions.required[answers.question]),
    )


def _macro(shares: Scores, counted: int, level: float) -> ClusteredMean:
    """The mean of the texts' shares, whose ``counted`` answers are its observations."""
    weight = np.full(len(shares), counted / max(1, len(shares)))
    return share_over_prompts(weight * shares.value, shares.prompt, level, among=weight)


def _by_group(names: npt.NDArray[Any], rate: Callable[[BoolArray], Rate]) -> dict[str, Rate]:
    return _each(sorted(set(names.tolist()) - {""}), lambda name: rate(names == name))


def _each(names: Sequence[str], rate: Callable[[str], Rate]) -> dict[str, Rate]:
    """The rates of the names that have a question."""
    found = {name: rate(name) for name in names}
    return {name: own for name, own in found.items() if own.questions}


def _rate(prompt: IntArray, answers: Answers, counted: BoolArray, level: float) -> Rate:
    met, missing, unknown = answers.value == YES, answers.is_missing, answers.value == UNKNOWN
    n, yes, lost, unsure = len(answers), *(int(each.sum()) for each in (met, missing, unknown))
    share = share_over_prompts(met, prompt, level, among=counted)
    return Rate(
        questions=n,
        met=yes,
        counted=int(counted.sum()),
        unanswered=lost,
        unknown=unsure,
        coverage=(n - lost - unsure) / n if n else None,
        drfr=share.value,
        low=share.low,
        high=share.high,
        drfr_bounds=(yes / (n - unsure), (yes + lost) / (n - unsure)) if n > unsure else None,
    )


def met_shares(questions: Questions, answers: Answers, missing: str = "exclude") -> Scores:
    """The share met of each text's questions as its score from 0 to 1, NaN where no answer counts."""
    text, first = answers.texts(questions)
    met, counted = (
        np.bincount(text, each, len(first)).astype(np.float64)
        for each in (answers.value == YES, answers.counts(missing))
    )
    prompt = questions.prompt[answers.question[first]]
    value = ratio(met, counted)
    whose = answers.rater[first], answers.contestant[first], prompt
    return Scores(*whose, value, 0.0, 1.0, whole=False, turn=np.zeros_like(prompt))


def _satisfied(
    questions: Questions, answers: Answers, missing: str, level: float
) -> Callable[[BoolArray], ClusteredMean]:
    """The share of texts of whose ``chosen`` questions every one is met."""
    text, first = answers.texts(questions)
    prompt = questions.prompt[answers.question[first]]

    def share(chosen: BoolArray) -> ClusteredMean:
        counted = answers.counts(missing) & chosen
        lost = answers.is_missing & chosen & (missing == "exclude")
        number, failed, gaps = (
            np.bincount(text[each], minlength=len(prompt))
            for each in (counted, counted & (answers.value != YES), lost)
        )
        known = (number > 0) & (gaps == 0)
        return share_over_prompts(failed[known] == 0, prompt[known], level)

    return share


def majority(answers: Answers) -> Answers:
    """What most raters said of each question about each text, as a single rater 0.

    As many YES as NO make UNKNOWN, like answers that are all "cannot tell". Where nobody answered, it is
    UNSCORED if somebody was asked.
    """
    size = answers.question.max(initial=0) + 1
    key, place = np.unique(answers.contestant * size + answers.question, return_inverse=True)
    yes, no, unsure, unread = (
        np.bincount(place[answers.value == value], minlength=len(key))
        for value in (YES, NO, UNKNOWN, UNSCORED)
    )
    most, alone = commonest(np.stack([no, yes], axis=1))  # in the order of their values
    told = np.where(alone, most, UNKNOWN)
    value = np.where(yes + no + unsure > 0, told, np.where(unread > 0, UNSCORED, NOT_ASKED))
    return Answers(np.zeros(len(key), dtype=np.int64), key // size, key % size, value)


@dataclass(frozen=True)
class QuestionRate(Result):
    """One question over contestants: how many ``texts`` have a yes or no, and how many of them met it.

    ``tells_apart`` is False where all contestants got the same.
    """

    question: int
    texts: int
    met: int
    share: float | None
    tells_apart: bool


def by_question(questions: Questions, answers: Answers) -> tuple[QuestionRate, ...]:
    """Every question, by the majority of raters on each text."""
    told = majority(answers)
    size = len(questions)
    met, failed = (np.bincount(told.question[told.value == value], minlength=size) for value in (YES, NO))
    return tuple(
        QuestionRate(number, yes + no, yes, yes / (yes + no) if yes + no else None, bool(yes and no))
        for number, (yes, no) in enumerate(zip(met.tolist(), failed.tolist(), strict=True))
    )
