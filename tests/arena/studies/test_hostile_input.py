"""What PostgreSQL cannot store is refused in words on every database, and changes nothing."""

import pytest
from django.test import Client
from django.urls import reverse

from arena.models import Study, StudyEvent
from tests import factories as make

pytestmark = pytest.mark.both_databases

SETTINGS = {
    "points": "8",
    "ratings_per_pair_people": "1",
    "ratings_per_pair_judges": "1",
    "pairing": "balanced",
    "control_share": "20",
    "repeat_share": "0",
    "gold_share": "0",
}


@pytest.mark.parametrize("field", ["criteria", "reasons"])
def test_a_list_with_a_nul(operator: Client, study: Study, field: str) -> None:
    before = getattr(study, field)
    response = operator.post(
        reverse("operate-rating", args=[study.slug]), {**SETTINGS, field: "clear\nno\0thing"}
    )
    assert response.status_code == 422
    assert "Entry 2 holds a NUL character" in response.content.decode()
    study.refresh_from_db()
    assert getattr(study, field) == before


def test_a_note_about_the_study_with_a_nul(operator: Client, study: Study) -> None:
    address = reverse("operate-state", args=[study.slug])
    response = operator.post(address, {"kind": "paused", "note": "a\0b"})
    assert response.status_code == 422
    assert "the note holds a NUL character" in response.content.decode()
    study.refresh_from_db()
    assert study.paused_at is None


@pytest.mark.parametrize("decision", ["pause", "leave-out"])
def test_a_reason_about_a_rater_with_a_nul(operator: Client, study: Study, decision: str) -> None:
    rater = make.make_member(study)
    address = reverse("operate-rater-decide", args=[study.slug, rater.pk])
    response = operator.post(address, {"decision": decision, "note": "a\0b"})
    assert response.status_code == 422
    assert "The reason holds a NUL character" in response.content.decode()
    assert not StudyEvent.objects.exists()
