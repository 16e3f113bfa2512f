"""Ratings of single turns, and what stands beside turns, as imports bring them and exports give them back."""

from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.records import Item, PromptRecord
from arena.data.importing.imports import import_files, import_records
from arena.models import Comparison, Completion, Prompt, Study
from tests.arena.data.formats.reading import write_lines
from tests.arena.data.importing.records import added, completion, reasons, vote
from tests.arena.data.test_export import copied, rows

pytestmark = pytest.mark.django_db

SYSTEM = {"turn": 1, "kind": "system", "text": "Be kind."}
TOOL = {"turn": 2, "kind": "tool", "name": "look", "text": "A river"}


def conversation(asked: tuple[str, ...] = ("One?", "Two?"), **more: Any) -> list[Item]:
    answers = [completion(name, turns=tuple(f"{name} to {each}" for each in asked)) for name in "AB"]
    return [PromptRecord("p1", asked, **more), *answers]


def stored() -> list[tuple[int, int | None, int]]:
    return sorted(Comparison.objects.current().values_list("turn", "rating", "repeat"))


def test_each_turn_has_a_rating_of_its_own_and_the_same_again_adds_nothing() -> None:
    votes = [vote(2, 1), vote(3, 2, turn=1), vote(4, 3, turn=2)]
    import_records("s", [*conversation(), *votes])
    assert stored() == [(0, 2, 0), (1, 3, 0), (2, 4, 0)]
    assert import_records("s", votes).written == 0
    (reason,) = reasons(import_records("s", [vote(5, 4, turn=2)]))
    assert "contradicts 4 of 8, stored already" in reason
    assert added(import_records("s", [vote(5, 4, turn=2, repeat=1)]))["comparisons"] == 1


def test_a_turn_that_the_prompt_lacks_is_an_error() -> None:
    (reason,) = reasons(import_records("s", [*conversation(), vote(3, 7, turn=3)]))
    assert reason == 'votes, line 7: turn: 3, but prompt "p1" has 2 turns'
    (reason,) = reasons(import_records("s", [*conversation(("One?",)), vote(3, 7, turn=2)]))
    assert reason.endswith("has 1 turn")


def test_an_only_turn_is_the_whole_conversation_and_of_an_unknown_text_nobody_can_tell() -> None:
    import_records("s", [*conversation(("One?",)), vote(3, turn=1)])
    assert stored() == [(0, 3, 0)]
    unknown = [PromptRecord("p2", ()), *(completion(name, prompt="p2", turns=()) for name in "AB")]
    import_records("s", [*unknown, vote(4, prompt="p2", turn=2)])
    assert stored() == [(0, 3, 0), (2, 4, 0)]


def test_votes_of_mt_bench_are_of_their_turn_and_battles_count_turns(tmp_path: Path) -> None:
    said = [{"role": role, "content": f"{role}{n}"} for n in "12" for role in ("user", "assistant")]
    battle = {
        **{"question_id": "q", "model_a": "lark", "model_b": "wren", "winner": "model_a", "judge": "ann"},
        **{"conversation_a": said, "conversation_b": said, "turn": 1},
    }
    files = [write_lines(tmp_path, "votes.jsonl", battle, {**battle, "turn": 2})]
    assert reasons(import_files("s", files)) == []
    assert stored() == [(1, 1, 0), (2, 1, 0)]
    counted = {**battle, "question_id": "r", "tstamp": 1700000000.0, "turn": 2}
    import_files("t", [write_lines(tmp_path, "battles.jsonl", counted)])
    assert Comparison.objects.get(study__slug="t").turn == 0


def test_asides_are_kept_apart_and_change_an_answer() -> None:
    told = [completion("A", turns=("a1", "a2"), extra={"asides": [TOOL], "x": 1})]
    import_records("s", [*conversation(extra={"asides": [SYSTEM]}), vote(3)])
    import_records("s", told)
    prompt, one = Prompt.objects.get(), Completion.objects.get(contestant__name="A", is_current=True)
    assert (prompt.asides, prompt.extra) == ([SYSTEM], {})
    assert (one.asides, one.extra, one.version) == ([TOOL], {"x": 1}, 2)
    assert import_records("s", told).written == 0
    other = [PromptRecord("p1", ("One?", "Two?"), extra={"asides": [{**SYSTEM, "text": "Be brief."}]})]
    (reason,) = reasons(import_records("s", other))
    assert "was rated with another text" in reason


def test_names_in_asides_tell_who_wrote_an_answer() -> None:
    told = {"turn": 1, "kind": "system", "text": "You are Heron 7B."}
    heron = completion("Heron 7B", extra={"asides": [told]})
    import_records("s", [PromptRecord("p1", ("One?",)), heron])
    assert Completion.objects.get().telling


def test_what_is_no_aside_stays_as_it_is() -> None:
    import_records("s", [*conversation(extra={"asides": "none"})])
    assert (Prompt.objects.get().asides, Prompt.objects.get().extra) == ([], {"asides": "none"})


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_turns_and_asides_come_back(form: str, tmp_path: Path) -> None:
    asked = conversation(extra={"asides": [SYSTEM]})
    told = completion("C", turns=("c1", "c2"), extra={"asides": [TOOL]})
    import_records("s", [*asked, told, vote(2), vote(3, turn=1), vote(4, turn=2)])
    study = Study.objects.get()
    study.rated_turns = "each"
    study.save()
    copy = copied(study, tmp_path, form)
    assert rows(copy) == rows(study)
    assert copy.rated_turns == "each"
    assert copy.prompts.get().asides == [SYSTEM]
    assert Completion.objects.get(prompt__study=copy, contestant__name="C").asides == [TOOL]
    given = copy.comparisons.order_by("turn").values_list("turn", "rating")
    assert list(given) == [(0, 2), (1, 3), (2, 4)]
