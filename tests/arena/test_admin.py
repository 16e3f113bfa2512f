"""The operator's pages: every list opens, history stays, links and imports work."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from arena.models import Comparison, Completion, Contestant, Invitation, Prompt, Rater, Study
from arena.signals import study_changed
from arena.transfer import ImportReport
from arena.uploads import forms, staging, views
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


def act(client: Client, model: str, action: str, *rows: Any) -> None:
    data = {"action": action, "_selected_action": [row.pk for row in rows]}
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
    data = {"study": study.pk, "note": "Ann", "max_uses": 3, "expires_at_0": "", "expires_at_1": ""}
    response = admin_client.post(reverse("admin:arena_invitation_add"), data, follow=True)
    invitation = Invitation.objects.get()
    link = f"http://testserver/join/{invitation.token}/"
    assert f"Send this link: {link}" in response.content.decode()
    page = reverse("admin:arena_invitation_change", args=[invitation.pk])
    assert f'<a href="{link}">{link}</a>' in admin_client.get(page).content.decode()
    act(admin_client, "invitation", "revoke", invitation)
    assert not Invitation.objects.get().is_open


class TestImport:
    @pytest.fixture(autouse=True)
    def _uploads(self, settings: Any, tmp_path: Path) -> None:
        settings.MEDIA_ROOT = tmp_path / "uploads"

    @pytest.fixture
    def study(self) -> Study:
        return factories.make_study(slug="greetings", name="Greetings")

    def upload(self, client: Client, study: Study, *files: tuple[str, str], **data: Any) -> Any:
        uploads = [SimpleUploadedFile(name, content.encode()) for name, content in files]
        page = reverse("admin:arena_study_import", args=[study.pk])
        return client.post(page, {"uploads": uploads, "format_name": "", **data})

    PROMPTS = ("prompts.jsonl", '{"id": "p1", "instruction": "<script>alert(1)</script>"}\n')
    COMPLETIONS = ("completions.csv", "prompt,contestant,text\np1,A,Hello\np1,B,\n")

    def staged_files(self, settings: Any) -> list[Path]:
        return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]

    def test_the_study_page_leads_there(self, admin_client: Client, study: Study) -> None:
        page = admin_client.get(reverse("admin:arena_study_change", args=[study.pk])).content.decode()
        assert reverse("admin:arena_study_import", args=[study.pk]) in page

    def test_check_then_apply(self, admin_client: Client, study: Study, settings: Any) -> None:
        response = self.upload(admin_client, study, self.COMPLETIONS, self.PROMPTS)
        assert response.status_code == 302
        preview = admin_client.get(response.url)
        html = preview.content.decode()
        assert "3 records, no errors" in html
        assert "&lt;script&gt;alert(1)" in html
        assert "<script>alert(1)" not in html
        assert preview.context["report"].counts["completions"].empty == 1
        assert not Prompt.objects.exists()
        applied = admin_client.post(response.url, {"apply": "Apply"}, follow=True)
        assert "Imported: 2 contestants, 1 prompts, 2 completions." in applied.content.decode()
        assert Completion.objects.count() == 2
        assert self.staged_files(settings) == []
        assert admin_client.post(response.url, {"apply": "Apply"}).status_code == 302

    def test_errors_by_file_and_line(self, admin_client: Client, study: Study) -> None:
        votes = ("votes.csv", "prompt,first,second,rater,rating,points\np1,A,B,ann,9,8\n")
        response = self.upload(admin_client, study, self.PROMPTS, votes)
        html = re.sub(r"\s+", " ", admin_client.get(response.url).content.decode())
        cells = "<td>votes.csv</td><td>2</td><td>rating</td><td>rating 9 is outside the scale 1-8</td>"
        assert cells in html
        assert 'name="apply"' not in html
        admin_client.post(response.url, {"apply": "Apply"})
        assert not Prompt.objects.exists()

    def test_cancel_throws_the_files_away(self, admin_client: Client, study: Study, settings: Any) -> None:
        response = self.upload(admin_client, study, self.PROMPTS)
        assert self.staged_files(settings)
        admin_client.post(response.url, {"cancel": "Cancel"})
        assert self.staged_files(settings) == []
        assert not Prompt.objects.exists()

    def test_missing_answers_are_shown(self, admin_client: Client, study: Study) -> None:
        lacking = ("completions.csv", "prompt,contestant,text\np1,A,Hello\np2,B,Hi\n")
        prompts = (
            "prompts.jsonl",
            '{"id": "p1", "instruction": "One"}\n{"id": "p2", "instruction": "Two"}\n',
        )
        response = self.upload(admin_client, study, prompts, lacking)
        assert "Missing: 2 answers" in admin_client.get(response.url).content.decode()

    def test_too_much_is_refused(
        self, admin_client: Client, study: Study, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(forms, "MAX_BYTES", 1024 * 1024)
        response = self.upload(admin_client, study, ("prompts.jsonl", "x" * 2 * 1024 * 1024))
        assert "These files have 2.0 MiB together; at most 1 MiB" in response.content.decode()
        assert self.staged_files(settings) == []

    def test_no_file(self, admin_client: Client, study: Study) -> None:
        page = reverse("admin:arena_study_import", args=[study.pk])
        assert "This field is required." in admin_client.post(page, {}).content.decode()

    def test_a_chosen_format_is_the_only_one(self, admin_client: Client, study: Study) -> None:
        response = self.upload(admin_client, study, self.PROMPTS, format_name="csv")
        assert "cannot tell what the file holds" in admin_client.get(response.url).content.decode()

    def test_only_those_who_may_change_the_study(
        self, client: Client, admin_client: Client, study: Study
    ) -> None:
        address = self.upload(admin_client, study, self.PROMPTS).url
        page = reverse("admin:arena_study_import", args=[study.pk])
        assert "/login/" in client.get(page).url
        user = factories.make_user(is_staff=True)
        client.force_login(user)
        assert client.get(page).status_code == 403
        assert client.post(address, {"apply": "Apply"}).status_code == 403
        user.user_permissions.add(Permission.objects.get(codename="change_study"))
        client.force_login(type(user).objects.get(pk=user.pk))
        assert client.get(page).status_code == 200
        assert client.post(address, {"apply": "Apply"}).status_code == 302
        assert not Prompt.objects.exists()

    def test_a_form_from_elsewhere_is_refused(self, study: Study, admin_user: Any) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(admin_user)
        assert self.upload(client, study, self.PROMPTS).status_code == 403

    @pytest.mark.parametrize("token", ["..", "x" * 32, "..%2F..%2Fsecret"])
    def test_a_guessed_token_finds_nothing(self, admin_client: Client, study: Study, token: str) -> None:
        page = reverse("admin:arena_study_import", args=[study.pk])
        assert admin_client.get(f"{page}{token}/").status_code in (301, 302, 404)
        assert staging.find(token, study.pk, 1) is None

    @pytest.mark.parametrize("moment", ["before the request", "before the reading", "while it is read"])
    def test_a_second_click_on_apply_is_no_error(
        self, admin_client: Client, study: Study, monkeypatch: pytest.MonkeyPatch, moment: str
    ) -> None:
        page = self.upload(admin_client, study, self.PROMPTS).headers["Location"]
        token = page.rstrip("/").rpartition("/")[2]
        shutil.move(staging._root() / token, staging._root() / "kept")

        def first_click(*_: Any, **__: Any) -> Any:
            shutil.rmtree(staging._root() / token)
            if moment == "before the reading":
                raise FileNotFoundError
            return ImportReport(study.slug, dry_run=False)

        if moment != "before the request":
            shutil.move(staging._root() / "kept", staging._root() / token)
            monkeypatch.setattr(views, "import_files", first_click)
        response = admin_client.post(page, {"apply": "1"}, follow=True)
        assert response.redirect_chain[0][0] == reverse("admin:arena_study_change", args=[study.pk])
        assert "imported or thrown away already" in response.content.decode()

    def test_names_of_uploads_stay_inside_their_folder(self, study: Study, settings: Any) -> None:
        staged = staging.stage(study.pk, 1, "", [SimpleUploadedFile("../../evil.jsonl", b"{}")])
        (file,) = staged.files()
        assert (file.path, file.name) == (staged.folder / "0", "evil.jsonl")

    def test_forgotten_files_go_after_a_day(
        self, study: Study, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        old = staging.stage(study.pk, 1, "", [SimpleUploadedFile("a.jsonl", b"{}")])
        assert staging.find(old.token, study.pk, 1) == old
        monkeypatch.setattr(staging, "KEPT_SECONDS", -1)
        staging.stage(study.pk, 1, "", [SimpleUploadedFile("b.jsonl", b"{}")])
        assert staging.find(old.token, study.pk, 1) is None
