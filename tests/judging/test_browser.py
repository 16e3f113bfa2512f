"""An operator configures a judge, starts a run and watches it in a real browser."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client

from tests.factories import make_small_study, make_user
from tests.judging.server import Answer, ChatServer

pytestmark = pytest.mark.browser


def violations(page: Any) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in found]


def test_configure_start_and_watch(
    arena: Any, page: Any, model: ChatServer, drain: Callable[[], None]
) -> None:
    model.script = lambda body: Answer("5\n<b>Both</b> are fine." if len(model.requests) % 2 else "No idea")
    make_small_study(prompts=2, contestants=3, name="Six pairs", slug="six")
    client = Client()
    client.force_login(make_user(is_staff=True))
    session = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": arena.url}])
    complaints: list[str] = []
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.set_default_timeout(10_000)

    page.goto(f"{arena.url}/judging/")
    page.get_by_role("link", name="Add a judge").click()
    page.get_by_label("Name", exact=True).fill("Loopback")
    page.get_by_label("Slug").fill("loopback")
    page.get_by_label("Model").fill("loop-1")
    page.get_by_label("Base URL").fill(model.url)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Start a run with Loopback").click()
    page.get_by_label("Study").select_option("six")
    page.get_by_text("6 pairs will be asked about, in 6 calls").wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Run").wait_for()
    assert "0 of 0 done" in page.inner_text("#progress")
    drain()
    page.get_by_text("6 of 6 done").wait_for()  # the page polls and then loads itself anew
    page.get_by_text("finished").wait_for()
    assert page.get_by_text("unscored: no rating could be read").count() == 3
    assert page.locator("pre b").count() == 0
    assert complaints == []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    page.set_viewport_size({"width": 380, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    for path in ("/judging/", "/judging/judges/new/", "/judging/judges/loopback/edit/", "/judging/runs/new/"):
        page.goto(arena.url + path)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 380
