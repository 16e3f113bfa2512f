"""The import pages: what operators see and may do, and what others may not."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse

from arena.data.uploads import forms, jobs
from arena.models import Comparison, Completion, ImportChunk, ImportJob, Prompt, Rater, Study
from tests import factories

pytestmark = pytest.mark.django_db

PROMPTS = ("prompts.jsonl", '{"id": "p1", "instruction": "<script>alert(1)</script>"}\n')
COMPLETIONS = ("completions.csv", "prompt,contestant,text\np1,A,Hello\np1,B,\n")
FOREIGN = ("votes.csv", "gauche,droite,gagnant\nA,B,left\nB,A,tie\n")


@pytest.fixture
def study() -> Study:
    return factories.make_study(slug="greetings", name="Greetings")


def upload(client: Client, study: Study, *files: tuple[str, str], **data: Any) -> Any:
    uploads = [SimpleUploadedFile(name, content.encode()) for name, content in files]
    return client.post(reverse("operate-import", args=[study.slug]), {"uploads": uploads, **data})


def checked(client: Client, study: Study, *files: tuple[str, str], **data: Any) -> str:
    """Upload files and have them checked; the address of the job's page."""
    address = str(upload(client, study, *files, **data).headers["Location"])
    jobs.check(ImportJob.objects.latest("pk").pk)
    return address


def clicked() -> dict[str, str]:
    """What a click on Apply sends from a page that shows the last check."""
    return {"apply": "Apply", "seen": ImportJob.objects.latest("pk").touched_at.isoformat()}


def applied(client: Client, address: str) -> str:
    """Apply what the last check showed; the page after it."""
    client.post(address, clicked())
    jobs.apply(ImportJob.objects.latest("pk").pk)
    return html_of(client.get(address))


def shown(form: Any) -> dict[str, Any]:
    """What a browser sends of a form as it is shown."""
    return {f"{form.prefix}-{name}": form[name].value() or "" for name in form.fields}


def html_of(response: Any) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


def test_check_then_apply(admin_client: Client, study: Study) -> None:
    address = upload(admin_client, study, COMPLETIONS, PROMPTS).headers["Location"]
    job = ImportJob.objects.get()
    waiting = html_of(admin_client.get(address))
    assert '<meta http-equiv="refresh" content="3">' in waiting
    jobs.check(job.pk)
    page = admin_client.get(address)
    html = html_of(page)
    assert "You can import 3 records." in html
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>alert(1)" not in html
    assert "http-equiv" not in html
    assert page.context["report"].counts["completions"].empty == 1
    assert not Prompt.objects.exists()
    assert "Importing" in html_of(admin_client.post(address, clicked(), follow=True))
    jobs.apply(job.pk)
    done = html_of(admin_client.get(address))
    assert "3 records are now in the study" in done
    assert reverse("operate-people", args=[study.slug]) in done
    assert Completion.objects.count() == 2
    assert admin_client.post(address, clicked()).status_code == 302
    assert admin_client.post(address, {"cancel": "Cancel"}).status_code == 302
    assert "3 records are now in the study" in html_of(admin_client.get(address))


def test_a_page_that_shows_an_earlier_check_applies_nothing(admin_client: Client, study: Study) -> None:
    address = checked(admin_client, study, PROMPTS)
    outdated = clicked()
    admin_client.post(address, {"check": "Check again"})
    jobs.check(ImportJob.objects.get().pk)
    html = html_of(admin_client.post(address, outdated, follow=True))
    assert "The files were checked again in the meantime." in html
    assert ImportJob.objects.get().state == ImportJob.State.CHECKED
    admin_client.post(address, clicked())
    assert ImportJob.objects.get().state == ImportJob.State.APPLYING


def test_the_progress_is_asked_for_until_it_is_through(admin_client: Client, study: Study) -> None:
    address = upload(admin_client, study, PROMPTS).headers["Location"]
    job = ImportJob.objects.get()
    assert "Waiting for a worker." in html_of(admin_client.get(f"{address}progress/"))
    with jobs.runner(job.pk):
        jobs.store_progress(job.pk, jobs.Progress(0.25, 12_000, "prompts.jsonl"))
        html = html_of(admin_client.get(f"{address}progress/"))
        assert 'value="25"' in html
        assert "25% &middot; 12,000 records &middot; prompts.jsonl" in html
        jobs.ask_to_stop(job.pk)
        assert "Stopping. Nothing will be imported." in html_of(admin_client.get(f"{address}progress/"))
    jobs.check(job.pk)
    assert admin_client.get(f"{address}progress/").headers["HX-Refresh"] == "true"


def test_errors_by_file_and_line_and_many_are_counted(admin_client: Client, study: Study) -> None:
    votes = ("=votes.csv", "prompt,first,second,rater,rating,points\np1,A,B,ann,9,8\n")
    address = checked(admin_client, study, PROMPTS, votes)
    html = html_of(admin_client.get(address))
    assert "<td>=votes.csv</td>" in html
    assert "rating 9 is outside the scale 1-8" in html
    assert 'name="apply"' not in html
    admin_client.post(address, clicked())
    assert ImportJob.objects.get().state == ImportJob.State.CHECKED
    download = admin_client.get(f"{address}errors.csv")
    assert "greetings-import-" in download.headers["Content-Disposition"]
    lines = download.content.decode("utf-8-sig").splitlines()
    assert lines[0] == "file,line,field,reason"
    assert lines[1] == "'=votes.csv,2,rating,rating 9 is outside the scale 1-8"
    rows = "".join(f"p{number},A,x\n" for number in range(130))
    address = checked(admin_client, study, ("completions.csv", "prompt,contestant,text\n" + rows))
    html = html_of(admin_client.get(address))
    assert "130 errors" in html
    assert html.count("unknown prompt") == 1
    assert 'name="leave_out"' not in html, "nothing would be left to import"
    assert len(admin_client.get(f"{address}errors.csv").content.splitlines()) == 131
    address = checked(admin_client, study, PROMPTS, (votes[0], votes[1] + 129 * "p1,A,B,ann,9,8\n"))
    html = html_of(admin_client.get(address))
    assert html.count("rating 9 is outside the scale 1-8") == 1
    assert "130 times, also in row 3; row 4; row 5;" in html
    assert len(admin_client.get(f"{address}errors.csv").content.splitlines()) == 131


BAD_VOTES = ("votes.csv", "prompt,first,second,rater,rating,points\np1,A,B,ann,3,8\np1,B,A,ann,9,8\n")


def test_rows_with_errors_are_left_out_as_the_operator_saw_them(admin_client: Client, study: Study) -> None:
    address = checked(admin_client, study, PROMPTS, COMPLETIONS, BAD_VOTES)
    html = html_of(admin_client.get(address))
    assert "Leave out this row</button>" in html
    assert "rating: rating … is outside the scale …-…" in html
    leave_out = {**clicked(), "leave_out": ""}
    del leave_out["apply"]
    admin_client.post(address, leave_out)
    jobs.apply(ImportJob.objects.get().pk)
    done = html_of(admin_client.get(address))
    assert "4 records are now in the study" in done
    assert "What was left out" in done
    assert Comparison.objects.count() == 1
    assert study.left_out_rows.get().rows == 1
    assert "Left out: 1 row." in study.events.latest("pk").note


def test_no_other_rows_are_left_out_than_the_operator_saw(admin_client: Client, study: Study) -> None:
    address = checked(admin_client, study, BAD_VOTES, PROMPTS, COMPLETIONS)
    job = ImportJob.objects.get()
    assert jobs.request_apply(job, leave_out=True)
    other = ("prompts.jsonl", '{"id": "p1", "instruction": "Another text"}')
    factories.make_prompt(study=study, external_id="p1", turns=["Another text"])
    factories.make_pair(prompt=Prompt.objects.get())
    jobs.apply(job.pk)
    job.refresh_from_db()
    assert job.state == ImportJob.State.CHECKED, other
    assert "now other rows cannot be read than at the check" in html_of(admin_client.get(address))
    assert not study.left_out_rows.exists()
    assert not Comparison.objects.exists()


def test_files_that_add_nothing_are_not_applied(admin_client: Client, study: Study) -> None:
    first, second = (checked(admin_client, study, PROMPTS) for _ in range(2))
    for address, job in zip((first, second), ImportJob.objects.order_by("pk"), strict=True):
        seen = {"apply": "Apply", "seen": job.touched_at.isoformat()}
        admin_client.post(address, seen)
        jobs.apply(job.pk)
    assert "1 record is now in the study" in html_of(admin_client.get(first))
    assert "<h2>Nothing added</h2>" in html_of(admin_client.get(second))
    html = html_of(admin_client.get(checked(admin_client, study, PROMPTS)))
    assert "Nothing to add" in html
    assert 'name="apply"' not in html


def test_missing_answers_are_shown(admin_client: Client, study: Study) -> None:
    lacking = ("completions.csv", "prompt,contestant,text\np1,A,Hello\np2,B,Hi\n")
    prompts = ("p.jsonl", '{"id": "p1", "instruction": "One"}\n{"id": "p2", "instruction": "Two"}\n')
    html = html_of(admin_client.get(checked(admin_client, study, prompts, lacking)))
    assert "2 of 4 answers are missing: " in html
    assert html.count('class="import-lacks"') == html.count('class="import-has"') == 2


def test_pasted_text(admin_client: Client, study: Study) -> None:
    checked(admin_client, study, pasted=PROMPTS[1])
    checked(admin_client, study, pasted=f"\n{COMPLETIONS[1]}")
    names = [job.files.get().name for job in ImportJob.objects.order_by("pk")]
    assert names == ["pasted.jsonl", "pasted.csv"]
    assert ImportJob.objects.filter(report__records=1, report__error_count=0).count() == 1


def test_nothing_and_too_much_are_refused(admin_client: Client, study: Study, settings: Any) -> None:
    def check_refused(words: str, *files: tuple[str, str], **data: str) -> None:
        assert words in html_of(upload(admin_client, study, *files, **data))
        assert not ImportJob.objects.exists()

    check_refused("Choose at least one file, or paste text.", pasted=" ")
    long = "x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    check_refused("This is too much text for one form. Put it into one file.", pasted=long)
    many = [(f"{number}.csv", "x") for number in range(settings.DATA_UPLOAD_MAX_NUMBER_FILES + 1)]
    check_refused("This is too many files for one form. Put it into one file.", *many)
    settings.IMPORT_MAX_MB = 1
    half = "x" * (forms.MIB // 2 + 1)
    check_refused("You can upload at most 1 MB at a time.", ("prompts.jsonl", "x" * 2 * forms.MIB))
    check_refused("You can upload at most 1 MB at a time.", ("prompts.jsonl", half), pasted=half)
    assert not ImportChunk.objects.exists()


def test_cancel_throws_the_files_away_and_a_failure_is_told(admin_client: Client, study: Study) -> None:
    address = checked(admin_client, study, PROMPTS)
    html = html_of(admin_client.post(address, {"cancel": "Cancel"}, follow=True))
    assert "Nothing was imported. The uploaded files were deleted." in html
    assert not ImportChunk.objects.exists()
    job = factories.make_import_job(PROMPTS, study=study)
    jobs.end(job.pk, ImportJob.State.FAILED, "It went wrong.")
    html = html_of(admin_client.get(reverse("operate-import-job", args=[study.slug, job.pk])))
    assert "It went wrong. The uploaded files were deleted." in html


def test_recent_imports_are_listed(admin_client: Client, admin_user: Any, study: Study) -> None:
    factories.make_import_job(("other.jsonl", "x"))  # of another study
    checked(admin_client, study, COMPLETIONS)
    address = checked(admin_client, study, PROMPTS, COMPLETIONS)
    html = html_of(admin_client.get(reverse("operate-import", args=[study.slug])))
    for said in (address, "prompts.jsonl, completions.csv", f'"By">{admin_user}</td>'):
        assert said in html
    assert "Checked</span>" in html
    assert "2 errors</span>" in html
    assert "other.jsonl" not in html


def test_raters_have_to_wait_on_sqlite(admin_client: Client, study: Study) -> None:
    address = checked(admin_client, study, PROMPTS)
    ImportJob.objects.update(check_seconds=42.4)
    said = "Raters and judges will wait for about 42 seconds" in html_of(admin_client.get(address))
    assert said == (connection.vendor == "sqlite")


class TestFormat:
    def choose(self, client: Client, address: str, **data: str | list[str]) -> Any:
        sent = {name.replace("__", "-"): value for name, value in data.items()}
        return client.post(address, {"check": "Check again", **sent}, follow=True)

    def checked(self, client: Client, address: str, **data: str | list[str]) -> Any:
        """The page after files are checked again with these choices."""
        self.choose(client, address, **data)
        jobs.check(ImportJob.objects.latest("pk").pk)
        return client.get(address)

    def test_a_chosen_format_is_the_only_one(self, admin_client: Client, study: Study) -> None:
        address = checked(admin_client, study, PROMPTS)
        html = html_of(self.choose(admin_client, address, file0__format_name="nonsense"))
        assert "Choose from the list." in html
        assert "Checking the files" in html_of(self.choose(admin_client, address, file0__format_name="csv"))
        jobs.check(ImportJob.objects.get().pk)
        html = html_of(admin_client.get(address))
        assert "This file is of no known kind. Check what each column is:" in html

    def test_columns_of_a_foreign_table(self, admin_client: Client, study: Study) -> None:
        address = checked(admin_client, study, FOREIGN)
        html = html_of(admin_client.get(address))
        assert "no format has these columns" not in html
        assert "Say what they are:" in html
        assert '<span class="import-sample small">left</span>' in html
        said = {
            "file0__format_name": "table",
            "file0__kind": "comparisons",
            "file0__column__0": "first",
            "file0__column__1": "second",
            "file0__column__2": "winner",
            "file0__value__rater": "crowd",
            "file0__value__organisation": "of another kind, so left out",
        }
        page = self.checked(admin_client, address, **said)
        assert page.context["report"].ok, page.context["report"].errors
        assert 'value="crowd"' in html_of(page)
        applied(admin_client, address)
        assert sorted(Comparison.objects.values_list("rating", "points")) == [(1, 3), (2, 3)]

    def test_values_of_a_verdict_are_listed_and_get_their_meaning(
        self, admin_client: Client, study: Study
    ) -> None:
        rows = "left,right,winner\nA,B,0\nB,A,1\nB,A,1\nA,B,tie\n"
        address = checked(admin_client, study, ("votes.csv", rows))
        page = admin_client.get(address)
        (form,) = page.context["forms"]
        found = [(value, rows, meaning.value()) for value, rows, meaning in form.meaning_rows()]
        assert found == [("1", 2, None), ("0", 1, None), ("tie", 1, "tie")]
        sent = {**shown(form), "file0-meaning-0": "second", "file0-meaning-1": "first"}
        page = self.checked(admin_client, address, **sent)
        assert page.context["report"].errors == []
        assert "the second is better" in html_of(page)
        applied(admin_client, address)
        assert sorted(Comparison.objects.values_list("rating", flat=True)) == [1, 2, 3, 3]

    def test_each_rater_may_have_a_column(self, admin_client: Client, study: Study) -> None:
        address = checked(admin_client, study, ("votes.csv", "left,right,ann,bob,cat\nA,B,left,,right\n"))
        said = {"file0__format_name": "table", "file0__kind": "comparisons"}
        said |= {
            f"file0__column__{number}": name
            for number, name in enumerate(["first", "second", "winner", "winner", "winner"])
        }
        page = self.checked(admin_client, address, **said)
        assert page.context["report"].errors == []
        meanings = [meaning.value() for _, _, meaning in page.context["forms"][0].column_rows()]
        assert meanings[2:] == ["winner"] * 3
        applied(admin_client, address)
        assert sorted(Comparison.objects.values_list("rater__slug", "rating")) == [("ann", 1), ("cat", 3)]

    def test_a_mapping_with_faults_is_not_checked(self, admin_client: Client, study: Study) -> None:
        address = checked(admin_client, study, FOREIGN)
        said = {"file0__format_name": "table", "file0__kind": "completions"}
        html = html_of(self.choose(admin_client, address, **said))
        assert "Answers need the prompt&#x27;s id or the prompt&#x27;s text; give it a column" in html
        assert "Not checked yet" in html
        assert 'name="apply"' not in html, "the last check is not that of the mapping on the page"
        assert ImportJob.objects.get().state == ImportJob.State.CHECKED

    def test_well_known_names_of_columns_are_understood(self, admin_client: Client, study: Study) -> None:
        address = checked(admin_client, study, ("answers.csv", "question,system,answer\nWhy?,A,So.\n"))
        page = admin_client.get(address)
        assert page.context["report"].ok
        assert page.context["report"].counts["completions"].added == 1
        assert "We guessed from its name what each column is." in html_of(page)
        (form,) = page.context["forms"]
        told = {name: form[name].value() for name in form.fields if form[name].value()}
        assert told == {
            **{"format_name": "table", "kind": "completions", "header": "1"},
            **{"column-0": "instruction", "column-1": "contestant", "column-2": "text"},
        }

    def test_a_header_can_be_chosen_and_stays(self, admin_client: Client, study: Study) -> None:
        rows = ["Our answers", "a,b,c", "Question,Alder,Birch", "Why is it?,It is so.,It is not so."]
        address = checked(admin_client, study, ("answers.csv", "\n".join(rows)))
        (form,) = admin_client.get(address).context["forms"]
        assert form["header"].value() == "2"
        choices = dict(form.fields["header"].choices)
        assert (choices["3"], choices["2-3"], choices["0"]) == (
            *("Row 3: Question, Alder, Birch", "Rows 2 and 3 together"),
            "No row",
        )
        for _ in range(2):
            page = self.checked(admin_client, address, **{**shown(form), "file0-header": "3"})
            (form,) = page.context["forms"]
            assert (form["header"].value(), form.models) == ("3", ("Alder", "Birch"))
            assert page.context["report"].counts["completions"].added == 2
        assert "row 3 read as the header; 2 rows above the header skipped" in html_of(page)
        applied(admin_client, address)
        assert Completion.objects.count() == 2

    def test_a_file_can_be_left_out_of_several(self, admin_client: Client, study: Study) -> None:
        licence = ("LICENSE", "Permission is hereby granted, free of charge, to any person\n")
        address = checked(admin_client, study, PROMPTS, licence, FOREIGN)
        page = admin_client.get(address)
        first, second, third = page.context["forms"]
        assert [form.left_out for form in (first, second, third)] == [False, True, False]
        assert "LICENSE: the file is left out" in html_of(page)
        data = {**shown(first), **shown(second), **shown(third)}
        page = self.checked(admin_client, address, **{**data, "file2-format_name": "left-out"})
        assert page.context["report"].ok
        assert page.context["report"].records == 1
        assert html_of(page).count("Left out. To read it, choose another format.") == 2

    @pytest.mark.parametrize("head", ["question", "id,instruction"])
    def test_a_column_for_each_model(self, admin_client: Client, study: Study, head: str) -> None:
        rows = ["Why?", "How?"] if head == "question" else ["1,Why?", "2,How?"]
        wide = "\n".join([f"{head},Alder,Birch,score", *(f"{row},So.,No.,5" for row in rows)])
        address = checked(admin_client, study, ("wide.csv", wide))
        page = admin_client.get(address)
        html = html_of(page)
        assert "<strong>Alder</strong> and <strong>Birch</strong> of wide.csv are models" in html
        assert "1 column is not used in wide.csv: score." in html
        assert page.context["report"].counts["completions"].added == 4
        (form,) = page.context["forms"]
        page = self.checked(
            admin_client, address, **{**shown(form), f"file0-column-{len(form.row.columns) - 1}": "own"}
        )
        assert page.context["report"].unused == []
        assert page.context["report"].counts["completions"].added == 6

    def test_answers_with_the_texts_of_their_prompts(self, admin_client: Client, study: Study) -> None:
        rows = [{"prompt": "a", "instruction": "Say A.", "contestant": name, "text": "A!"} for name in "XY"]
        both = ("both.jsonl", "\n".join(map(json.dumps, rows)))
        added = admin_client.get(checked(admin_client, study, both)).context["report"].counts
        assert (added["prompts"].added, added["completions"].added) == (1, 2)
        apart = ("prompts.csv", "id,instruction,input\na,Say,A.\n")
        report = admin_client.get(checked(admin_client, study, both, apart)).context["report"]
        assert (report.error_count, report.unused[0].columns) == (0, ("instruction",))

    @pytest.mark.parametrize(
        ("table", "question", "answer", "added"),
        [
            (
                "Aufgabe,Alder,Birch\nNenne einen Fluss.,Rhein.,Elbe.\nNenne einen Vogel.,Uhu.,Spatz.\n",
                "Which column is the prompt?",
                "",
                {"prompts": 2, "contestants": 2, "completions": 4},
            ),
            (
                "Alder,Frage,Birch\nEs ist der Rhein.,Welcher Fluss?,Elbe.\nEin Uhu.,Welcher Vogel?,Spatz.\n",
                "Which column is the prompt?",
                "Frage",
                {"prompts": 2, "contestants": 2, "completions": 4},
            ),
            (
                "question,answer\nName a river.,The Rhine.\n",
                "Which model wrote the answers in the column answer?",
                "Heron",
                {"prompts": 1, "contestants": 1, "completions": 1},
            ),
            (
                "question,Alder\nName a river.,The Rhine.\n",
                "Is Alder a model, and are its cells the answers?",
                "yes",
                {"prompts": 1, "contestants": 1, "completions": 1},
            ),
            (
                "question,model_a,model_b,rating,rater\nName a river.,Heron,Stork,2,ann\n",
                "On how many points were the ratings given?",
                "5",
                {"comparisons": 1, "raters": 1, "contestants": 2},
            ),
        ],
    )
    def test_one_question_is_asked_and_nothing_is_read_before_its_answer(
        self,
        admin_client: Client,
        study: Study,
        table: str,
        question: str,
        answer: str,
        added: dict[str, int],
    ) -> None:
        address = checked(admin_client, study, ("table.csv", table))
        page = admin_client.get(address)
        assert question in html_of(page)
        assert 'name="apply"' not in html_of(page)
        (form,) = page.context["forms"]
        page = self.checked(admin_client, address, **{**shown(form), "file0-asked": answer})
        report = page.context["report"]
        assert (report.error_count, question in html_of(page)) == (0, False)
        assert {kind: report.counts[kind].added for kind in added} == added

    def test_a_model_is_a_choice_for_prompts_too(self, admin_client: Client, study: Study) -> None:
        table = "id,instruction,Alder\np1,Name a river.,The Rhine.\n"
        address = checked(admin_client, study, ("table.csv", table))
        page = admin_client.get(address)
        (form,) = page.context["forms"]
        chosen = {"file0-format_name": "table", "file0-kind": "prompts", "file0-column-2": "own"}
        report = self.checked(admin_client, address, **{**shown(form), **chosen}).context["report"]
        assert (report.error_count, report.counts["completions"].added) == (0, 1)
        assert report.preview["completions"][0]["prompt"] == "p1"

    @pytest.mark.parametrize("said", ["person", "judge"])
    def test_what_a_rater_is_is_asked(self, admin_client: Client, study: Study, said: str) -> None:
        votes = "model_a,model_b,winner,judge\nHeron,Stork,Heron,gpt-4\nHeron,Stork,tie,gpt-4\n"
        address = checked(admin_client, study, ("votes.csv", votes))
        page = admin_client.get(address)
        html = html_of(page)
        assert "is &quot;gpt-4&quot; a person or a judge?" in html
        assert 'name="apply"' not in html
        (form,) = page.context["forms"]
        assert [name for name, _ in form.rater_rows()] == ["gpt-4"]
        page = self.checked(admin_client, address, **{"file0-format_name": "", "file0-rater-0": said})
        assert page.context["report"].error_count == 0
        (form,) = page.context["forms"]
        assert form["rater-0"].value() == said
        applied(admin_client, address)
        assert list(Rater.objects.filter(study=study).values_list("slug", "kind")) == [("gpt-4", said)]

    def test_cells_that_keep_columns_from_being_models(self, admin_client: Client, study: Study) -> None:
        wide = "id,prompt,Heron,Stork\na,Say A to me.,#REF!,2026-01-02\nb,Say B to me.,#REF!,\n"
        html = html_of(admin_client.get(checked(admin_client, study, ("wide.csv", wide))))
        assert "for models because of cells such as #REF!, 2026-01-02. To use them, say below what" in html

    def test_no_character_of_a_file_hides_or_acts(self, admin_client: Client, study: Study) -> None:
        wide = "id,instruction,<a>\u202e,\x1b[1m\np1,Why\u202e?\x07,5,6\n"
        address = checked(admin_client, study, ("wide.csv", wide))
        html = html_of(admin_client.get(address))
        assert r"2 columns are not used in wide.csv: &lt;a&gt;\u202e, \u001b[1m." in html
        assert r"<td>Why\u202e?\u0007</td>" in html
        assert not re.search("[\u202e\x1b\x07]", re.sub('="[^"]*"', "", html))

    def test_a_table_of_requirements(self, admin_client: Client, study: Study) -> None:
        factories.make_prompt(study=study, external_id="river 1")
        link = f"{reverse('operate-import', args=[study.slug])}?rows=questions"
        page = admin_client.get(reverse("operate-requirements", args=[study.slug]))
        assert f'href="{link}"' in html_of(page)

        def checked(name: str, head: str) -> Any:
            file = SimpleUploadedFile(name, f"{head}\nriver 1,Is {name} short?,format\n".encode())
            address = admin_client.post(link, {"uploads": [file]}).headers["Location"]
            jobs.check(ImportJob.objects.latest("pk").pk)
            return admin_client.get(address)

        (form,) = checked("c.csv", "nummer,anforderung,art").context["forms"]
        assert form["kind"].value() == "questions"
        for name, head in (("a.csv", "prompt,requirement,labels"), ("b.csv", "prompt,question,labels")):
            page = checked(name, head)
            assert page.context["report"].ok
            assert page.context["report"].counts["questions"].added == 1
            assert page.context["report"].counts["prompts"].added == 0
            (form,) = page.context["forms"]
            assert form.guesses["questions"] == ["prompt", "text", "labels"]

    def test_a_table_without_a_word_about_its_columns(self, admin_client: Client, study: Study) -> None:
        address = checked(admin_client, study, ("votes.jsonl", '{"id": "p1", "instruction": "One"}\n'))
        html = html_of(self.choose(admin_client, address, file0__format_name="table"))
        assert "Checking the files" in html, "the names of the columns tell enough"
        ImportJob.objects.all().delete()
        address = checked(admin_client, study, COMPLETIONS)
        ImportJob.objects.get().files.update(columns=["x", "y"])
        html = html_of(self.choose(admin_client, address, file0__format_name="table"))
        assert "give it a column" in html


def test_an_import_leads_to_the_requirements_of_a_study_that_has_none(
    admin_client: Client, study: Study
) -> None:
    Study.objects.update(tasks=["check"], is_draft=True)
    address = checked(admin_client, study, PROMPTS)
    html = applied(admin_client, address)
    assert f'href="{reverse("operate-requirements", args=[study.slug])}">Next: requirements<' in html
    assert "step 3 of 7" in html
    factories.make_question(prompt=Prompt.objects.get())
    assert "Next: invite raters" in html_of(admin_client.get(address))


@pytest.mark.parametrize(("is_staff", "status"), [(False, 404), (True, 403)])
def test_others_and_forms_from_elsewhere_change_nothing(study: Study, is_staff: bool, status: int) -> None:
    client = Client(enforce_csrf_checks=is_staff)
    client.force_login(factories.make_user(is_staff=is_staff))
    job = factories.make_import_job(PROMPTS, study=study)
    address = reverse("operate-import-job", args=[study.slug, job.pk])
    assert upload(client, study, PROMPTS).status_code == status
    assert client.post(address, {"cancel": "Cancel"}).status_code == status
    assert ImportJob.objects.get().state == ImportJob.State.CHECKING


def test_a_job_belongs_to_its_study(admin_client: Client, study: Study) -> None:
    job = factories.make_import_job(PROMPTS)
    address = reverse("operate-import-job", args=[study.slug, job.pk])
    for each in (address, f"{address}progress/", f"{address}errors.csv"):
        assert admin_client.get(each).status_code == 404
    assert admin_client.post(address, {"cancel": "Cancel"}).status_code == 404
