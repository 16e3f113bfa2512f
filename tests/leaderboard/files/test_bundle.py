"""A bundle is computed again from itself alone, and comes out as it was published."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from arena.models import CompletionFeature, LeftOutRows, Score
from leaderboard.files.bundle import archive as bundle_archive
from leaderboard.files.bundle import making
from leaderboard.files.bundle.archive import BundleError, Reader
from leaderboard.files.bundle.making import make
from leaderboard.files.bundle.recomputing import Report, Verdict, differences, recompute, sentences
from leaderboard.files.bundle.text_opinions import Files, features_from, scores_from
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
ROUNDS = 20


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Two people, a judge with scores, a group; both orders, a refusal, a revised rating, a retired one."""
    names = ("Alpha", "=Beta", "Gamma", "Old")
    made = HandMade(*names, slug="made", name="Made", categories=("coding", "poems", "coding"))
    bob = factories.make_rater(name="Bob")
    bob.groups.add(factories.make_group(slug="experts"))
    judge = made.judge("judy", simulated=True)
    for prompt, rating in enumerate((2, 7, 5)):
        made.rate("Alpha", "=Beta", rating, prompt=prompt)
        made.rate("=Beta", "Alpha", rating, prompt=prompt, rater=bob)
        made.rate("Gamma", "=Beta", 9 - rating, prompt=prompt)
        made.rate("Alpha", "Gamma", rating, prompt=prompt, rater=judge, first_score=7, second_score=5.5)
        made.rate("Gamma", "Alpha", 9 - rating, prompt=prompt, rater=judge)
    made.rate("Alpha", "=Beta", None, reason="refused", rater=judge)
    made.rate("Old", "Alpha", 1)
    made.contestants["Old"].retired_at = made.person.created_at
    made.contestants["Old"].save()
    services.refresh(made.study)
    return made


def bundle(made, **options):
    file = io.BytesIO()
    make(made.study, file, **options)
    file.seek(0)
    return file


def test_every_published_table_comes_out_to_the_last_character(made):
    report = recompute(Reader(bundle(made)))
    assert report.verdict.differences == []
    assert report.verdict.same == SnapshotSlice.objects.count() > 20
    assert report.published_digest == report.digest
    assert report.study == "made"
    file = bundle(made, with_texts=True)
    lines = zipfile.ZipFile(file).read(bundle_archive.PROMPT_TEXTS).splitlines()
    assert [json.loads(line)["turns"] for line in lines] == [prompt.turns for prompt in made.prompts]
    assert recompute(Reader(file)).verdict.is_equal


def test_rows_that_imports_left_out_are_counted_by_reason(made):
    LeftOutRows.objects.create(study=made.study, file="ada.csv", digest="d", reason="NaN", rows=3)
    file = bundle(made)
    parameters = zipfile.ZipFile(file).read(bundle_archive.PARAMETERS)
    assert json.loads(parameters)["left_out_rows"] == {"NaN": 3}
    assert b"ada.csv" not in parameters
    assert recompute(Reader(file)).verdict.is_equal


def test_equal_studies_make_equal_bundles_that_name_no_person(made):
    first = bundle(made).getvalue()
    assert bundle(made).getvalue() == first
    archive = zipfile.ZipFile(io.BytesIO(first))
    everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"Ada" not in everything
    assert made.person.slug.encode() not in everything
    assert b"person-" in archive.read(bundle_archive.RATERS)
    assert b"Instruction" not in everything, "texts only where they are asked for"


def test_later_ratings_and_completions_do_not_count_and_other_changes_are_refused(made, monkeypatch):
    made.rate("Alpha", "Gamma", 1)
    assert recompute(Reader(bundle(made))).verdict.is_equal
    measured = making.texts

    def measure(study, _):
        found = measured(study)
        factories.make_completion(prompt=made.prompts[0], contestant=None)
        return found

    monkeypatch.setattr(making, "texts", measure)
    assert recompute(Reader(bundle(made, with_texts=True))).verdict.is_equal
    made.study.touch()
    with pytest.raises(BundleError, match="older than the data"):
        bundle(made)


@pytest.fixture
def checked():
    """A study in which people and a judge score and check answers, and compare none."""
    study = factories.make_study(slug="checked", tasks=["score", "check"])
    names = ("=Alpha", "Beta", "Gamma")
    authors = [factories.make_contestant(study=study, name=name) for name in names]
    ann = factories.make_rater(name="Ann")
    judge = factories.make_rater(kind="judge", slug="jay", study=study)
    for number in range(4):
        prompt = factories.make_prompt(study=study, subset="easy", category="Law: Rent")
        asked = [factories.make_question(prompt=prompt, labels=labels) for labels in (["Style"], [])]
        for author in authors:
            text = factories.make_completion(prompt=prompt, contestant=author)
            place = number + authors.index(author)
            for rater in (ann, judge):
                scale = {"lowest": -2.5, "highest": 10.0, "seconds": 0.1 + 0.2}
                factories.make_score(completion=text, rater=rater, value=place / 3 - 1, **scale)
                for one in asked[: 1 + place % 2]:
                    value = ["yes", "no", "unknown"][place % 3]
                    factories.make_answer(completion=text, question=one, rater=rater, value=value)
            factories.make_answer(
                completion=text, question=asked[1], rater=judge, repeat=1, reason="unparsable"
            )
            factories.make_score(completion=text, rater=judge, turn=2, reason="out_of_range")
            factories.make_feature(completion=text, name="mean_logprob", value=-0.1 - place, source="=vllm")
    services.refresh(study)
    return study


def test_checks_and_scores_come_out_alike_without_a_single_pair(checked):
    file = io.BytesIO()
    make(checked, file, with_texts=True)
    reader = Reader(file)
    names = reader.manifest["files"].keys()
    assert names >= {
        f"inputs/{name}" for name in ("requirements.json", "checks.csv", "scored.json", "scores.csv")
    }
    report = recompute(reader)
    assert report.verdict.differences == []
    assert report.verdict.is_equal
    kinds = {json.loads(line)["table"]["kind"] for line in reader.read("results/tables.jsonl").splitlines()}
    assert {"requirements", "scores"} <= kinds
    assert [one["judge"] for one in reader.json("judges.json")["judges"]] == ["jay"]
    everything = b"".join(reader.read(name) for name in names if name.startswith("inputs/"))
    assert b"Ann" not in everything
    assert b"Is it number" in reader.read("inputs/requirements.json")
    again = io.BytesIO()
    make(checked, again)
    assert b"Is it number" not in Reader(again).read("inputs/requirements.json")
    read = scores_from(Files(reader.read("inputs/scored.json"), reader.read("inputs/scores.csv")))
    assert len(read.rows) == Score.objects.count() == 4 * 3 * 3
    first = read.rows[0]
    assert (first.contestant, first.lowest, first.score, first.seconds) == ("=Alpha", -2.5, -1.0, 0.1 + 0.2)
    assert first.length == len(checked.prompts.first().completions.first().turns[0])
    assert [row.moment for row in read.rows] == [*range(36)]
    features = features_from(reader.read("inputs/features.csv"))
    assert features[0] == (0, 0, "mean_logprob", "paper", "=vllm", -0.1)
    assert len(features) == CompletionFeature.objects.count() == 12


def test_a_changed_score_changes_the_tables_of_scores_alone(checked):
    made = io.BytesIO()
    make(checked, made)
    row = (b"10.0,0.", b"10.0,1.")
    changed = rebuilt(
        made, lambda name, content: content.replace(*row, 1) if name == "inputs/scores.csv" else content
    )
    verdict = recompute(Reader(changed)).verdict
    assert verdict.different
    assert all(each.startswith("scores") for each in verdict.differences)


INVALID = (
    ("inputs/checks.csv", (b"rater,repeat", b"rater,again")),
    ("inputs/checks.csv", (b",yes,", b",perhaps,")),
    ("inputs/checks.csv", (b"\n0,0,", b"\n7,0,")),
    ("inputs/requirements.json", (b'"texts":[[', b'"texts":[],"t":[[')),
    ("inputs/requirements.json", (b'"labels":["Style"]', b'"labels":5')),
    ("inputs/scores.csv", (b"10.0,", b"nan,")),
    ("inputs/scores.csv", (b"10.0,", b"-10.0,")),
    ("inputs/scores.csv", (b"10.0,'-1.0", b"10.0,99")),
    ("inputs/scored.json", (b"{", b"[{")),
    ("inputs/features.csv", (b"text,turn", b"turn,text")),
    ("inputs/features.csv", (b",'-0.1", b",inf")),
    ("inputs/features.csv", (b",'-0.1", b",")),
    ("inputs/features.csv", (b"mean_logprob,paper", b"mean_logprob,bounds")),
)
"""A file, and what in it is replaced by what cannot be."""


def test_invalid_checks_scores_and_features_are_refused(checked):
    made = io.BytesIO()
    make(checked, made)
    for name, change in INVALID:

        def spoil(file, content, name=name, change=change):
            return content.replace(*change, 1) if file == name else content

        with pytest.raises(BundleError, match="in the bundle are invalid"):
            recompute(Reader(rebuilt(made, spoil)))


def test_a_study_without_numbers_has_no_bundle():
    study = factories.make_study(slug="new")
    with pytest.raises(BundleError, match="no scores yet"):
        make(study, io.BytesIO())
    services.refresh(study)
    with pytest.raises(BundleError, match="Nobody has rated"):
        make(study, io.BytesIO())


def test_a_changed_result_is_found_and_named(made):
    def change(name, content):
        if name != bundle_archive.RESULTS:
            return content
        lines = [json.loads(line) for line in content.splitlines()]
        board = next(one for one in lines if one["table"]["kind"] == "standings")
        board["content"]["standings"][0]["rating"] += 0.1
        board["content"]["standings"][1]["rank"] += 1
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines[:-1])

    report = recompute(Reader(rebuilt(bundle(made), change)))
    assert not report.verdict.is_equal
    assert report.verdict.different == 2
    said = "\n".join(report.verdict.differences)
    assert "standings[0].rating was published as" in said
    assert "standings[1].rank" in said
    assert "was not published" in said
    assert report.digest != report.published_digest


def test_a_changed_vote_changes_the_board(made):
    def change(name, content):
        lines = content.split(b"\n")
        place = lines[0].split(b",").index(b"rating") if name == bundle_archive.COMPARISONS else None
        if place is not None:
            cells = lines[1].split(b",")
            cells[place] = b"8"
            lines[1] = b",".join(cells)
        return b"\n".join(lines)

    assert not recompute(Reader(rebuilt(bundle(made), change))).verdict.is_equal


def rebuilt(file, change, *, manifest=None):
    """The bundle with changed files (None: left out) and, where they are to be believed, their digests."""
    old, out = zipfile.ZipFile(file), io.BytesIO()
    changed = {
        name: change(name, old.read(name)) for name in old.namelist() if name != bundle_archive.MANIFEST
    }
    files = {name: content for name, content in changed.items() if content is not None}
    listed = json.loads(old.read(bundle_archive.MANIFEST))
    listed["files"] = {
        name: {"bytes": len(content), "sha256": bundle_archive.sha256(content)}
        for name, content in files.items()
    }
    if manifest:
        manifest(listed)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(bundle_archive.MANIFEST, json.dumps(listed))
    out.seek(0)
    return out


class TestDifferences:
    def test_equal_values_and_the_last_digit_are_no_difference(self):
        verdict = Verdict()
        verdict.add(("standings",), '{"a": [1.000001]}', '{"a": [1.000002]}')
        assert verdict.is_equal
        assert (verdict.same, verdict.rounded_otherwise, verdict.numbers) == (0, 1, 1)
        assert list(differences({"a": [1, 2.5, None, "x"]}, {"a": [1, 2.5, None, "x"]})) == []

    @pytest.mark.parametrize(
        ("published", "computed"),
        [
            ({"a": 1.0}, {"a": 1.000003}),
            ({"a": 1}, {"a": 2}),
            ({"a": 1}, {"a": True}),
            ({"a": None}, {"a": 0.0}),
            ({"a": "x"}, {"a": "y"}),
            ({"a": [1]}, {"a": [1, 2]}),
            ({}, {"a": 1}),
        ],
    )
    def test_anything_else_is_one(self, published, computed):
        verdict = Verdict()
        verdict.add(("standings", "people"), json.dumps(published), json.dumps(computed))
        assert not verdict.is_equal
        assert verdict.differences[0].startswith("standings people: a was published as")


class TestCommands:
    def test_a_fresh_process_without_database_and_with_other_instructions_computes_the_same(
        self, made, tmp_path
    ):
        out = tmp_path / "made.zip"
        said = io.StringIO()
        call_command("bundle", "made", out=str(out), stdout=said)
        assert f"python manage.py recompute {out}" in said.getvalue()
        done = recomputed(out, tmp_path, "512 V4 V3 AVX2 FMA")
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.endswith("EQUAL\n")
        assert "DIFFER" not in done.stdout

    def test_exit_code_1_where_it_does_not_come_out(self, made, tmp_path, capsys):
        file = rebuilt(
            bundle(made), lambda name, content: b"" if name == bundle_archive.RESULTS else content
        ).getvalue()
        (tmp_path / "made.zip").write_bytes(file)
        with pytest.raises(SystemExit) as ended:
            call_command("recompute", str(tmp_path / "made.zip"))
        assert ended.value.code == 1
        assert capsys.readouterr().out.endswith("NOT EQUAL\n")

    def test_what_cannot_be_written_or_read_is_said(self, made, tmp_path):
        with pytest.raises(CommandError, match="cannot be written"):
            call_command("bundle", "made", out=str(tmp_path / "none" / "made.zip"))
        call_command("bundle", "made", out="/dev/null")
        assert Path("/dev/null").is_char_device()
        with pytest.raises(CommandError, match="cannot be read: No such file"):
            call_command("recompute", str(tmp_path / "none.zip"))
        assert Snapshot.objects.exists()


def recomputed(file, folder, disabled):
    """The command in a process of its own, whose database could not even be opened."""
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{folder}/no/such/folder/arena.sqlite3",
        "VAR_DIR": str(folder / "var"),
        "NPY_DISABLE_CPU_FEATURES": usable(disabled),
    }
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    return subprocess.run(
        [sys.executable, "manage.py", "recompute", str(file)],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def usable(parts):
    """The features whose names have one of the parts in them, and that NumPy uses here.

    X86_V4 stands for AVX-512 and X86_V3 for AVX2 and FMA; older NumPy names them one by one.
    """
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    used = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    return " ".join(name for name in used if any(part in name for part in parts.split()))


def said(verdict):
    return "\n".join(sentences(Report("demo", "3", verdict, "aa", "bb")))


def test_differences_are_listed_and_a_number_rounded_the_other_way_is_none():
    verdict = Verdict(same=2)
    verdict.missing(("standings", "people", "on", "", "elo"), "was not published")
    text = said(verdict)
    assert "1 DIFFER from the published ones:\n  standings people on elo: was not published" in text
    assert text.endswith("\nNOT EQUAL")
    text = said(Verdict(same=193, rounded_otherwise=1, numbers=1))
    assert "194 tables computed again." in text
    assert "1 more are equal, with 1 number whose sixth decimal was rounded the other way" in text
    assert text.endswith("\nEQUAL")


def test_names_in_a_bundle_do_not_write_the_outcome():
    verdict = Verdict()
    verdict.missing(("standings", "group:\x1b[2J\nEQUAL"), "was not published")
    lines = list(sentences(Report("demo\nEQUAL\x1b[2J\ud800", "3", verdict, "aa", "bb")))
    assert all(line.isprintable() for line in lines)
    assert lines[-1] == "NOT EQUAL"
    assert "EQUAL" not in lines
