"""Through which modules a rating goes, from the request to its row, and the pair that comes after it."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from arena.models import Assignment, Completion, Prompt, Rater, Study
from arena.texts.rendering_cache import rendered
from tests import factories as make

pytestmark = pytest.mark.django_db

VIEW = ("arena.pages.permissions", "checked")
"""Where a request has passed what all requests pass."""
SHARED = {"models.comparisons", "models.querysets", "models.studies", "pages.permissions", "rating.pages"}
SHARED |= {f"rating.{name}" for name in ("assignments", "limits", "offering", "pair_queue", "screen")}
OWN = ("offering_texts", "opinions", "progress", "recorders", "recording")
RATING = SHARED | {f"rating.{name}" for name in OWN}
NEXT = SHARED | {"models.settings", "rules.pairing", "rules.turns", "rating.shown", "rating.training"}
TEXTS = {f"texts.{name}" for name in ("author_names", "markdown", "rendering_cache", "self_naming")}


@pytest.fixture
def study() -> Study:
    return make.make_small_study(prompts=2, contestants=3)


def passed(act: Callable[[], Any]) -> set[str]:
    """The modules of arena whose functions run within the view."""
    found: set[str] = set()
    views: list[FrameType] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and (module, frame.f_code.co_name) == VIEW:
            views.append(frame)
        if event == "call" and views and module.startswith("arena."):
            found.add(module.removeprefix("arena."))
        if event == "return" and views and frame is views[-1]:
            views.pop()

    sys.setprofile(note)
    try:
        assert act().status_code == 200
    finally:
        sys.setprofile(None)
    return found


def test_a_rating_passes_few_modules(browser: Client, study: Study, rater: Rater) -> None:
    rendered(text for one in [*Prompt.objects.all(), *Completion.objects.all()] for text in one.turns)
    browser.get(reverse("rate-study", args=[study.slug]))
    said = {"assignment": Assignment.objects.get().public_id, "rating": 3, "rater": rater.user_id}
    headers = {"Accept": "application/json"}
    address = reverse("rate-study", args=[study.slug])
    assert len(RATING) <= 15
    assert passed(lambda: browser.post(address, said, headers=headers)) <= RATING
    address = reverse("ahead", args=[study.slug])
    assert passed(lambda: browser.get(address, headers=headers)) <= NEXT | TEXTS
