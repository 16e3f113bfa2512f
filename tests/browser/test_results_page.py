"""Download and cite before a real browser: files, keyboard, copying."""

import json
from pathlib import Path

import pytest
from django.utils import timezone

from leaderboard.refreshing import services
from tests.browser.conftest import Visitor
from tests.leaderboard.rows import HandMade

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> HandMade:
    monkeypatch.setattr(services, "ROUNDS", 20)
    made = HandMade("Heron 70B", "<b>Stork</b>", slug="board", name="<i>Board</i> study", licence="CC-BY-4.0")
    for rating in (1, 2, 7):
        made.rate("Heron 70B", "<b>Stork</b>", rating)
        made.rate("Heron 70B", "<b>Stork</b>", rating, rater=made.judge(f"judge-{rating}"))
    services.refresh(made.study)
    return made


def test_files_are_downloaded(visitor: Visitor, made: HandMade) -> None:
    made.change(closed_at=timezone.now())
    page = visitor.page
    visitor.visit("study-results", "board")
    page.get_by_role("button", name="Download CSV").focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.startswith("board-leaderboard-CC-BY-4.0-")
    assert "<b>Stork</b>" in Path(download.value.path()).read_text(encoding="utf-8-sig")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON Lines: Ratings").click()
    rows = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert [row["winner"] for row in rows] == ["model_a", "model_a"] * 2 + ["model_b"] * 2
    assert visitor.complaints == []


def test_a_citation_is_copied(visitor: Visitor, made: HandMade) -> None:
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.visit("study-results", "board")
    page.get_by_role("button", name="Copy BibTeX").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@misc{likert-arena-board-")
    assert "title        = {{<i>Board</i> study}}" in copied
    assert copied.endswith("}")
