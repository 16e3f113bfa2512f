"""The pairs that a judge gets wrong before a real browser."""

import pytest
from django.utils import timezone

from leaderboard.models import InstanceTag
from leaderboard.refreshing import services
from tests import factories
from tests.browser.conftest import Visitor, sign_in
from tests.browser.watching import check_accessible, settled
from tests.leaderboard.trust.studies import Judging

pytestmark = pytest.mark.browser


def test_an_operator_tags_with_keys_and_goes_on(
    transactional_db: None, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "ROUNDS", 10)
    made = Judging()
    for gold in ("first", "second", "first"):
        made.pair(gold, "plain")
    made.judge("poor", "212", "211")
    made.judge("good", "121", "122")
    made.study.closed_at = timezone.now()
    made.study.save()
    services.refresh(made.study)
    page = visitor.page
    sign_in(page, visitor.server, factories.make_user(is_staff=True))
    trust = f"{visitor.server}/studies/{made.study.slug}/trust"
    page.goto(f"{trust}/wrong/?judge=poor&tag=none")
    check_accessible(page)
    page.click(".wrong-prompt >> nth=0")
    page.wait_for_load_state()
    check_accessible(page)
    page.keyboard.press("3")
    page.wait_for_selector("#tag-0")
    settled(page)
    page.keyboard.press("3")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"{trust}/wrong/{made.pairs[1].pk}/**")
    tags = InstanceTag.objects.values_list("pair", "name")
    assert list(tags) == [(made.pairs[0].pk, "counting")]
    page.goto(f"{trust}/two/?a=poor&b=good")
    check_accessible(page)
    assert visitor.complaints == []
