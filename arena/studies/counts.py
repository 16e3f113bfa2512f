"""Counts of a study's contents, and of the ratings that it wants and has."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, QuerySet, Sum

from arena.models import Comparison, Completion, Contestant, Pair, Prompt, Rater, Study
from arena.models.querysets import CompletionQuerySet, Length, RaterQuerySet
from arena.rating.offering_texts import TASKS, asked_texts, given
from arena.rules.turns import asked


def study_prompts(study: Study) -> QuerySet[Prompt]:
    return Prompt.objects.rated().filter(study=study).exclude(turns=[])


def answers(study: Study) -> CompletionQuerySet:
    """The study's current answers with a known text by active contestants."""
    return (
        Completion.objects.filter(prompt__in=study_prompts(study), is_current=True)
        .filter(contestant__isnull=False, contestant__retired_at__isnull=True)
        .exclude(turns=[])
    )


class Cells(NamedTuple):
    prompts: int
    contestants: int
    filled: int

    @property
    def holes(self) -> int:
        return max(0, self.prompts * self.contestants - self.filled)


def cells(study: Study) -> Cells:
    contestants = Contestant.objects.active().filter(study=study).count()
    return Cells(study_prompts(study).count(), contestants, answers(study).count())


@dataclass(frozen=True)
class Wanted:
    """The opinions of people that pairs, or answers, want and have; useful: none beyond what each wants.

    gone: opinions about what is no longer offered, as a text with a new version; they are in no other number.
    """

    pairs: int = 0
    wanted: int = 0
    useful: int = 0
    given: int = 0
    full: int = 0
    untouched: int = 0
    gone: int = 0

    @property
    def left(self) -> int:
        return max(0, self.wanted - self.useful)

    @property
    def percent(self) -> int:
        """Whole percent, rounded down: 100 means all."""
        return min(100, 100 * self.useful // self.wanted) if self.wanted else 0

    @property
    def begun(self) -> int:
        return self.pairs - self.untouched

    @property
    def beyond(self) -> int:
        return max(0, self.given - self.useful)

    def __add__(self, other: "Wanted") -> "Wanted":
        return Wanted(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def offered_pairs(study: Study) -> QuerySet[Pair]:
    """The pairs with a row that people can still be offered: both texts are current."""
    texts = Completion.objects.rateable_in(study)
    return _pairs(study).filter(first__in=texts, second__in=texts)


def _pairs(study: Study) -> QuerySet[Pair]:
    return Pair.objects.published().filter(prompt__study=study, use=Pair.Use.RATE).order_by()


def listed(pairs: QuerySet[Pair]) -> QuerySet[Pair]:
    """Pairs with what lists name of them, and without their texts."""
    texts = [f"{side}__{field}" for side in ("first", "second") for field in ("turns", "extra")]
    rows = pairs.select_related("prompt", "first__contestant", "second__contestant")
    return rows.defer(*texts, "prompt__turns", "prompt__input")


def wanted_by_category(study: Study) -> dict[str, Wanted]:
    """Return what people are still to compare, pairs or turns of pairs, by category of the prompt."""
    return turns_wanted(study) if study.rated_turns == Study.Rated.EACH else pairs_wanted(study)


def turns_wanted(study: Study) -> dict[str, Wanted]:
    """Return what people are still to compare turn by turn; a turn of a pair is an item."""
    possible, rated, gone = Counter[str](), Counter[tuple[str, int]](), Counter[str]()
    texts = Completion.objects.rateable_in(study).order_by().annotate(asked=Length("prompt__turns"))
    of_prompts = texts.values_list("prompt__category", "asked", "prompt").annotate(n=Count("pk"))
    for name, turns, _, n in of_prompts:
        possible[name] += n * (n - 1) // 2 * len(asked(study.rated_turns, turns))
    offered = set(offered_pairs(study).values_list("pk", flat=True))
    said = Comparison.objects.counted(study).filter(rater__kind=Rater.Kind.PERSON, pair__in=_pairs(study))
    rows = said.order_by().annotate(asked=Length("pair__prompt__turns"))
    columns = ("pair__prompt__category", "asked", "pair", "turn")
    for name, turns, pair, turn, n in rows.values_list(*columns).annotate(n=Count("pk")):
        if pair in offered and turn in asked(study.rated_turns, turns):
            rated[name, n] += 1
        else:
            gone[name] += n
    return _by_category(study, possible, rated, gone)


def pairs_wanted(study: Study) -> dict[str, Wanted]:
    """Return what people are still to compare; of several turns the one with the fewest ratings counts."""
    category = "prompt__category"
    rows = offered_pairs(study).filter(people_ratings__gt=0).values_list(category, "people_ratings")
    rated = {(name, number): n for name, number, n in rows.annotate(n=Count("pk"))}
    gone = Counter(dict(_pairs(study).values_list(category).annotate(n=Sum("people_ratings"))))
    for (name, number), n in rated.items():
        gone[name] -= number * n
    possible = Completion.objects.rateable_in(study).pairs_by(category)
    return _by_category(study, possible, rated, gone)


def _by_category(
    study: Study, possible: Counter[str], rated: Mapping[tuple[str, int], int], gone: Counter[str]
) -> dict[str, Wanted]:
    """Sum up how many items are ``possible`` in each category, and how many of these have how many."""
    overlap, result = study.ratings_per_pair_people, {}
    for name in sorted(possible.keys() | gone.keys()):
        have = {number: n for (category, number), n in rated.items() if category == name}
        result[name] = Wanted(
            pairs=possible[name],
            wanted=possible[name] * overlap,
            useful=sum(min(number, overlap) * n for number, n in have.items()),
            given=sum(number * n for number, n in have.items()),
            full=sum(n for number, n in have.items() if number >= overlap),
            untouched=possible[name] - sum(have.values()),
            gone=gone[name],
        )
    return result


def wanted(study: Study) -> Wanted:
    """Return what people are still to compare of whole pairs."""
    return sum(pairs_wanted(study).values(), Wanted())


def texts_wanted(study: Study, kind: str) -> dict[str, Wanted]:
    """Return what people are still to score or to check, by category of the prompt."""
    category = dict(asked_texts(study, kind).values_list("pk", "prompt__category"))
    rows = given(study, kind).filter(study=study).values_list("completion", "completion__prompt__category")
    rated: Counter[tuple[str, int]] = Counter()
    gone: Counter[str] = Counter()
    for text, name, raters in rows.annotate(n=Count("rater", distinct=True)):
        if text in category:
            rated[name, raters] += 1
        else:
            gone[name] += raters
    return _by_category(study, Counter(category.values()), rated, gone)


def wanted_by_task(study: Study) -> dict[str, dict[str, Wanted]]:
    """Return what people are still to do, by task in the order of the study, and by category."""
    return {
        kind: texts_wanted(study, kind) if kind in TASKS else wanted_by_category(study)
        for kind in study.tasks
    }


def judges_in(study: Study) -> RaterQuerySet:
    """The judges, and panels of judges, that were asked in the study or came with an import."""
    own = Exists(study.assignments.filter(rater=OuterRef("pk")))
    said = (
        Exists(rows.filter(rater=OuterRef("pk"))) for rows in (study.comparisons, study.scores, study.answers)
    )
    return Rater.objects.filter(reduce(or_, said, own), kind=Rater.Kind.JUDGE)
