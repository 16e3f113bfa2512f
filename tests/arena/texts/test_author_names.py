"""Names in texts: hidden where the study says so, for people and judges alike; the rest stays as it is."""

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from hypothesis import example, given
from hypothesis import strategies as st

from arena.models import Assignment, Completion, Contestant, Study
from arena.rating import screen
from arena.texts.author_names import HIDDEN, NameFinder, in_context, mask
from arena.texts.self_naming import find_names, shown_turns
from judging.models import JudgeRun, RunAssignment
from judging.runs.work import Work
from tests.factories import (
    make_assignment,
    make_completion,
    make_contestant,
    make_judge,
    make_member,
    make_pair,
    make_prompt,
    make_study,
)


@pytest.mark.parametrize(
    ("text", "phrases", "expected"),
    [
        ("I am Koala, said Koala.", ["Koala"], "I am [name hidden], said [name hidden]."),
        ("Koalas, koala, KoalaBear, a_Koala", ["Koala"], "Koalas, koala, KoalaBear, a_Koala"),
        ("Meta's metaphor in Metadata", ["Meta"], "[name hidden]'s metaphor in Metadata"),
        ("GPT-4 and GPT", ["GPT", "GPT-4"], "[name hidden] and [name hidden]"),
        ("GPT-4o is not it", ["GPT-4"], "GPT-4o is not it"),
        ("made by A.I. (x+)", ["A.I.", "(x+)"], "made by [name hidden] [name hidden]"),
        ("OpenAI/openai", ["OpenAI", "openai"], "[name hidden]/[name hidden]"),
        ("_Koala_ and _GPT-4_", ["Koala", "GPT-4"], "_[name hidden]_ and _[name hidden]_"),
        ("nothing", [], "nothing"),
        ("nothing", [""], "nothing"),
    ],
)
def test_mask(text: str, phrases: list[str], expected: str) -> None:
    assert mask(text, phrases) == expected


NAMES = st.sampled_from(["Koala", "GPT-4", "GPT", "Claude 2.1", "A.I.", "é", "x", "Open Assistant"])
PIECES = st.lists(NAMES | st.sampled_from([" ", ", ", "s", "the ", "2", "\n", HIDDEN]) | st.text(max_size=3))


@given(PIECES, st.lists(NAMES, max_size=4))
@example(["GPT", "-4", " ", "GPT-4"], ["GPT", "GPT-4"])
def test_no_phrase_is_left_and_nothing_else_is_touched(pieces: list[str], phrases: list[str]) -> None:
    text = "".join(pieces)
    assert mask(text, []) == text
    masked = mask(text, phrases)
    # What is between the names stands in the text, in this order; and the names fill the gaps.
    gap = "(?:" + "|".join(map(re.escape, [HIDDEN, *phrases])) + ")"
    assert re.fullmatch(gap.join(map(re.escape, masked.split(HIDDEN))), text)
    for phrase in phrases:
        whole = rf"(?<!\w){re.escape(phrase)}(?!\w)"
        assert not re.search(whole, masked.replace(HIDDEN, "\n"))


def test_passages_hold_every_name_near_by() -> None:
    text = "I am Koala by Meta. " + "far " * 60 + "Koala."
    first, second = in_context(text, ["Koala", "Meta"], around=10)
    assert [piece.text for piece in first] == ["I am ", "Koala", " by ", "Meta", ". far far …"]
    assert [piece.text for piece in first if piece.is_phrase] == ["Koala", "Meta"]
    assert [piece.text for piece in second] == ["…", "r far far ", "Koala", "."]
    assert len(in_context(text * 5, ["Koala"], around=1, most=2)) == 2
    assert in_context(text, []) == []


KOALA = NameFinder("Koala (13B)", "", "LM Sys")


@pytest.mark.parametrize(
    ("turns", "names"),
    [
        (["I am Koala. Koala likes a koala."], ["Koala"]),
        (["Koalas sleep. A Koala sleeps."], []),
        (["I am Koala.", "As I said: Koala."], ["Koala"]),
        (["I'm ChatGPT, built on GPT-4 by OpenAI."], ["ChatGPT", "GPT-4", "OpenAI"]),
        (["I am GPT-3.5-turbo, and GPT is me."], ["GPT-3.5-turbo", "GPT"]),
        (["I am Claude 2.1. Not Claude 3 times."], ["Claude 2.1", "Claude"]),
        (["I am Claude 2."], ["Claude 2"]),
        (["_Koala_ (13B) or Koala_13b.1"], ["Koala_ (13B)", "Koala_13b.1"]),
        (["I was trained by Google. İ am made by Google, too."], ["Google"]),
        (["Ask KoalaAI. Koalas like Koalaville."], ["KoalaAI"]),
        (["As an AI language model made by Foo Labs, no. Foo Labs!"], ["Foo Labs"]),
        (["I'm a chatbot developed by a team of researchers at Zorg-7."], ["Zorg-7"]),
        (["BERT is a language model made by Zorg. As a model, I was moved by Zorg."], []),
        ([], []),
    ],
)
def test_every_name_that_tells_is_found(turns: list[str], names: list[str]) -> None:
    assert KOALA.find_all(turns) == names
    masked = [mask(turn, names) for turn in turns]
    assert KOALA.find_all(masked) == []


@given(st.text(max_size=60) | PIECES.map("".join))
def test_all_are_found_exactly_where_one_is(text: str) -> None:
    first, names = KOALA.find(text), KOALA.find_all([text])
    assert bool(first) == bool(names)
    assert first is None or first.name in names
    assert all(name in text for name in names)


def telling_study(**overrides: object) -> tuple[Study, list[Completion]]:
    """A study with two completions that tell and two that do not, to each of two prompts."""
    study = make_study(**overrides)
    koala, rook = (make_contestant(study=study, name=name) for name in ("Koala (13B)", "Rook 7B"))
    wren, people = make_contestant(study=study), make_contestant(study=study, kind=Contestant.Kind.PEOPLE)
    texts = {
        koala: "I am Koala.",
        rook: "Ask OpenAI, as I am made by OpenAI.",
        wren: "Hello.",
        people: "I am Bard.",
    }
    made = []
    for _ in range(2):
        prompt = make_prompt(study=study)
        made += [make_completion(prompt=prompt, contestant=who, turns=[said]) for who, said in texts.items()]
    return study, made


@pytest.mark.django_db
def test_names_are_found_in_what_was_imported_before() -> None:
    study, made = telling_study()
    other = make_completion(turns=["I am Koala, by OpenAI."])
    found = find_names(study)
    assert (found.completions, found.telling, found.changed) == (8, 4, 4)
    told = [Completion.objects.get(pk=completion.pk).telling for completion in made[:4]]
    assert told == [["Koala"], ["OpenAI"], [], []]
    assert Completion.objects.get(pk=other.pk).telling == []
    again = find_names(study)
    assert (again.telling, again.changed) == (4, 0)
    # Claims learn from the revision which texts there are to offer.
    assert Study.objects.get(pk=study.pk).revision == study.revision + 1
    Completion.objects.filter(pk=made[2].pk).update(telling=["stale"])
    assert find_names(study).changed == 1


@pytest.mark.django_db
def test_the_command_says_how_many_there_are() -> None:
    study, _ = telling_study(naming="mask")
    out = StringIO()
    call_command("find_names", study.slug, stdout=out)
    assert f"{study.slug}: 4 of 8 answers tell who wrote them; 4 of them changed since" in out.getvalue()
    assert "Raters: mask the words that give the author away." in out.getvalue()
    out = StringIO()
    call_command("find_names", study.slug, "--json", stdout=out)
    assert json.loads(out.getvalue()) == {
        **{"study": study.slug, "naming": "mask"},
        **{"completions": 8, "telling": 4, "changed": 0},
    }
    for slug in ("nowhere", "no\0where"):
        with pytest.raises(CommandError, match="No study is called"):
            call_command("find_names", slug)


@pytest.mark.django_db
@pytest.mark.parametrize(("naming", "shown"), [("show", "I am Koala."), ("mask", f"I am {HIDDEN}.")])
def test_people_and_judges_are_shown_the_same_text(naming: str, shown: str) -> None:
    study = make_study(naming=naming)
    prompt = make_prompt(study=study)
    koala, wren = (make_contestant(study=study, name=name) for name in ("Koala (13B)", "Wren"))
    first = make_completion(prompt=prompt, contestant=koala, turns=["I am Koala."])
    second = make_completion(prompt=prompt, contestant=wren, turns=["a", "b"])
    pair = make_pair(prompt=prompt, first=first, second=second)
    find_names(study)
    offered = make_assignment(pair=pair, rater=make_member(study))
    page = screen.build(Assignment.objects.for_page().get(pk=offered.pk), None)
    assert page.responses[0].blocks[-1].part.raw == shown
    assert shown_turns(second, study) == ["a", "b"]
    run = JudgeRun(study=study, judge=make_judge())
    asked = make_assignment(pair=pair, rater=run.judge.rater)
    asked = Assignment.objects.for_page().get(pk=asked.pk)
    work = Work(RunAssignment(run=run, assignment=asked))
    assert list(work.texts.first) == [shown]
