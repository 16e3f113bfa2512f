"""What PostgreSQL cannot store is refused in words on every database, and changes nothing."""

import pytest
from django.forms.models import model_to_dict
from django.test import Client
from django.urls import reverse

from arena.models import Study, StudyEvent
from tests import factories as make

pytestmark = pytest.mark.both_databases


@pytest.mark.parametrize(
    ("page", "sent", "words"),
    [
        ("rating", {"criteria": "clear\nno\0thing"}, "Entry 2 contains the invisible character"),
        ("rating", {"reasons": "clear\nno\0thing"}, "Entry 2 contains the invisible character"),
        ("state", {"kind": "paused", "note": "a\0b"}, "The reason contains a NUL character"),
        ("rater-decide", {"decision": "pause", "note": "a\0b"}, "The reason contains a NUL character"),
        ("rater-decide", {"decision": "leave-out", "note": "a\0b"}, "The reason contains a NUL character"),
    ],
)
def test_a_nul(operator: Client, study: Study, page: str, sent: dict[str, str], words: str) -> None:
    rater = make.make_member(study)
    before = model_to_dict(study)
    more = [rater.pk] if page == "rater-decide" else []
    response = operator.post(reverse(f"operate-{page}", args=[study.slug, *more]), sent)
    assert response.status_code == 422
    assert words in response.content.decode()
    study.refresh_from_db()
    assert model_to_dict(study) == before
    assert not StudyEvent.objects.exists()
