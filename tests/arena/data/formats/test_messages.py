"""Files of pairs with lists of messages, and of labelling tools: each shape as others write it."""

from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.catalogue import gather
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    GoldRecord,
    PromptRecord,
)
from tests.arena.data.formats.reading import problems, read, write_lines


def talk(*texts: str, **first: str) -> list[dict[str, Any]]:
    """Messages by user and assistant in turn; ``first`` are roles before them with their text."""
    roles = ("user", "assistant") * len(texts)
    begin = [{"role": role, "content": text} for role, text in first.items()]
    return [*begin, *({"role": role, "content": text} for role, text in zip(roles, texts, strict=False))]


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def only(items: list[Any], kind: type[Any]) -> list[Any]:
    return [item for item in items if isinstance(item, kind)]


# --- Chosen and rejected.

PAIR = {"prompt": "Name a river.", "chosen": "The Rhine.", "rejected": "A road."}
QUESTION, GOOD, BAD = PAIR.values()

SHAPES: dict[str, dict[str, Any]] = {
    "TRL, standard": PAIR,
    "TRL, conversational": {"prompt": talk(QUESTION), "chosen": said(GOOD), "rejected": said(BAD)},
    "TRL, implicit prompt": {"chosen": talk(QUESTION, GOOD), "rejected": talk(QUESTION, BAD)},
    "UltraFeedback": {
        "prompt": QUESTION,
        "prompt_id": "abc",
        "chosen": talk(QUESTION, GOOD),
        "rejected": talk(QUESTION, BAD),
        "messages": talk(QUESTION, GOOD),
        "score_chosen": 8.0,
        "score_rejected": 4.0,
    },
    "ShareGPT": {
        "conversations": [],
        "prompt": [{"from": "human", "value": QUESTION}],
        "chosen": {"from": "gpt", "value": GOOD},
        "rejected": {"from": "gpt", "value": BAD},
    },
    "HH": {
        "chosen": f"\n\nHuman: {QUESTION}\n\nAssistant: {GOOD}",
        "rejected": f"\n\nHuman: {QUESTION}\n\nAssistant: {BAD}",
    },
    "HH with a prompt": {
        "prompt": f"Human: {QUESTION}\n\nAssistant:",
        "chosen": GOOD,
        "rejected": BAD,
    },
    "Orca": {"system": "Be brief.", "question": QUESTION, "chosen": GOOD, "rejected": BAD},
    "a text in lists": {"prompt": QUESTION, "chosen": [GOOD], "rejected": [BAD], "models": ["heron"]},
    "parts": {
        "chosen": [*talk(QUESTION), {"role": "assistant", "content": [{"type": "text", "text": GOOD}]}],
        "rejected": talk(QUESTION, BAD),
    },
    "a list in a text": {"chosen": str(talk(QUESTION, GOOD)), "rejected": str(talk(QUESTION, BAD))},
    "our own file": {
        **PAIR,
        **{"margin": 0.5, "n_raters": 2, "agreement": 1.0, "consensus": "chosen", "consensus_by": "majority"},
        **{"prompt_id": "p1", "category": "", "simulated": False},
    },
}


@pytest.mark.parametrize("row", SHAPES.values(), ids=SHAPES)
def test_chosen_and_rejected_are_a_pair_with_a_gold_label(tmp_path: Path, row: dict[str, Any]) -> None:
    items = read(write_lines(tmp_path, "pairs.jsonl", row, row))
    (prompt,), (gold,) = only(items, PromptRecord), only(items, GoldRecord)
    assert prompt.turns == (QUESTION,)
    assert [each.turns for each in only(items, CompletionRecord)] == [(GOOD,), (BAD,)]
    assert (gold.gold, gold.first_id, gold.second_id, gold.source) == ("first", "1", "2", "preferences")
    assert not only(items, ContestantRecord)


def test_our_own_file_of_preferences_is_read_as_a_table_too(tmp_path: Path) -> None:
    lines = [
        ",".join(SHAPES["our own file"]),
        "Name a river.,The Rhine.,A road.,0.5,2,1.0,rejected,adjudicated,p1,x,false",
    ]
    (gold,) = only(read(write_lines(tmp_path, "preferences.csv", *lines)), GoldRecord)
    assert gold.gold == "second"  # it was settled against what most raters chose


def test_each_chosen_text_of_a_list_is_better_than_each_rejected_one(tmp_path: Path) -> None:
    row = {"id": "1", "prompt": QUESTION, "chosen": [GOOD], "rejected": [BAD, "A car."]}
    items = read(write_lines(tmp_path, "p.jsonl", {**row, "models": ["heron", "stork", "crane"]}))
    found = [(each.first, each.second, each.gold) for each in only(items, GoldRecord)]
    assert found == [("heron", "stork", "first"), ("heron", "crane", "first")]
    assert len(only(items, PromptRecord)) == 2


@pytest.mark.parametrize("names", [("chosen_model", "rejected_model"), ("chosen-model", "rejected-model")])
def test_answers_belong_to_the_models_that_a_row_names(tmp_path: Path, names: tuple[str, str]) -> None:
    row = {**PAIR, names[0]: "heron", names[1]: "stork", "subset": "hard", "category": "birds"}
    items = read(write_lines(tmp_path, "pairs.jsonl", row))
    assert [(each.contestant, each.subset) for each in only(items, CompletionRecord)] == [
        ("heron", "hard"),
        ("stork", "hard"),
    ]
    (gold,) = only(items, GoldRecord)
    assert (gold.first, gold.second) == ("heron", "stork")
    assert only(items, PromptRecord)[0].category == "birds"


@pytest.mark.parametrize("models", [("human", "unknown"), ("heron", "heron"), ("heron", None)])
def test_answers_without_two_different_models_are_known_by_their_place(tmp_path: Path, models: Any) -> None:
    row = {**PAIR, "chosen_model": models[0], "rejected_model": models[1]}
    assert [each.id for each in only(read(write_lines(tmp_path, "p.jsonl", row)), CompletionRecord)] == [
        "1",
        "2",
    ]


def test_several_turns_and_a_system_message(tmp_path: Path) -> None:
    chosen = talk("Hi.", "Hello.", "And?", "Well.", system="Be kind.")
    rejected = talk("Hi.", "Hello.", "And?", "No.", system="Be kind.")
    items = read(write_lines(tmp_path, "p.jsonl", {"chosen": chosen, "rejected": rejected}))
    (prompt,) = only(items, PromptRecord)
    assert (prompt.turns, prompt.extra) == (("Hi.", "And?"), {"system": "Be kind."})
    assert [each.turns[1] for each in only(items, CompletionRecord)] == ["Well.", "No."]


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        (
            {"prompt": talk("A"), "chosen": talk("B", "x"), "rejected": talk("C", "y")},
            "rejected",
            "the user's turns or the system message are not as in chosen",
        ),
        ({"chosen": talk("A"), "rejected": talk("A", "y")}, "chosen", "0 answers to 1 turns of the user"),
        ({**PAIR, "chosen": 7}, "chosen", "expected a text or a list of messages with role and content"),
        ({**PAIR, "rejected": []}, "rejected", "expected a text or a list of messages with role and content"),
        (
            {**PAIR, "chosen": [{"role": "tool", "content": "x"}]},
            "chosen",
            "the roles are not user and assistant in turn",
        ),
        (
            {**PAIR, "chosen": [{"role": "assistant", "content": [{"type": "image"}]}]},
            "chosen[2]",
            "expected a text; images and other things cannot be imported",
        ),
    ],
)
def test_what_is_wrong_with_a_row(tmp_path: Path, row: dict[str, Any], field: str, reason: str) -> None:
    assert problems(write_lines(tmp_path, "p.jsonl", PAIR, row)) == [(2, field, reason)]


# --- HelpSteer3.

STEERED = {
    "domain": "general",
    "language": "english",
    "context": talk("Hi.", "Hello.", QUESTION),
    "response1": GOOD,
    "response2": BAD,
    "overall_preference": -2,
    "individual_preference": [
        {"score": -3, "reasoning": "It names one.", "feedback1": "Good.", "feedback2": "Bad."},
        {"score": 1, "reasoning": "Hm."},
        {"score": 0, "reasoning": ""},
    ],
}


def test_helpsteer_has_what_each_person_prefers(tmp_path: Path) -> None:
    items = read(write_lines(tmp_path, "train.jsonl", STEERED))
    (prompt,) = only(items, PromptRecord)
    assert (prompt.turns, prompt.category) == (("Hi.", QUESTION), "general")
    assert [each.turns for each in only(items, CompletionRecord)] == [("Hello.", GOOD), ("Hello.", BAD)]
    rated = only(items, ComparisonRecord)
    assert [(each.rater, each.points, each.rating) for each in rated] == [
        ("annotator-1", 5, 1),
        ("annotator-2", 5, 4),
        ("annotator-3", 5, 3),
    ]
    assert (rated[0].rationale, rated[0].extra) == ("It names one.", {"preference": -3})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"context": talk("Hi.", "Hello.")}, "context"),
        ({"overall_preference": 4}, "overall_preference"),
        ({"individual_preference": [{"score": 9}]}, "individual_preference[1].score"),
        ({"individual_preference": "x"}, "individual_preference"),
    ],
)
def test_what_is_wrong_in_helpsteer(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    path = write_lines(tmp_path, "train.jsonl", STEERED, {**STEERED, **changes})
    assert [(line, name) for line, name, _ in problems(path)] == [(2, field)]


# --- compar:IA.

VOTE = {
    "id": 1,
    "timestamp": "2025-01-02T03:04:05",
    "model_a_name": "heron",
    "model_b_name": "stork",
    "chosen_model_name": "stork",
    "both_equal": False,
    "conversation_a": talk(QUESTION, GOOD, system="Be kind."),
    "conversation_b": talk(QUESTION, BAD),
    "conversation_pair_id": "a-b",
    "selected_category": None,
    "visitor_id": "v1",
    "conv_useful_a": True,
}
TURN = {
    **{"comparison_id": "c1", "model_a": "heron", "model_b": "stork", "choice": "a", "mode": "random"},
    **{"full_conversation_a": talk(QUESTION, GOOD), "full_conversation_b": talk(QUESTION, BAD)},
}


@pytest.mark.parametrize(
    ("row", "rating"),
    [
        (VOTE, 3),
        ({**VOTE, "chosen_model_name": "heron"}, 1),
        ({**VOTE, "chosen_model_name": None, "both_equal": True}, 2),
        ({**VOTE, "conversation_a": str(talk(QUESTION, GOOD))}, 3),
        (TURN, 1),
        *(({**TURN, "choice": choice}, 2) for choice in ("both_good", "both_bad", "tie")),
    ],
)
def test_comparia(tmp_path: Path, row: dict[str, Any], rating: int) -> None:
    items = read(write_lines(tmp_path, "votes.jsonl", row))
    (found,) = only(items, ComparisonRecord)
    assert (found.first, found.second, found.rating, found.rater_kind) == ("heron", "stork", rating, "person")
    assert [each.turns for each in only(items, CompletionRecord)] == [(GOOD,), (BAD,)]


def test_a_conversation_without_a_vote_has_texts_alone(tmp_path: Path) -> None:
    rows = [{**VOTE, "chosen_model_name": None}, {**TURN, "choice": None}]
    for number, row in enumerate(rows):
        items = read(write_lines(tmp_path, f"{number}.jsonl", row))
        assert len(only(items, CompletionRecord)) == 2
        assert not only(items, ComparisonRecord)


# --- Labelling tools.

TEXTS = {"prompt": QUESTION, "response_a": GOOD, "response_b": BAD}


def argilla(*values: Any, **more: Any) -> dict[str, Any]:
    responses = [{"value": value, "user_id": f"u{number}"} for number, value in enumerate(values, start=1)]
    record = {
        "id": "r1",
        "status": "completed",
        "fields": TEXTS,
        "metadata": {},
        "suggestions": {},
        "vectors": {},
    }
    return {**record, "responses": {"better": responses}, "_server_id": "s1", **more}


def studio(*results: Any, **more: Any) -> dict[str, Any]:
    annotations = [
        {
            "id": number,
            "completed_by": number,
            "result": [
                {"from_name": "pw", "to_name": "a,b", "type": kind, "value": value} for kind, value in each
            ],
            "was_cancelled": False,
            "lead_time": 4.2,
            "created_at": "2025-01-02T03:04:05.6Z",
        }
        for number, each in enumerate(results, start=1)
    ]
    return {
        "id": 7,
        "data": TEXTS,
        "annotations": annotations,
        "predictions": [],
        "meta": {},
        "project": 3,
        **more,
    }


@pytest.mark.parametrize(
    ("row", "ratings"),
    [
        (argilla("response_a", "response_b", "tie"), [1, 3, 2]),
        (argilla("A", "b is better", "both"), [1, 3, 2]),
        (argilla(["response_b", "response_a"]), [3]),
        (argilla([{"value": "response_b", "rank": 2}, {"value": "response_a", "rank": 1}]), [1]),
        (argilla([{"value": "response_b", "rank": 1}, {"value": "response_a", "rank": 1}]), [2]),
        (argilla("stork", metadata={"response_a_model": "heron", "response_b_model": "stork"}), [3]),
        (
            argilla("a", fields={"instruction": talk(QUESTION), "generation-1": GOOD, "generation-2": BAD}),
            [1],
        ),
        (studio([("pairwise", {"selected": "left"})], [("pairwise", {"selected": "right"})]), [1, 3]),
        (studio([("choices", {"choices": ["Tie"]})], [("choices", {"choices": ["B"]})]), [2, 3]),
        (
            studio(
                [("pairwise", {"selected": "right"})],
                data={"text2": BAD, "text1": GOOD, "question": QUESTION},
            ),
            [3],
        ),
        (studio([], []), [None, None]),
    ],
)
def test_labelling_tools(tmp_path: Path, row: dict[str, Any], ratings: list[int | None]) -> None:
    items = read(write_lines(tmp_path, "export.json", row))
    assert only(items, PromptRecord)[0].turns == (QUESTION,)
    assert [each.turns for each in only(items, CompletionRecord)] == [(GOOD,), (BAD,)]
    rated = only(items, ComparisonRecord)
    assert [each.rating for each in rated] == ratings
    assert all((each.reason == "empty") is (each.rating is None) for each in rated)
    assert len({each.rater for each in rated}) == len(rated)


def test_comments_times_and_models_that_judged(tmp_path: Path) -> None:
    result = [("pairwise", {"selected": "left"}), ("textarea", {"text": ["It is short."]})]
    prediction = {"model_version": "jay-1", "result": [{"value": {"selected": "right"}}]}
    who = {"id": 5, "email": "ann@example.org"}
    row = studio(result, predictions=[prediction])
    row["annotations"][0]["completed_by"] = who
    found = only(read(write_lines(tmp_path, "export.json", row)), ComparisonRecord)
    assert [(each.rater, each.rater_kind, each.rating) for each in found] == [
        ("annotator-5", "person", 1),
        ("jay-1", "judge", 3),
    ]
    assert (found[0].rationale, found[0].seconds, found[0].id) == ("It is short.", 4.2, "1")
    assert "example.org" not in str(found)
    suggested = argilla("a", suggestions={"better": {"value": "b", "agent": "jay-1", "score": 0.9}})
    suggested["responses"]["why"] = [{"value": "Clearer.", "user_id": "u1"}]
    found = only(read(write_lines(tmp_path, "records.json", suggested)), ComparisonRecord)
    assert [(each.rater, each.rating, each.rationale) for each in found] == [
        ("u1", 1, "Clearer."),
        ("jay-1", 3, ""),
    ]


def test_what_was_not_submitted_counts_for_nothing(tmp_path: Path) -> None:
    cancelled = studio([("pairwise", {"selected": "left"})])
    cancelled["annotations"][0]["was_cancelled"] = True
    draft = argilla()
    draft["responses"]["better"] = [
        {"value": "response_a", "user_id": "u1", "status": status} for status in ("draft", "discarded")
    ]
    for number, row in enumerate((cancelled, draft)):
        assert not only(read(write_lines(tmp_path, f"{number}.json", row)), ComparisonRecord)


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (argilla("a", fields={"prompt": QUESTION, "text": GOOD}), "fields"),
        (argilla("a", fields={"response_a": GOOD, "response_b": BAD}), "fields"),
        (argilla("a", fields=None), "fields"),
        (studio([("choices", {"choices": ["A"]}), ("pairwise", {"selected": "right"})]), ""),
        (studio(data={"image": "x.png"}), "data"),
    ],
)
def test_what_cannot_be_told_in_a_labelling_tool(tmp_path: Path, row: dict[str, Any], field: str) -> None:
    assert [name for _, name, _ in problems(write_lines(tmp_path, "export.json", row))] == [field]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        *((row, "preferences") for row in SHAPES.values()),
        (STEERED, "helpsteer"),
        (VOTE, "comparia"),
        (TURN, "comparia"),
        (argilla("a"), "argilla"),
        (studio([]), "label-studio"),
    ],
)
def test_each_shape_is_one_format(tmp_path: Path, row: dict[str, Any], name: str) -> None:
    sources = gather([write_lines(tmp_path, "file.jsonl", row)])
    assert [source.format.name for source in sources.sources] == [name]
