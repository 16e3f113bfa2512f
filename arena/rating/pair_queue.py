"""The queue of a study: a row for every pair that people can be offered, with its turn.

The queue follows the study's revision. Of a very large study only the pairs that come next have a row.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import combinations
from typing import Final, NamedTuple

from django.db import transaction
from django.db.models import Count, Min
from django.utils import timezone

from arena.features import stored
from arena.models import Comparison, Completion, Pair, Rater, Study
from arena.rating import worth
from arena.rating.schedule import Schedule
from arena.rating.worth import PairKey
from arena.rules import scales
from arena.rules.feature_names import TELLING, Named, Variant
from arena.rules.pairing import STRATEGIES

MOST_MADE: Final = 20_000  # rows made at once
BATCH: Final = 1000
PROMPTS_READ: Final = 200  # prompts whose pairs are looked at together
TIE: Final = 1e-9  # differences in disagreement that count as none
SIDES: Final = ("first", "second")
COLUMNS: Final = (*SIDES, "pk", "use", "queued_in", "turn")


class QueueShortError(Exception):
    """The queue has to be filled before the next pair can be chosen."""


class Text(NamedTuple):
    """A completion to pair; ``contestant``: None if its author is unknown."""

    pk: int
    contestant: int | None
    category: str


class Place(NamedTuple):
    """A pair in the queue: its turn, prompt and completions, the smaller id first."""

    turn: float
    prompt: int
    first: int
    second: int


@dataclass
class _Changes:
    """What a queue lacks, at what other turn a row belongs, and the ids of rows that leave it."""

    new: list[Place] = field(default_factory=list)
    lacking: int = 0
    moved: list[Pair] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)


def is_current(study: Study) -> bool:
    """Return whether the queue holds what the study offers now."""
    return study.queue_of == _made_of(study)


def _made_of(study: Study) -> str:
    made_of = [study.revision, study.naming, study.thinking, study.pairing, study.pairing_feature]
    if STRATEGIES[study.pairing].asks_judges:  # their ratings do not raise the revision
        made_of.append(f"{timezone.now():%H:%M}")
    return " ".join(map(str, made_of))


@transaction.atomic
def fill(study: Study) -> None:
    """Bring the queue up to date, and add the next pairs that have no row, at most MOST_MADE.

    To be called outside of ``lock_to_rate``, which shares the study with others.
    """
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    changes = _changes(locked)
    rows = [
        Pair(prompt_id=prompt, first_id=first, second_id=second, is_waiting=True, queued_in=locked, turn=turn)
        for turn, prompt, first, second in changes.new
    ]
    Pair.rows.bulk_create(rows, batch_size=BATCH)
    Pair.rows.bulk_update(changes.moved, ["queued_in", "turn"], batch_size=BATCH)
    for start in range(0, len(changes.gone), BATCH):
        Pair.rows.filter(pk__in=changes.gone[start : start + BATCH]).update(queued_in=None)
    study.queue_of, study.queue_lacks = _made_of(locked), changes.lacking
    study.save(update_fields=["queue_of", "queue_lacks"])


def _changes(study: Study) -> _Changes:
    changes, texts = _Changes(), _texts(study)
    turns_of = _turns(study, texts)
    prompts = list(study.prompts.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(prompts), PROMPTS_READ):
        some = prompts[start : start + PROMPTS_READ]
        rows = Pair.rows.filter(prompt__in=some).order_by().values_list(*COLUMNS)
        known = {row[:2]: row for row in rows}
        for prompt in some:
            for key, turn in turns_of(prompt):
                *_, pk, use, queued, before = known.pop(key, (None, Pair.Use.RATE, None, None))
                if pk is None:
                    changes.new.append(Place(turn, prompt, *key))
                elif use != Pair.Use.RATE:
                    changes.gone += [pk] if queued else []
                elif before is None or not queued or _is_moved(before, turn):
                    changes.moved.append(Pair(pk=pk, queued_in=study, turn=turn))
        changes.gone += [pk for _, _, pk, _, queued, _ in known.values() if queued]
        if len(changes.new) > 2 * MOST_MADE:
            _forget_last(changes)
    _forget_last(changes)
    return changes


def _is_moved(before: float, turn: float) -> bool:
    """Return whether a row gets another turn: only where judges and a feature disagree, or did."""
    return min(before, turn) < 0 and before != turn


def _forget_last(changes: _Changes) -> None:
    changes.lacking += max(0, len(changes.new) - MOST_MADE)
    changes.new = nsmallest(MOST_MADE, changes.new)


def _turns(
    study: Study, texts: Mapping[int, Sequence[Text]]
) -> Callable[[int], Iterator[tuple[PairKey, float]]]:
    """Return a function that gives the pairs of a prompt with their turns."""
    contestants = {text.pk: text.contestant for some in texts.values() for text in some}
    unknown = max((sum(text.contestant is None for text in some) for some in texts.values()), default=0)
    categories = {prompt: some[0].category for prompt, some in texts.items()}
    schedule = Schedule(categories, sorted({pk for pk in contestants.values() if pk is not None}), unknown)
    disputed = _disagreements(study, contestants) if STRATEGIES[study.pairing].asks_judges else {}

    def of(prompt: int) -> Iterator[tuple[PairKey, float]]:
        others = iter(schedule.slots_without)
        slots = {
            text.pk: next(others) if text.contestant is None else schedule.slot[text.contestant]
            for text in texts.get(prompt, ())
        }
        for first, second in combinations(sorted(slots), 2):
            turn = schedule.turn(prompt, slots[first], slots[second])
            if far := disputed.get((first, second)):
                turn = turn * TIE - far  # before all others; equals in their usual order
            yield (first, second), turn

    return of


def _texts(study: Study) -> dict[int, list[Text]]:
    """The texts that make pairs, by prompt."""
    rows = Completion.objects.rateable_in(study).order_by("pk")
    texts: dict[int, list[Text]] = {}
    columns = ("prompt", "pk", "contestant", "prompt__category")
    for prompt, pk, contestant, category in rows.values_list(*columns):
        texts.setdefault(prompt, []).append(Text(pk, contestant, category))
    reserved = _reserved(study)
    paired = {prompt: _combined(some, reserved) for prompt, some in texts.items()}
    return {prompt: some for prompt, some in paired.items() if len(some) > 1}


def _reserved(study: Study) -> set[int]:
    """The texts of training pairs and checks that are in no other pair."""
    pairs = Pair.objects.filter(prompt__study=study).order_by()
    apart = {text for both in pairs.exclude(use=Pair.Use.RATE).values_list(*SIDES) for text in both}
    for side in SIDES if apart else ():
        apart -= set(pairs.filter(**{f"{side}__in": apart}, use=Pair.Use.RATE).values_list(side, flat=True))
    return apart


def _combined(texts: list[Text], reserved: set[int]) -> list[Text]:
    """The texts of one prompt that make new pairs.

    Reserved ones do only if a contestant wrote them and the prompt has others.
    """
    if all(text.pk in reserved for text in texts):
        return []
    return [text for text in texts if text.pk not in reserved or text.contestant is not None]


def _disagreements(study: Study, contestants: Mapping[int, int | None]) -> dict[PairKey, float]:
    """The disagreement about each pair where there is any; ``contestants``: those of the texts to pair."""
    values = feature(study)
    return worth.disagreement(values, contestants, _preference(study)) if values else {}


def feature(study: Study) -> dict[int, float]:
    """The study's, or the first of TELLING that answers have; from its first source, more for the better."""
    name = study.pairing_feature or next((name for name in stored.names(study) if name in TELLING), "")
    named = stored.of_answers(study).filter(name=name)
    source = named.aggregate(first=Min("source"))["first"]
    # Where nothing is expected, whoever chose the feature takes higher values for better.
    sign = -1 if Named.read(name).higher_is_better(Variant.PAPER) is False else 1
    values = named.filter(source=source).values_list("completion", "value")
    return {text: sign * value for text, value in values}


def _preference(study: Study) -> dict[PairKey, float]:
    """The mean preference of judges for the first of each pair that they rated, from -1 to 1."""
    judged = Comparison.objects.counted(study).filter(
        status=Comparison.Status.SCORED, rater__kind=Rater.Kind.JUDGE
    )
    columns = ("pair__first", "pair__second", "swapped", "points", "rating")
    total: dict[PairKey, float] = defaultdict(float)
    count: dict[PairKey, int] = defaultdict(int)
    for first, second, swapped, points, rating, n in (
        judged.order_by().values_list(*columns).annotate(n=Count("pk"))
    ):
        assert rating is not None  # noqa: S101 - it is scored
        for_second = scales.preference(rating, points)
        total[first, second] += n * (for_second if swapped else -for_second)
        count[first, second] += n
    return {pair: total[pair] / count[pair] for pair in total}
