"""Pausing a rater and leaving one out: on record, reversible, and seen by everything that counts."""

import pytest

from arena.models import Comparison, Membership, Pair, StudyEvent
from arena.models.querysets import left_out_raters
from arena.people.members import MemberError, decide
from arena.rating.assignments import claim
from leaderboard.files.selection import Selection
from leaderboard.snapshots.counts import counts
from leaderboard.snapshots.reading import opinions
from tests import factories as make
from tests.leaderboard.rows import HandMade

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def made():
    """Ada and Bea have rated the same pair; a judge as well."""
    made = HandMade("alpha", "beta")
    made.bea = make.make_member(made.study, name="Bea")
    made.rate("alpha", "beta", 2)
    made.rate("alpha", "beta", 7, rater=made.bea)
    made.rate("alpha", "beta", 1, rater=made.judge("j"))
    Pair.objects.recount(made.study)
    made.operator = make.make_user(is_staff=True)
    return made


def ratings(made):
    return sorted(opinions(made.study).rows["rating"].tolist())


def test_what_is_left_out_counts_nowhere_and_is_kept(made):
    revision = made.study.revision
    assert decide(made.study, made.bea, "left_out", made.operator, "  Answers in two seconds. ")
    made.study.refresh_from_db()
    assert made.study.revision == revision + 1
    assert ratings(made) == [1, 2]
    assert counts(opinions(made.study), {})["uncounted"] == {"raters": 1, "comparisons": 1, "apart": 0}
    assert Selection("all").comparisons(made.study).count() == 2
    assert Comparison.objects.count() == 3
    assert Pair.objects.get().people_ratings == 1
    assert Pair.objects.get().judge_ratings == 1
    event = StudyEvent.objects.get()
    assert (event.kind, event.by, event.rater) == ("left_out", made.operator, made.bea)
    assert event.note == "Answers in two seconds."


def test_deciding_twice_is_deciding_once_and_taking_back_undoes_it(made):
    before = ratings(made)
    assert decide(made.study, made.bea, "left_out", made.operator, "why")
    assert not decide(made.study, made.bea, "left_out", made.operator, "why")
    assert decide(made.study, made.bea, "taken_back", made.operator)
    assert not decide(made.study, made.bea, "taken_back", made.operator)
    assert ratings(made) == before
    assert Pair.objects.get().people_ratings == 2
    assert [event.kind for event in StudyEvent.objects.order_by("pk")] == ["left_out", "taken_back"]


def test_a_pair_that_lost_its_rating_is_offered_to_others(made):
    other = make.make_member(made.study)
    made.study.ratings_per_pair_people = 2
    made.study.save()
    assert claim(made.study, other) is None
    decide(made.study, made.bea, "left_out", made.operator, "why")
    assert claim(made.study, other) is not None


def test_another_study_is_left_alone(made):
    elsewhere = HandMade("gamma", "delta")
    Membership.objects.create(study=elsewhere.study, rater=made.bea)
    elsewhere.rate("gamma", "delta", 5, rater=made.bea)
    decide(made.study, made.bea, "left_out", made.operator, "why")
    assert left_out_raters(elsewhere.study) == []
    assert ratings(elsewhere) == [5]


def test_somebody_whose_ratings_were_imported_can_be_left_out(made):
    assert not Membership.objects.filter(rater=made.person).exists()
    assert decide(made.study, made.person, "left_out", made.operator, "why")
    assert ratings(made) == [1, 7]


def test_judges_and_strangers_cannot_be_left_out_and_nobody_without_a_reason(made):
    judge = Comparison.objects.get(rater__kind="judge").rater
    with pytest.raises(MemberError, match="only people"):
        decide(made.study, judge, "left_out", made.operator, "why")
    for note in ("", "  "):
        with pytest.raises(MemberError, match="give a reason"):
            decide(made.study, made.bea, "left_out", made.operator, note)
    with pytest.raises(MemberError, match="not a rater"):
        decide(made.study, make.make_rater(), "rater_paused", made.operator)
    with pytest.raises(MemberError, match="under 1,000"):
        decide(made.study, made.bea, "rater_paused", made.operator, "x" * 1001)
    assert not StudyEvent.objects.exists()


def test_a_pause_is_recorded_and_changes_no_figure(made):
    revision = made.study.revision
    assert decide(made.study, made.bea, "rater_paused", made.operator, "Holiday")
    assert not decide(made.study, made.bea, "rater_paused", made.operator)
    assert Membership.objects.get(rater=made.bea).paused_at
    assert decide(made.study, made.bea, "rater_resumed", made.operator)
    assert Membership.objects.get(rater=made.bea).paused_at is None
    made.study.refresh_from_db()
    assert made.study.revision == revision
    assert [event.kind for event in StudyEvent.objects.order_by("pk")] == ["rater_paused", "rater_resumed"]


@pytest.mark.parametrize("purpose", ["repeat", "check", "adjudication"])
def test_only_what_was_given_for_the_study_counts(made, purpose):
    made.rate("beta", "alpha", 8, rater=made.bea, purpose=purpose, repeat=1)
    assert ratings(made) == [1, 2, 7]
    assert counts(opinions(made.study), {})["uncounted"] == {"raters": 0, "comparisons": 0, "apart": 1}
    Pair.objects.recount(made.study)
    assert Pair.objects.get().people_ratings == 2
    assert Selection("all").comparisons(made.study).count() == 3
