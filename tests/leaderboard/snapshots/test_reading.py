import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.models import Comparison, Completion, Contestant
from arena.rules.subsets import TRAINING_SUBSET
from leaderboard.snapshots.reading import UnknownTextError, opinions, pair_style
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def played(study, *, ties=True):
    """The study's games as (winner or first, other, score) in names."""
    read = opinions(study)
    games = read.ratings().games(ties=ties)
    return [
        (read.names[a], read.names[b], score)
        for a, b, score in zip(games.a, games.b, games.score, strict=True)
    ]


def test_a_swapped_comparison_counts_for_the_contestant_that_was_shown_first():
    made = HandMade("alpha", "beta")
    made.rate("alpha", "beta", 1)
    made.rate("beta", "alpha", 1)
    assert [row.swapped for row in Comparison.objects.order_by("pk")] == [False, True]
    assert played(made.study) == [("alpha", "beta", 1.0), ("beta", "alpha", 1.0)]


@pytest.mark.parametrize(("ties", "expected"), [(True, [0.5, 0.5, 0.5, 0.0]), (False, [1.0, 0.0, 0.0])])
def test_scales_are_mixed_and_the_middle_of_three_has_no_side_without_ties(ties, expected):
    made = HandMade("alpha", "beta")
    for rating, points in ((4, 8), (5, 8), (2, 3), (3, 3)):
        made.rate("alpha", "beta", rating, points=points)
    read = opinions(made.study)
    games = read.ratings().games(ties=ties)
    assert games.score.tolist() == expected
    assert games.left_out == (0 if ties else 1)


def test_an_unscored_comparison_is_never_a_game():
    made = HandMade("alpha", "beta")
    made.rate("alpha", "beta", None, reason="refused")
    read = opinions(made.study)
    assert len(read) == 1
    assert len(read.ratings().games(ties=True)) == 0
    assert read.rows["reason"].tolist() == [b"refused"]


def test_only_the_current_answer_counts_but_the_watermark_sees_every_row():
    made = HandMade("alpha", "beta")
    old = made.rate("alpha", "beta", 1)
    Comparison.objects.filter(pk=old.pk).update(is_current=False)
    new = made.rate("alpha", "beta", 8, revises=old)
    read = opinions(made.study)
    assert [row[2] for row in played(made.study)] == [0.0]
    assert read.mark == (0, 2, new.pk)
    assert read.mark[1:] == Comparison.objects.watermark()


def test_unscored_retired_and_authorless_comparisons_are_no_games():
    made = HandMade("alpha", "beta", "gamma")
    made.rate("alpha", "beta", 2)
    made.rate("alpha", "gamma", 2)
    nobody = factories.make_completion(prompt=made.prompts[0], contestant=None)
    pair = factories.make_pair(
        prompt=made.prompts[0], first=made.completion("alpha", made.prompts[0]), second=nobody
    )
    factories.make_comparison(pair=pair, rater=made.person)
    gamma = made.contestants["gamma"]
    gamma.retired_at = timezone.now()
    gamma.save()
    read = opinions(made.study)
    assert read.names == ("alpha", "beta")
    assert played(made.study) == [("alpha", "beta", 1.0)]
    assert int((read.scored & ~read.ranked).sum()) == 2


def test_two_versions_of_one_contestant_are_no_game():
    made = HandMade("alpha", "beta")
    old = made.completion("alpha", made.prompts[0])
    old.is_current = False
    old.save()
    new = factories.make_completion(prompt=made.prompts[0], contestant=made.contestants["alpha"], version=2)
    factories.make_comparison(pair=factories.make_pair(prompt=made.prompts[0], first=old, second=new))
    assert played(made.study) == []


def test_selecting_by_raters_and_category():
    made = HandMade("alpha", "beta", categories=("coding", "poems"))
    judge = made.judge("strict")
    panel = factories.make_group(slug="panel", name="Panel")
    judge.groups.add(panel)
    made.rate("alpha", "beta", 1)
    made.rate("alpha", "beta", 8, prompt=1, rater=judge)
    read = opinions(made.study)
    assert [(choice.selector, len(read.by(choice.ids))) for choice in read.raters] == [
        ("people", 1),
        ("judge:strict", 1),
        ("group:panel", 1),
    ]
    assert read.about("poems").rows["rating"].tolist() == [8]
    assert read.about("").rows["rating"].tolist() == [1, 8]


def test_games_are_clustered_by_prompt_and_nobody_is_present_without_one():
    made = HandMade("alpha", "beta", categories=("coding", "coding"))
    for prompt in (0, 1, 0):
        made.rate("alpha", "beta", 1, prompt=prompt)
    assert opinions(made.study).ratings().games(ties=True).cluster.tolist() == [0, 1, 0]
    made = HandMade("alpha", "beta", "gamma", "delta")
    made.rate("beta", "delta", 1)
    made.rate("alpha", "gamma", None, reason="empty")
    present = opinions(made.study).present()
    assert present.names == ("beta", "delta")
    games = present.ratings().games(ties=True)
    assert (games.a.tolist(), games.b.tolist()) == ([0], [1])


def test_orders_of_a_study_without_comparisons():
    # By code points; the rules of a language would put "alpha" between the other two.
    made = HandMade("alpha", "Zeta", "Beta")
    assert opinions(made.study).names == ("Beta", "Zeta", "alpha")
    read = opinions(HandMade("alpha", "beta").study)
    assert len(read) == 0
    assert read.mark == (0, 0, 0)
    assert read.raters == ()
    assert np.size(read.ratings().games(ties=True).a) == 0


@pytest.mark.both_databases(False)
def test_the_number_of_queries_does_not_depend_on_the_data():
    made = HandMade("alpha", "beta")

    def queries():
        with CaptureQueriesContext(connection) as captured:
            opinions(made.study)
        return len(captured)

    made.rate("alpha", "beta", 1)
    before = queries()
    for rating in range(1, 9):
        made.rate("alpha", "beta", rating)
    assert queries() == before <= 9


def test_texts_and_scores_are_given_as_shown():
    made = HandMade("alpha", "beta")
    judge = made.judge("scorer")
    made.rate("alpha", "beta", 2)
    given = {"rater": judge, "first_score": "4.500", "second_score": "6.000"}
    made.rate("beta", "alpha", 6, **given)
    old = made.rate("alpha", "beta", 1, rater=judge, first_score=9, second_score=1)
    Comparison.objects.filter(pk=old.pk).update(is_current=False)
    rows = opinions(made.study).rows
    alpha, beta = (made.completion(name, made.prompts[0]).pk for name in ("alpha", "beta"))
    assert rows["first_text"].tolist() == [alpha, beta]
    assert rows["second_text"].tolist() == [beta, alpha]
    assert rows["score_difference"].tolist() == pytest.approx([np.nan, -1.5], nan_ok=True)


@pytest.mark.parametrize(
    ("name", "simulated", "label"),
    [
        ("Robot", True, "Robot (simulated)"),
        ("Simulated robot", True, "Simulated robot"),
        ("Robot", False, "Robot"),
    ],
)
def test_simulated_raters_are_named_so(name, simulated, label):
    made = HandMade("alpha", "beta")
    made.rate("alpha", "beta", 1, rater=factories.make_rater(kind="judge", name=name, simulated=simulated))
    assert [choice.label for choice in opinions(made.study).raters] == [label]


def test_people_some_of_whom_are_simulated_are_named_so():
    made = HandMade("alpha", "beta")
    made.rate("alpha", "beta", 1)
    made.rate("alpha", "beta", 1, rater=factories.make_rater(simulated=True))
    assert [choice.label for choice in opinions(made.study).raters] == ["People (some simulated)"]


class TestAsItWas:
    """The comparisons as they were when some id was the largest."""

    def test_later_comparisons_do_not_count_and_what_they_revised_does(self):
        made = HandMade("alpha", "beta", "gamma")
        kept, revised = made.rate("alpha", "beta", 1), made.rate("beta", "gamma", 2)
        before = opinions(made.study)
        for rating in (7, 8):  # revised twice
            Comparison.objects.filter(pk=revised.pk).update(is_current=False)
            revised = made.rate("beta", "gamma", rating, revises=revised)
        made.rate("alpha", "gamma", 3)
        assert opinions(made.study).rows["rating"].tolist() == [1, 8, 3]
        then = opinions(made.study, before.mark[2])
        assert then.mark == before.mark
        assert then.digest == before.digest
        assert then.rows["id"].tolist()[0] == kept.pk

    def test_an_earlier_state_of_revised_and_deleted_answers(self):
        made = HandMade("alpha", "beta")
        first = made.rate("alpha", "beta", 1)
        Comparison.objects.filter(pk=first.pk).update(is_current=False)
        second = made.rate("alpha", "beta", 2, revises=first)
        Comparison.objects.filter(pk=second.pk).update(is_current=False)
        made.rate("alpha", "beta", 3, revises=second)
        assert opinions(made.study, second.pk).rows["rating"].tolist() == [2]
        made.rate("alpha", "beta", 1)
        assert opinions(made.study, 0).mark == (0, 0, 0)
        made = HandMade("alpha", "beta", "gamma")
        gone, last = made.rate("alpha", "beta", 1), made.rate("beta", "gamma", 1)
        gone.delete()
        assert opinions(made.study, last.pk).mark == (0, 1, last.pk)


def test_every_category_but_one_and_contestants_of_one_kind():
    made = HandMade("alpha", "beta", categories=("coding", "", "writing"))
    for prompt in range(3):
        made.rate("alpha", "beta", prompt + 1, prompt=prompt)
    assert opinions(made.study).but("coding").rows["rating"].tolist() == [2, 3]
    made = HandMade("alpha", "beta", "people")
    Contestant.objects.filter(name="people").update(kind="people")
    for one, other in (("alpha", "beta"), ("people", "beta"), ("alpha", "people")):
        made.rate(one, other, 1)
    found = opinions(made.study).among("model")
    assert (len(found), found.ranked.tolist()) == (3, [True, False, False])
    assert found.present().names == ("alpha", "beta")


class TestStyle:
    def made(self):
        made = HandMade("alpha", "beta")
        for name, turns in (("alpha", ["# A header", "of two turns"]), ("beta", ["short"])):
            factories.make_completion(prompt=made.prompts[0], contestant=made.contestants[name], turns=turns)
        return made

    def test_differences_are_of_what_stood_first(self):
        made = self.made()
        made.rate("alpha", "beta", 1)
        made.rate("beta", "alpha", None, reason="empty")
        made.rate("beta", "alpha", 1)
        found = pair_style(made.study).covariates(opinions(made.study).present())
        # 10 + 2 + 12 characters, blank line included, against 5; one mark in 6 words against none.
        assert found["length"].tolist() == pytest.approx([(24 - 5) / 29, (5 - 24) / 29])
        assert found["markdown"].tolist() == [1.0, -1.0]

    def test_a_text_that_is_not_known_is_an_error(self):
        made = self.made()
        made.rate("alpha", "beta", 1)
        Completion.objects.filter(contestant=made.contestants["beta"]).update(turns=[])
        with pytest.raises(UnknownTextError, match="the texts of 1 of 1 pairs are not known"):
            pair_style(made.study).covariates(opinions(made.study).present())
        Completion.objects.filter(contestant=made.contestants["beta"]).update(is_empty=True)
        assert pair_style(made.study).covariates(opinions(made.study).present())["length"].tolist() == [1.0]


def test_prompts_of_training_pairs_and_hidden_checks_are_none_of_the_board():
    study = factories.make_small_study(prompts=2)
    factories.make_training_pairs(study)
    study.prompts.filter(subset=TRAINING_SUBSET).update(category="quiz")
    found = opinions(study)
    assert found.prompts == 2
    assert "quiz" not in found.categories
