"""Every changed setting of a study is on record, from whichever page it was changed; what was not is not."""

import hashlib
from typing import Any

import pytest
from django.db import transaction
from django.forms.models import model_to_dict
from django.test import Client
from django.urls import reverse

from arena.models import Membership, Study, StudyEvent
from arena.models.settings import FIGURES, FORMS, NOT_SETTINGS, SETTINGS, TASKS
from arena.studies import changes
from tests import factories as make
from tests.arena.conftest import filled, save

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make.make_study(name="Rivers", slug="rivers")


def change(study: Study, by: Any = None, **settings: Any) -> list[str]:
    for name, value in settings.items():
        setattr(study, name, value)
    return changes.store(study, by, settings)


def said(study: Study) -> list[str]:
    return [event.note for event in study.events.order_by("pk")]


USUAL = "“More helpful”, “More accurate”, “Clearer”, “Follows the instructions better”, “Safer”"
HASH = hashlib.sha256(b"Be true.").hexdigest()[:12]
TEXT = f"a text of 8 characters ({HASH}). Before: no text."
SAID = {
    "name": ("Lakes", "Name: Lakes. Before: Rivers."),
    "slug": ("lakes", "Address: lakes. Before: rivers."),
    "guidelines": ("Be true.", f"Guidelines: {TEXT}"),
    "consent": ("Be true.", f"Consent and privacy: {TEXT}"),
    "description": ("Be true.", f"Description: {TEXT}"),
    "tasks": (["score", "check"], "Tasks: Score answers, check requirements. Before: Compare pairs."),
    "points": (5, "Scale: 5 points. Before: 8 points."),
    "score_lowest": (0, "Lowest score: 0. Before: 1."),
    "score_highest": (10, "Highest score: 10. Before: 5."),
    "ratings_per_pair_people": (3, "Ratings per pair by people: 3. Before: 1."),
    "ratings_per_pair_judges": (2, "Ratings per pair by each judge: 2. Before: 1."),
    "goal": (9, "Goal per rater: 9. Before: none."),
    "rated_turns": ("each", "Rated of a conversation: Each turn. Before: Whole conversations."),
    "rater_limit": (300, "Limit per rater: 300. Before: none."),
    "daily_limit": (40, "Limit per rater and day: 40. Before: none."),
    "criteria": (["clear", "true"], "Criteria: “clear”, “true”. Before: none."),
    "reasons": ([], f"Reasons: none. Before: {USUAL}."),
    "pairing": ("adaptive", "Pairing: Adaptive. Before: Balanced."),
    "pairing_feature": ("entropy", "Feature for pairing: entropy. Before: none."),
    "control_share": (0.125, "Random share: 12.5%. Before: 20%."),
    "repeat_share": (0.05, "Hidden repeats: 5%. Before: 0%."),
    "gold_share": (0.1, "Hidden checks: 10%. Before: 0%."),
    "training_threshold": (0.8, "Training pairs to get right: 80%. Before: none."),
    "reveal_names": (True, "Raters see who wrote the answers: yes. Before: no."),
    "show_references": ("beside", "Reference answers: Beside the answers. Before: Not shown."),
    "thinking": ("exclude", "Answers with thinking: Leave them out. Before: Hide the thinking."),
    "stop_margin": (10.5, "Stopping rule: 10.5. Before: none."),
    "naming": ("mask", "Mask the words that give the author away. Before: Show them as they are."),
    "visibility": ("public", "Visibility: Public. Before: Private."),
    "sign_up_open": (True, "Anyone may sign up and rate: yes. Before: no."),
    "takes_models": (True, "Anyone may propose a model: yes. Before: no."),
    "simulated": (True, "Contains simulated ratings: yes. Before: no."),
    "licence": ("CC-BY-4.0", "Licence: CC-BY-4.0. Before: none."),
    "is_draft": (True, "Published."),
}
"""By setting another value, and what the history says of the change."""


@pytest.mark.parametrize("name", SETTINGS)
def test_what_it_is_and_what_it_was_and_whether_figures_are_computed_again(study: Study, name: str) -> None:
    user, (value, note) = make.make_user(), SAID[name]
    assert change(study, user, **{name: value}) == [name]
    event = study.events.get()
    assert (event.note, event.by, event.rater) == (note, user, None)
    assert event.kind == ("naming" if name == "naming" else "setting")
    now = Study.objects.get()
    assert (getattr(now, name), now.revision) == (value, FIGURES in SETTINGS[name].affects)


PAGES = {
    "guidelines": "operate-guidelines",
    "rating": "operate-rating",
    "advanced": "operate-rating",
    "names": "operate-names",
    "publish": "operate-publish",
}


def test_every_column_is_declared_as_a_setting_or_as_none() -> None:
    columns = {field.name: field for field in Study._meta.concrete_fields}
    assert sorted([*SETTINGS, *NOT_SETTINGS]) == sorted(columns)
    assert FORMS.keys() == {*PAGES, "address", "none"}
    for setting in SETTINGS.values():
        for other, values in setting.conditions.items():
            known = TASKS if other == "tasks" else [value for value, _ in columns[other].flatchoices]
            assert {*values} <= {*known}


@pytest.mark.parametrize(("form", "name"), [(form, name) for form in PAGES for name in FORMS[form]])
def test_its_page_offers_every_setting_and_keeps_one_that_an_older_page_does_not_have(
    study: Study, operator: Client, form: str, name: str
) -> None:
    Study.objects.update(
        show_references="beside",
        reveal_names=True,
        sign_up_open=True,
        takes_models=True,
        simulated=True,
        thinking="exclude",
        gold_share=0.1,
        training_threshold=0.5,
        pairing_feature="x",
    )
    page = reverse(PAGES[form], args=["rivers"])
    response = operator.get(page)
    assert response.context["form"].fields[name].label == SETTINGS[name].label
    data = {sent: value for sent, value in filled(response).items() if not sent.startswith(name)}
    del data["seen"]
    before = model_to_dict(study_now := Study.objects.get())
    assert operator.post(page, data).status_code == 302
    study_now.refresh_from_db()
    assert (model_to_dict(study_now), study.events.count()) == (before, 0)


def test_what_changes_nothing_or_is_no_setting_leaves_no_record(study: Study) -> None:
    assert change(study, points=8, guidelines="", reasons=list(study.reasons)) == []
    assert change(study, closed_at=study.created_at, revision=7) == []
    study.refresh_from_db()
    assert (said(study), study.revision, study.closed_at) == ([], 0, None)


@pytest.mark.parametrize("stored", ["One\nTwo\n", "One\r\nTwo\r\n"])
def test_the_ends_of_lines_that_browsers_send_are_no_change(study: Study, stored: str) -> None:
    Study.objects.filter(pk=study.pk).update(description=stored)
    study.description = "One\r\nTwo\r\n"
    assert changes.store(study, None, ["description"]) == []
    study.description = "One\r\nThree"
    assert changes.store(study, None, ["description"]) == ["description"]
    study.refresh_from_db()
    assert study.description == "One\nThree"


def test_an_old_copy_is_compared_with_the_row(study: Study) -> None:
    old = Study.objects.get()
    change(study, ratings_per_pair_people=3)
    assert change(old, ratings_per_pair_people=3) == []
    assert change(old, ratings_per_pair_people=5, points=5) == ["points", "ratings_per_pair_people"]
    assert said(study)[1:] == [
        "Scale: 5 points. Before: 8 points.",
        "Ratings per pair by people: 5. Before: 3.",
    ]


def test_the_change_and_its_record_are_stored_together(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def change_and_fail() -> None:
        with transaction.atomic():
            change(study, points=5)
            raise RuntimeError

    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        change_and_fail()
    assert (Study.objects.get().points, StudyEvent.objects.count()) == (8, 0)
    monkeypatch.setattr(StudyEvent.objects, "create", fail)
    study.refresh_from_db()
    with pytest.raises(RuntimeError):
        change(study, points=5)
    assert Study.objects.get().points == 8


# --- Doors ------------------------------------------------------------------------------------------------


@pytest.fixture
def operator(study: Study) -> Client:
    return make.make_client(make.make_user(username="olga", is_staff=True))


def test_a_page_records_a_change_once_and_the_history_shows_it(study: Study, operator: Client) -> None:
    for _ in range(2):
        save(operator, reverse("operate-guidelines", args=["rivers"]), guidelines="Be fair")
    [event] = study.events.select_related("by")
    assert event.by is not None
    assert event.by.get_username() == "olga"
    history = operator.get(reverse("operate-state", args=["rivers"])).content.decode()
    assert event.get_kind_display() in history
    assert "Guidelines: a text of 7 characters" in history
    assert "Be fair" not in history


def test_raters_see_none_of_it(client: Client) -> None:
    study = make.make_small_study(slug="rivers")
    change(study, gold_share=0.1, visibility="public")
    rater = make.make_member(study)
    Membership.objects.update(guidelines_read_at=study.created_at)
    assert rater.user is not None
    client.force_login(rater.user)
    assert client.get(reverse("operate-state", args=["rivers"])).status_code == 404
    for name in ("guidelines", "rate-study", "study"):
        page = client.get(reverse(name, args=["rivers"]))
        assert page.status_code == 200
        assert "Hidden checks" not in page.content.decode()
        assert "Setting changed" not in page.content.decode()
