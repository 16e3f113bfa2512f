"""Which two models a battle is between: what says most, a share at random, and nobody who is down."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from arena.models import Comparison
from arena.models.querysets import word
from arena.rating.progress import recent
from arena.rules import scales
from judging.battles import weighing
from judging.battles.weighing import Pair, Tallies, pair_of
from judging.models import Author, Battle, BattleRules
from judging.runs import limiting

State = Battle.State
OPEN: Final = [word("waiting"), word("answering"), word("ready")]
"""The states of open battles, in the words of the index that holds those alone."""

IN_HAND: Final = timedelta(hours=1)  # so long a battle that is open counts for its models
_Row = tuple[int, int, int | None, int | None, int]
"""Both models, rating and points, and how often."""


@dataclass(frozen=True)
class Drawn:
    """Two models in the order in which they are shown, and whether they were drawn at random."""

    first: Author
    second: Author
    is_random: bool = False


def draw(rules: BattleRules, rng: random.Random) -> Drawn | None:
    """Draw two models; None where fewer than two can be asked now.

    One whose endpoint is busy can be drawn: its battle waits.
    """
    authors = {author.contestant_id: author for author in able(rules)}
    is_random = rng.random() < rules.random_share
    weights = _weights(rules, authors, random_share=float(is_random))
    if not weights:
        return None
    [pair] = rng.choices(list(weights), list(weights.values()))
    first, second = rng.sample(pair, 2)
    return Drawn(authors[first], authors[second], is_random)


def redraw(battle: Battle, side: int, rng: random.Random) -> Author | None:
    """Draw another model for a side of a battle; None where there is none, or where it cannot be changed.

    It cannot after the first turn, as the conversation is the model's own, nor where the visitor chose.
    """
    if battle.is_chosen or battle.turn > 1:
        return None
    rules = battle.study.battle_rules
    tried = {battle.first_id, battle.second_id, *battle.calls.values_list("author__contestant", flat=True)}
    kept = battle.second_id if side == 0 else battle.first_id
    authors = {author.contestant_id: author for author in able(rules)}
    weights = _weights(rules, {*authors, kept}, random_share=float(battle.is_random))
    left = {each: weights[pair_of(each, kept)] for each in authors if each not in tried}
    return authors[rng.choices(list(left), list(left.values()))[0]] if left else None


def _weights(rules: BattleRules, models: Collection[int], *, random_share: float) -> dict[Pair, float]:
    known = tallies(rules)
    return weighing.pair_weights(models, known, random_share=random_share, warm_up=rules.warm_up)


def askable(study: int) -> QuerySet[Author]:
    """The models of a study that could answer in battles, by name."""
    found = Author.objects.filter(contestant__study=study, contestant__retired_at=None, writes="")
    answering = found.filter(second_to=None).select_related("contestant", "endpoint")
    return answering.order_by("contestant__name", "pk")


def models_of(rules: BattleRules) -> QuerySet[Author]:
    """Those among them that its battles are between."""
    return askable(rules.study_id).filter(battles_of=rules.pk) if rules.pk else Author.objects.none()


def able(rules: BattleRules) -> list[Author]:
    """The models of a study's battles that can be asked now: neither retired nor down.

    One that is down is able again when its next try is due, as nobody else may try.
    """
    authors = list(models_of(rules).order_by("pk"))
    down = limiting.down({author.endpoint for author in authors})
    return [author for author in authors if author.endpoint_id not in down]


def tallies(rules: BattleRules) -> Tallies:
    """Count the battles of a study by model and pair: those with a vote that counts, and those in hand.

    All votes are counted again after some seconds, as that takes the longer the more there are.
    """
    in_hand = Q(state__in=OPEN, created_at__gte=timezone.now() - IN_HAND)
    voted = recent("battles", rules.study.slug, partial(_voted, rules))
    return _tallied([*voted, *_counted(rules, in_hand)])


def _voted(rules: BattleRules) -> list[_Row]:
    votes = Comparison.objects.counted_by(rules.study).filter(study=rules.study_id)
    return _counted(rules, Q(state=State.VOTED, comparison__in=votes))


def _counted(rules: BattleRules, which: Q) -> list[_Row]:
    """How many battles there are by models and rating."""
    rows = Battle.objects.filter(which, study=rules.study_id, is_chosen=False).order_by()
    columns = ("first", "second", "comparison__rating", "comparison__points")
    return list(rows.values_list(*columns).annotate(Count("pk")))


def _tallied(rows: Sequence[_Row]) -> Tallies:
    battles, together, rated = Counter[int](), Counter[Pair](), Counter[int]()
    won: dict[int, float] = defaultdict(float)
    for first, second, rating, points, count in rows:
        together[pair_of(first, second)] += count
        battles.update({first: count, second: count})
        score = scales.score(rating, points, ties=True) if rating and points else None
        if score is not None:
            rated.update({first: count, second: count})
            won[first] += count * score
            won[second] += count * (1 - score)
    return Tallies(battles, rated, won, together)
