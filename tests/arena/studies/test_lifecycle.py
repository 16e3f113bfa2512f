"""Pausing, closing and their opposites: once each, on record, and announced where figures rest on it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from arena.models import Study, StudyEvent
from arena.models.signals import study_changed
from arena.rating import assignments
from arena.rating.opinions import NotAllowedError
from arena.studies import lifecycle
from tests import factories as make

pytestmark = pytest.mark.django_db

Kind = StudyEvent.Kind


@pytest.fixture
def study() -> Study:
    return make.make_small_study()


@pytest.mark.parametrize(
    ("kind", "back", "field"),
    [(Kind.PAUSED, Kind.RESUMED, "paused_at"), (Kind.CLOSED, Kind.REOPENED, "closed_at")],
)
def test_there_and_back_once_each_and_people_are_offered_nothing_meanwhile(
    study: Study, kind: StudyEvent.Kind, back: StudyEvent.Kind, field: str
) -> None:
    user, rater = make.make_user(), make.make_member(study)
    assert assignments.claim(study, rater) is not None
    assert [lifecycle.decide(study, kind, user, " enough ") for _ in range(2)] == [True, False]
    assert getattr(Study.objects.get(), field) is not None
    with pytest.raises(NotAllowedError):
        assignments.claim(study, rater)
    assert [lifecycle.decide(study, back, user) for _ in range(2)] == [True, False]
    assert getattr(Study.objects.get(), field) is None
    said = [(event.kind, event.by, event.note) for event in study.events.order_by("pk")]
    assert said == [(kind, user, "enough"), (back, user, "")]


def test_a_decision_about_an_old_copy_looks_at_the_row(study: Study) -> None:
    old = Study.objects.get()
    lifecycle.decide(study, Kind.CLOSED, None)
    assert lifecycle.decide(old, Kind.CLOSED, None) is False
    assert study.events.count() == 1


@pytest.mark.parametrize(("kind", "raised"), [(Kind.PAUSED, 0), (Kind.CLOSED, 1)])
def test_figures_are_computed_anew_where_they_rest_on_it(
    study: Study, kind: StudyEvent.Kind, raised: int, hear: Any, django_capture_on_commit_callbacks: Any
) -> None:
    heard = hear(study_changed)
    with django_capture_on_commit_callbacks(execute=True):
        lifecycle.decide(study, kind, None)
    assert [each["study_id"] for each in heard] == [study.pk] * raised
    assert Study.objects.get().revision == study.revision + raised


def test_what_is_possible_follows_from_the_state(study: Study) -> None:
    assert lifecycle.possible(study) == [Kind.PAUSED, Kind.CLOSED]
    lifecycle.decide(study, Kind.PAUSED, None)
    assert lifecycle.possible(study) == [Kind.RESUMED, Kind.CLOSED]
    lifecycle.decide(study, Kind.CLOSED, None)
    assert lifecycle.possible(study) == [Kind.REOPENED]


@pytest.fixture
def pause(study: Study, client: Client) -> Callable[[], int]:
    """Has an operator pause the study; the status of the reply."""
    client.force_login(make.make_user(is_staff=True))
    address = reverse("operate-state", args=[study.slug])
    return lambda: client.post(address, {"kind": "paused"}).status_code


def test_a_study_that_is_deleted_while_somebody_decides_is_not_found(
    study: Study, pause: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(*args: Any) -> bool:
        study.delete()
        return decide(*args)

    decide = lifecycle.decide
    monkeypatch.setattr(lifecycle, "decide", too_late)
    assert pause() == 404


def test_a_row_that_refers_to_a_deleted_study_is_no_server_error(
    study: Study, pause: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: Any) -> bool:
        raise IntegrityError

    monkeypatch.setattr(lifecycle, "decide", refused)
    with pytest.raises(IntegrityError):
        pause()
    monkeypatch.setattr(lifecycle, "decide", lambda *args: study.delete() and refused())
    assert pause() == 404
