"""Protocols of single answers: what each asks, and how replies are read."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from judging.endpoints.client import Reply, Token
from judging.endpoints.logprobs import expected_rating
from judging.protocols import conversation
from judging.protocols.answer_scales import AnswerScale
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.conversation import Question
from judging.protocols.customization import wording_problems
from judging.protocols.parsing import read_lines, read_yes_no
from judging.protocols.protocol import ConfiguredProtocol, Task
from judging.protocols.rendering import OneText
from judging.protocols.replies import Place, ReplyText
from tests.judging.injections.corpus import INJECTIONS
from tests.judging.injections.measuring import breaches
from tests.judging.protocols.scripted import ask_all, blocks, outside

REQUIREMENTS = {1: "Is it a title?", 2: "Is it short?", 4: "Is it kind?"}
TEXT = OneText(["foreign instruction"], "foreign input", ["foreign answer"], b"secret")


def made(name: str, samples: int = 1, **parameters: bool | int | str) -> ConfiguredProtocol:
    protocol = PROTOCOLS[name]
    configured = ConfiguredProtocol.of(protocol, protocol.forms[0], 8, parameters, samples=samples)
    return configured.asking(REQUIREMENTS)


def ask(
    configured: ConfiguredProtocol, said: Callable[[Question], str], texts: OneText = TEXT
) -> tuple[list[Sequence[Question]], dict[str, ReplyText]]:
    """The questions in waves, and the replies."""
    return ask_all(configured, texts, said)


def keys(waves: list[Sequence[Question]]) -> list[list[str]]:
    return [[question.key for question in wave] for wave in waves]


def ratings(configured: ConfiguredProtocol, replies: dict[str, ReplyText]) -> dict[int, int | str]:
    found = conversation.checks(configured, replies)
    return {number: one.rating or one.reason for number, one in found.items()}


def test_requirements_are_asked_one_after_the_other_in_one_conversation() -> None:
    said = {"first.1": "YES", "next.2": "<think>hm</think>", "next.4": "No, it is not."}
    waves, replies = ask(made("requirements"), lambda question: said[question.key])
    assert keys(waves) == [["first.1"], ["next.2"], ["next.4"]]
    first, second, third = (wave[0].messages for wave in waves)
    assert second[:-1] == [*first, {"role": "assistant", "content": "YES"}]
    assert third[:-1] == [*second, {"role": "assistant", "content": "(no reply)"}]
    shown = [blocks(messages[-1]["content"]) for messages in (first, second, third)]
    assert shown == [
        {"INPUT": "foreign input", "ANSWER": "foreign answer", "QUESTION": "Is it a title?"},
        {"QUESTION": "Is it short?"},
        {"QUESTION": "Is it kind?"},
    ]
    assert ratings(made("requirements"), replies) == {1: 1, 2: "empty", 4: 2}


def test_a_conversation_can_end_at_what_nobody_can_read() -> None:
    configured = made("requirements", stop_at_unreadable=True)
    waves, replies = ask(configured, lambda question: {"first.1": "Yes"}.get(question.key, "Perhaps"))
    assert keys(waves) == [["first.1"], ["next.2"]]
    assert ratings(configured, replies) == {1: 1, 2: "unparsable"}


def test_each_requirement_alone_is_asked_at_once() -> None:
    configured = made("requirements-alone", samples=3)
    said = {"check.1": "yes", "2/check.1": "no", "3/check.1": "no", "check.4": "yes", "2/check.4": "no"}
    waves, replies = ask(configured, lambda question: said.get(question.key, "Perhaps"))
    assert [len(wave) for wave in waves] == [9]
    assert {len(question.messages) for question in waves[0]} == {1}
    assert ratings(configured, replies) == {1: 2, 2: "unparsable", 4: "undecided"}


def test_all_requirements_in_one_reply() -> None:
    configured = made("requirements-at-once")
    waves, replies = ask(configured, lambda question: "1: YES\n**2.** no\n3: YES")
    assert keys(waves) == [["check"]]
    listed = blocks(waves[0][0].messages[0]["content"])["QUESTIONS"]
    assert listed == "1. Is it a title?\n2. Is it short?\n4. Is it kind?"
    assert ratings(configured, replies) == {1: 1, 2: 2, 4: "unparsable"}


@pytest.mark.parametrize(
    ("name", "replies"), [("requirements", "YES NO"), ("requirements-at-once", "1: YES 1: NO")]
)
def test_examples_are_turns_before_the_first_question(name: str, replies: str) -> None:
    own = 'instruction = "Greet."\nanswer = "Hm. $5"\nquestion = "Is it a greeting?"\nreply = "NO"'
    configured = replace(made(name, shots=2, with_instruction=True), wording={"example_2": own})
    waves, _ = ask(configured, lambda _: "1: YES\n2: YES\n4: YES")
    plain, _ = ask(made(name, with_instruction=True), lambda _: "1: YES\n2: YES\n4: YES")
    assert keys(waves) == keys(plain)
    for (question,), (bare,) in zip(waves, plain, strict=True):
        first, one, second, two = question.messages[:4]
        assert [each["role"] for each in (first, one, second, two)] == ["user", "assistant"] * 2
        assert f"{one['content']} {two['content']}" == replies
        assert outside(first["content"]).replace("\n", "")[:40] in bare.messages[0]["content"]
        shown = blocks(second["content"])
        assert (shown["INSTRUCTION"], shown["ANSWER"]) == ("Greet.", "Hm. $5")
        assert "Is it a greeting?" in (shown.get("QUESTION") or shown["QUESTIONS"])
        assert [blocks(each["content"]) for each in question.messages[4:]] == [
            blocks(each["content"]) for each in bare.messages
        ]


def test_only_examples_that_are_shown_shape_a_judge() -> None:
    # The hashes of judges from before there were examples.
    assert made("requirements").prompt_hash.startswith("44b80dd91872")
    assert made("requirements-alone").prompt_hash.startswith("b8d1efd96551")
    assert made("requirements-at-once").prompt_hash.startswith("65ca26c92b9f")
    one = made("requirements", shots=1)
    own = PROTOCOLS["requirements"].examples["example_4"]
    assert replace(one, wording={"example_2": own}).prompt_hash == one.prompt_hash
    hashes = {made("requirements", shots=number).prompt_hash for number in range(5)}
    assert len(hashes | {replace(one, wording={"example_1": own}).prompt_hash}) == 6


CHECKING = [name for name, one in PROTOCOLS.items() if one.task is Task.CHECK]
SCORING = [name for name, one in PROTOCOLS.items() if one.task is Task.SCORE]
FENCED = [name for name in (*CHECKING, *SCORING) if name != "published-score"]
"""All that ask in the arena's own words."""


@pytest.mark.parametrize("name", CHECKING)
def test_the_instruction_is_shown_only_if_asked_for(name: str) -> None:
    for parameters in ({}, {"with_instruction": True}):
        waves, _ = ask(made(name, **parameters), lambda _: "YES")
        said = "".join(question.messages[0]["content"] for wave in waves for question in wave)
        assert ("foreign instruction" in said) is bool(parameters)


@pytest.mark.parametrize("name", SCORING)
def test_an_answer_is_scored_on_the_protocols_own_scale(name: str) -> None:
    configured = made(name, samples=3)
    lowest, highest = configured.score_range
    scores = {"": highest, "2/": lowest, "3/": lowest}

    def reply(question: Question) -> str:
        score = scores[question.key.partition("/")[0] + "/" if "/" in question.key else ""]
        return {"field": f"Verdict: {score}", "last_line": f"Well.\nRating: [[{score}]]"}.get(
            str(question.place), str(score)
        )

    _, replies = ask(configured, reply)
    assert conversation.scores(configured, replies)[0].value == pytest.approx((highest + 2 * lowest) / 3)
    median = made(name, samples=3, combine="median")
    assert conversation.scores(median, replies)[0].value == lowest
    unread = {key: ReplyText("Good.") for key in replies}
    assert conversation.scores(configured, unread)[0].reason == "unparsable"


def test_requirements_are_the_checklist_of_a_score() -> None:
    waves, _ = ask(made("wildbench-score"), lambda _: "Verdict: 7")
    assert "Is it kind?" in blocks(waves[0][0].messages[0]["content"])["QUESTIONS"]
    waves, _ = ask(made("wildbench-score").asking({}), lambda _: "Verdict: 7")
    assert "checklist" not in waves[0][0].messages[0]["content"]


@pytest.mark.parametrize("name", FENCED)
def test_every_text_could_be_an_operators_own(name: str) -> None:
    texts = PROTOCOLS[name].texts
    assert wording_problems(PROTOCOLS[name], texts) == []
    for text, wording in texts.items():
        if text in PROTOCOLS[name].examples:
            continue
        shown = wording.replace("$query", "").replace("$question", "").replace("$verdict", "")
        assert wording_problems(PROTOCOLS[name], {text: shown}) != []


@pytest.mark.parametrize("name", FENCED)
def test_what_others_wrote_stands_inside_fences(name: str) -> None:
    for injection in INJECTIONS:
        hostile = OneText([injection.text], injection.text, [injection.text], b"secret")
        configured = made(name).asking({1: injection.text, 2: "Is it kind?"})
        waves, _ = ask(configured, lambda _: "YES", hostile)
        for question in (one for wave in waves for one in wave):
            assert "$" not in outside(question.messages[-1]["content"])
            # A further question of a conversation names its code; the notice stands in the first.
            missing = ["the notice stands 0 times outside the blocks"] if "next" in question.key else []
            assert list(breaches(question, injection)) == missing


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Yes", 1),
        ("  no.", 2),
        ("**Yes**, it does", 1),
        ("YES: but the second is NO", 1),
        ("Nothing here", "unparsable"),
        ("The answer is YES.", 1),
        ("It is NOT so: NO", 2),
        ("YES or NO? Hard to say", 1),
        ("Hard to say: YES or NO", "unparsable"),
        ("The answer is yes", "unparsable"),
        ("", "empty"),
        ("<think>YES</think>No", 2),
        ("<think>YES", "unparsable"),
        ("I'm sorry, but I can't help with that.", "refused"),
    ],
)
def test_yes_or_no_is_read_as_the_paper_does(text: str, read: int | str) -> None:
    verdict = read_yes_no(ReplyText(text))
    assert (verdict.rating or verdict.reason) == read


def test_a_reply_that_was_cut_off_counts_if_it_began_with_the_verdict() -> None:
    assert read_yes_no(ReplyText("No, because", "length")).rating == 2
    assert read_yes_no(ReplyText("I think YES, but", "length")).reason == "truncated"
    assert read_yes_no(ReplyText("Yes", "stop", "I cannot")).reason == "refused"


def test_lines_that_contradict_each_other_say_nothing() -> None:
    found = read_lines(ReplyText("1: yes\n2) NO\n1 - no\n3: maybe"), [1, 2, 3, 4])
    assert {number: one.rating or one.reason for number, one in found.items()} == {
        1: "unparsable",
        2: 2,
        3: "unparsable",
        4: "unparsable",
    }
    cut = read_lines(ReplyText("1: YES\n2: ", "length"), [1, 2])
    assert (cut[1].rating, cut[2].reason) == (1, "truncated")
    assert {one.reason for one in read_lines(ReplyText(" "), [1, 2]).values()} == {"empty"}


@pytest.mark.parametrize("line", ["9" * 5000 + ": YES", "1" + " " * 60_000 + "x"])
def test_a_line_that_no_number_begins_costs_neither_the_others_nor_time(line: str) -> None:
    begun = time.perf_counter()
    found = read_lines(ReplyText(f"{line}\n2: NO"), [1, 2])
    assert [one.rating for one in found.values()] == [None, 2]
    assert time.perf_counter() - begun < 1


@pytest.mark.parametrize(("other", "expected"), [("10", 8.5), ("8", 7.5), ("1", None)])
def test_the_expected_score_of_ten_points(other: str, expected: float | None) -> None:
    # "1" may be the beginning of "10".
    reply = Reply("7", "stop", "m", tokens=(Token("7", -0.1, (("7", -0.1), (other, -0.1))),))
    found = expected_rating(reply, AnswerScale("score", 8, 1, 10), Place.ONLY_LINE)
    assert found == (expected and pytest.approx(expected))


TWO_TURNS = OneText(
    ["first question", "second question"], "", ["first reply", "second reply"], b"secret", [["one", "two"]]
)


def labels_of_turns(text: str) -> list[str]:
    return re.findall(r"^--- (.*) \w{12} ---$", text, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in SCORING if name in FENCED])
def test_each_turn_is_scored_after_those_before(name: str) -> None:
    whole = made(name).asking({})
    configured = whole.of_turns(2)
    assert configured.prompt_hash == whole.prompt_hash
    _, highest = configured.score_range
    said = {"turn-1": str(highest), "turn-2": "none"}

    def reply(question: Question) -> str:
        score = said[question.key.rpartition(".")[2]]
        return {"field": f"Verdict: {score}", "last_line": f"Well.\n{score}"}.get(str(question.place), score)

    waves, replies = ask(configured, reply, TWO_TURNS)
    assert [len(wave) for wave in waves] == [2]
    first, second = (question.messages[-1]["content"] for question in waves[0])
    # The first turn is asked about as if there were no other.
    alone = OneText(["first question"], "", ["first reply"], b"secret")
    ((only,),), _ = ask(whole, lambda _: "1", alone)
    assert first == only.messages[-1]["content"]
    shown = blocks(second)
    assert shown["ANSWER"] == "second reply"
    assert labels_of_turns(shown["QUERY"]) == ["turn 1, user", "turn 1, assistant", "turn 2, user"]
    assert shown["QUERY"].splitlines()[1::2] == ["first question", "first reply", "second question"]
    assert "all of them together" not in second
    assert "Score only the answer, which is the assistant's reply" in " ".join(second.split())
    found = conversation.scores(configured, replies)
    assert {turn: one.value or one.reason for turn, one in found.items()} == {1: highest, 2: "unparsable"}


def test_a_turn_is_compared_with_the_references_up_to_it() -> None:
    configured = made("mt-bench-single", with_reference=True, own_references=True).of_turns(2)
    known = conversation.given(configured, TWO_TURNS)
    questions = conversation.next_questions(configured, TWO_TURNS, known)
    references = [blocks(question.messages[-1]["content"])["REFERENCE"] for question in questions]
    assert references == ["one", "Turn 1:\none\n\nTurn 2:\ntwo"]
    # One that the judge writes serves both turns; an empty one leaves nothing to build on.
    waves, _ = ask(made("mt-bench-single", with_reference=True).of_turns(2), lambda _: "5", TWO_TURNS)
    assert keys(waves) == [["reference"], ["judge.turn-1", "judge.turn-2"]]
    empty = {"reference": ReplyText(" ")}
    found = conversation.scores(made("mt-bench-single", with_reference=True).of_turns(2), empty)
    assert {turn: one.reason for turn, one in found.items()} == {1: "empty", 2: "empty"}
