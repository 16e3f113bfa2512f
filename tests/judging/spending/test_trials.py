"""Calls that test a judge or probe an endpoint, within the budgets of a study and of the day."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from arena.models import Study
from judging.endpoints.client import NoReplyError, Reply
from judging.endpoints.costs import Prices
from judging.judges.asked import AskedModel
from judging.judges.services import JudgeError
from judging.models import Author, Purse, TrialCall
from judging.spending import trials
from judging.spending.budgets import set_budget
from judging.writing.probing import probe
from tests import factories as make
from tests.judging.endpoints.server import ChatServer
from tests.judging.runs.test_spending import BOUND, MESSAGES
from tests.judging.spending.test_reservations import amounts

pytestmark = pytest.mark.django_db

COST = Decimal("0.00028")
"""100 tokens at 2 and 10 at 8 a million."""

REPLIED = Reply("x", "stop", "m", prompt_tokens=100, completion_tokens=10)


@pytest.fixture
def author() -> Author:
    make.make_price()
    contestant = make.make_contestant(study=make.make_study(slug="rivers"), slug="loop")
    author: Author = make.make_author(contestant=contestant, max_tokens=100)
    set_budget(contestant.study, Decimal("0.005"), "USD")
    set_budget(None, Decimal(1), "USD")
    return author


def asked(author: Author) -> AskedModel:
    return AskedModel.of(author, author.endpoint)


def begun(author: Author, **more: Any) -> TrialCall:
    return trials.begin(asked(author), MESSAGES, study=author.contestant.study, **more)


@pytest.mark.parametrize(
    ("told", "cost"),
    [
        (REPLIED, COST),
        (Reply("x", "stop", "m"), BOUND),
        (NoReplyError("timeout", "late"), BOUND),
        (NoReplyError("http_400", "no"), 0),
    ],
)
def test_a_call_counts_at_the_most_until_it_ends(author: Author, told: Any, cost: Decimal) -> None:
    call = begun(author)
    for which in ({"study": author.contestant.study}, {"scope": "day"}):
        assert amounts(**which) == (BOUND, 0)  # as for ever, if the process dies now
    trials.end(call, told)
    for which in ({"study": author.contestant.study}, {"scope": "day"}):
        assert amounts(**which) == (cost, 0)
    stored = TrialCall.objects.get()
    assert (stored.cost, stored.reserved, stored.currency) == (cost, 0, "USD")
    assert stored.state == ("replied" if isinstance(told, Reply) else "failed")


def test_without_a_study_the_day_pays(author: Author) -> None:
    trials.end(trials.begin(asked(author), MESSAGES), REPLIED)
    assert (amounts(study=author.contestant.study)[0], amounts(scope="day")[0]) == (0, COST)


def test_no_budget_is_passed(author: Author) -> None:
    for _ in range(3):
        begun(author)
    with pytest.raises(JudgeError, match=r"The budget of the study of .* USD had no room for another call"):
        begun(author)
    assert TrialCall.objects.count() == 3
    study = Study.objects.get()
    set_budget(study, Decimal("0.008"), "USD")
    assert amounts(study=study) == (3 * BOUND, 0)


def test_a_budget_needs_a_price_which_need_not_be_stored(author: Author) -> None:
    price = Prices(Decimal(2), Decimal(8), "USD")
    author.endpoint.model = "other"
    for prices in (None, Prices(Decimal(2), Decimal(8), "EUR")):
        with pytest.raises(JudgeError, match="a price in the currency of the budget"):
            begun(author, prices=prices)
    trials.end(begun(author, prices=price), REPLIED)
    assert TrialCall.objects.get().cost == COST
    Purse.objects.all().delete()
    assert begun(author).cost is None  # nothing is counted where there is no budget


def test_what_a_call_of_yesterday_did_not_cost_is_no_room_for_today(author: Author) -> None:
    call = begun(author)
    call.created_at = timezone.now() - timedelta(days=1)
    trials.end(call, REPLIED)
    assert (amounts(study=author.contestant.study)[0], amounts(scope="day")[0]) == (COST, BOUND)


@pytest.mark.parametrize("has_room", [True, False])
def test_a_probe_is_paid_for(author: Author, model: ChatServer, has_room: bool) -> None:
    author.endpoint.base_url = model.url
    author.endpoint.save()
    if not has_room:
        Purse.objects.filter(scope="study").update(spent=Decimal("0.005"))
        with pytest.raises(JudgeError, match="no room for another call"):
            probe(author)
        assert model.requests == []
        return
    probe(author)
    assert len(model.requests) == TrialCall.objects.count() == 3
    spent, _ = amounts(study=author.contestant.study)
    assert 0 < spent == sum(call.cost or 0 for call in TrialCall.objects.all())
