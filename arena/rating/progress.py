"""What a rater has done in a study, and what there is left."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypeVar, cast

from django.core.cache import caches
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Value
from django.template.defaultfilters import pluralize
from django.utils import timezone

from arena.models import Answer, Assignment, Comparison, Completion, Pair, Purpose, Rater, Score, Study
from arena.models.querysets import Length, PairQuerySet
from arena.rating import pair_queue
from arena.rating.assignments import Claimed
from arena.rating.limits import Allowance, allowances
from arena.rating.offering_texts import asked_later, asked_texts, given, opinions, pairs_of, text_tasks
from arena.rules.turns import asked

STEP = 10  # the number of pairs left is rounded up to this if repeats or checks are hidden among them
BEHIND: Final = 5.0
"""Seconds by which numbers of what is left may be out of date."""

Wanted = Mapping[str, frozenset[int]]
"""The texts that lack opinions of people, by what is asked about them."""

T = TypeVar("T")


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
        """Return what the rater did, in words that follow "You"."""
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
        """Return what the study takes today, where that is less than what is left."""
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

    @property
    def words(self) -> str:
        """How far the rater has come.

        Up to ten, what is left is the most there can be: it is rounded up where pairs are hidden in it.
        """
        few = f"at most {self.left} left" if self.left else "none left"
        done = f"{self.rated} done, {f'{self.left} left' if self.left > STEP else few}"
        said = f"{self.rated} of {self.goal}" if self.is_below_goal else done
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        today = "" if self.today is None else f" ({self.today or 'no'} more today)"
        return said + skipped + today

    def ended(self, study: Study, *, others_hold_some: bool) -> str:
        """Say why there is no task now, and what the rater did."""
        if self.why_no_more:
            return self.why_no_more
        said = []
        did_something = bool(self.rated or self.skipped)
        if why_nothing(study):
            said.append(f"{study.name} has nothing to rate{'' if self.rated else ' yet'}.")
        elif not did_something and not others_hold_some:
            said.append(f"Others have rated all of {study.name}.")
        if did_something:
            skipped = f" and skipped {self.skipped}" if self.skipped else ""
            said.append(f"You {self.did} of {study.name}{skipped}.")
        if others_hold_some:
            said.append("Other raters hold the last ones. If they return one, you find it here.")
        return " ".join(said)


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
    """The rater's progress in one study; ``claimed``: what was claimed of it just now, if anything was."""
    return progress(rater, [study], {study.pk: claimed.allowance} if claimed else None)[study.pk]


def progress(
    rater: Rater, studies: Sequence[Study], allowed: Mapping[int, Allowance | None] | None = None
) -> dict[int, Progress]:
    """The rater's progress by study id; several studies take as many queries as two, but for those that show
    names.

    allowed: what the studies take from the rater, where known.
    """
    ids, allowed = [study.pk for study in studies], allowances(studies, rater) if allowed is None else allowed
    mine = Q(study__in=ids, rater=rater) & ~Q(purpose=Purpose.ADJUDICATION)
    rated = Comparison.objects.current().filter(mine)
    compared = _by_study(rated.exclude(source=Comparison.Source.BATTLE))
    texts = [study for study in studies if text_tasks(study)]
    scored = _by_study(Score.objects.current().filter(mine), "completion") if texts else Counter()
    checked = _by_study(Answer.objects.current().filter(mine), "completion") if texts else Counter()
    skipped = _by_study(Assignment.objects.filter(mine, state=Assignment.State.SKIPPED))
    left = _left(rater, [study for study in studies if not study.is_closed])
    return {
        study.pk: Progress(
            compared=compared[study.pk],
            scored=scored[study.pk],
            checked=checked[study.pk],
            skipped=skipped[study.pk],
            open=left[study.pk],
            goal=study.goal,
            allowance=allowed.get(study.pk),
        )
        for study in studies
    }


def _left(rater: Rater, studies: Sequence[Study]) -> Counter[int]:
    """How many tasks of each study this rater may still get."""
    comparing = [study for study in studies if study.compares]
    for study in comparing:
        if not pair_queue.is_current(study):
            pair_queue.fill(study)
    left = _pairs_left(rater, [study for study in comparing if not study.reveal_names])
    prompts = {study.pk: _prompts_left(rater, study) for study in comparing if study.reveal_names}
    left.update({study: len(some) for study, some in prompts.items()})
    return Counter(
        {
            study.pk: _told(study, left[study.pk])
            + (texts_left(rater, study, prompts.get(study.pk, ())) if text_tasks(study) else 0)
            for study in studies
        }
    )


def _by_study(rows: "QuerySet[Any]", counted: str = "pk", study: str = "study") -> Counter[int]:
    """How many there are, by what is counted once."""
    numbers = rows.order_by().values_list(study).annotate(n=Count(counted, distinct=counted != "pk"))
    return Counter(dict(numbers))


def _told(study: Study, left: int) -> int:
    """The pairs left, rounded up so that hidden pairs are not revealed."""
    step = STEP if study.repeat_share or study.gold_share else 1
    return -(-left // step) * step


def _pairs_left(rater: Rater, studies: Sequence[Study]) -> Counter[int]:
    """How many pairs of each study, or turns of pairs, lack ratings that this rater may give."""
    if not studies:
        return Counter()
    rated_turns = {each.pk: each.rated_turns for each in studies}
    key = [(each.pk, each.created_at, each.queue_of, each.ratings_per_pair_people) for each in studies]
    queued = _lacking(Pair.rows.filter(queued_in__in=studies))
    at, lacking = recent(
        "pairs-left", [key, rated_turns], lambda: (timezone.now(), _tasks_of(queued, rated_turns))
    )
    left = Counter({study.pk: study.queue_lacks for study in studies})
    left.update(lacking)
    left.subtract(_done(rater, rated_turns, at))
    return left


def _tasks_of(queued: PairQuerySet, rated_turns: Mapping[int, str]) -> Counter[int]:
    """How many tasks the pairs are, by study."""
    each = _turn_by_turn(rated_turns)
    found = _by_study(queued.exclude(queued_in__in=each), study="queued_in")
    by_turns = queued.filter(queued_in__in=each).order_by().annotate(turns=Length("prompt__turns"))
    for study, turns, n in by_turns.values_list("queued_in", "turns").annotate(n=Count("pk")) if each else ():
        found[study] += n * len(asked(rated_turns[study], turns))
    return found


def _done(rater: Rater, rated_turns: Mapping[int, str], at: datetime) -> Counter[int]:
    """How many of the tasks that were counted at a time the rater is through with, by study.

    A skip ends a pair, and a turn those before it.
    """
    mine = {"rater": rater, "pair__queued_in__isnull": False}
    lacks = Q(pair__people_ratings__lt=F("study__ratings_per_pair_people"))
    # In all studies, as this rater has few: asked for a study, SQLite reads what anybody rated there.
    rated = Comparison.objects.current().filter(lacks | Q(created_at__gte=at), **mine)
    rated = rated.exclude(purpose=Purpose.ADJUDICATION).order_by()
    skipped = Assignment.objects.filter(
        lacks, study__in=rated_turns, state=Assignment.State.SKIPPED, **mine
    ).order_by()
    turns = Length("pair__prompt__turns") if _turn_by_turn(rated_turns) else Value(1)
    last: dict[tuple[int, int, int], float] = {}
    for *pair, turn in rated.annotate(turns=turns).values_list("study", "pair", "turns", "turn"):
        place = cast("tuple[int, int, int]", tuple(pair))
        last[place] = max(turn, last.get(place, turn))
    ended = skipped.annotate(turns=turns).values_list("study", "pair", "turns")
    last |= dict.fromkeys(ended, math.inf)
    found = Counter[int]()
    for (study, _, number), to in last.items():
        if rated_turns.get(study) == Study.Rated.EACH:
            found[study] += sum(one <= to for one in asked(rated_turns[study], number))
        elif study in rated_turns:
            found[study] += 1
    return found


def _turn_by_turn(rated_turns: Mapping[int, str]) -> list[int]:
    return [study for study, rated in rated_turns.items() if rated == Study.Rated.EACH]


def _prompts_left(rater: Rater, study: Study) -> list[int]:
    """The prompts that still give this rater a pair, each one at most."""
    pairs = _lacking(Pair.rows.filter(queued_in=study, prompt=OuterRef("pk")))
    rated = Comparison.objects.current().filter(rater=rater).exclude(purpose=Purpose.ADJUDICATION).order_by()
    skipped = Assignment.objects.filter(
        rater=rater, state=Assignment.State.SKIPPED, pair__isnull=False
    ).order_by()
    done = Q(pk__in=rated.values("pair__prompt")) | Q(pk__in=skipped.values("pair__prompt"))
    prompts = study.prompts.filter(Exists(pairs)).exclude(done)
    return list(prompts.order_by().values_list("pk", flat=True))


def _lacking(pairs: PairQuerySet) -> PairQuerySet:
    return pairs.filter(people_ratings__lt=F("queued_in__ratings_per_pair_people"))


def recent(what: str, about: object, count: Callable[[], T]) -> T:
    """Return what was counted ``about`` something in the last seconds, or count it now."""
    name = f"{what}-{sha256(repr(about).encode()).hexdigest()}"
    found: Any = caches["counts"].get_or_set(name, count, BEHIND)
    return cast("T", found)


def texts_left(rater: Rater, study: Study, pairs_left: Collection[int] = ()) -> int:
    """Count the single texts that a person may still score or check.

    pairs_left: prompts of which this person is still to be offered a pair.
    """
    wanted, asked = _wanted_texts(study), text_tasks(study)
    mine = Assignment.objects.filter(study=study, rater=rater, kind__in=asked).order_by()
    offered = list(mine.values_list("completion", "kind", "state"))
    named, left = _named_texts(rater, study, pairs_left), 0
    for kind in asked:
        said = opinions(kind).filter(study=study, rater=rater).values_list("completion", flat=True)
        later = asked_later(study, kind)
        past = {text for text, task, state in offered if task in later or state == Assignment.State.SKIPPED}
        left += len(wanted[kind].difference(said, named[kind], past))
    return left


def _named_texts(rater: Rater, study: Study, pairs_left: Collection[int]) -> Mapping[str, frozenset[int]]:
    """By task the texts of prompts whose names this person has seen, or will have seen by then."""
    if not study.reveal_names:
        return defaultdict(frozenset)
    texts = Completion.objects.filter(prompt__study=study).order_by().values_list("pk", flat=True)
    seen = frozenset(texts.filter(prompt__in=pairs_of(rater).values("pair__prompt")))
    soon = seen.union(texts.filter(prompt__in=pairs_left))
    before = study.tasks[: study.tasks.index(Assignment.Kind.COMPARE)] if study.compares else study.tasks
    return {kind: seen if kind in before else soon for kind in text_tasks(study)}


def _wanted_texts(study: Study) -> Wanted:
    # What else changes the texts raises the revision.
    places, asked = study.ratings_per_pair_people, tuple(text_tasks(study))
    key = (study.pk, study.created_at, study.revision, study.naming, study.thinking, places, asked)
    return recent("texts-left", key, lambda: {kind: _lacking_texts(study, kind) for kind in asked})


def _lacking_texts(study: Study, kind: str) -> frozenset[int]:
    counts = (
        given(study, kind)
        .filter(study=study)
        .values_list("completion")
        .annotate(n=Count("rater", distinct=True))
    )
    full = counts.filter(n__gte=study.ratings_per_pair_people).values_list("completion", flat=True)
    return frozenset(asked_texts(study, kind).values_list("pk", flat=True)) - frozenset(full)
