"""What is exported comes in again as the zip it is, on the page and by command, with the same numbers.

In every form all columns come back: tests/arena/data/test_export.py.
"""

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from arena.data.formats import archives
from arena.data.formats.values import UnreadableError
from arena.data.importing.imports import NOT_ASKED, import_files
from arena.data.uploads import jobs
from arena.models import ImportJob, Pair, Rater, Study
from arena.rules.subsets import TRAINING_SUBSET
from judging.panels.services import convene, create_panel
from leaderboard.files import exports
from leaderboard.files.bundle.archive import Reader
from leaderboard.files.bundle.making import make
from leaderboard.files.bundle.recomputing import recompute
from leaderboard.models import SnapshotSlice
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

SETTINGS = {"gold_share": 0.25, "guidelines": "Rate.", "goal": 7, "points": 5, "reasons": ["Kinder"]}
TRAINING = (
    '{"id": "a", "prompt": "7 x 8?", "first": "56", "second": "58", "gold": "first", "explanation": "Why"}\n'
    '{"id": "b", "prompt": "A river?", "first": "", "second": "Glomma", "gold": "second", "use": "check"}\n'
)


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Study:
    """People, two judges and their panel, scores, checks, gold labels, training, checks and settings."""
    monkeypatch.setattr(services, "ROUNDS", 3)
    made = HandMade("=Alpha", "Beta", "Gamma", slug="made", categories=("coding", "poems", "coding"))
    judges = [factories.make_judge(slug=slug) for slug in ("ayla", "ben")]
    panel = create_panel("both", "Both", "mean", judges)
    for number, (first, second) in enumerate((("=Alpha", "Beta"), ("Gamma", "Beta"), ("=Alpha", "Gamma"))):
        for prompt in range(3):
            made.rate(first, second, 1 + (3 * prompt + number) % 8, prompt=prompt)
            for judge in judges:
                made.rate(first, second, 1 + (prompt + 2 * number) % 8, prompt=prompt, rater=judge.rater)
    convene(panel.pk)
    text = made.prompts[0].completions.first()
    factories.make_score(completion=text, rater=made.person)
    asked = factories.make_question(prompt=made.prompts[0])
    factories.make_answer(completion=text, question=asked, rater=made.person)
    Pair.objects.filter(prompt=made.prompts[1]).update(gold="first", gold_source="Ann")
    (tmp_path / "training.jsonl").write_text(TRAINING)
    assert import_files("made", [tmp_path / "training.jsonl"]).errors == []
    Study.objects.filter(pk=made.study.pk).update(tasks=["compare", "score", "check"], **SETTINGS)
    made.study.refresh_from_db()
    return made.study


def uploaded(client: Client, study: Study, name: str, content: bytes) -> ImportJob:
    """The job of a file that was uploaded, checked and applied where nothing is wrong."""
    address = f"/operate/{study.slug}/import/"
    reply = client.post(address, {"uploads": [SimpleUploadedFile(name, content)]})
    assert reply.status_code == 302, reply.content.decode()
    job = ImportJob.objects.latest("pk")
    jobs.check(job.pk)
    job.refresh_from_db()
    client.post(f"{address}{job.pk}/", {"apply": "", "seen": job.touched_at.isoformat()})
    jobs.apply(job.pk)
    job.refresh_from_db()
    return job


def boards(study: Study) -> dict[tuple[str, ...], str]:
    """Every table of the newest snapshot by its setting."""
    services.refresh(study)
    place = ("kind", "raters", "ties", "category", "method")
    rows = SnapshotSlice.objects.filter(snapshot=services.Snapshot.objects.newest(study))
    named = rows.values_list(*place, "payload")
    return {tuple(row[:5]): row[5].replace(f'"study":"{study.slug}"', '"study":""') for row in named}


def by_page(study: Study, slug: str, client: Client) -> Study:
    reply = client.get(f"/studies/{study.slug}/export/file/", {"what": "all", "format": "csv"})
    copy = factories.make_study(slug=slug, is_draft=True)
    job = uploaded(client, copy, "made.zip", b"".join(reply.streaming_content))
    assert (job.state, job.report["errors"]) == ("applied", [])
    return copy


def by_command(study: Study, slug: str, folder: Path) -> Study:
    file = str(folder / f"{slug}.zip")
    call_command("export", study.slug, "--what", "all", "--out", file)
    call_command("import_data", slug, file, stdout=io.StringIO(), stderr=io.StringIO())
    return Study.objects.get(slug=slug)


def test_a_study_comes_back_whole(
    study: Study, admin_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "nudge", lambda *_: None)
    before = boards(study)
    assert {place[0] for place in before} >= {"standings", "agreement", "correlation", "trust", "scores"}
    copies = [by_page(study, "csv", admin_client), by_command(study, "jsonl", tmp_path)]
    for copy in copies:
        copy.refresh_from_db()
        assert {name: getattr(copy, name) for name in SETTINGS} == SETTINGS
        assert copy.tasks == ["compare", "score", "check"]
        taken = "guidelines, goal, points, tasks, reasons, gold share"
        assert [(event.kind, event.note) for event in copy.events.exclude(kind="imported")] == [
            ("setting", f"Taken from an import: {taken}.")
        ]
        apart = Pair.objects.filter(prompt__study=copy, prompt__subset=TRAINING_SUBSET).order_by("pk")
        assert list(apart.values_list("gold", "use", "explanation")) == [
            ("first", "train", "Why"),
            ("second", "check", ""),
        ]
        assert Rater.objects.filter(study=copy).panels().get().derived_from == ["ayla", "ben"]
        assert boards(copy) == before
    bundle = io.BytesIO()
    make(copies[0], bundle)
    assert recompute(Reader(bundle)).verdict.is_equal


def test_settings_that_a_file_says_are_not_guessed_from_ratings(tmp_path: Path) -> None:
    pair = factories.make_pair()
    factories.make_comparison(pair=pair, rating=2, points=3)
    copy = by_command(pair.prompt.study, "copy", tmp_path)
    assert (copy.points, copy.criteria) == (8, [])


def test_settings_of_a_study_that_has_its_own_stay(tmp_path: Any) -> None:
    factories.make_study(slug="made", **SETTINGS)
    call_command("export", "made", "--what", "study", "--out", str(tmp_path / "study.csv"))
    other = factories.make_study(slug="other", guidelines="Mine.")
    factories.make_prompt(study=other)
    report = import_files("other", [tmp_path / "study.csv"])
    kept = "this study keeps its own settings: guidelines, goal, points, reasons, gold share"
    assert [note.text for note in report.notes] == [kept]
    draft = factories.make_study(slug="draft", guidelines="Mine.", name="My name")
    report = import_files("draft", [tmp_path / "study.csv"])
    assert [note.text for note in report.notes] == ["this study keeps its own settings: guidelines"]
    assert import_files("made", [tmp_path / "study.csv"]).notes == []
    for one in (other, draft):
        one.refresh_from_db()
        assert one.guidelines == "Mine."
    assert (other.goal, draft.goal, draft.name) == (None, 7, "My name")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("tasks", value) for value in ([], ["fly"], ["compare", "compare"], "compare", {"a": 1}, None)),
        *(("points", value) for value in (7, "x", None, 1e300, [5])),
        *(("gold_share", value) for value in (0.6, -1, "nan", "", [0.1])),
        *(("criteria", value) for value in (["x" * 101], ["a", "A"], [1], ["\u202e"], ["x"] * 21)),
        *(("naming", value) for value in ("blank", 5, None)),
        *(("pairing", value) for value in ("", "dance")),
        ("goal", 0),
        ("goal", -5),
        ("goal", 2**70),
        ("score_lowest", 9),
        ("reveal_names", "perhaps"),
        ("licence", "x" * 101),
        ("guidelines", "x" * 2_000_000),
        ("description", ["a"]),
        ("rater_limit", 0),
        ("stop_margin", 1001),
    ],
    ids=range(36),
)
def test_settings_that_cannot_be_are_named_and_change_nothing(name: str, value: Any, tmp_path: Any) -> None:
    study = factories.make_study()
    content = b"".join(exports.pieces(study, "study", "jsonl"))
    (tmp_path / "study.jsonl").write_text(json.dumps({**json.loads(content), name: value}))
    report = import_files("copy", [tmp_path / "study.jsonl"])
    assert report.error_count == 1, report.errors
    assert name in str(report.errors[0]) or "study_score_has_two_ends" in str(report.errors[0])
    assert not Study.objects.filter(slug="copy").exists()


def packed(**members: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return file.getvalue()


PROMPT = '{"id": "p", "instruction": "Write."}\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (packed(readme_txt="x"), "the archive has no file ending in .jsonl"),
        (packed(), "the archive has no file ending in .jsonl"),
        (packed(inputs__opinions_json="{}", a_csv="a,b"), "a bundle, which recompute reads"),
        (packed(arena_study=PROMPT).replace(b"arena.study", b"arena_study"), "has no file ending in"),
        (packed(a_jsonl="x" * 55_000_000), "unpacks to 52 MiB, which is too much"),
        (packed(**{f"f{number}_csv": "a" for number in range(501)}), "holds 501 files; at most 500"),
        (packed(a_jsonl=PROMPT)[:-30], "is a zip archive or an office document"),
    ],
    ids=range(7),
)
def test_other_archives_are_refused_with_the_reason(
    content: bytes, message: str, admin_client: Client, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    told = io.StringIO()
    with pytest.raises(CommandError, match="nothing was imported"):
        call_command("import_data", "copy", str(tmp_path / "a.zip"), stdout=io.StringIO(), stderr=told)
    assert message in told.getvalue()
    monkeypatch.setattr(jobs, "nudge", lambda *_: None)
    study = factories.make_study()
    reply = admin_client.post(
        f"/operate/{study.slug}/import/", {"uploads": [SimpleUploadedFile("a.zip", content)]}
    )
    if reply.status_code == 302:
        jobs.check(ImportJob.objects.get().pk)
        reply = admin_client.get(reply["Location"])
    assert message in reply.content.decode()


def test_an_archive_with_folders_is_read_without_what_programs_hide_in_it(tmp_path: Any) -> None:
    hidden = {"__MACOSX/._a.jsonl": "x", ".DS_Store": "x", "b/.git/c.csv": "x"}
    hidden |= {"b\\for-the-record\\x.csv": "x", "notes.md": "x"}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, content in {
            **hidden,
            "b/a.jsonl": PROMPT,
            "../../c.jsonl": PROMPT.replace("p", "q"),
        }.items():
            archive.writestr(name, content)
    report = import_files("copy", [tmp_path / "a.zip"])
    assert (report.applied, report.counts["prompts"].added, report.errors) == (True, 2, [])
    assert [note.text for note in report.notes] == ["not read: b/for-the-record/x.csv, notes.md"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip"]


def test_broken_archives_are_refused_or_read() -> None:
    refused = 0
    whole = packed(a_jsonl=PROMPT * 20, **{"ü__b_csv": "ä" * 50})
    for seed in range(1000):
        chance, content = random.Random(seed), bytearray(whole)
        for _ in range(chance.choice((1, 2, 5))):
            at = chance.randrange(len(content))
            content[at : at + chance.choice((0, 1, 4))] = bytes(chance.choice((0, 255)) for _ in range(2))
        file = io.BytesIO(bytes(content))
        try:
            if archives.is_archive(file):
                with archives.opened(file, 10**6) as archive:
                    for member in archives.members(archive).values():
                        archives.copy(archive, member, io.BytesIO())
        except UnreadableError:
            refused += 1
    assert 100 < refused < 900


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_hidden_checks_without_a_share_are_told(share: float, tmp_path: Any) -> None:
    study = factories.make_study(slug="asked", gold_share=share)
    (tmp_path / "training.jsonl").write_text(TRAINING)
    for again in (False, True):
        report = import_files(study.slug, [tmp_path / "training.jsonl"])
        told = [note.text for note in report.notes]
        assert (NOT_ASKED in told) is (not share and not again)
