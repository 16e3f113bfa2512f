"""Which single text a person is offered next: to score it, or to check it against its requirements.

A person goes on prompt by prompt, and does all that is asked about a text before the next. All assignments of
a person for one prompt store the same seed, which says in which order its texts come.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, reduce
from operator import or_
from typing import Final

from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    Max,
    Min,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from arena.models import Answer, Assignment, Completion, Pair, Prompt, Question, Rater, Score, Study
from arena.models.comparisons import new_seed
from arena.models.querysets import AnswerQuerySet, AssignmentQuerySet, CompletionQuerySet, ScoreQuerySet
from arena.rating.offering import TRIES, lease_time

SCORE, CHECK = Assignment.Kind.SCORE, Assignment.Kind.CHECK
TASKS: Final = (SCORE, CHECK)


def text_tasks(study: Study) -> list[str]:
    """Return what the study asks about single texts, in its order."""
    return [task for task in study.tasks if task in TASKS]


def texts_of(study: Study) -> CompletionQuerySet:
    """Return what people score and check: no texts without an author that only a known answer needs."""
    apart = Pair.objects.exclude(use=Pair.Use.RATE).filter(Q(first=OuterRef("pk")) | Q(second=OuterRef("pk")))
    return Completion.objects.rateable_in(study).exclude(Q(contestant=None) & Exists(apart))


def pairs_of(rater: Rater) -> AssignmentQuerySet:
    """The pairs that this person was offered."""
    return Assignment.objects.filter(rater=rater, pair__isnull=False).order_by()


def knows_names(about_a_text: Assignment) -> bool:
    """Return True if a person has rated a pair of the text's prompt, and so may have seen names."""
    prompts = Completion.objects.filter(assignments=about_a_text).values("prompt")
    rated = pairs_of(about_a_text.rater).filter(pair__prompt__in=prompts)
    return rated.filter(state=Assignment.State.SUBMITTED, rater__kind=Rater.Kind.PERSON).exists()


def has_questions() -> Exists:
    return Exists(Question.objects.asked().filter(prompt=OuterRef("prompt")))


def asked_texts(study: Study, kind: str) -> CompletionQuerySet:
    """The texts that people are asked to score, or to check."""
    return (texts_of(study).filter(has_questions()) if kind == CHECK else texts_of(study)).order_by()


def opinions(kind: str) -> ScoreQuerySet | AnswerQuerySet:
    return Score.objects.current() if kind == SCORE else Answer.objects.current()


def given(study: Study, kind: str) -> ScoreQuerySet | AnswerQuerySet:
    """Return what people said that counts as wanted."""
    return opinions(kind).counted_by(study).filter(rater__kind=Rater.Kind.PERSON).order_by()


def offer_text(
    study: Study,
    rater: Rater,
    kinds: Sequence[str],
    now: datetime,
    on_screen: Assignment | None = None,
) -> Assignment | None:
    """Lease the next text to a person for one of these tasks; None if nothing is left.

    To be called with study and rater locked. on_screen: what this person looks at, which is not offered even
    if its lease ran out.
    """
    looked_at = on_screen.completion_id if on_screen and not on_screen.is_finished else None
    due = Due(study, rater, now)
    for _ in range(TRIES):
        if (chosen := _choose(due, kinds, looked_at)) is None:
            return None
        if leased := _lease(due, *chosen):
            return leased
        # A late answer took its place.
    return None


@dataclass(frozen=True)
class Due:
    """What there is to do for a person in a study."""

    study: Study
    rater: Rater
    now: datetime

    @cached_property
    def asked(self) -> list[str]:
        return text_tasks(self.study)

    def texts(self, kinds: Sequence[str]) -> CompletionQuerySet:
        """The texts about which one of these is to be done."""
        said = {f"{kind}_given": _count(given(self.study, kind), "rater") for kind in self.asked}
        places = Assignment.objects.places(self.now)
        held = {f"{kind}_load": F(f"{kind}_given") + _count(places.filter(kind=kind), "pk") for kind in kinds}
        texts = texts_of(self.study).alias(**said).alias(**held).filter(reduce(or_, map(self.is_due, kinds)))
        if self.study.reveal_names:  # whoever was told two authors of a prompt may infer the others
            texts = texts.exclude(Exists(pairs_of(self.rater).filter(pair__prompt=OuterRef("prompt"))))
        return texts

    def is_due(self, kind: str) -> Q:
        """New to this person, with a place left, and all that is asked before is said or has no place."""
        places, before = self.study.ratings_per_pair_people, self.asked[: self.asked.index(kind)]
        offered = Q(kind=kind) & ~Q(state=Assignment.State.EXPIRED)
        offered |= Q(kind__in=asked_later(self.study, kind))
        offered |= Q(kind__in=before, state=Assignment.State.SKIPPED)
        mine = Assignment.objects.filter(offered, rater=self.rater, completion=OuterRef("pk"))
        due = Q(**{f"{kind}_load__lt": places}) & ~Q(Exists(mine)) & ~self._is_said(kind)
        if kind == CHECK:
            due &= Q(has_questions())
        for each in before:
            closed = self._is_said(each) | Q(**{f"{each}_given__gte": places})
            due &= closed | ~Q(has_questions()) if each == CHECK else closed
        return due

    def _is_said(self, kind: str) -> Q:
        return Q(Exists(opinions(kind).filter(rater=self.rater, completion=OuterRef("pk"))))


def _count(rows: QuerySet[Model], distinct: str) -> Coalesce:
    """How many rows each completion has, by what is distinct in them."""
    of_one = rows.filter(completion=OuterRef("pk")).values("completion")
    return Coalesce(Subquery(of_one.annotate(n=Count(distinct, distinct=True)).values("n")), 0)


def asked_later(study: Study, kind: str) -> list[str]:
    """Return what the study asks about a text after this."""
    asked = text_tasks(study)
    return asked[asked.index(kind) + 1 :] if kind in asked else []


def opens_more(study: Study, on_screen: Assignment) -> bool:
    """Return True if more is asked about the text on screen as soon as this is answered."""
    later = [] if on_screen.is_finished else asked_later(study, on_screen.kind)
    questions = Question.objects.asked().filter(prompt__completions=on_screen.completion_id)
    return any(kind != CHECK or questions.exists() for kind in later)


def _choose(due: Due, kinds: Sequence[str], looked_at: int | None) -> tuple[int, str, int] | None:
    """A completion, what to do with it, and the seed of its prompt's order."""
    texts = due.texts(kinds).exclude(pk=looked_at or 0)
    mine = Assignment.objects.filter(study=due.study, rater=due.rater, completion__isnull=False)
    here, seed = mine.order_by("-pk").values_list("completion__prompt", "seed").first() or (None, new_seed())
    rows = _rows(due, texts, kinds, here) if here else []
    if not rows:
        prompt = _next_prompt(due.study, texts, here, seed)
        if prompt is None:
            return None
        rows = _rows(due, texts, kinds, prompt)
        known = mine.filter(completion__prompt=prompt).values_list("seed", flat=True).first()
        seed = new_seed() if known is None else known
    # What is asked last comes first: it is about a text that was begun.
    *_, pk, task = min((-kinds.index(task), place(seed, pk), pk, task) for pk, task in rows)
    return pk, task, seed


def _rows(due: Due, texts: CompletionQuerySet, kinds: Sequence[str], prompt: int) -> list[tuple[int, str]]:
    """The texts of a prompt, and what is to be done about each."""
    first = [When(due.is_due(kind), then=Value(kind)) for kind in kinds[:-1]]
    task = Case(*first, default=Value(kinds[-1]), output_field=CharField())
    return list(texts.filter(prompt=prompt).order_by().annotate(task=task).values_list("pk", "task"))


def _next_prompt(study: Study, texts: CompletionQuerySet, here: int | None, seed: int) -> int | None:
    """The next prompt with one of these texts, in the order of their ids; a newcomer begins anywhere."""
    if here is None:
        ends = Prompt.objects.filter(study=study).aggregate(low=Min("pk"), high=Max("pk"))
        here = ends["low"] + seed % (ends["high"] - ends["low"] + 1) if ends["low"] else 0
    prompts = Prompt.objects.filter(Exists(texts.filter(prompt=OuterRef("pk"))), study=study).order_by("pk")
    for start in ("gte", "lt"):
        found = prompts.filter(**{f"pk__{start}": here}).values_list("pk", flat=True).first()
        if found is not None:
            return found
    return None


def place(seed: int, completion: int) -> float:
    """Where a seed puts a completion among those of its prompt."""
    return random.Random(f"{seed} {completion}").random()  # noqa: S311 - fairness, not secrecy


def _lease(due: Due, pk: int, task: str, seed: int) -> Assignment | None:
    """Claim what was chosen; None if it can no longer be offered."""
    claimed = {"state": Assignment.State.CLAIMED, "leased_until": due.now + lease_time(), "shown_at": None}
    # Assignments are locked before texts, by those who answer as well.
    mine = Assignment.objects.filter(study=due.study, rater=due.rater, completion=pk, kind=task)
    lapsed = mine.filter(state=Assignment.State.EXPIRED).order_by("-pk")
    lost = lapsed.select_for_update(no_key=True).first()
    text = Completion.objects.filter(pk=pk).order_by()
    locked = text.select_for_update(no_key=True).values_list("pk", flat=True).first()
    completion = due.texts([task]).select_related("prompt").filter(pk=pk).first() if locked else None
    if completion is None:
        return None
    if lost:
        # An answer still to come from its old page is then this one.
        Assignment.objects.filter(pk=lost.pk).update(**claimed)
        lost.refresh_from_db()
        lost.completion = completion
        return lost
    return Assignment.objects.create(
        study=due.study, rater=due.rater, kind=task, completion=completion, seed=seed, **claimed
    )
