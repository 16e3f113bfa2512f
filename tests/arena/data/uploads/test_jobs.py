"""Import jobs: checked, applied exactly once, cancelled without a trace, never forgotten."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.core.files.base import ContentFile
from django.db import OperationalError, transaction
from django.utils import timezone

from arena.data.importing import imports, scratch
from arena.data.importing.imports import import_records
from arena.data.uploads import jobs
from arena.models import Completion, Contestant, ImportChunk, ImportJob, Prompt, Rater, Study, StudyEvent
from arena.process import busy
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

State = ImportJob.State
PROMPTS = ("prompts.jsonl", '{"id": "p1", "instruction": "One"}\n{"id": "p2", "instruction": "Two"}\n')
COMPLETIONS = ("completions.csv", "prompt,contestant,text\np1,A,Hello\np2,A,Hi\n")


LOCKED = OperationalError("database is locked")


def make_checked(*files: tuple[str, str], **overrides: Any) -> ImportJob:
    job = factories.make_import_job(*files, **overrides)
    jobs.check(job.pk)
    job.refresh_from_db()
    return job


def fail(error: Exception) -> Callable[..., Any]:
    """A function that raises, whatever it is called with."""

    def raising(*_: Any, **__: Any) -> Any:
        raise error

    return raising


def state_of(job: ImportJob) -> tuple[str, str]:
    job.refresh_from_db()
    return job.state, job.error


def test_an_upload_waits_for_its_check(nudges: Any, django_capture_on_commit_callbacks: Any) -> None:
    study, user = factories.make_study(), factories.make_user()
    with django_capture_on_commit_callbacks(execute=True):
        job = jobs.start(study, user, [ContentFile(b"x" * (jobs.PIECE + 1), "a.jsonl")])
    assert nudges == [(job.pk, "checking")]
    assert list(ImportChunk.objects.values_list("position", flat=True)) == [0, 1]
    assert job.files.get().size == jobs.PIECE + 1


def test_files_come_back_as_they_were() -> None:
    content = os.urandom(2 * jobs.PIECE + 17)
    job = ImportJob.objects.create(study=factories.make_study())
    jobs.store(job, [ContentFile(content, "../../evil.jsonl"), ContentFile(b"", "evil.jsonl")])
    with jobs.unpacked(job) as files:
        (_, first), (_, second) = files
        assert (first.name, first.path.read_bytes()) == ("evil.jsonl", content)
        assert (second.name, second.path.read_bytes()) == ("evil (2).jsonl", b"")
        assert first.path.parent.parent == scratch.working_folder()
        assert first.path.parent.stat().st_mode & 0o077 == 0
    assert not first.path.parent.exists()


def test_check_then_apply() -> None:
    user = factories.make_user()
    job = make_checked(COMPLETIONS, PROMPTS, user=user)
    assert state_of(job) == (State.CHECKED, "")
    assert job.report["records"] == 4
    found = [(file.found_format, file.found_kind) for file in job.files.all()]
    assert found == [("csv", "completions"), ("jsonl", "prompts")]
    assert not Prompt.objects.exists()
    assert jobs.request_apply(job)
    jobs.apply(job.pk)
    assert state_of(job) == (State.APPLIED, "")
    assert Completion.objects.count() == 2
    assert not ImportChunk.objects.exists()
    said = "New: 1 model, 2 prompts, 2 answers."
    assert StudyEvent.objects.get(kind="imported", by=user).note == said


def test_apply_is_asked_for_and_done_once(nudges: Any, django_capture_on_commit_callbacks: Any) -> None:
    job = make_checked(PROMPTS)
    with django_capture_on_commit_callbacks(execute=True):
        assert [jobs.request_apply(job), jobs.request_apply(job)] == [True, False]
    assert nudges == [(job.pk, "applying")]
    jobs.apply(job.pk)
    before = ImportJob.objects.values().get()
    jobs.apply(job.pk)
    jobs.check(job.pk)
    assert ImportJob.objects.values().get() == before
    jobs.cancel(job)
    assert state_of(job)[0] == State.APPLIED
    assert Prompt.objects.count() == 2


def test_files_with_errors_are_not_applied() -> None:
    job = make_checked(("completions.csv", "prompt,contestant,text\np9,A,Hello\n"))
    assert job.report["error_count"] == 1
    assert not jobs.request_apply(job)
    ImportJob.objects.update(state=State.APPLYING)
    jobs.apply(job.pk)
    sentence = "Nothing was imported: the study changed after the check, and now the files have errors."
    assert state_of(job) == (State.CHECKED, sentence)
    assert not Contestant.objects.exists()
    assert ImportChunk.objects.exists()


def test_another_worker_at_the_same_job() -> None:
    job = factories.make_import_job(PROMPTS)
    with jobs.runner(job.pk) as first:
        assert first
        jobs.check(job.pk)
        assert state_of(job)[0] == State.CHECKING
    jobs.check(job.pk)
    assert state_of(job)[0] == State.CHECKED


@pytest.mark.parametrize("moment", ["at the first record", "after the last"])
def test_cancel_while_it_is_applied(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    job = make_checked(COMPLETIONS, PROMPTS)
    jobs.request_apply(job)

    def cancelled(slug: str, items: Any, **more: Any) -> Any:
        if moment == "at the first record":
            jobs.ask_to_stop(job.pk)
        report = import_records(slug, items, **more)
        assert moment == "after the last", "a wish is seen while records are read"
        assert Completion.objects.count() == 2, "the import was at work"
        jobs.ask_to_stop(job.pk)
        return report

    monkeypatch.setattr(jobs, "import_records", cancelled)
    jobs.apply(job.pk)
    assert state_of(job) == (State.CANCELLED, "Nothing was imported.")
    assert not Prompt.objects.exists()
    assert not ImportChunk.objects.exists()


def test_cancel_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_checked(PROMPTS)

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "end", fail(LOCKED))
        jobs.cancel(job)
    assert state_of(job)[0] == State.CHECKED
    assert jobs.is_to_stop(job.pk)
    assert ImportChunk.objects.exists()
    assert jobs.request_apply(job), "an earlier wish is no wish about what was asked for after it"
    jobs.apply(job.pk)
    assert state_of(job)[0] == State.APPLIED


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            KeyError("a secret"),
            "An error in the arena stopped the import (KeyError). Its log says more.",
        ),
        (OperationalError("database or disk is full"), busy.FULL),
    ],
)
def test_an_error_of_our_own_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    job = factories.make_import_job(PROMPTS)
    monkeypatch.setattr(jobs, "import_records", fail(error))
    jobs.check(job.pk)
    assert state_of(job) == (State.FAILED, f"{reason} Nothing was imported.")
    assert not ImportChunk.objects.exists()


def test_a_busy_database_is_tried_again(monkeypatch: pytest.MonkeyPatch, nudges: Any) -> None:
    job = factories.make_import_job(PROMPTS)

    monkeypatch.setattr(jobs, "import_records", fail(LOCKED))
    jobs.check(job.pk)
    assert state_of(job) == (State.CHECKING, "")
    monkeypatch.setattr(jobs, "import_records", import_records)
    assert jobs.sweep() == 1
    assert nudges == [(job.pk, "checking")]
    jobs.check(job.pk)
    assert state_of(job) == (State.CHECKED, "")


def test_a_job_that_kills_its_workers_is_given_up() -> None:
    job = factories.make_import_job(PROMPTS)
    ImportJob.objects.update(attempts=jobs.ATTEMPTS)
    jobs.check(job.pk)
    sentence = (
        "The import was started 3 times and did not finish. The worker's log may say why. "
        "Nothing was imported."
    )
    assert state_of(job) == (State.FAILED, sentence)


def test_the_sweep_asks_for_lost_jobs_once_in_a_while(nudges: Any) -> None:
    lost = factories.make_import_job(PROMPTS)
    with jobs.runner(lost.pk):
        assert jobs.sweep() == 0
    assert [jobs.sweep(), jobs.sweep()] == [1, 0]
    assert nudges == [(lost.pk, "checking")]


def test_copies_of_killed_workers_go_with_the_next_sweep() -> None:
    left = scratch.working_folder() / "import-left"
    left.mkdir(exist_ok=True)
    (left / "0").write_text("x")
    with scratch.scratch_folder() as used:
        (used / "0").write_text("x")
        jobs.sweep()
        assert (left.exists(), (used / "0").exists()) == (False, True)
    assert not used.exists()


def test_forgotten_files_go_after_a_day() -> None:
    study = factories.make_study()
    forgotten = make_checked(PROMPTS, study=study)
    broken_off = factories.make_import_job(PROMPTS, study=study, state=State.UPLOADING)
    running_one = factories.make_import_job(PROMPTS, study=study)
    ended = factories.make_import_job(PROMPTS, study=study, state=State.APPLIED, ended_at=timezone.now())
    jobs.sweep(timezone.now() + timedelta(hours=23))
    assert state_of(forgotten)[0] == State.CHECKED
    assert not ImportChunk.objects.filter(file__job=ended).exists()
    jobs.sweep(timezone.now() + timedelta(hours=25))
    sentence = "Nobody applied these files within 24 hours."
    assert state_of(forgotten) == state_of(broken_off) == (State.CANCELLED, sentence)
    assert state_of(running_one)[0] == State.CHECKING
    assert set(ImportChunk.objects.values_list("file__job", flat=True)) == {running_one.pk}


@pytest.mark.both_databases(False)
def test_the_cache_may_be_away(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("get", "set", "add", "delete"):
        monkeypatch.setattr(type(caches["progress"]), name, fail(ConnectionError("no cache")))
    job = make_checked(PROMPTS)
    jobs.request_apply(job)
    jobs.apply(job.pk)
    assert state_of(job) == (State.APPLIED, "")
    assert not jobs.is_to_stop(job.pk)
    assert jobs.progress_of(job.pk) == jobs.Progress()


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "CHUNK", 1)
    told: list[jobs.Progress] = []
    monkeypatch.setattr(jobs, "store_progress", lambda job, how_far: told.append(how_far))
    make_checked(PROMPTS)
    assert told[-1].share == 1.0
    assert {entry.file for entry in told} >= {"prompts.jsonl"}
    assert [entry.share for entry in told] == sorted(entry.share for entry in told)


def test_hostile_texts_in_the_report_can_be_stored() -> None:
    line = json.dumps({"pro\x00mpt": "\ud800", "text": "\x00"})
    job = make_checked(("bad\ud800.jsonl".encode("utf-8", "replace").decode(), f"{line}\n"))
    assert state_of(job)[0] == State.CHECKED
    assert "\x00" not in str(job.report)
    assert job.files.get().columns == ["pro\N{REPLACEMENT CHARACTER}mpt", "text"]


def test_cancel_while_it_waits_and_a_study_takes_its_jobs_along() -> None:
    job = make_checked(PROMPTS)
    jobs.cancel(job)
    assert state_of(job) == (State.CANCELLED, "Nothing was imported.")
    assert not ImportChunk.objects.exists()
    assert not jobs.request_apply(job)
    other = make_checked(PROMPTS)
    with transaction.atomic():
        Study.objects.get(pk=other.study_id).delete()
    assert not ImportChunk.objects.exists()


def test_an_upload_is_imported_as_its_subset_and_judge_were_told() -> None:
    results = [{f"swap = {swap}": {"completion": ["x", "stop"], "winner": "1"} for swap in (False, True)}]
    item = {
        "input": "Name a wader.",
        "output_1": "Dunlin",
        "output_2": "Duck",
        "label": 1,
        "results": results,
    }
    job = factories.make_import_job(("result.json", json.dumps([item])))
    jobs.check(job.pk)
    job.refresh_from_db()
    assert job.report["error_count"] == 1
    file = job.files.get()
    file.mapping = {"about": {"subset": "Natural", "judge": "jay", "model": "jay-1"}}
    assert jobs.request_check(job, [file])
    jobs.check(job.pk)
    job.refresh_from_db()
    assert jobs.request_apply(job)
    jobs.apply(job.pk)
    judge = Rater.objects.get(study=job.study)
    assert (judge.slug, judge.facts) == ("jay", {"model": "jay-1"})
    assert job.study.prompts.get().subset == "Natural"
