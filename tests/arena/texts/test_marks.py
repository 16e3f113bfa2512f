"""Thinking and tokens are told from answers by their marks, wherever models leave them."""

import pytest

from arena.texts.marks import final_answer, split_thinking, strip_end_tokens
from tests.waiting import quickly

CHANNELS = (
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>hello<|return|>"
)
LAST = "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>hello<|END_RESPONSE|>"


@pytest.mark.parametrize(
    "text",
    [
        "<think>Hm.</think>hello",
        "<think>\nHm.\n</think>\n\nhello",
        " \n<think>Hm.</think>\n<think>Hm.</think>\nhello",
        "<THINK>Hm.</THINK>hello",
        "<think >Hm.</think >hello",
        '<think type="deep">Hm.</think>hello',
        "<thinking>Hm.</thinking>\nhello",
        "<thought>Hm.</thought>\nhello",
        "<reasoning>Hm.</reasoning>\nhello",
        "<seed:think>Hm.</seed:think>hello",
        "<longcat_think>Hm.</longcat_think>hello",
        "[THINK]Hm.[/THINK]hello",
        "◁think▷Hm.◁/think▷hello",
        "<|thinking|>Hm.<|/thinking|>hello",
        "<|begin_of_thought|>Hm.<|end_of_thought|>\n<|begin_of_solution|>hello<|end_of_solution|>",
        LAST,
        "<|channel>thought\nHm.<channel|>hello<turn|>",
        "<unused94>thought\nHm.<unused95>hello",
        CHANNELS,
        "analysisThe user greets.assistantfinalhello",
        '<details type="reasoning" done="true">\n<summary>Thought</summary>\nHm.\n</details>\nhello',
        "Here is my thought process: Hm. Here is my response: hello",
        "Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nhello\n[END FINAL RESPONSE]",
        "<think>Hm.</think>\n<answer>\nhello\n</answer>",
        "<|im_start|>assistant\n<think>Hm.</think>\nhello<|im_end|>",
        "<think>one <think>two</think> three</think>hello",
        "<think>```\n# code</think>\nhello",
        "<think>Hm.</think>hel<think>Hm.</think>lo",
        "<think>Hm.</thinking>hello",
        "<antThinking>Hm.</antThinking>hello",
        "<scratchpad>Hm.</scratchpad>hello",
        "<thought_process>Hm.</thought_process>\n<output>hello</output>",
        "<|thinking|>Hm.</|thinking|>hello",
        "\ufeff<think>Hm.</think>hello",
        # The prompt opens it, so only its end is in the reply.
        "Hm.\n</think>\n\nhello",
        "Hm.</think>hello",
        "Hm.\n[/THINK]\nhello",
        "Hm.</seed:think>hello",
        "one</think>\ntwo</think>\nhello",
        "hello\n<think>\nHm.\n</think>",
        "hello\n<think>\nHm.",
    ],
)
def test_thinking_is_no_part_of_the_answer(text: str) -> None:
    thinking, answer = split_thinking(text)
    assert thinking
    assert final_answer(text).strip() == "hello"
    assert strip_end_tokens(answer) == final_answer(text)


def test_marks_that_an_answer_after_thinking_speaks_of_stay() -> None:
    assert final_answer("<think>Hm.</think>Write <think> and </think>.") == "Write <think> and </think>."


@pytest.mark.parametrize("text", ["<think>Hm.", "<|channel|>analysis<|message|>Hm.", "[THINK] Hm."])
def test_thinking_without_an_end_leaves_no_answer(text: str) -> None:
    assert split_thinking(text) == (text, "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " hello\n",
        "Write <think> and </think> around it.",
        "First.\nHere is my thought process: it is long. Here is my response: none.",
        "Close it with </think>, always.",
        "Close it with `</think>`",
        "```\n<think>\nHm.\n</think>\n```\nThat is all.",
        "~~~xml\n<thinking>\n~~~",
        "`<think>`\n`</think>`",
        "I think: <b>yes</b>",
        "[think]\nhello",
        "[Reasoning](https://example.org) helps.",
        "analysis: the assistant finally came",
        "<details>\n<summary>More</summary>\nhello\n</details>",
        "<answer>hello</answer>",
        "a <| b |> c",
    ],
)
def test_an_answer_that_speaks_of_marks_stays_as_it_is(text: str) -> None:
    assert split_thinking(text) == ("", text)
    assert final_answer(text) == text


ENDS = [
    *("</s>", "<eos>", "<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<end_of_turn>", "<|end|>", "<|eom_id|>"),
    *("<|return|>", "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>", "[|endofturn|]", "<|user|>", "<turn|>"),
    *("<|end_of_text|>", "<EOT>", "[EOS]", "[/INST]", "<eod>", "<pad>", "<|im_start|>", "[e~["),
]


@pytest.mark.parametrize("end", ENDS)
def test_tokens_at_the_end_are_no_part_of_an_answer(end: str) -> None:
    assert strip_end_tokens(f"hello{end}") == "hello"
    assert strip_end_tokens(f"hello\n{end} {end}\n") == "hello\n"
    inside = f"Write `{end}` at the end."
    assert strip_end_tokens(inside) == inside
    assert not strip_end_tokens(end)


@pytest.mark.parametrize("text", ["hello", "hello \n", "", "<b>hello</b>", "x = [1]", "|end|", "< s>"])
def test_other_endings_stay(text: str) -> None:
    assert strip_end_tokens(text) == text


def test_a_box_is_no_part_of_what_is_in_it() -> None:
    assert strip_end_tokens("It is <|begin_of_box|>7<|end_of_box|>.") == "It is 7."


@pytest.mark.parametrize(
    "piece",
    [
        *("<think>", "</think>", "<think></think>", "\n<think>", "\n</think>", "```\n", "`", "<|im_end|>"),
        *("\n", " ", "<|channel|>final", "<|channel|>final<|message|>", "<s>", "</s> ", "<details "),
        *("\nHere is my thought process:", '\n<details type="reasoning">', "\n`", "x<think>"),
        *("Here is my thought process:", "analysis", "<answer>", "<|", "｜"),
    ],
)
def test_long_runs_cost_linear_time(piece: str) -> None:
    text = piece * 10_000
    with quickly():
        assert len(final_answer(f"hello\n{text}x")) <= len(text) + 7
        assert len(final_answer(text)) <= len(text)
        assert len(final_answer(f"<think>Hm.</think>x{text}")) <= len(text) + 1
