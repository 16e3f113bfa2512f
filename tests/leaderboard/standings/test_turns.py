"""Boards of one turn of conversations: MT-bench's 80 questions of two turns, by people and by a judge."""

import json
import random
from collections import Counter

import numpy as np
import pytest
from django.utils import timezone

from arena.data.importing.imports import import_files
from arena.models import Comparison, Prompt, Rater, Study
from arena.rating import planning
from arena.rating.plans import Plan
from leaderboard.refreshing import services
from leaderboard.snapshots.reading import opinions
from tests.arena.rating.answering import answer, claimed
from tests.factories import make_member, make_rater
from tests.leaderboard.reading import computed, words

pytestmark = pytest.mark.django_db

MODELS = ("lark-7b", "stork-13b", "wren-70b")
CHANCE = {1: (0.8, 0.5, 0.2), 2: (0.2, 0.5, 0.8)}
"""How often a model is better, by turn: the best at the first is the worst at the second."""

BOARD = "/studies/mt-bench/"


def lines(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def judgments(rng):
    """Both games of every pair at both turns, as FastChat writes them."""
    for question in range(81, 161):
        for a, b in ((0, 1), (0, 2), (1, 2)):
            for turn, chance in CHANCE.items():
                won = [
                    rng.choices(("model_1", "model_2", "tie"), (chance[a], chance[b], 0.3))[0] for _ in "ab"
                ]
                yield {
                    "question_id": question,
                    "model_1": MODELS[a],
                    "model_2": MODELS[b],
                    "g1_winner": won[0],
                    "g2_winner": won[1],
                    "judge": ["gpt-4", "pair-v2" if turn == 1 else "pair-v2-multi-turn"],
                    "g1_user_prompt": "?",
                    "g1_judgment": "!",
                    "g2_user_prompt": "?",
                    "g2_judgment": "!",
                    "turn": turn,
                    "tstamp": 1700000000,
                }


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mt-bench")
    questions = [
        {"question_id": number, "category": ("writing", "math")[number % 2], "turns": [f"Q{number}?", "And?"]}
        for number in range(81, 161)
    ]
    answers = [
        {
            "question_id": number,
            "answer_id": f"{model}-{number}",
            "model_id": model,
            "choices": [{"index": 0, "turns": [f"{number} {model[:1]}", f"More {number} {model[:1]}"]}],
            "tstamp": 1700000000,
        }
        for number in range(81, 161)
        for model in MODELS
    ]
    return [
        lines(folder / "question.jsonl", questions),
        lines(folder / "answers.jsonl", answers),
        lines(folder / "gpt-4_pair.jsonl", judgments(random.Random(7))),
    ]


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds, files):
    report = import_files("mt-bench", files)
    assert report.applied, report.errors
    study = Study.objects.get()
    study.rated_turns, study.points = "each", 8
    study.save()
    rater = make_member(study)
    for number in range(24):
        answer(rater, claimed(study, rater), 1 + number * 5 % 8)
    Study.objects.update(closed_at=timezone.now(), visibility="public")
    services.refresh(study)
    return study


def wins(**of):
    """How often each model won against each other, ties as halves, counted from the rows one by one."""
    found = Counter()
    for row in Comparison.objects.filter(**of).select_related(
        "pair__first__contestant", "pair__second__contestant"
    ):
        first, second = (MODELS.index(side.contestant.name) for side in row.pair.shown(row.swapped))
        middle = (row.points + 1) / 2
        is_tie = row.rating == 2 if row.points == 3 else row.rating in (4, 5)
        share = 0.5 if is_tie else float(row.rating < middle)
        found[first, second] += share
        found[second, first] += 1 - share
    return found


def bradley_terry(found):
    """Ratings by the iteration of Hunter (2004), with no code of the arena; their mean is 1000."""
    strength = np.ones(3)
    for _ in range(5000):
        for i in range(3):
            won = sum(found[i, j] for j in range(3) if j != i)
            games = sum((found[i, j] + found[j, i]) / (strength[i] + strength[j]) for j in range(3) if j != i)
            strength[i] = won / games
        strength /= np.exp(np.log(strength).mean())
    return 1000 + 400 * np.log10(strength)


def content(client, study, query):
    return computed(client, study, f"{BOARD}?{query}").context["page"].content


def test_questions_are_rated_turn_by_turn(shared):
    assert {len(turns) for turns in Prompt.objects.values_list("turns", flat=True)} == {2}
    given = Comparison.objects.values_list("rater__kind", "turn")
    assert Counter(given) == {("judge", 1): 480, ("judge", 2): 480, ("person", 1): 12, ("person", 2): 12}
    assert set(Rater.objects.filter(kind="judge").values_list("name", flat=True)) == {"gpt-4"}
    assert set(Comparison.objects.values_list("repeat", flat=True)) == {0}
    judge = make_rater(kind="judge")
    assert planning.preview(shared, judge) == Plan(480, 480)


@pytest.mark.parametrize("turn", [1, 2])
def test_a_board_of_a_turn_is_of_its_ratings_alone(client, shared, turn):
    found = content(client, shared, f"raters=judge:gpt-4&method=bradley-terry&turn={turn}")
    expected = wins(rater__kind="judge", turn=turn)
    ratings = {row["contestant"]: row["rating"] for row in found["standings"]}
    assert found["games"] == 480
    assert list(ratings) == list(MODELS if turn == 1 else reversed(MODELS))
    assert [ratings[name] for name in MODELS] == pytest.approx(bradley_terry(expected), abs=0.01)


def test_a_board_of_all_turns_counts_both(client, shared):
    found = content(client, shared, "raters=judge:gpt-4&method=bradley-terry")
    ratings = {row["contestant"]: row["rating"] for row in found["standings"]}
    expected = bradley_terry(wins(rater__kind="judge"))
    assert found["games"] == 960
    assert [ratings[name] for name in MODELS] == pytest.approx(expected, abs=0.01)
    # A prompt is drawn with both of its turns.
    assert found["parameters"]["clusters"] == 80


def test_people_have_boards_by_turn_too(client, shared):
    for turn in (1, 2):
        assert content(client, shared, f"raters=people&turn={turn}")["games"] == 12


def test_the_switch_tells_how_many_ratings_each_turn_has(client, shared):
    page = computed(client, shared, f"{BOARD}?raters=judge:gpt-4&turn=2").context["page"]
    (switch,) = (each for each in page.switches if each.field == "turn")
    assert [(option.label, option.chosen) for option in switch.options] == [
        ("All turns", False),
        ("Turn 1", False),
        ("Turn 2", True),
    ]
    assert "turn 2" in page.setting_words
    assert client.get(f"{BOARD}?turn=3").status_code == 404


def test_turns_of_a_pair_are_items_of_their_own(shared):
    """Judge and person agree about a turn, not about a pair."""
    read = opinions(shared)
    assert read.turns == [1, 2]
    assert len(np.unique(read.rows["pair"])) == 480
    assert len(np.unique(read.rows["prompt"])) == 80
    assert len(read.at_turn("1")) == 492


def test_agreement_can_be_read_by_turn(client, shared):
    page = computed(client, shared, f"{BOARD}agreement/?turn=1")
    assert page.status_code == 200
    assert "turn 1" in words(page).lower()


def test_real_questions_have_two_turns(reference_data):
    report = import_files("real", [reference_data / "fastchat" / "mt_bench_question.jsonl"])
    assert report.applied
    turns = Prompt.objects.filter(study__slug="real").values_list("turns", flat=True)
    assert Counter(map(len, turns)) == {2: 80}
