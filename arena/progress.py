"""Reads: how far a rater has come, and how much still wants a rating."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, F, Q

from arena.models import Assignment, Comparison, Completion, Pair, Rater, Study


@dataclass(frozen=True)
class Progress:
    """What one rater did in a study. left: pairs that still want a rating and that this rater may get.

    ``left`` is about right: pairs that lost a completion to a new version or a retirement may be counted.
    """

    rated: int = 0
    skipped: int = 0
    left: int = 0

    @property
    def total(self) -> int:
        """Everything done or to do; at least 1, so that it can be the end of a progress bar."""
        return max(1, self.rated + self.left)


def progress(rater: Rater, studies: Iterable[Study]) -> dict[int, Progress]:
    """The rater's progress in each study, by study id. Four queries, however many studies."""
    ids = [study.pk for study in studies]
    mine = Q(study__in=ids, rater=rater)
    rated = _counts(Comparison.objects.current().filter(mine).values_list("study").annotate(n=Count("pk")))
    skipped = _counts(
        Assignment.objects.filter(mine, state="skipped")
        .order_by()
        .values_list("study")
        .annotate(n=Count("pk"))
    )
    possible = _possible_pairs(ids)
    gone = _full_or_done(rater, ids)
    return {pk: Progress(rated[pk], skipped[pk], max(0, possible[pk] - gone[pk])) for pk in ids}


def _counts(rows: Iterable[tuple[int, int]]) -> Counter[int]:
    return Counter(dict(rows))


def _possible_pairs(studies: list[int]) -> Counter[int]:
    """How many pairs the rateable completions of each study can form."""
    pairs: Counter[int] = Counter()
    rows = (
        Completion.objects.rateable()
        .filter(prompt__study__in=studies)
        .exclude(prompt__turns=[])
        .order_by()
        .values_list("prompt__study", "prompt")
        .annotate(n=Count("pk"))
    )
    for study, _, completions in rows:
        pairs[study] += completions * (completions - 1) // 2
    return pairs


def _full_or_done(rater: Rater, studies: list[int]) -> Counter[int]:
    """Pairs this rater will not get: they have the ratings wanted, or the rater had them already."""
    had = Assignment.objects.filter(rater=rater, state__in=["submitted", "skipped"]).values("pair")
    full = Q(people_ratings__gte=F("prompt__study__ratings_per_pair_people"))
    rows = (
        Pair.objects.filter(Q(pk__in=had) | full, prompt__study__in=studies)
        .order_by()
        .values_list("prompt__study")
        .annotate(n=Count("pk"))
    )
    return _counts(rows)
