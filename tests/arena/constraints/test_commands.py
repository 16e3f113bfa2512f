"""The two commands: what they print, refuse and add."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from arena.constraints.checking import KINDS
from arena.models import Completion, Pair, Prompt, Study
from arena.rules.subsets import TRAINING_SUBSET
from tests import factories
from tests.arena.data.formats.reading import write_lines

WORDS = {"kind": "words", "count": 2}
LLMBAR = [
    {
        "input": f"Say {number}.",
        "output_1": f"It is {number}.",
        "output_2": f"{number} zebras, jumping",
        "label": 1,
    }
    for number in ("one", "two", "three")
]


def run(*arguments: object) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(*arguments: object) -> str:
    """The complaint, after the problems of single lines."""
    err = StringIO()
    with pytest.raises(CommandError) as error:
        call_command(*map(str, arguments), stdout=(out := StringIO()), stderr=err)
    assert out.getvalue() == ""
    return f"{err.getvalue()}{error.value}"


def check_file(folder: Path, *rows: Any) -> Path:
    return write_lines(folder, "texts.jsonl", *rows)


def test_each_line_gets_one_line(tmp_path: Path) -> None:
    rows = [
        {"id": own_id, "text": text, "constraint": WORDS}
        for own_id, text in enumerate(["a b", "a", "a\0 I'm"])
    ]
    path = check_file(tmp_path, *rows, "", {"id": "é", "text": "", "constraint": WORDS, "note": "kept out"})
    found = [json.loads(line) for line in run("check_constraints", path)[0].splitlines()]
    assert found == [
        {"id": 0, "holds": True},
        {"id": 1, "holds": False},
        {"id": 2, "holds": None},
        {"id": "é", "holds": False},
    ]


def test_after_an_error_nothing_is_printed_but_line_and_field(tmp_path: Path) -> None:
    good = {"id": 1, "text": "a b", "constraint": WORDS}
    bad: list[Any] = [
        good | {"constraint": {"kind": "rhymes"}},
        good | {"text": None},
        {"text": "a"},
        "[1]",
        "{",
    ]
    said = refused("check_constraints", path := check_file(tmp_path, good, *bad)).splitlines()
    assert [line.removeprefix(f"{path}, ") for line in said] == [
        f'line 2: constraint.kind: "rhymes" is not one of {", ".join(KINDS)}',
        "line 3: text: expected a text, found null",
        "line 4: id: missing",
        "line 5: expected a JSON object, found a list",
        "line 6: not valid JSON: Expecting property name enclosed in double quotes at column 2",
        "5 errors; nothing was checked.",
    ]


@pytest.mark.parametrize("path", ["/nowhere/texts.jsonl", "/dev/null", "/tmp", "a\0b", "x" * 5000])  # noqa: S108
def test_a_file_that_cannot_be_read_is_named(path: str) -> None:
    assert refused("check_constraints", path).endswith("\n1 error; nothing was checked.")


def llmbar(folder: Path) -> Path:
    return write_lines(folder, "dataset.jsonl", *LLMBAR)


@pytest.mark.django_db
def test_pairs_are_made_once(tmp_path: Path) -> None:
    command = ("make_constraints", "made", "--from", llmbar(tmp_path), "--kinds", "has_word,sum", "--n", "2")
    assert run(*command, "--dry-run")[0].startswith("Dry run, nothing was changed.")
    assert not Study.objects.exists()
    assert "Gold labels                6" in run(*command)[0]
    rows = list(Pair.objects.order_by("pk").values_list("prompt__subset", "gold", "gold_source"))
    assert {subset for subset, _, _ in rows} == {"has_word", "base-9", "base-10"}
    assert sorted(gold for _, gold, _ in rows) == ["first"] * 3 + ["second"] * 3
    assert {source for _, _, source in rows} == {"make_constraints: has_word", "make_constraints: sum"}
    assert not Completion.objects.exclude(contestant=None).exists()
    assert "already has all of this; nothing was added" in run(*command)[0]
    assert "Gold labels                3" in run(*command[:-1], "3")[0].replace("6", "")


@pytest.mark.django_db
def test_twins_of_a_study_are_made_once_even_beside_their_originals() -> None:
    study = factories.make_study(slug="birds")
    prompt = factories.make_prompt(study=study, turns=["Name a bird."], input="In Norway.")
    texts = [factories.make_completion(prompt=prompt, turns=[text]) for text in ("Heron", "Granite")]
    factories.make_pair(prompt=prompt, first=texts[0], second=texts[1], gold="first", gold_source="us")
    practice = factories.make_prompt(study=study, subset=TRAINING_SUBSET)
    factories.make_pair(prompt=practice, gold="first", gold_source="us", use="train")
    for target in ("twins", "birds"):
        run("make_constraints", target, "--from", "birds", "--negate")
        assert "nothing was added" in run("make_constraints", target, "--from", "birds", "--negate")[0]
        twin = Prompt.objects.get(study__slug=target, subset="negated")
        assert (twin.turns[0].endswith(".\n\nName a bird."), twin.input) == (True, "In Norway.")
        pair = twin.pairs.get()
        assert (pair.first.text, pair.second.text, pair.gold) == ("Heron", "Granite", "second")
    assert "no two answers" in refused(
        "make_constraints", "x", "--from", "twins", "--kinds", "words", "--n", "1"
    )
    assert not Study.objects.filter(slug="x").exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--kinds is missing. Give --kinds and --n, or --negate."),
        (("--kinds", "sum"), "--n is missing. Give --kinds and --n, or --negate."),
        (("--kinds", ",", "--n", "1"), "--kinds names none. Choose from words, "),
        (("--kinds", "words,rhymes", "--n", "1"), '"rhymes" is no kind. Choose from words, '),
        (("--kinds", "sum", "--n", "x"), '--n is "x"; it must be a whole number.'),
        (("--kinds", "sum", "--n", "0"), "--n is 0; it must be between 1 and 100,000."),
        (("--kinds", "sum", "--n", "1", "--seed", "-1"), "--seed is -1; it must be between 0 and "),
        (("--kinds", "sum,words", "--n", "1"), "--kinds words needs --from: a study or a file"),
        (("--negate",), "--negate needs --from: a study or a file"),
        (("--negate", "--n", "1"), "--n means nothing with --negate"),
        (("--negate", "--from", "nowhere"), '--from is "nowhere", but no study and no file has this name.'),
        (("--negate", "--from", "a\0b"), '--from is "a\\u0000b", but no study'),
        (("--negate", "--from", ""), '--from is "", but no study'),
        (("--negate", "--from", "x" * 5000), '--from is "xxxxxxxx'),
    ],
)
def test_bad_options_are_named_and_nothing_is_made(options: tuple[str, ...], said: str) -> None:
    assert refused("make_constraints", "made", *options).startswith(said)
    assert not Study.objects.exists()


@pytest.mark.django_db
def test_a_faulty_file_makes_nothing(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "dataset.jsonl", *LLMBAR, LLMBAR[0] | {"label": 3})
    said = refused("make_constraints", "made", "--from", path, "--kinds", "words", "--n", "1")
    assert said == f"{path}, line 4: label: 3 is not between 1 and 2\n1 error; nothing was imported."
    assert refused("make_constraints", "a b", "--negate", "--from", path).startswith(
        '"a b" cannot name a study'
    )
    assert not Study.objects.exists()
