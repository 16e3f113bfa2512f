from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Count, F, Q, QuerySet
from django.template.defaultfilters import pluralize

from arena.models import Answer, Assignment, Comparison, Completion, Pair, Purpose, Rater, Score, Study
from arena.rating.assignments import Claimed
from arena.rating.limits import Allowance, allowance, allowances
from arena.rating.offering import history_of, pool_of
from arena.rating.offering_texts import asked_texts, text_tasks
from arena.rating.subsets import TRAINING_SUBSET
from arena.rating.texts_left import texts_left

BEHIND = 5.0  # seconds by which the number of pairs left may be out of date
STEP = 10  # the number of pairs left is rounded up to this if repeats or checks are hidden among them


@dataclass(frozen=True)
class Progress:
    """What one rater did in a study, and what there is to do.

    open: tasks this rater may still get; goal: what the study asks; allowance: what it takes, if not all.
    Repeats and checks count as rated or skipped, or a number that stands still would reveal them; ``open``
    omits them.
    """

    compared: int = 0
    scored: int = 0
    checked: int = 0
    skipped: int = 0
    open: int = 0
    goal: int | None = None
    allowance: Allowance | None = None

    @property
    def rated(self) -> int:
        return self.compared + self.scored + self.checked

    @property
    def did(self) -> str:
        """What the rater did, in words that follow "You"."""
        numbers = {"rated": self.compared, "scored": self.scored, "checked": self.checked}
        *said, last = [
            f"{verb} {number} {'pair' if verb == 'rated' else 'answer'}{pluralize(number)}"
            for verb, number in numbers.items()
            if number
        ] or ["rated nothing"]
        return " and ".join(filter(None, [", ".join(said), last]))

    @property
    def left(self) -> int:
        """Tasks until none is open or the study takes no more."""
        limit = self.allowance.left if self.allowance else None
        return self.open if limit is None else min(self.open, limit)

    @property
    def today(self) -> int | None:
        """What the study takes today, where that is less than what is left."""
        limit = self.allowance.left_today if self.allowance else None
        return limit if limit is not None and limit < self.left else None

    @property
    def why_no_more(self) -> str:
        """Why the rater gets none of what is open; empty if they may."""
        return self.allowance.why if self.allowance and self.open else ""

    @property
    def is_below_goal(self) -> bool:
        return self.goal is not None and self.rated < self.goal

    @property
    def to_go(self) -> int:
        """Tasks until the goal, or until none is left."""
        return min(self.left, self.goal - self.rated) if self.goal and self.is_below_goal else self.left

    @property
    def total(self) -> int:
        return max(1, self.rated + self.to_go)


def why_nothing(study: Study) -> str:
    """Why there is nothing that people can be asked about, as a sentence; empty if there is something."""
    answers = Completion.objects.rateable_in(study).order_by()
    prompts = answers.values("prompt").annotate(n=Count("pk"))
    if (study.compares and prompts.filter(n__gt=1).exists()) or any(
        asked_texts(study, kind).exists() for kind in text_tasks(study)
    ):
        return ""
    missing = "no prompt has two answers" if study.compares else "no answer has requirements"
    return f"Nothing to rate yet: {missing if answers.exists() else 'no answers'}."


def progress_in(study: Study, rater: Rater, claimed: Claimed | None = None) -> Progress:
    """The rater's progress in one study; ``claimed``: what was read of it just now, if anything was."""
    history = claimed.history if claimed else history_of(study, rater)
    compared, done = history.answered, history.done
    if any(each.is_reopened for each in history.claimed):
        # An answer that was brought back stands until there is another.
        held = _rated_and_held(study, rater)
        compared, done = compared + len(held), done + held
    pairs, prompts = _pairs_left(study, done) if study.compares else (0, [])
    left = _told(study, pairs)
    mine = Q(study=study, rater=rater)
    texts = text_tasks(study)
    if texts:
        left += texts_left(rater, study, prompts)
    return Progress(
        compared=compared,
        scored=_by_study(Score.objects.current().filter(mine), "completion")[study.pk] if texts else 0,
        checked=_by_study(Answer.objects.current().filter(mine), "completion")[study.pk] if texts else 0,
        skipped=history.skipped,
        open=left,
        goal=study.goal,
        allowance=claimed.allowance if claimed else allowance(study, rater),
    )


def progress(rater: Rater, studies: Iterable[Study]) -> dict[int, Progress]:
    """The rater's progress by study id; several studies take as many queries as two, but for those that show
    names.
    """
    asked = list(studies)
    mine = Q(study__in=[study.pk for study in asked], rater=rater) & ~Q(purpose=Purpose.ADJUDICATION)
    compared = _by_study(Comparison.objects.current().filter(mine))
    alone = asked if len(asked) == 1 else [study for study in asked if study.reveal_names]
    found = {study.pk: replace(progress_in(study, rater), compared=compared[study.pk]) for study in alone}
    asked = [study for study in asked if study.pk not in found]
    texts = [study for study in asked if text_tasks(study)]
    scored = _by_study(Score.objects.current().filter(mine), "completion") if texts else Counter()
    checked = _by_study(Answer.objects.current().filter(mine), "completion") if texts else Counter()
    allowed = allowances(asked, rater)
    left = _pairs_left_of_many(rater, [study.pk for study in asked if study.compares])
    skipped = _by_study(Assignment.objects.filter(mine, state=Assignment.State.SKIPPED))
    return found | {
        study.pk: Progress(
            compared=compared[study.pk],
            scored=scored[study.pk],
            checked=checked[study.pk],
            skipped=skipped[study.pk],
            open=_told(study, left[study.pk]) + (texts_left(rater, study) if study in texts else 0),
            goal=study.goal,
            allowance=allowed.get(study.pk),
        )
        for study in asked
    }


def _by_study(rows: "QuerySet[Any]", counted: str = "pk") -> Counter[int]:
    """How many there are, by what is counted once."""
    numbers = rows.order_by().values_list("study").annotate(n=Count(counted, distinct=True))
    return Counter(dict(numbers))


def _told(study: Study, left: int) -> int:
    """The pairs left, rounded up so that hidden pairs are not revealed."""
    step = STEP if study.repeat_share or study.gold_share else 1
    return -(-left // step) * step


def _pairs_left(study: Study, done: list[int]) -> tuple[int, list[int]]:
    """How many pairs are open to a rater who did these, and their prompts if each gives one pair only."""
    pool = pool_of(study, behind=BEHIND)
    open_pairs = pool.ratings < study.ratings_per_pair_people
    if study.reveal_names:
        prompts = pool.possible.prompts_among(open_pairs & ~pool.sharing_prompts(done))
        return len(prompts), prompts
    open_pairs[pool.places(done)] = False
    return int(np.count_nonzero(open_pairs)), []


def _rated_and_held(study: Study, rater: Rater) -> list[int]:
    mine = Comparison.objects.current().filter(study=study, rater=rater, assignment__state="claimed")
    return list(mine.exclude(purpose=Purpose.ADJUDICATION).order_by().values_list("pair", flat=True))


def _pairs_left_of_many(rater: Rater, studies: Sequence[int]) -> Counter[int]:
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
    return Counter(dict(rows))
