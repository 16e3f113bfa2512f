"""The command: what it prints, where, and its exit code."""

from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from arena.management.commands import import_data
from arena.models import Comparison, Completion, Pair, Prompt, Rater, Study
from tests.arena.data.formats.reading import write_lines

pytestmark = pytest.mark.django_db

PROMPT = {"id": "p1", "instruction": "Say hello."}
VOTES = "prompt,first,second,rater,rating,points"


def folder_of_data(folder: Path) -> Path:
    write_lines(folder, "prompts.jsonl", PROMPT, {"id": "p2", "instruction": "Say it twice."})
    write_lines(
        folder,
        "completions.jsonl",
        {"prompt": "p1", "contestant": "A", "text": "Hello."},
        {"prompt": "p1", "contestant": "B", "text": " "},
        {"prompt": "p2", "contestant": "A", "text": "Hello, hello."},
    )
    write_lines(folder, "votes.csv", VOTES, "p1,A,B,ann,2,8", "p1,B,A,ann,8,8")
    return folder


class Said(NamedTuple):
    out: str
    err: str
    refusal: str

    def __str__(self) -> str:
        return self.out + self.err + self.refusal


def run(*arguments: object) -> Said:
    """Standard output and error of the command, and what it refuses."""
    out, err, refusal = StringIO(), StringIO(), ""
    try:
        call_command("import_data", *map(str, arguments), stdout=out, stderr=err)
    except CommandError as error:
        refusal = str(error)
    return Said(out.getvalue(), err.getvalue(), refusal)


def test_a_folder_is_imported_whatever_the_order_of_its_files(tmp_path: Path) -> None:
    tried = run("greetings", folder_of_data(tmp_path), "--dry-run").out
    assert tried.startswith("Dry run, nothing was changed. An import into greetings (new) would give:")
    assert not Study.objects.exists()
    assert run("greetings", tmp_path).out.splitlines() == [
        "Imported into the study greetings (new):",
        "                       Added         Empty",
        "Models                     2             0",
        "Prompts                    2             0",
        "Answers                    3             1",
        "Raters                     1             0",
        "Pairs                      1             0",
        "Ratings                    2             0",
        f'Note: {tmp_path / "votes.csv"}, row 2: nothing says whether "ann" is a person or a judge: it '
        "counts as a person",
        "Note: 1 of 4 answers is missing: B to p2.",
    ]
    for options, nothing in ((), "nothing was added"), (("--dry-run",), "nothing would be added"):
        said = run("greetings", tmp_path, *options).out
        assert said.startswith(f"The study greetings already has all of this; {nothing}.")
    assert Comparison.objects.count() == 2


def test_errors_are_listed_with_file_line_field_and_reason_up_to_a_hundred(tmp_path: Path) -> None:
    folder_of_data(tmp_path)
    votes = write_lines(tmp_path, "votes.csv", VOTES, "p1,A,B,ann,9,8", "p1,A,Z,ann,1,8")
    out_of_scale = f"{votes}, row 2: rating: rating 9 is outside the scale 1-8"
    said = run("greetings", tmp_path)
    assert said.err.splitlines() == [
        out_of_scale,
        f'{votes}, row 3: second: unknown model "Z"; add it or correct its name',
    ]
    assert (said.out, said.refusal.partition(".")[0]) == ("", "2 errors; nothing was imported")
    assert not Study.objects.exists()
    write_lines(tmp_path, "votes.csv", VOTES, *["p1,A,B,ann,9,8"] * 130)
    ten = "; ".join(f"row {number}" for number in range(3, 13))
    assert run("greetings", votes).err == f"{out_of_scale} (130 times, also in {ten}; ...)\n"
    write_lines(tmp_path, "votes.csv", VOTES, *(f"p1,A,B,ann,{rating},8" for rating in range(9, 139)))
    said = run("greetings", votes)
    assert said.refusal.startswith("130 errors")
    assert len(said.err.splitlines()) == 1, "the values that it names do not tell an error apart"
    write_lines(tmp_path, "votes.csv", VOTES, "p1,A,B,ann,1,8")
    said = run("greetings", votes, "--format", "arena-battles")
    assert said.refusal.startswith("1 error; nothing was imported")


def test_completions_that_name_their_author_are_told(tmp_path: Path) -> None:
    prompts = write_lines(tmp_path, "prompts.jsonl", {"id": "p1", "instruction": "Who are you?"})
    rows = [
        {"prompt": "p1", "contestant": "Vicuna", "text": "I am Vicuna."},
        {"prompt": "p1", "contestant": "Koala", "text": "I was trained by OpenAI."},
        {"prompt": "p1", "contestant": "Rook", "text": "I am nobody."},
    ]
    out = run("greetings", prompts, write_lines(tmp_path, "completions.jsonl", *rows)).out
    assert "Note: 2 answers name a model or maker as the author (1 of them another's)." in out
    assert f'The first is "Vicuna" by Vicuna to prompt p1 ({tmp_path}/completions.jsonl, line 1).' in out


def test_progress_goes_to_standard_error(tmp_path: Path) -> None:
    rows = [{"id": f"p{n}", "instruction": "x"} for n in range(12_000)]
    said = run("greetings", write_lines(tmp_path, "prompts.jsonl", *rows))
    assert said.err.splitlines() == [f"83%, 10,000 records, {tmp_path}/prompts.jsonl, line 10000"]


def test_a_command_that_fails_ends_with_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "close_all", lambda: None)  # the test's own
    with pytest.raises(SystemExit) as ended:
        import_data.Command().run_from_argv(["manage.py", "import_data", "x", str(tmp_path), "--format=zip"])
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith('CommandError: "zip" is no format')


TABLE = ("--format", "table", "--kind", "comparisons", "--map", "first=left", "--map", "second=right")


@pytest.mark.parametrize(
    ("study", "options", "message"),
    [
        ("two words", (), '"two words" cannot name a study'),
        ("food", ("--format", "zip"), '"zip" is no format'),
        ("food", ("--kind", "prompts"), "--kind, --map, --set and --value need --format table"),
        ("food", ("--map", "first=left"), "--kind, --map, --set and --value need --format table"),
        ("food", ("--format", "table"), '"" is no kind of rows; choose one of prompts, contestants, '),
        ("food", (*TABLE, "--map", "first=who"), '"first" is given two times: left and who'),
        ("food", (*TABLE, "--set", "rater"), '"rater" is not of the form FIELD=VALUE'),
        ("food", (*TABLE, "--value", "=tie"), '"=tie" is not of the form VALUE=MEANING'),
    ],
)
def test_wrong_arguments_are_told(tmp_path: Path, study: str, options: tuple[str, ...], message: str) -> None:
    path = write_lines(tmp_path, "votes.csv", "left,right,who", "A,B,left")
    assert run(study, path, *options).refusal.startswith(message)
    assert not Study.objects.exists()


def test_a_table_with_a_mapping_that_fits_or_not(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "votes.csv", "left,right,who", "A,B,1", "B,A,0")
    said = run("food", path, *TABLE, "--map", "points=nr")
    assert (said.out, said.refusal) == ("", "2 errors; nothing was imported.")
    assert said.err.splitlines() == [
        f"{path}: ratings need rater; give it a column or one value",
        f"{path}: ratings need winner or rating or reason; give it a column or one value",
    ]
    values = ("--value", "0=tie", "--value", "1=first")
    run("food", path, *TABLE, "--map", "winner=who", "--set", "rater=crowd", *values)
    ratings = Comparison.objects.filter(study__slug="food").order_by("pk").values_list("rating", "points")
    assert list(ratings) == [(1, 3), (2, 3)]


def test_texts_without_authors_come_from_a_table(tmp_path: Path) -> None:
    rows = ["question,text_a,text_b,winner", "Why?,So.,No.,a", "Why?,No.,So.,b", "How?,Thus.,Thus.,tie"]
    path = write_lines(tmp_path, "pairs.csv", *rows)
    fields = ("instruction=question", "first_text=text_a", "second_text=text_b")
    maps = [option for field in fields for option in ("--map", field)]
    table = (*TABLE[:4], *maps, "--map", "winner=winner", "--set", "rater=crowd")
    run("texts", path, *table)
    study = Study.objects.get()
    assert not study.contestants.exists()
    found = Completion.objects.filter(prompt__study=study).values_list("turns", "contestant")
    assert sorted((turns, contestant) for turns, contestant in found) == [
        (["No."], None),
        (["So."], None),
        (["Thus."], None),
        (["Thus."], None),
    ]
    assert Pair.objects.count() == 2
    # Both raters of the first pair found "So." better, in either order.
    assert {(c.rating, c.swapped) for c in Comparison.objects.all()} >= {(1, False), (3, True)}
    assert Completion.objects.rateable_in(study).count() == 4
    assert run("texts", path, *table).out.startswith("The study texts already has all of this")
    gold = ("--format=table", "--kind=pairs", *maps, "--map=gold=winner", "--set=gold_source=us")
    run("texts", write_lines(tmp_path, "gold.csv", *rows[:2]), *gold)
    assert Pair.objects.exclude(gold="").get().gold == "first"


REPLY = {
    **{"input": "Name a wader.", "output_1": "Dunlin", "output_2": "A duck", "label": 1},
    "results": [{f"swap = {swap}": {"completion": ["x", "stop"], "winner": "1"} for swap in (False, True)}],
}


def test_options_name_the_subset_the_judge_and_what_is_known_of_it(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "result.json", REPLY)
    options = ("--format", "llmbar-replies", "--subset", "Natural", "--judge", "jay", "--model", "jay-1")
    more = ("--protocol", "CoT", "--prices", '{"currency": "USD", "thousand_pairs": 2.5}', "--seconds", "1.5")
    run("birds", path, *options, *more)
    (judge,) = Rater.objects.all()
    assert (judge.slug, judge.facts) == (
        "jay",
        {
            **{"model": "jay-1", "protocol": "CoT", "seconds": 1.5},
            "prices": {"currency": "USD", "thousand_pairs": 2.5},
        },
    )
    assert Prompt.objects.get().subset == "Natural"
    run("birds", path, *options, "--source", "a paper")
    judge.refresh_from_db()
    assert (judge.facts["source"], judge.facts["seconds"]) == ("a paper", 1.5)
    told = ("--prices", '{"total": 1, "prompt": "low", "currency": 3}', "--seconds", "-1")
    assert run("birds", path, *options, *told).refusal.splitlines() == [
        "--seconds: -1 is not between 0 and 1e+09",
        "--prices.total: unknown; prices have prompt, completion, thousand_pairs and currency",
        "--prices.prompt: expected a number from 0",
        "--prices.currency: expected a short text such as USD",
    ]


def test_a_file_without_rows_is_told(tmp_path: Path) -> None:
    empty = write_lines(tmp_path, "models.csv", "name,kind")
    assert run("greetings", empty).refusal
    write_lines(tmp_path, "prompts.jsonl", PROMPT)
    assert f"Note: {empty}: the file has no rows below its header" in run("greetings", tmp_path).out


WIDE = ["--format", "table", "--kind", "completions", "--map", "instruction=Question"]
MODELS = ("Alder", "Birch", "Cedar")


def wide(folder: Path, *rows: str) -> str:
    path = write_lines(folder, "wide.csv", f"Question,{','.join(MODELS)}", *rows)
    return str(run("s", path, *WIDE, *(f"--map=text={model}" for model in MODELS)))


def test_holes_of_a_sheet_are_told_with_the_prompts_words(tmp_path: Path) -> None:
    said = wide(
        tmp_path, "What is the longest river in all of Norway?,The Glomma.,,No idea.", "Why?,So.,Thus.,"
    )
    first = "What is the longest river in all of Norw…"
    assert f'Note: 2 of 6 answers are missing: Birch to "{first}", Cedar to "Why?".' in said


def test_a_row_for_the_same_prompt_is_one_error_with_both_numbers(tmp_path: Path) -> None:
    rows = [
        '"Why,\nand how?",So.,Thus.,No.',
        "When?,Now.,Then.,Later.",
        "When?,Now.,Then.,Later.",
        "Who?,I.,,",
    ]
    said = wide(tmp_path, *rows, '"Why,\nand how?",No.,No.,So.', "Who?,,You.,They.")
    error = "row 4: Question: the same prompt as in row 3; keep one of these rows (2 times, also in row 6)"
    assert error in said
    assert said.count("row 4") == 1


def test_answers_beside_their_prompts_need_no_mapping(tmp_path: Path) -> None:
    rows = ["prompt,instruction,contestant,text", "p1,Say hello.,A,Hello.", "p1,Say hello.,B,Hi."]
    path = write_lines(tmp_path, "long.csv", *rows)
    assert "Prompts                    1" in run("s", path).out
    write_lines(tmp_path, "prompts.csv", "id,instruction", "p1,Say hello.")
    assert "1 column is not used: instruction" in run("s", tmp_path).out


@pytest.mark.parametrize(
    ("moments", "rows"),
    [
        (["10.655", "10.675"], "1 time: row 3"),
        (["10.655", "11.654", "12"], "2 times: row 3, row 4"),
        (["10.1"] * 6, "5 times: row 3, row 4, row 5, ..."),
        (["10.655", "11.655"], ""),
        (["10", ""], ""),
    ],
)
def test_ratings_repeated_within_a_second_are_noted(tmp_path: Path, moments: list[str], rows: str) -> None:
    header = "instruction,first,second,rater,rating,points,created_at"
    times = [f"2020-11-06T12:49:{moment}Z" if moment else "" for moment in moments]
    path = write_lines(tmp_path, "votes.csv", header, *(f"p0,A,B,ann,2,8,{time}" for time in times))
    fields = [f"--map={name}={name}" for name in header.split(",")]
    said = run("s", path, "--format", "table", "--kind", "comparisons", *fields).out
    assert Comparison.objects.count() == len(moments)
    note = "a rater gave a rating of the same pair in the same order again within a second, "
    assert (f"{note}{rows}; all are counted" in said) if rows else (note not in said)
