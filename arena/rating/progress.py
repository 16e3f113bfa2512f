from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, F, Q

from arena.models import Assignment, Comparison, Completion, Pair, Purpose, Rater, Study
from arena.rating.offering import history_of, pool_of, with_texts_of
from arena.rating.possible_pairs import PairKey
from arena.rating.subsets import TRAINING_SUBSET

BEHIND = 5.0  # seconds by which the number of pairs left may be out of date
STEP = 10  # the number of pairs left is rounded up to this if repeats or checks are hidden among them


@dataclass(frozen=True)
class Progress:
    """What one rater did in a study; ``left``: pairs this rater may still get; ``goal``: what the study asks.

    Repeats and checks count as rated or skipped, or a number that stands still would reveal them; ``left``
    omits them.
    """

    rated: int = 0
    skipped: int = 0
    left: int = 0
    goal: int | None = None

    @property
    def is_below_goal(self) -> bool:
        return self.goal is not None and self.rated < self.goal

    @property
    def to_go(self) -> int:
        """Pairs until the goal, or until none is left."""
        return min(self.left, self.goal - self.rated) if self.goal and self.is_below_goal else self.left

    @property
    def total(self) -> int:
        return max(1, self.rated + self.to_go)


def progress(rater: Rater, studies: Iterable[Study]) -> dict[int, Progress]:
    """The rater's progress by study id."""
    asked = list(studies)
    ids = [study.pk for study in asked]
    mine = Q(study__in=ids, rater=rater) & ~Q(purpose=Purpose.ADJUDICATION)
    rated = _counts(Comparison.objects.current().filter(mine).values_list("study").annotate(n=Count("pk")))
    if len(asked) == 1:
        skipped, left = _of_one(rater, asked[0], rated[asked[0].pk])
    else:
        put_aside = Assignment.objects.filter(mine, state="skipped").order_by()
        skipped = _counts(put_aside.values_list("study").annotate(n=Count("pk")))
        left = _left_of_many(rater, ids)
    return {
        study.pk: Progress(rated[study.pk], skipped[study.pk], _told(study, left[study.pk]), study.goal)
        for study in asked
    }


def _told(study: Study, left: int) -> int:
    """The pairs left, rounded up so that hidden pairs are not revealed."""
    step = STEP if study.repeat_share or study.gold_share else 1
    return -(-left // step) * step


def _counts(rows: Iterable[tuple[int, int]]) -> Counter[int]:
    return Counter(dict(rows))


def _of_one(rater: Rater, study: Study, rated: int) -> tuple[Counter[int], Counter[int]]:
    pool = pool_of(study, behind=BEHIND)
    open_pairs = pool.ratings < study.ratings_per_pair_people
    history = history_of(study, rater)
    done = history.done
    if rated > history.answered:  # an answer that was brought back stands until there is another
        done = done + _rated_and_held(study, rater)
    open_pairs[pool.places(done)] = False
    if study.reveal_names:
        open_pairs[with_texts_of(pool.possible, done)] = False
    return Counter({study.pk: history.skipped}), Counter({study.pk: int(np.count_nonzero(open_pairs))})


def _rated_and_held(study: Study, rater: Rater) -> list[PairKey]:
    mine = Comparison.objects.current().filter(study=study, rater=rater, assignment__state="claimed")
    return list(mine.order_by().values_list("pair__first", "pair__second"))


def _left_of_many(rater: Rater, studies: Sequence[int]) -> Counter[int]:
    left = Completion.objects.comparable().filter(prompt__study__in=studies).pairs_by("prompt__study")
    left.subtract(_full_or_done(rater, studies))
    return Counter({study: max(0, pairs) for study, pairs in left.items()})


def _full_or_done(rater: Rater, studies: Sequence[int]) -> Counter[int]:
    """How many pairs this rater will not get: full, done already, or kept for checks."""
    history = Assignment.objects.filter(rater=rater, state__in=["submitted", "skipped"]).values("pair")
    rated = Comparison.objects.current().filter(rater=rater).values("pair")
    mine = Q(pk__in=history) | Q(pk__in=rated)
    full = Q(people_ratings__gte=F("prompt__study__ratings_per_pair_people"))
    rows = (
        Pair.objects.filter(mine | full | ~Q(use=Pair.Use.RATE), prompt__study__in=studies)
        .exclude(prompt__subset=TRAINING_SUBSET)
        .order_by()
        .values_list("prompt__study")
        .annotate(n=Count("pk"))
    )
    return _counts(rows)
