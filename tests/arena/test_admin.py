"""The operator's pages: every list opens, history stays, links work."""

import json
import re
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from arena.models import Comparison, Contestant, Invitation, Prompt, Rater, Study
from arena.models.signals import study_changed
from tests import factories

pytestmark = pytest.mark.django_db

MODELS = ["study", "prompt", "contestant", "completion", "pair", "rater", "ratergroup", "membership"]
MODELS += ["invitation", "assignment", "comparison"]


@pytest.fixture
def rated() -> Comparison:
    """A comparison with everything that belongs to it."""
    comparison = factories.make_comparison(pair=factories.make_pair())
    factories.make_member(comparison.study)
    factories.make_assignment(pair=comparison.pair)
    Invitation.objects.create(study=comparison.study)
    return comparison


@pytest.mark.parametrize("model", MODELS)
def test_every_list_and_page_opens(admin_client: Client, rated: Comparison, model: str) -> None:
    response = admin_client.get(reverse(f"admin:arena_{model}_changelist") + "?q=x")
    assert response.status_code == 200
    row = apps.get_model("arena", model).objects.first()
    if row is not None:
        assert admin_client.get(reverse(f"admin:arena_{model}_change", args=[row.pk])).status_code == 200
    assert model == "ratergroup" or row is not None


@pytest.mark.parametrize("model", ["comparison", "assignment", "completion"])
def test_history_is_read_only(admin_client: Client, rated: Comparison, model: str) -> None:
    row = apps.get_model("arena", model).objects.first()
    assert row is not None
    assert admin_client.post(reverse(f"admin:arena_{model}_change", args=[row.pk]), {}).status_code == 403
    assert admin_client.post(reverse(f"admin:arena_{model}_delete", args=[row.pk])).status_code == 403
    assert admin_client.get(reverse(f"admin:arena_{model}_add")).status_code == 403


@pytest.mark.parametrize("model", ["prompt", "contestant", "rater", "pair"])
def test_what_was_rated_is_not_deleted(admin_client: Client, rated: Comparison, model: str) -> None:
    rows = {
        "prompt": rated.pair.prompt,
        "contestant": rated.pair.first.contestant,
        "rater": rated.rater,
        "pair": rated.pair,
    }
    page = reverse(f"admin:arena_{model}_delete", args=[rows[model].pk])  # type: ignore[union-attr]
    assert admin_client.post(page, {"post": "yes"}).status_code == 403
    assert Comparison.objects.filter(pk=rated.pk).exists()


def test_a_rated_prompt_keeps_its_text(admin_client: Client, rated: Comparison) -> None:
    prompt = rated.pair.prompt
    data = {"category": "new", "domain": "", "turns": '["changed"]', "input": "", "extra": "{}"}
    data |= {"references-TOTAL_FORMS": "0", "references-INITIAL_FORMS": "0"}
    page = reverse("admin:arena_prompt_change", args=[prompt.pk])
    assert admin_client.post(page, data).status_code == 302
    changed = Prompt.objects.get(pk=prompt.pk)
    assert (changed.category, changed.turns) == ("new", prompt.turns)


def study_form(**overrides: Any) -> dict[str, Any]:
    values = {
        "name": "Greetings",
        "slug": "greetings",
        "description": "",
        "guidelines": "# Be fair",
        "points": "8",
        "criteria": "[]",
        "reasons": '["Clearer"]',
        "pairing": "balanced",
        "control_share": "0.2",
        "repeat_share": "0",
        "gold_share": "0",
        "naming": "show",
        "ratings_per_pair_people": "2",
        "ratings_per_pair_judges": "1",
        "visibility": "private",
        "closed_at_0": "",
        "closed_at_1": "",
    }
    return {**values, **overrides}


def test_a_study_is_made_and_edited(admin_client: Client) -> None:
    assert admin_client.post(reverse("admin:arena_study_add"), study_form()).status_code == 302
    study = Study.objects.get(slug="greetings")
    page = reverse("admin:arena_study_change", args=[study.pk])
    assert admin_client.post(page, study_form(points="5", visibility="public")).status_code == 302
    changed = Study.objects.get(pk=study.pk)
    assert (changed.points, changed.visibility, changed.revision) == (5, "public", study.revision + 1)
    wrong = admin_client.post(page, study_form(points="4", ratings_per_pair_people="0"))
    assert set(wrong.context["adminform"].form.errors) == {"points", "ratings_per_pair_people"}


@pytest.mark.parametrize("criteria", ['"accuracy"', "[1]", '[""]', '["a", "a"]', "{}x"])
def test_criteria_are_a_list_of_texts(admin_client: Client, criteria: str) -> None:
    response = admin_client.post(reverse("admin:arena_study_add"), study_form(criteria=criteria))
    assert list(response.context["adminform"].form.errors) == ["criteria"]


@pytest.mark.parametrize("turns", ['"One"', "[]x", "[7]", '{"a": "b"}'])
def test_turns_are_a_list_of_texts(admin_client: Client, turns: str) -> None:
    study = factories.make_study()
    data = {"study": study.pk, "external_id": "p1", "turns": turns, "input": "", "extra": "{}"}
    data |= {"references-TOTAL_FORMS": "0", "references-INITIAL_FORMS": "0"}
    response = admin_client.post(reverse("admin:arena_prompt_add"), data)
    assert list(response.context["adminform"].form.errors) == ["turns"]
    data["turns"] = '["One", "Two"]'
    assert admin_client.post(reverse("admin:arena_prompt_add"), data).status_code == 302
    assert Prompt.objects.get().turns == ["One", "Two"]


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ("[1]", "names and numbers"),
        ('{"MMLU": "69.8"}', "MMLU: expected a number, found a text"),
        ('{"MMLU": true}', "MMLU: expected a number"),
        ('{"MMLU": 1e15}', "MMLU: a score lies between"),
        ('{" ": 1}', "a benchmark needs a name"),
        (json.dumps({"x" * 61: 1}), "a name of 61 characters; at most 60 fit"),
        (json.dumps({f"b{n}": 1 for n in range(21)}), "21 benchmarks; at most 20 fit"),
    ],
)
def test_benchmarks_are_names_and_numbers(admin_client: Client, scores: str, reason: str) -> None:
    study = factories.make_study()
    form = {"study": study.pk, "name": "A", "slug": "a", "kind": "model", "generation": "{}", "extra": "{}"}
    page = reverse("admin:arena_contestant_add")
    response = admin_client.post(page, {**form, "benchmarks": scores})
    assert list(response.context["adminform"].form.errors) == ["benchmarks"]
    assert reason in str(response.context["adminform"].form.errors)
    assert admin_client.post(page, {**form, "benchmarks": '{"MMLU": 69.8}'}).status_code == 302
    assert Contestant.objects.get().benchmarks == {"MMLU": 69.8}
    edit = reverse("admin:arena_contestant_change", args=[Contestant.objects.get().pk])
    assert admin_client.post(edit, {**form, "benchmarks": ""}).status_code == 302
    assert Contestant.objects.get().benchmarks == {}


UNSTORABLE = ["NaN", "1e999", '"\\u0000"', '"\\ud83d"', "9" * 5_000, "[" * 100_000]


@pytest.mark.parametrize("value", UNSTORABLE, ids=lambda value: value[:10])
def test_json_that_no_database_stores_is_refused(admin_client: Client, value: str) -> None:
    study = factories.make_study()
    contestant = {"study": study.pk, "name": "A", "slug": "a", "kind": "model", "extra": "{}"}
    prompt = {"study": study.pk, "external_id": "p", "turns": f"[{value}]", "extra": "{}"}
    inline = {"references-TOTAL_FORMS": "0", "references-INITIAL_FORMS": "0"}
    for path, form in (
        ("contestant", {**contestant, "generation": f'{{"top_p": {value}}}'}),
        ("prompt", {**prompt, **inline}),
    ):
        page = admin_client.post(f"/admin/arena/{path}/add/", form)
        assert page.status_code == 200
        assert re.search("cannot be stored|valid JSON", page.content.decode())
    assert not Contestant.objects.exists()
    assert not Prompt.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_edits_are_announced_after_the_commit(admin_client: Client) -> None:
    study = factories.make_study()
    heard: list[int] = []

    def listen(sender: object, study_id: int, **kwargs: object) -> None:
        heard.append(study_id)

    study_changed.connect(listen)
    try:
        page = reverse("admin:arena_study_change", args=[study.pk])
        admin_client.post(page, study_form(slug=study.slug))
    finally:
        study_changed.disconnect(listen)
    assert heard == [study.pk]


def test_changes_of_groups_are_changes_of_the_studies_their_members_rated(
    admin_client: Client, rated: Comparison
) -> None:
    named, deleted, selected = (factories.make_group() for _ in range(3))
    rated.rater.groups.add(named, deleted, selected)
    page = reverse("admin:arena_ratergroup_change", args=[named.pk])
    before = revision()
    admin_client.post(page, {"name": "Renamed", "slug": named.slug})
    assert revision() == before + 1
    admin_client.post(reverse("admin:arena_ratergroup_delete", args=[deleted.pk]), {"post": "yes"})
    assert revision() == before + 2
    act(admin_client, "ratergroup", "delete_selected", selected, post="yes")
    assert revision() == before + 3
    assert list(rated.rater.groups.values_list("name", flat=True)) == ["Renamed"]


def revision() -> int:
    return Study.objects.get().revision


def act(client: Client, model: str, action: str, *rows: Any, **more: str) -> None:
    data = {"action": action, "_selected_action": [row.pk for row in rows], **more}
    assert client.post(reverse(f"admin:arena_{model}_changelist"), data).status_code == 302


def test_contestants_retire_and_come_back(admin_client: Client) -> None:
    contestant = factories.make_contestant()
    act(admin_client, "contestant", "retire", contestant)
    assert not Contestant.objects.active().exists()
    assert Study.objects.get().revision == 1
    act(admin_client, "contestant", "reinstate", contestant)
    assert Contestant.objects.active().exists()


def test_studies_close_and_reopen(admin_client: Client) -> None:
    study = factories.make_study()
    act(admin_client, "study", "close", study)
    assert Study.objects.get().is_closed
    act(admin_client, "study", "reopen", study)
    assert not Study.objects.get().is_closed


def test_raters_pause_and_resume(admin_client: Client) -> None:
    rater = factories.make_rater()
    act(admin_client, "rater", "pause", rater)
    assert Rater.objects.get().paused_at is not None
    act(admin_client, "rater", "resume", rater)
    assert Rater.objects.get().paused_at is None


def test_a_study_goes_with_all_it_holds(admin_client: Client, rated: Comparison) -> None:
    page = reverse("admin:arena_study_delete", args=[rated.study.pk])
    shown = admin_client.get(page).content.decode()
    assert "comparisons: 1" in shown.lower()
    admin_client.post(page, {"post": "yes"})
    assert not Study.objects.exists()
    assert not Comparison.objects.exists()


def test_an_invitation_shows_its_whole_link(admin_client: Client) -> None:
    study = factories.make_study()
    data = {"study": study.pk, "note": "Ann", "role": "rater", "max_uses": 3}
    data |= {"expires_at_0": "", "expires_at_1": ""}
    response = admin_client.post(reverse("admin:arena_invitation_add"), data, follow=True)
    invitation = Invitation.objects.get()
    link = f"http://testserver/join/{invitation.token}/"
    assert f"Send this link: {link}" in response.content.decode()
    page = reverse("admin:arena_invitation_change", args=[invitation.pk])
    assert f'<a href="{link}">{link}</a>' in admin_client.get(page).content.decode()
    act(admin_client, "invitation", "revoke", invitation)
    assert not Invitation.objects.get().is_open
