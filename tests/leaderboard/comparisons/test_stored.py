import pytest
from django.utils import timezone

from leaderboard.models import ComparisonIndex
from leaderboard.refreshing import services
from leaderboard.snapshots import comparison_store as stored
from leaderboard.snapshots.comparison_index import Question, places
from tests.leaderboard.rows import HandMade

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_a_refresh_makes_it_of_what_it_read():
    made = HandMade("alpha", "beta", categories=("coding", "poems"))
    strict = made.judge("strict")
    first = made.rate("alpha", "beta", 1)
    made.rate("alpha", "beta", 8, rater=strict)
    made.rate("beta", "alpha", 4, prompt=1)
    made.rate("alpha", "beta", None, rater=strict, reason="refused", prompt=1)
    services.refresh(made.study)
    index = stored.newest(made.study)
    assert index is not None
    assert index.pair[places(index, Question(only="judges"))].tolist() == [first.pair_id]
    refused = places(index, Question(answer="refused", raters=[strict.pk]))
    assert index.prompt[refused].tolist() == [made.prompts[1].pk]
    alpha, beta = (made.contestants[name].pk for name in ("alpha", "beta"))
    assert {*index.first.tolist(), *index.second.tolist()} == {alpha, beta}


def test_retired_contestants_are_found_still():
    made = HandMade("alpha", "beta")
    made.rate("alpha", "beta", 1)
    gone = made.contestants["beta"]
    gone.retired_at = timezone.now()
    gone.save()
    services.refresh(made.study)
    index = stored.newest(made.study)
    assert index is not None
    assert len(places(index, Question(contestants=(gone.pk,)))) == 1


def test_the_next_refresh_replaces_it_and_memory_follows(django_assert_num_queries):
    made = HandMade("alpha", "beta", categories=("coding", "poems"))
    made.rate("alpha", "beta", 1)
    services.refresh(made.study)
    before = stored.newest(made.study)
    with django_assert_num_queries(1):
        assert stored.newest(made.study) is before
    made.rate("alpha", "beta", 2, prompt=1)
    services.refresh(made.study)
    after = stored.newest(made.study)
    assert after is not None
    assert len(after.pair) == 2
    assert ComparisonIndex.objects.count() == 1
    assert stored.newest(HandMade("alpha").study) is None
