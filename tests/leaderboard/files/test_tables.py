import csv
import errno
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from arena.data import export
from arena.data.importing.imports import import_files
from arena.demo.load import load_demo, open_demo
from arena.files import output, writing
from arena.models import Pair, Rater, Study
from judging.panels.services import convene, create_panel
from leaderboard.files import exports
from leaderboard.refreshing import services
from leaderboard.snapshots.reading import opinions
from tests import factories
from tests.leaderboard.reading import refusal
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
BOTH = pytest.mark.both_databases

ROUNDS = 20

PRINTING = """
import os, django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()
from leaderboard.management.commands.export import Command
Command()._print(iter([b"x" * 100_000] * 100), "jsonl")
"""
"""A program that prints more than a pipe holds."""


def run(*arguments):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    call_command("export", *arguments, stdout=out, stderr=io.StringIO())
    out.flush()
    return out.buffer.getvalue()  # type: ignore[attr-defined]


def what_is_ranked(study):
    """The names and numbers of which the standings of every rater set are made, and of nothing else."""
    read = opinions(study)
    found = {}
    for choice in read.raters:
        chosen = read.by(choice.ids).present()
        ratings = chosen.ratings()
        columns = (
            ratings.first,
            ratings.second,
            ratings.rating,
            ratings.points,
            ratings.prompt,
            ratings.rater,
        )
        found[f"{choice.selector} {choice.label} {choice.simulated}"] = (
            chosen.names,
            *(column.tolist() for column in columns),
        )
    return found


def copied(study, form, folder):
    """The study exported into a folder and imported from it under another name."""
    run(study.slug, "--what", "all", "--format", form, "--out", str(folder))
    report = import_files("copy", [folder])
    assert [str(problem) for problem in report.errors] == []
    return Study.objects.get(slug="copy")


class TestTheDemo:
    def test_it_has_the_same_standings_after_a_round_trip(self, tmp_path):
        """In every form all columns come back: tests/arena/data/test_export.py."""
        study = load_demo(open_demo()).study
        before = what_is_ranked(study)
        copy = copied(study, "csv", tmp_path)
        assert what_is_ranked(copy) == before
        assert len(before) >= 3
        assert all(key.endswith(" True") for key in before), (
            "every rater of the demo is simulated, and said to be"
        )
        simulated = Rater.objects.filter(study=copy).values_list("simulated", flat=True)
        assert list(simulated) == [True] * 8


@pytest.mark.parametrize("form", [pytest.param("csv", marks=BOTH), "jsonl", "parquet"])
def test_what_is_known_of_judges_comes_back(form, tmp_path):
    pair = factories.make_pair()
    study = pair.prompt.study
    told = {"model": "m", "order_free": True, "prices": {"prompt": 1.5}, "seconds": 2.0}
    elsewhere = factories.make_rater(kind="judge", slug="elsewhere", study=study, facts=told)
    own = factories.make_judge(slug="own", model="m-1", protocol="vanilla").rater
    for rater in (elsewhere, own):
        factories.make_comparison(pair=pair, rater=rater)
    found = dict(Rater.objects.filter(study=copied(study, form, tmp_path)).values_list("slug", "facts"))
    assert found == {"elsewhere": told, "own": {"model": "m-1", "protocol": "vanilla"}}


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("form", [pytest.param("csv", marks=BOTH), "jsonl", "parquet"])
def test_a_panel_comes_back_as_a_panel_and_not_as_one_more_judge(form, alone, tmp_path):
    pair = factories.make_pair()
    study = pair.prompt.study
    judges = [factories.make_judge(slug=slug) for slug in ("ayla", "ben")]
    panel = create_panel("both", "Both", "mean", judges)
    for rater, rating in ((judges[0].rater, 2), (judges[1].rater, 3)):
        factories.make_comparison(pair=pair, rater=rater, rating=rating)
    convene(panel.pk)
    factories.make_rater(kind="judge", slug="ayla", study=study, name="Ayla of a file")
    before = what_is_ranked(study)
    run(study.slug, "--what", "all", "--format", form, "--out", str(tmp_path))
    if alone:
        (tmp_path / f"raters.{form}").unlink()
    assert import_files("copy", [tmp_path]).errors == []
    copy = Study.objects.get(slug="copy")
    assert sorted(what_is_ranked(copy).values()) == sorted(before.values())
    imported = Rater.objects.filter(study=copy)
    assert imported.panels().get().derived_from == ["ayla-2", "ben"]
    assert set(imported.independent().values_list("slug", flat=True)) - {"ayla"} == {"ayla-2", "ben"}
    assert Pair.objects.get(prompt__study=copy).judge_ratings == 2
    again = [row.get("derived_from") for row in export.rows(copy, "comparisons")]
    assert again == [None, None, ["ayla-2", "ben"]]


def test_pairs_on_which_people_agree_are_a_gold_study(tmp_path):
    study = factories.make_small_study(prompts=6, contestants=2, slug="people")
    ann, bob, cat = (factories.make_rater(slug=name) for name in ("ann", "bob", "cat"))
    said = [{ann: 1, bob: 2}, {ann: 8, bob: 7, cat: 6}, {ann: 1, bob: 8}, {ann: 4, bob: 5}, {ann: 1}, {}]
    for prompt, ratings in zip(study.prompts.all(), said, strict=True):
        one, other = prompt.completions.order_by("pk")
        pair = factories.make_pair(prompt=prompt, first=one, second=other)
        for rater, rating in ratings.items():
            factories.make_comparison(pair=pair, rater=rater, rating=rating)
    factories.make_comparison(pair=pair, rater=factories.make_rater(kind="judge"), rating=1)
    err = io.StringIO()
    command = ("export", "people", "--what", "gold", "--out", str(tmp_path))
    call_command(*command, stdout=io.StringIO(), stderr=err)
    assert err.getvalue().splitlines() == [
        "Left out: 1 all said tie.",
        "Left out: 1 not unanimous.",
        "Left out: 1 rated by fewer than 2.",
    ]
    assert import_files("gold", [tmp_path]).errors == []
    gold = Study.objects.get(slug="gold")
    labels = Pair.objects.filter(prompt__study=gold).order_by("pk").values_list("gold", "gold_source")
    assert list(labels) == [("first", "people (unanimous of 2)"), ("second", "people (unanimous of 3)")]
    assert (gold.prompts.count(), gold.contestants.count(), gold.comparisons.count()) == (2, 2, 0)
    for arguments, message in (
        (("--least", "4"), "no pair was rated by 4 or more who all prefer the same answer"),
        (("--raters", "judge:jay"), "No judge"),
        (("--raters", "all"), "give people or group:NAME"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command(*command, *arguments)


@pytest.fixture
def made():
    made = HandMade("=alpha", "beta", "gamma", slug="small", categories=("coding", "poems"))
    made.rate("=alpha", "beta", 1)
    made.rate("beta", "gamma", 4)
    made.rate("gamma", "=alpha", 6, prompt=1)
    return made


def published(made, monkeypatch):
    monkeypatch.setattr(services, "ROUNDS", ROUNDS)
    services.refresh(made.study)


class TestStandings:
    def test_rows_carry_their_method_and_guard_names(self, made, monkeypatch):
        published(made, monkeypatch)
        rows = [json.loads(line) for line in run("small", "--what", "standings").splitlines()]
        assert [row["contestant"] for row in rows] == ["=alpha", "beta", "gamma"]
        snapshot = services.Snapshot.objects.get()
        for row in rows:
            assert row["snapshot_at"] == snapshot.created_at.isoformat()
            method = {name: row[name] for name in ("study", "raters", "method", "tie_rule", "k", "rounds")}
            assert method == {
                "study": "small",
                "raters": "people",
                "method": "elo",
                "tie_rule": "on",
                "k": 32.0,
                "rounds": ROUNDS,
            }
            assert (row["all_games"], row["left_out"], row["simulated"]) == (3, 0, False)
            assert row["methodology"] == snapshot.methodology
            assert row["interval"] == 95
            assert row["low"] <= row["rating"] <= row["high"]
        setting = ("--ties", "off", "--category", "poems", "--method", "bradley-terry")
        rows = [json.loads(line) for line in run("small", "--what", "standings", *setting).splitlines()]
        assert {(row["tie_rule"], row["category"], row["method"]) for row in rows} == {
            ("off", "poems", "bradley-terry")
        }
        text = run("small", "--what", "standings", "--format", "csv").decode("utf-8-sig")
        assert "\r\n1,1,'=alpha," in text

    def test_what_is_not_there_is_named(self, made, monkeypatch):
        standings = ("small", "--what", "standings")
        assert (
            refusal(run, *standings)
            == 'The study "small" has no scores yet. Compute them: python manage.py refresh small'
        )
        published(made, monkeypatch)
        answer = refusal(run, *standings, "--raters", "judge:x")
        assert answer == 'This leaderboard has no raters "judge:x". It has: people.'
        answer = refusal(run, "small", "--what", "prompts", "--ties", "on")
        whats = "standings, leaderboard, arena, evalica, preferences, consensus, gold"
        assert answer == f"--ties works only with --what {whats}."
        services.refresh(factories.make_small_study(slug="new"))
        answer = refusal(run, "new", "--what", "standings")
        assert answer == 'The study "new" has no ratings for this setting, so it has no leaderboard.'


class TestCommand:
    def test_json_lines_go_to_standard_output_and_a_file_may_be_compressed(self, made, tmp_path):
        lines = [json.loads(line) for line in run("small", "--what", "contestants").splitlines()]
        assert [line["name"] for line in lines] == ["=alpha", "beta", "gamma"]
        out = tmp_path / "comparisons.csv.gz"
        assert run("small", "--what", "comparisons", "--format", "csv", "--out", str(out)) == b""
        assert len(gzip.decompress(out.read_bytes()).splitlines()) == 4

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("none", "--what", "prompts"), '^No study is named "none". The studies are: small.$'),
            (
                ("small", "--what", "votes"),
                "^--what is 'votes'; choose one of study, contestants, raters, ",
            ),
            (
                ("small", "--what", "raters", "--format", "xlsx"),
                "^--format is 'xlsx'; choose one of jsonl, csv",
            ),
            (("small", "--what", "all"), "^--what all writes several files. Name a folder or a .zip with"),
            (
                ("small", "--what", "raters", "--format", "parquet", "--out", "r.parquet.gz"),
                "^parquet is already compressed. Name a file that does not end in .gz.$",
            ),
            (
                ("small", "--what", "all", "--out", "all.csv"),
                "^all.csv ends in .csv, but several files are written. Name a folder.$",
            ),
        ],
    )
    def test_what_cannot_be_is_one_sentence(self, made, arguments, message):
        with pytest.raises(CommandError, match=message):
            run(*arguments)

    @pytest.mark.parametrize("what", ["comparisons", "standings", "leaderboard"])
    def test_the_ending_decides_and_without_one_it_is_json_lines(self, made, tmp_path, what, monkeypatch):
        published(made, monkeypatch)
        looks = {
            "jsonl": lambda content: all(json.loads(line) for line in content.splitlines()),
            "csv": lambda content: b"," in content.splitlines()[0] and b"{" not in content.splitlines()[0],
            "parquet": lambda content: content[:4] == content[-4:] == b"PAR1",
        }
        for form, is_one in looks.items():
            for name in (f"a.{form}", f"B.{form.upper()}"):
                run("small", "--what", what, "--out", str(tmp_path / name))
                assert is_one((tmp_path / name).read_bytes()), name
            others = [other for other in (*looks, "json") if other != form]
            for name in (*(f"c.{other}" for other in others), "c.xlsx", "c.tsv", "c.zip"):
                with pytest.raises(CommandError, match="ends in"):
                    run("small", "--what", what, "--format", form, "--out", str(tmp_path / name))
                assert not (tmp_path / name).exists()
            run("small", "--what", what, "--format", form, "--out", str(tmp_path / "d.data"))
            assert is_one((tmp_path / "d.data").read_bytes())
        run("small", "--what", what, "--out", str(tmp_path / "plain"))
        assert looks["jsonl"]((tmp_path / "plain").read_bytes())
        with pytest.raises(CommandError, match=r"e\.txt ends in \.txt\. Name a file that ends in \.jsonl or"):
            run("small", "--what", what, "--out", str(tmp_path / "e.txt"))
        assert looks["jsonl"](run("small", "--what", what))

    @pytest.mark.parametrize("command", [("bundle", "small", "--out"), ("backup",)])
    @pytest.mark.parametrize("name", ["a.csv", "a.tar", "a.zip.gz", "a.parquet"])
    def test_an_archive_is_a_zip(self, made, tmp_path, command, name):
        with pytest.raises(CommandError, match=r"ends in|already compressed"):
            call_command(*command, str(tmp_path / name))
        assert list(tmp_path.iterdir()) == []

    def test_places_that_cannot_be_written(self, made, tmp_path):
        prompts = ("small", "--what", "prompts", "--out")
        missing = tmp_path / "none" / "p.jsonl"
        assert (
            refusal(run, *prompts, str(missing))
            == f"{missing} cannot be written: there is no folder {missing.parent}."
        )
        assert refusal(run, *prompts, str(tmp_path)) == f"{tmp_path} is a folder. Name a file."
        file = tmp_path / "file"
        file.touch()
        answer = refusal(run, "small", "--what", "all", "--out", str(file))
        assert answer == f"{file} cannot be written (Not a directory)."

    @pytest.mark.parametrize("what", ["prompts", "preferences"])
    def test_a_device_stays_a_device_and_nothing_stands_beside_it(self, made, tmp_path, what):
        link = tmp_path / "link"
        link.symlink_to("/dev/null")
        run("small", "--what", what, "--out", str(link))
        assert link.is_symlink()
        assert Path("/dev/null").is_char_device()
        assert [path.name for path in tmp_path.iterdir()] == ["link"]
        assert not Path("/dev/null.note.json").exists()

    def test_a_folder_without_permission(self, made, tmp_path, monkeypatch):
        def deny(path, private):  # a folder's mode does not stop root, who runs this too
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

        out = tmp_path / "p.jsonl"
        monkeypatch.setattr(output, "_beside", deny)
        answer = refusal(run, "small", "--what", "prompts", "--out", str(out))
        assert answer == f"{out} cannot be written (Permission denied)."

    def test_parquet_is_not_for_a_terminal_but_for_a_pipe(self, made, monkeypatch):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        with pytest.raises(CommandError) as error:
            call_command("export", "small", "--what", "raters", "--format", "parquet", stdout=Terminal())
        assert str(error.value) == "A terminal cannot show Parquet. Name a file with --out."
        assert run("small", "--what", "raters", "--format", "parquet")[:4] == b"PAR1"
        monkeypatch.setattr(writing, "has_parquet", lambda: False)
        answer = refusal(run, "small", "--what", "raters", "--format", "parquet")
        assert answer == "Parquet needs pyarrow: make parquet, or pip install likert-arena[parquet]"

    def test_a_reader_that_leaves_is_no_error(self):
        printing = subprocess.Popen(
            [sys.executable, "-c", PRINTING], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert printing.stdout is not None
        assert printing.stderr is not None
        printing.stdout.read(10)
        printing.stdout.close()
        complaint = printing.stderr.read().decode()
        assert (complaint, printing.wait()) == ("", 0)

    @pytest.mark.parametrize(
        "what", ["all", "raters", "comparisons", "scores", "answers", "prompts", "arena"]
    )
    def test_names_by_which_raters_sign_in_are_mentioned(self, made, tmp_path, what):
        said = []
        for user in (None, factories.make_user()):
            Rater.objects.filter(pk=made.person.pk).update(user=user)
            err = io.StringIO()
            call_command("export", "small", "--what", what, "--out", str(tmp_path / "out"), stderr=err)
            said.append("names by which they sign in" in err.getvalue())
        assert said == [False, what not in ("prompts", "arena")]

    def test_old_texts_are_mentioned(self, made):
        made.study.prompts.first().completions.filter(contestant__name="beta").update(is_current=False)  # type: ignore[union-attr]
        err = io.StringIO()
        out = io.TextIOWrapper(io.BytesIO())
        call_command("export", "small", "--what", "comparisons", stdout=out, stderr=err)
        assert err.getvalue() == (
            "Note: 2 ratings are about an answer that was changed later. An import takes the current "
            "answer.\n"
        )


class TestEverything:
    def test_a_folder_holds_the_tables_and_the_record(self, made, monkeypatch, tmp_path):
        published(made, monkeypatch)
        folder = tmp_path / "out"
        printed = run("small", "--what", "all", "--format", "csv", "--out", f"{folder}/").decode().split()
        tables = ("comparisons", "completions", "contestants", "prompts", "raters", "study")
        names = [f"{table}.csv" for table in tables]
        assert sorted(path.name for path in folder.iterdir()) == sorted([*names, "for-the-record"])
        assert sorted(printed) == sorted(str(path) for path in folder.rglob("*") if path.is_file())
        record = next(csv.DictReader((folder / "study.csv").open(encoding="utf-8-sig")))
        assert (record["slug"], record["points"], record["visibility"]) == ("small", "8", "public")
        assert (folder / "for-the-record" / "standings.csv").exists()

    def test_files_of_an_earlier_export_do_not_stay_and_comparisons_are_read_before_what_they_name(
        self, made, tmp_path
    ):
        (tmp_path / "pairs.csv").write_text("prompt,first,second,gold,gold_source\n")
        (tmp_path / "notes.csv").write_text("mine")
        run("small", "--what", "all", "--format", "csv", "--out", str(tmp_path))
        assert not (tmp_path / "pairs.csv").exists()
        assert (tmp_path / "notes.csv").exists()
        names = [name for name, _ in exports.everything(made.study, "jsonl")]
        assert names[:2] == ["comparisons.jsonl", "completions.jsonl"]
        assert names[-1] == "study.jsonl"
