"""Training: pairs with known answers that raters go through before they rate. Reads, and the only writes.

Answers are kept as TrainingAnswer; they are no comparisons and count nowhere. Whoever has been let through
stays so, whatever becomes of the training pairs later.
"""

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
from arena.rating import scales
from arena.rating.apart import APART

MAX_ATTEMPTS: Final = 3
"""How often somebody may go through the training of a study that asks for a share of right answers."""

_PLACES: Final = re.compile(
    r"\b(?:system|response|answer|assistant|model|option|output|text|completion)s?\s+(?-i:[AB12])\b"
    r"|\b(?-i:[AB])\s+(?:is|was|has|does|did|gives?|gave|follow(?:s|ed)?|answer(?:s|ed)?|says?|misses|lacks)\b"
    r"|\b(?:left|right)[- ]hand\b|\b(?:the|on the)\s+(?:left|right)\b"
    r"|\b(?:the\s+)?(?:first|second)\s+(?:one|system|response|answer|assistant|model|option|output|text)\b",
    re.IGNORECASE,
)
"""What tells in which place an explanation thinks an answer stands."""


class OutOfStepError(Exception):
    """An answer that is not the next one of its training, say from an old tab: nothing was stored."""


def pairs_of(study: Study) -> QuerySet[Pair]:
    """The training pairs of a study in the order in which everybody meets them."""
    found = _training_pairs().filter(prompt__study=study)
    return found.select_related("prompt", "first", "second").order_by("pk")


def _training_pairs() -> QuerySet[Pair]:
    # By subset: there are few prompts apart, however many a study has.
    found = Pair.objects.filter(prompt__subset=APART, use=Pair.Use.TRAIN)
    return found.filter(first__is_current=True, second__is_current=True)


def needed(membership: Membership) -> bool:
    """Whether this member has to go through the training before rating."""
    if membership.trained_at is not None or membership.role != Role.RATER:
        return False
    study = membership.study
    return _has_pairs(study.pk, study.created_at, study.revision)


@lru_cache(maxsize=256)
def _has_pairs(study: int, created: datetime, revision: int) -> bool:
    """Whether a study has training pairs; what changes them raises its revision.

    Asked at every pair that is rated. created: where databases are made anew, ids come again.
    """
    return pairs_of(Study(pk=study)).exists()


def is_right(pair: Pair, rating: int, points: int, *, swapped: bool) -> bool:
    """Whether a rating in presentation order agrees with the gold answer.

    For a better answer: the rating leans to its side, however little. For a tie: it lies in the band that
    counts as one; on two points, which have none, either answer will do.
    """
    if pair.gold == Pair.Gold.TIE:
        return not scales.TIE_BAND[points] or scales.verdict(rating, points) == 0
    leaning = scales.preference(rating, points) * (-1 if swapped else 1)
    return leaning < 0 if pair.gold == Pair.Gold.FIRST else leaning > 0


def is_swapped(pair: Pair, rater: int, attempt: int) -> bool:
    """Whether the pair's second completion is shown first to this rater in this attempt.

    Drawn from rater, pair and attempt, so that a reload shows the same. Where the explanation speaks of a
    place, the answers stand as they did in the file.
    """
    if _PLACES.search(pair.explanation):
        return pair.first.external_id == "second"
    return random.Random(f"{rater} {pair.pk} {attempt}").random() < 0.5  # noqa: S311 - fairness, not secrecy


@dataclass(frozen=True)
class Step:
    """One pair of an attempt, and what was answered about it so far. Numbers begin at 1."""

    number: int
    pair: Pair
    answer: TrainingAnswer | None


@dataclass(frozen=True)
class Course:
    """Where a member stands in the training of a study: the attempt in progress, or the last one."""

    membership: Membership
    attempt: int
    steps: Sequence[Step]

    @property
    def total(self) -> int:
        return len(self.steps)

    @cached_property
    def right(self) -> int:
        """Pairs answered rightly in this attempt."""
        return sum(step.answer.is_right for step in self.steps if step.answer)

    @cached_property
    def next_number(self) -> int | None:
        """The first pair without an answer; None where all have one."""
        return next((step.number for step in self.steps if step.answer is None), None)

    @property
    def has_begun(self) -> bool:
        return self.attempt > 1 or any(step.answer for step in self.steps)

    @property
    def is_complete(self) -> bool:
        return self.next_number is None

    @property
    def wanted(self) -> int:
        """How many of the pairs have to be right; 0 where the training only explains."""
        return wanted_right(self.membership.study, self.total)

    @property
    def is_passed(self) -> bool:
        return self.is_complete and self.right >= self.wanted

    @property
    def attempts_left(self) -> int:
        """How often all of it may be gone through again after this attempt."""
        return max(0, MAX_ATTEMPTS - self.attempt)

    @property
    def may_repeat(self) -> bool:
        return self.is_complete and not self.is_passed and self.attempts_left > 0

    def step(self, number: int) -> Step | None:
        return self.steps[number - 1] if 1 <= number <= self.total else None


class Waiting(NamedTuple):
    """How far a member is who has a training before them: pairs answered in the latest attempt, of total."""

    attempt: int
    answered: int
    total: int

    @property
    def is_lost(self) -> bool:
        """Whether all attempts were gone through and none was enough."""
        return self.answered >= self.total and self.attempt >= MAX_ATTEMPTS


def waiting(memberships: Iterable[Membership]) -> dict[int, Waiting]:
    """Those of these members who have to go through a training first, by id. Two queries at most."""
    asked = [each for each in memberships if each.trained_at is None and each.role == Role.RATER]
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
    """How many of ``total`` training pairs have to be right; 0 where the training only explains."""
    # 0.7 of 10 is 7: what a float adds to that must not ask for an eighth.
    return math.ceil((study.training_threshold or 0.0) * total - 1e-9)


def course(membership: Membership) -> Course:
    """Where a member stands. Answers about pairs that are no training pairs any more do not matter."""
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
    """The course at an attempt: the latest, or a new one where the latest failed and may be repeated."""
    latest = course(membership)
    if attempt == latest.attempt:
        return latest
    if attempt == latest.attempt + 1 and latest.may_repeat and membership.trained_at is None:
        return _attempt(membership, [step.pair for step in latest.steps], {}, attempt)
    return None


@transaction.atomic
def answer(membership: Membership, attempt: int, number: int, rating: int) -> TrainingAnswer:
    """Store the answer about a pair of the training; the last one may let the member through.

    The same pair answered again keeps its first answer. Raises OutOfStepError where it is not the turn of
    this pair, and scales.ScaleError.
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
    """The member may rate from now on: the training was passed, or an operator says so."""
    Membership.objects.filter(pk=membership.pk, trained_at__isnull=True).update(trained_at=timezone.now())


def examples(membership: Membership) -> Sequence[Pair]:
    """The training pairs as worked examples, for those who need not be tested with them any more."""
    return [] if needed(membership) else list(pairs_of(membership.study))
