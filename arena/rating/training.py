"""Training: pairs with known answers that raters go through before they rate."""

import math
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from arena.models import Membership, Pair, Role, Study, TrainingAnswer
from arena.rules import scales
from arena.rules.subsets import TRAINING_SUBSET

MAX_ATTEMPTS: Final = 3

_PLACES: Final = re.compile(
    r"\b(?:system|response|answer|assistant|model|option|output|text|completion)s?\s+(?-i:[AB12])\b"
    r"|\b(?-i:[AB])\s+(?:is|was|has|does|did|gives?|gave|follow(?:s|ed)?|answer(?:s|ed)?|says?|misses|lacks)\b"
    r"|\b(?:left|right)[- ]hand\b|\b(?:the|on the)\s+(?:left|right)\b"
    r"|\b(?:the\s+)?(?:first|second)\s+(?:one|system|response|answer|assistant|model|option|output|text)\b",
    re.IGNORECASE,
)
"""Words by which an explanation refers to a place."""


class OutOfStepError(Exception):
    """An answer out of turn, say from an old tab; it was not stored."""


def pairs_of(study: Study) -> QuerySet[Pair]:
    found = _training_pairs().filter(prompt__study=study)
    return found.select_related("prompt", "first", "second").order_by("pk")


def _training_pairs() -> QuerySet[Pair]:
    # By subset: there are few prompts apart, however many a study has.
    found = Pair.objects.filter(prompt__subset=TRAINING_SUBSET, use=Pair.Use.TRAIN)
    return found.filter(first__is_current=True, second__is_current=True)


def needed(membership: Membership) -> bool:
    """Return True if this member has to go through the training before rating."""
    if membership.trained_at is not None or membership.role != Role.RATER:
        return False
    study = membership.study
    return study.compares and _has_pairs(study.pk, study.created_at, study.revision)


@lru_cache(maxsize=256)
def _has_pairs(study: int, created: datetime, revision: int) -> bool:
    """Return True if a study has training pairs. revision and created make the cache notice changes."""
    return pairs_of(Study(pk=study)).exists()


def is_right(pair: Pair, rating: int, points: int, *, swapped: bool) -> bool:
    """Return True if a rating in presentation order agrees with the gold answer.

    A better answer is matched by its side; a tie by the tie band, or on two points by either answer.
    """
    if pair.gold == Pair.Gold.TIE:
        return not scales.TIE_BAND[points] or scales.verdict(rating, points) == 0
    leaning = scales.preference(rating, points) * (-1 if swapped else 1)
    return leaning < 0 if pair.gold == Pair.Gold.FIRST else leaning > 0


def is_swapped(pair: Pair, rater: int, attempt: int) -> bool:
    """Return True if the second completion is shown first; the same again at a reload.

    If the explanation speaks of a place, the answers stand as in the file.
    """
    if _PLACES.search(pair.explanation):
        return pair.first.external_id == "second"
    return random.Random(f"{rater} {pair.pk} {attempt}").random() < 0.5  # noqa: S311 - fairness, not secrecy


@dataclass(frozen=True)
class Step:
    """One pair of an attempt and its answer so far. number starts at 1."""

    number: int
    pair: Pair
    answer: TrainingAnswer | None


@dataclass(frozen=True)
class Course:
    """Where a member stands in the training: the attempt in progress, or the last one."""

    membership: Membership
    attempt: int
    steps: Sequence[Step]

    @property
    def total(self) -> int:
        return len(self.steps)

    @cached_property
    def right(self) -> int:
        return sum(step.answer.is_right for step in self.steps if step.answer)

    @cached_property
    def next_number(self) -> int | None:
        """The first pair without an answer; None if all have one."""
        return next((step.number for step in self.steps if step.answer is None), None)

    @property
    def has_begun(self) -> bool:
        return self.attempt > 1 or any(step.answer for step in self.steps)

    @property
    def is_complete(self) -> bool:
        return self.next_number is None

    @property
    def wanted(self) -> int:
        return wanted_right(self.membership.study, self.total)

    @property
    def is_passed(self) -> bool:
        return self.is_complete and self.right >= self.wanted

    @property
    def attempts_left(self) -> int:
        return max(0, MAX_ATTEMPTS - self.attempt)

    @property
    def may_repeat(self) -> bool:
        return self.is_complete and not self.is_passed and self.attempts_left > 0

    def step(self, number: int) -> Step | None:
        return self.steps[number - 1] if 1 <= number <= self.total else None


class Waiting(NamedTuple):
    """The progress of a member before training is passed: pairs answered in the latest attempt, of total."""

    attempt: int
    answered: int
    total: int

    @property
    def is_lost(self) -> bool:
        return self.answered >= self.total and self.attempt >= MAX_ATTEMPTS


def waiting(memberships: Iterable[Membership]) -> dict[int, Waiting]:
    """The members of these who have to go through a training first, by membership id."""
    raters = [each for each in memberships if each.trained_at is None and each.role == Role.RATER]
    asked = [each for each in raters if each.study.compares]
    pairs = _training_pairs().filter(prompt__study__in=[each.study_id for each in asked]).order_by()
    totals = dict(pairs.values_list("prompt__study").annotate(Count("pk")))
    if not totals:
        return {}
    current = Q(pair__use=Pair.Use.TRAIN, pair__first__is_current=True, pair__second__is_current=True)
    given = TrainingAnswer.objects.filter(current, membership__in=[each.pk for each in asked])
    counted = given.order_by().values_list("membership", "attempt").annotate(Count("pk"))
    latest: dict[int, tuple[int, int]] = {}
    for member, attempt, answered in counted:
        latest[member] = max(latest.get(member, (1, 0)), (attempt, answered))
    return {
        each.pk: Waiting(*latest.get(each.pk, (1, 0)), totals[each.study_id])
        for each in asked
        if each.study_id in totals
    }


def wanted_right(study: Study, total: int) -> int:
    """How many training pairs have to be right; 0 if the training only explains."""
    # 0.7 of 10 is 7: what a float adds to that must not ask for an eighth.
    return math.ceil((study.training_threshold or 0.0) * total - 1e-9)


def course(membership: Membership) -> Course:
    """Where a member stands. Answers about pairs that no longer train do not count."""
    pairs = list(pairs_of(membership.study))
    given = TrainingAnswer.objects.filter(membership=membership, pair__in=pairs)
    answers = {(answer.attempt, answer.pair_id): answer for answer in given}
    attempt = max((number for number, _ in answers), default=1)
    return _attempt(membership, pairs, answers, attempt)


def _attempt(
    membership: Membership,
    pairs: Sequence[Pair],
    answers: dict[tuple[int, int], TrainingAnswer],
    attempt: int,
) -> Course:
    steps = [
        Step(number, pair, answers.get((attempt, pair.pk))) for number, pair in enumerate(pairs, start=1)
    ]
    return Course(membership, attempt, steps)


def course_at(membership: Membership, attempt: int) -> Course | None:
    """The course at an attempt: the latest, or a new one if that failed and may be repeated."""
    latest = course(membership)
    if attempt == latest.attempt:
        return latest
    if attempt == latest.attempt + 1 and latest.may_repeat and membership.trained_at is None:
        return _attempt(membership, [step.pair for step in latest.steps], {}, attempt)
    return None


@transaction.atomic
def answer(membership: Membership, attempt: int, number: int, rating: int) -> TrainingAnswer:
    """Store the answer about a training pair; the last one may let the member through.

    A pair keeps its first answer. Raises OutOfStepError or ScaleError.
    """
    # Of the member alone: the study's row is what claims wait for.
    own = Membership.objects.select_for_update(no_key=True, of=("self",))
    locked = own.select_related("study").get(pk=membership.pk)
    now = course_at(locked, attempt)
    step = now.step(number) if now else None
    if now is None or step is None:
        raise OutOfStepError
    if step.answer:
        return step.answer
    if number != now.next_number:
        raise OutOfStepError
    points = locked.study.points
    swapped = is_swapped(step.pair, locked.rater_id, attempt)
    given = TrainingAnswer.objects.create(
        membership=locked,
        pair=step.pair,
        attempt=attempt,
        swapped=swapped,
        points=points,
        rating=scales.check_rating(rating, points),
        is_right=is_right(step.pair, rating, points, swapped=swapped),
    )
    if course(locked).is_passed:
        let_through(locked)
    return given


def let_through(membership: Membership) -> None:
    Membership.objects.filter(pk=membership.pk, trained_at__isnull=True).update(trained_at=timezone.now())


def examples(membership: Membership) -> Sequence[Pair]:
    """The training pairs as worked examples, unless the member is still to be tested with them."""
    return [] if needed(membership) else list(pairs_of(membership.study))
