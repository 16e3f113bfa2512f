import gzip

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.refreshing import services
from tests import factories as make


@pytest.fixture
def asking():
    return Client(headers={"Accept-Encoding": "gzip"})


def test_a_page_is_sent_compressed_and_a_second_time_not_at_all(db, asking):
    services.refresh(make.make_small_study(slug="open", visibility="public"))
    address = reverse("study", args=["open"])
    sent = asking.get(address)
    assert sent["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in sent["Vary"]
    assert "<h1" in gzip.decompress(sent.content).decode()
    again = asking.get(address, headers={"If-None-Match": sent["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    plain = Client().get(address)
    assert "Content-Encoding" not in plain
    assert "<h1" in plain.content.decode()


def test_a_file_is_compressed_while_it_is_written(db, asking):
    make.make_small_study(slug="open", visibility="public")
    asking.force_login(make.make_user(is_staff=True, is_superuser=True))
    sent = asking.get(reverse("study-export-file", args=["open"]), {"what": "completions", "format": "csv"})
    assert sent.streaming
    assert sent["Content-Encoding"] == "gzip"
    assert gzip.decompress(b"".join(sent.streaming_content)).count(b"\n") == 7


@pytest.mark.parametrize("name", ["operate", "operate-keys", "admin:index", "account_change_password"])
def test_pages_with_secrets_are_not_compressed(admin_client, name):
    page = admin_client.get(reverse(name), headers={"Accept-Encoding": "gzip"})
    assert page.status_code == 200
    assert "Content-Encoding" not in page
