"""An operator configures a judge, starts a run and watches it in a real browser."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import sign_in
from tests.browser.watching import check_accessible
from tests.factories import make_small_study, make_user
from tests.judging.endpoints.server import Answer, ChatServer

pytestmark = pytest.mark.browser


def test_a_run_is_watched(arena: Any, page: Any, model: ChatServer, drain: Callable[[], None]) -> None:
    model.script = lambda body: Answer("5\n<b>Both</b> are fine." if len(model.requests) % 2 else "No idea")
    make_small_study(prompts=2, contestants=3, name="Six pairs", slug="six")
    sign_in(page, arena.url, make_user(is_staff=True))
    complaints: list[str] = []
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    left = "htmx:"  # it tells of polls that were under way when the page was left
    page.set_default_timeout(30_000)

    page.goto(f"{arena.url}/judging/")
    page.get_by_role("link", name="Add a judge").click()
    page.get_by_label("Name", exact=True).fill("Loopback")
    page.get_by_label("Model", exact=True).fill("loop-1")
    page.get_by_label("Address").fill(model.url)
    page.get_by_role("button", name="Test connection").click()
    page.get_by_text("Read as ").wait_for()
    check_accessible(page)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Start a run with Loopback").click()
    page.get_by_label("Study").select_option("six")
    page.locator("#preview dt", has_text="Pairs").wait_for()
    check_accessible(page)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Run").wait_for()
    assert "0 of 0 done" in page.inner_text("#progress")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").click()
    drain()
    page.get_by_text("6 of 6 done").wait_for()  # the page polls and then reloads itself
    page.get_by_text("finished").wait_for()
    page.get_by_text("3 questions about 3 pairs").wait_for()
    assert page.get_by_text("not rated: unreadable").count() == 3
    assert page.locator("pre b").count() == 0
    assert [line for line in complaints if not line.startswith(left)] == []
    check_accessible(page)
    page.set_viewport_size({"width": 380, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.get_by_role("link", name="Ask again about what was not rated").click()
    page.locator("#preview dt", has_text="Pairs").wait_for()
    assert page.get_by_label("What to ask about").input_value() == "unscored"
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
