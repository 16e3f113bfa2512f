"""``manage.py protocols`` and the page it writes."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.customization import file_name
from judging.protocols.description import WIDTH

DOCS = Path(__file__).parents[3] / "docs"


def protocols(*arguments: str) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("protocols", *arguments, stdout=out)
    return out.getvalue()


def test_the_page_is_that_of_the_catalogue() -> None:
    page = (DOCS / "protocols.md").read_text(encoding="utf-8")
    assert protocols("--markdown") == page, "run: python manage.py protocols --markdown > docs/protocols.md"
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    asked = {row[0].strip("| `"): row[1:] for row in rows if len(row) == 4}
    assert list(asked) == list(PROTOCOLS)
    assert asked["reference"] == [PROTOCOLS["reference"].title, "likert", "1 + 1 once per prompt |"]
    assert asked["rubric"][1:] == ["scores", "1 once per answer |"]


def test_the_page_says_which_protocols_take_only_scores() -> None:
    page = (DOCS / "protocols.md").read_text(encoding="utf-8")
    fixed = [name for name, one in PROTOCOLS.items() if one.lacks]
    assert fixed == ["scores", "rating", "rubric"]
    assert all(PROTOCOLS[name].forms == ("scores",) for name in fixed)
    assert "every answer scale; `scores`, `rating` and\n`rubric` take only `scores`." in page


def test_all_are_listed_with_calls_scales_parameters_and_source() -> None:
    listed = protocols()

    assert [name for name in PROTOCOLS if f"\n  {name}" not in f"\n{listed}"] == []
    (entry,) = [block for block in listed.split("\n\n") if block.startswith("  wildbench:")]
    lines = [line.split(maxsplit=2) for line in entry.splitlines()[1:]]
    assert "calls per pair  1 + 1 once per prompt" in entry
    assert "answer scales   grades, likert, binary, scores" in entry
    assert "parameters      author=gpt-4o" in entry
    assert ["source", "Lin", "et al. (2024), WildBench, arXiv 2406.04770"] in lines
    assert max(len(line) for line in listed.splitlines()) <= WIDTH


def test_one_is_shown_in_full() -> None:
    shown = protocols("prepair")
    assert shown.startswith("prepair: ")
    assert "analyse: about each answer" in shown
    assert "rules (yes): " in shown
    for text in PROTOCOLS["prepair"].texts.values():
        assert text in shown
    voters = "majority of     cot, metrics, reference, metrics-reference, swap"
    assert voters in protocols("protocol-consistency")


@pytest.mark.parametrize(
    ("published", "ours"),
    [
        ("base", "rules"),
        ("metric", "metrics"),
        ("metric+reference", "metrics-reference"),
        ("swap&synthesize", "swap"),
        ("swap-and-synthesize", "swap"),
        ("multi-role-round1", "multi-role"),
        ("gpt4-reference", "strong-reference"),
        ("cot&consistency", "cot-self-consistency"),
    ],
)
def test_a_protocol_answers_to_the_name_it_was_published_under(published: str, ours: str) -> None:
    assert protocols(published) == protocols(ours)
    assert published in protocols(ours).partition("\n\n")[0]


def test_everything_is_there_as_json() -> None:
    listed = json.loads(protocols("--json"))
    one = json.loads(protocols("multi-aspect-two", "--json"))

    assert [entry["name"] for entry in listed] == list(PROTOCOLS)
    assert one["texts"] == dict(PROTOCOLS["multi-aspect-two"].texts)
    assert one["calls"]["most"] == 6
    assert len(one["parameters"][0]["default"]) == 5


def test_texts_are_written_as_files_to_edit(tmp_path: Path) -> None:
    printed = protocols("protocol-consistency", "--write", str(tmp_path / "mine"))

    files = {str(path.relative_to(tmp_path / "mine")): path for path in (tmp_path / "mine").rglob("*.txt")}
    texts = PROTOCOLS["protocol-consistency"].texts
    assert {file_name(name) for name in texts} == set(files)
    assert all(
        files[file_name(name)].read_text(encoding="utf-8") == f"{text}\n" for name, text in texts.items()
    )
    assert sorted(printed.split()) == sorted(str(path) for path in files.values())


def test_a_published_text_is_held_against_our_own(tmp_path: Path) -> None:
    text = PROTOCOLS["vanilla"].texts["compare"]
    for name, said, share in (("same", text, "100.0%"), ("other", "{input} one two three four five", "0.0%")):
        (tmp_path / name).write_text(said)
        assert protocols("vanilla", "--against", str(tmp_path / name)).split()[-1] == share
    with pytest.raises(CommandError, match="cannot be read as a text"):
        protocols("vanilla", "--against", str(tmp_path / "absent"))
    with pytest.raises(CommandError, match="Name the protocol to compare"):
        protocols("--against", str(tmp_path / "same"))


def test_files_are_kept_and_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    edited = tmp_path / "compare.txt"
    edited.write_text("mine", encoding="utf-8")
    with pytest.raises(CommandError, match=r"compare\.txt already exists. Choose another folder\."):
        protocols("prepair", "--write", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["compare.txt"]
    assert edited.read_text(encoding="utf-8") == "mine"
    with pytest.raises(CommandError, match=r"cannot be written: .*\.$"):
        protocols("prepair", "--write", str(edited))
    with pytest.raises(CommandError, match="cannot be written: File name too long"):
        protocols("prepair", "--write", str(tmp_path / ("x" * 300)))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nonsense",), r'^Unknown protocol "nonsense"; choose one of likert, .*\.$'),
        (("--write", "somewhere"), "Name the protocol whose texts to write: protocols NAME --write FOLDER."),
        (("likert", "--markdown"), "--markdown writes all protocols. Leave NAME out."),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        protocols(*arguments)
