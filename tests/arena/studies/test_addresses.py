"""The address of a study, where nobody types one."""

import pytest
from django.test import Client
from django.urls import reverse

from arena.studies.forms import free_address
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("Summer 2026", "summer-2026"),
        ("  Flüsse & Seen, 2. Teil ", "flusse-seen-2-teil"),
        ("--", "study"),
        ("河流", "study"),
        ("New", "new-2"),
        ("x" * 200, "x" * 80),
    ],
)
def test_it_is_made_of_the_name(name: str, address: str) -> None:
    assert free_address(name) == address


def test_what_is_taken_gets_a_number() -> None:
    for slug in ("rivers", "rivers-2", "rivers-4", "rivers-and-lakes"):
        make.make_study(slug=slug)
    assert free_address("Rivers") == "rivers-3"
    assert free_address("Rivers and") == "rivers-and"
    make.make_study(slug="x" * 80)
    found = free_address("x" * 90)
    assert found == "x" * 70 + "-2"
    make.make_study(slug=found)
    assert free_address("x" * 90) == "x" * 70 + "-3"


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make.make_user(is_staff=True, is_superuser=True))
    return client


def test_a_new_study_takes_the_address_of_its_name_or_the_one_typed(staff: Client) -> None:
    page = staff.get(reverse("operate-new")).content.decode()
    assert 'data-made-of="id_name"' in page
    assert "operating/operate.js" in page
    named = {"Great Rivers": "great-rivers", "Great, rivers!": "great-rivers-2", "Great rivers, too": "gr"}
    for name, expected in named.items():
        typed = expected if expected == "gr" else ""
        made = staff.post(reverse("operate-new"), {"name": name, "slug": typed})
        assert made["Location"] == f"/operate/{expected}/guidelines/"
    refused = staff.post(reverse("operate-new"), {"name": " ", "slug": ""})
    assert refused.status_code == 422
    assert list(refused.context["form"].errors) == ["name"]


def test_staff_change_it_later(staff: Client) -> None:
    study = make.make_study(slug="rivers")
    make.make_study(slug="lakes")
    move = reverse("operate-move", args=["rivers"])
    for taken in ("lakes", "keys", "no slug"):
        assert staff.post(move, {"slug": taken}).context["address_form"].errors.keys() == {"slug"}
    assert staff.post(move, {"slug": "streams"})["Location"] == "/operate/streams/state/"
    study.refresh_from_db()
    assert study.slug == "streams"
    assert [event.note for event in study.events.all()] == ["Address: streams. Before: rivers."]
