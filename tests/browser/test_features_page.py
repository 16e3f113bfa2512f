"""What features are worth in a real browser: figures, switches, accessibility."""

import itertools

import numpy as np
import pytest
from django.utils import timezone
from playwright.sync_api import Page

from arena.models import CompletionFeature
from leaderboard.refreshing import services
from tests import factories
from tests.browser.watching import check_accessible, drawn
from tests.leaderboard.features.studies import measured_study
from tests.leaderboard.rows import few_rounds

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def study(lasting_rows):
    """Four models answer 12 prompts, with three features."""
    rng = np.random.default_rng(1)
    names = ("Heron 70B", "Otter 7B with a rather long name", "Wren", "Lynx")
    values = {name: rng.gamma(2.0 + place, size=12).round(3).tolist() for place, name in enumerate(names)}
    ratings = {pair: rng.integers(1, 9, size=12).tolist() for pair in itertools.pairwise(names)}
    made = measured_study(
        values, {"p": ratings, "judge": ratings}, slug="small", visibility="public", closed_at=timezone.now()
    )
    for each in list(CompletionFeature.objects.all()):
        for name, variant, value in (
            ("mean_logprob", "paper", -each.value),
            ("logprob_variance", "paper", each.value + rng.normal()),
            ("entropy", "released", each.value**2),
            ("entropy_low", "bounds", each.value - 0.1),
        ):
            factories.make_feature(completion=each.completion, name=name, variant=variant, value=value)
    with few_rounds(10):
        services.refresh(made)
    return made


def test_the_page_is_drawn_accessible_and_fits(page: Page, live_server, study, problems):
    page.goto(f"{live_server.url}/studies/small/features/")
    drawn(page)
    assert len(page.query_selector_all("#answers .scatterlayer .trace")) == 4
    check_accessible(page)
    assert problems == []
