"""The export page before a real browser."""

from pathlib import Path

import pytest

from tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_page_can_be_read_and_used(visitor: Visitor) -> None:
    visitor.rater.user.is_staff = True  # type: ignore[union-attr]
    visitor.rater.user.save()  # type: ignore[union-attr]
    visitor.visit("study-export", visitor.study.slug)
    link = visitor.page.get_by_role("link", name="Prompts as CSV")
    link.focus()
    with visitor.page.expect_download() as download:
        visitor.page.keyboard.press("Enter")
    assert download.value.suggested_filename.startswith("a-study-prompts-")
    assert Path(download.value.path()).read_bytes().startswith(b"\xef\xbb\xbfid,")
    assert visitor.complaints == []
