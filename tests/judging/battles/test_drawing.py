"""Which models battles are between: what says most, a share at random, and nobody who is down."""

import random
import time
from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.models import Contestant
from judging.battles import advancing, drawing, weighing
from judging.battles.door import door
from judging.battles.weighing import Tallies
from judging.models import Author, Battle, BattleRules, RateLimit
from tests import factories as make

A, B, C, D = 1, 2, 3, 4


def weights(known: Tallies, *models: int, random_share: float = 0.0, warm_up: int = 0) -> dict[Any, float]:
    return weighing.pair_weights(models, known, random_share=random_share, warm_up=warm_up)


EVEN = {A: 10, B: 10, C: 10}


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        # Nothing is known: all alike.
        (Tallies(), {(A, B): 1, (A, C): 1, (B, C): 1}),
        # C has a third of the battles: three times as much to learn of it. (3 + 1 + 1) : (1 + 1 + 1).
        (Tallies({A: 29, B: 29, C: 9}), {(A, B): 3, (A, C): 5, (B, C): 5}),
        # However little is known, it counts at most three times.
        (Tallies({A: 2900, B: 2900, C: 0}), {(A, B): 3, (A, C): 5, (B, C): 5}),
        # The same of a pair that met less often.
        (Tallies(EVEN, {}, {}, {(A, B): 9, (A, C): 9, (B, C): 4}), {(A, B): 3, (A, C): 3, (B, C): 4}),
        # A won 7 and C 1 of 8, with one of two added: odds of 4 : 1 and 1 : 4. Against B: 4 x 0.8 x 0.2.
        # Of A and C the closeness 4 x 16/17 x 1/17 is less than the least.
        (Tallies(EVEN, {A: 8, B: 8, C: 8}, {A: 7, B: 4, C: 1}), {(A, B): 0.64, (A, C): 0.4, (B, C): 0.64}),
    ],
)
def test_weights_of_pairs(known: Tallies, expected: dict[Any, float]) -> None:
    total = sum(expected.values())
    wanted = {pair: pytest.approx(weight / total) for pair, weight in expected.items()}
    assert weights(known, A, B, C) == wanted


def test_a_share_is_drawn_at_random() -> None:
    known = Tallies({A: 29, B: 29, C: 9})
    mixed = weights(known, A, B, C, random_share=0.5)
    chosen = weights(known, A, B, C)
    assert mixed == {pair: pytest.approx(0.5 / 3 + 0.5 * weight) for pair, weight in chosen.items()}
    assert list(weights(known, A, B, C, random_share=1.0).values()) == [pytest.approx(1 / 3)] * 3


def test_half_of_the_pairs_warm_models_up() -> None:
    found = weights(Tallies({A: 99, B: 99, C: 99}), A, B, C, D, warm_up=20)
    assert sum(weight for pair, weight in found.items() if D in pair) == pytest.approx(0.5)
    assert sum(found.values()) == pytest.approx(1)
    # Where every pair has such a model, and where none has.
    assert sum(weights(Tallies({A: 99}), A, B, warm_up=20).values()) == pytest.approx(1)
    assert list(weights(Tallies(), A, B, C, warm_up=20).values()) == [pytest.approx(1 / 3)] * 3


def test_no_pair_no_weight() -> None:
    assert weights(Tallies(), A) == weights(Tallies()) == {}


@pytest.fixture
def rules(db: None) -> BattleRules:
    study = make.make_study(visibility="public")
    authors = [
        make.make_author(contestant=make.make_contestant(study=study), model=f"m{number}")
        for number in range(4)
    ]
    return make.make_battle_rules(study=study, authors=authors, warm_up=0)


def drawn(rules: BattleRules, times: int = 60) -> Counter[int]:
    rng = random.Random(7)
    found: Counter[int] = Counter()
    for _ in range(times):
        one = drawing.draw(rules, rng)
        found.update([one.first.pk, one.second.pk] if one else [0])
    return found


def outage(author: Author, **changed: Any) -> None:
    key = {"base_url": author.endpoint.base_url, "model": author.endpoint.model}
    now = time.time()
    RateLimit.objects.create(**key | {"open_since": now, "probe_at": now + 60, "failures": 5} | changed)


@pytest.mark.parametrize("why", ["down", "limited", "address", "retired", "misleading", "elsewhere"])
def test_who_cannot_be_asked_is_not_drawn(rules: BattleRules, why: str) -> None:
    author = rules.authors.order_by("pk")[1]
    if why == "down":
        outage(author)
    elif why == "limited":
        outage(author, open_since=0, failures=0, pause=5, closed_until=time.time() + 60)
    elif why == "address":
        outage(author, model="")
        assert drawn(rules) == {0: 60}  # all of them are there
        type(author.endpoint).objects.exclude(pk=author.endpoint_id).update(base_url="http://127.0.0.1:8/v1")
    elif why == "retired":
        Contestant.objects.filter(pk=author.contestant_id).update(retired_at=timezone.now())
    elif why == "misleading":
        Author.objects.filter(pk=author.pk).update(writes="worse")
    else:
        rules.authors.remove(author)
        author = make.make_author()
        rules.authors.add(author)
    found = drawn(rules)
    assert author.pk not in found
    assert len(found) == 3


def test_who_is_down_is_tried_when_it_is_time(rules: BattleRules) -> None:
    author = rules.authors.order_by("pk")[1]
    outage(author, probe_at=time.time() - 1)
    assert drawn(rules)[author.pk]


def test_fewer_than_two_models_make_no_battle(rules: BattleRules) -> None:
    rules.authors.set(rules.authors.order_by("pk")[:1])
    assert drawing.draw(rules, random.Random(1)) is None


def test_order_is_drawn_and_the_random_share_is_told(rules: BattleRules) -> None:
    rules.random_share, rng = 0.25, random.Random(3)
    made = [drawing.draw(rules, rng) for _ in range(400)]
    assert 60 < sum(one.is_random for one in made if one) < 140
    firsts = Counter(one.first.pk < one.second.pk for one in made if one)
    assert 160 < firsts[True] < 240


def vote(rules: BattleRules, first: Author, second: Author, rating: int | None, **changed: Any) -> Battle:
    one, other = first.contestant, second.contestant
    prompt = make.make_prompt(study=rules.study)
    texts = [make.make_completion(prompt=prompt, contestant=each) for each in (one, other)]
    pair = make.make_pair(prompt=prompt, first=texts[0], second=texts[1])
    reason = {"reason": "neither", "neither": True} if rating is None else {}
    said = make.make_comparison(pair=pair, rating=rating, rater=changed.pop("rater", None), **reason)
    given = {"first": one, "second": other, "state": "voted", "comparison": said, **changed}
    return make.make_battle(rules=rules, rater=said.rater, **given)


def test_votes_and_battles_in_hand_are_counted(rules: BattleRules) -> None:
    first, second, third, _ = rules.authors.order_by("pk")
    a, b, c = (each.contestant_id for each in (first, second, third))
    vote(rules, first, second, 1)
    vote(rules, second, first, 1)
    vote(rules, first, second, 4)  # a tie
    vote(rules, first, second, None)  # neither
    vote(rules, first, third, 8)
    vote(rules, first, third, 8, is_chosen=True)
    out = make.make_rater()
    rules.study.memberships.create(rater=out, left_out_at=timezone.now())
    vote(rules, first, third, 8, rater=out)
    make.make_battle(rules=rules, first=first.contestant, second=third.contestant)
    for ended in ({"state": "void", "void": "left"}, {"created_at": timezone.now() - 2 * drawing.IN_HAND}):
        make.make_battle(rules=rules, first=first.contestant, second=third.contestant, **ended)
    known = drawing.tallies(rules)
    assert known.battles == {a: 6, b: 4, c: 2}
    assert known.rated == {a: 4, b: 3, c: 1}
    assert known.won == {a: 1.5, b: 1.5, c: 1.0}
    assert known.together == {(a, b): 4, (a, c): 2}


def test_another_model_is_drawn_for_a_side_once_more(rules: BattleRules) -> None:
    first, second, third, fourth = rules.authors.order_by("pk")
    battle = make.make_battle(rules=rules, first=first.contestant, second=second.contestant)
    rng = random.Random(2)
    assert {drawing.redraw(battle, 0, rng) for _ in range(30)} == {third, fourth}
    outage(third)
    assert {drawing.redraw(battle, 1, rng) for _ in range(30)} == {fourth}
    make.make_battle_call(battle=battle, side=1, author=fourth, is_current=False)
    assert drawing.redraw(battle, 1, rng) is None
    battle.calls.all().delete()
    for changed in ({"is_chosen": True}, {"turns": ["a", "b"]}):
        other = make.make_battle(rules=rules, first=first.contestant, second=second.contestant, **changed)
        assert drawing.redraw(other, 1, rng) is None


def test_the_side_that_stays_may_be_one_that_is_down(rules: BattleRules) -> None:
    first, second, third, fourth = rules.authors.order_by("pk")
    battle = make.make_battle(rules=rules, first=first.contestant, second=second.contestant)
    outage(first)
    assert {drawing.redraw(battle, 1, random.Random(n)) for n in range(30)} == {third, fourth}


@pytest.mark.django_db
def test_who_looks_for_work_looks_at_open_battles_alone() -> None:
    with CaptureQueriesContext(connection) as captured:
        assert door.claim(1) == []
        assert advancing.unsettled() == []
    assert len(captured) == 3  # among them no lock
    for query in captured.captured_queries[1:]:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plan = [row[-1] for row in cursor.fetchall()]
        assert any("battle_open" in step for step in plan), plan
        assert not any(step.startswith("SCAN") and "battle_open" not in step for step in plan), plan
