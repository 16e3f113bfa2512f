"""An operator imports data in a real browser: the content policy blocks nothing, axe finds nothing."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client

from arena.models import Completion
from tests import factories
from tests.arena.formats.reading import write_lines

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def violations(page: Any, complaints: list[str]) -> list[str]:
    """What axe finds in the page's own part; the frame around it is Django's.

    Axe itself trips over the content policy: what the browser says while it runs is taken back.
    """
    said = len(complaints)
    found = Axe().run(page, context="#content").response["violations"]
    del complaints[said:]
    return [f"{violation['id']}: {violation['help']}" for violation in found]


def test_choose_check_apply(
    page: Any, live_server: Any, admin_client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    study = factories.make_study(name="Greetings")
    session = admin_client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)

    prompts = write_lines(tmp_path, "prompts.jsonl", {"id": "p1", "instruction": "Say hello."})
    broken = write_lines(tmp_path, "broken.csv", "prompt,contestant,text", "p1,A,Hello", "p9,A,Hi")
    good = write_lines(tmp_path, "completions.csv", "prompt,contestant,text", "p1,A,Hello", "p1,B,")

    page.goto(f"{live_server.url}/admin/arena/study/{study.pk}/change/")
    page.get_by_role("link", name="Import data").click()
    assert violations(page, complaints) == []
    page.get_by_label("Files").set_input_files([prompts, broken])
    page.get_by_role("button", name="Check the files").click()
    assert 'there is no prompt "p9"' in page.inner_text("#content")
    assert page.get_by_role("button", name="Apply").count() == 0
    assert violations(page, complaints) == []

    page.get_by_role("button", name="Cancel and upload other files").click()
    page.get_by_label("Files").set_input_files([prompts, good])
    page.get_by_role("button", name="Check the files").click()
    assert violations(page, complaints) == []
    page.set_viewport_size({"width": 380, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**/change/")
    assert "Imported: 2 contestants, 1 prompts, 2 completions." in page.inner_text("body")
    assert Completion.objects.filter(prompt__study=study).count() == 2
    assert [text for text in complaints if "Policy" in text] == []
