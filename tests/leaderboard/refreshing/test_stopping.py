import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from arena.models import StudyEvent
from arena.studies.changes import store
from arena.studies.lifecycle import decide
from leaderboard.head_to_head.stopping import follow
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.reading import words
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
Kind = StudyEvent.Kind
PROMPTS = 40


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """alpha beats the two others on 32 of 40 prompts each; they are equal."""
    made = HandMade("alpha", "beta", "gamma", slug="small", categories=("coding",) * PROMPTS)
    for prompt in range(PROMPTS):
        made.rate("alpha", "beta", 8 if prompt % 5 == 0 else 1, prompt=prompt)
        made.rate("alpha", "gamma", 8 if prompt % 5 == 2 else 1, prompt=prompt)
        made.rate("beta", "gamma", 8 if prompt % 2 else 1, prompt=prompt)
    return made


def paused(made):
    services.refresh(made.study)
    made.study.refresh_from_db()
    return made.study.paused_at is not None


def rule(made, margin):
    made.study.stop_margin = margin
    store(made.study, factories.make_user(), ["stop_margin"])


def test_without_a_rule_nothing_is_paused(made):
    assert not paused(made)
    assert services.Snapshot.objects.newest(made.study).counts["stopping"] is None


def test_a_rule_that_decides_pauses_the_study_and_says_why(made, client):
    rule(made, 0.0)
    assert paused(made)
    event = made.study.events.get(kind=Kind.PAUSED)
    assert event.by is None
    assert all(part in event.note for part in ("stopping rule", "alpha is better than beta", "97.5%"))
    board = words(client.get("/studies/small/"))
    assert "Stopping rule The first place is decided. alpha is better than beta" in board


def test_it_acts_once_until_it_is_changed(made):
    rule(made, 0.0)
    assert paused(made)
    decide(made.study, Kind.RESUMED, factories.make_user())
    made.rate("alpha", "beta", 1)
    assert not paused(made)
    rule(made, 5.0)
    assert paused(made)


def test_an_undecided_rule_says_what_is_missing(made, client):
    for prompt in range(PROMPTS):
        made.rate("alpha", "beta", 1 if prompt % 5 == 0 else 8, prompt=prompt, rater=factories.make_rater())
    rule(made, 0.0)
    assert not paused(made)
    assert "Stopping rule It is not clear whether" in words(client.get("/studies/small/"))
    rule(made, 900.0)
    assert paused(made)


def test_a_rule_that_changes_while_the_board_is_computed_says_nothing(made, monkeypatch):
    rule(made, 0.0)
    computed = services._compute

    def meanwhile(study, anew):
        found = computed(study, anew)
        type(study).objects.filter(pk=study.pk).update(stop_margin=changed)
        return found

    monkeypatch.setattr(services, "_compute", meanwhile)
    changed = None
    assert not paused(made)
    rule(made, 0.0)
    changed = 5.0
    assert not paused(made)


def test_a_study_deleted_meanwhile_is_left_alone(made):
    gone = factories.make_study(slug="gone", stop_margin=0.0)
    gone.delete()
    follow(gone, {"decided": True, "margin": 0.0, "sentence": ""})


def test_a_pause_by_an_operator_whose_account_is_gone_is_none_of_the_rule(made):
    rule(made, 0.0)
    operator = factories.make_user()
    decide(made.study, Kind.PAUSED, operator)
    decide(made.study, Kind.RESUMED, operator)
    operator.delete()
    assert paused(made)


def test_a_closed_study_and_one_without_votes_stay_as_they_are(made):
    rule(made, 0.0)
    made.change(closed_at=timezone.now())
    assert not paused(made)
    empty = factories.make_study(slug="empty", stop_margin=0.0)
    assert services.refresh(empty).snapshot.counts["stopping"] is None


def test_a_margin_below_0_is_refused(made):
    made.study.stop_margin = -1.0
    with pytest.raises(ValidationError, match="at least 0"):
        made.study.full_clean()
