"""Reading a text that is there: what servers reply, and what is kept of it."""

import math
import random
from typing import Any

import numpy as np
import pytest

from arena.texts.dialogue import Message
from judging.endpoints.client import NoReplyError, Token
from judging.endpoints.scoring import ToRead, Way, before_answer, plain, read_from
from judging.endpoints.traces import pack, unpack
from tests.judging.endpoints.worded import WordModel

ASKED = ToRead(
    "m",
    [
        {"role": "user", "content": "Name a river in France."},
        {"role": "assistant", "content": "The Loire is a river."},
    ],
    5.0,
)


def said(*texts: str) -> list[Message]:
    return [{"role": "assistant", "content": text} for text in texts]


def test_without_ids_the_written_token_is_the_one_beyond_the_likeliest_or_the_first() -> None:
    steps: list[Any] = [None]
    for beyond in (True, False):
        step = {
            "9": {"logprob": -9.0 if beyond else -0.1, "rank": 21 if beyond else 1, "decoded_token": " own"}
        }
        step |= {
            str(n): {"logprob": -1.0 - n / 10, "rank": 2 + n, "decoded_token": f"w{n}"} for n in range(3)
        }
        steps.append(dict(reversed(step.items())) if beyond else step)
    asked = ToRead("m", said("own own"), 1.0)
    found = read_from(Way.PROMPT_LOGPROBS, asked, {"prompt_logprobs": steps})
    assert [token.text for token in found.tokens] == [" own", " own"]
    assert [len(token.alternatives) for token in found.tokens] == [3, 4]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({}, "no prompt_logprobs"),
        ({"prompt_logprobs": [None, {}]}, "a token has no log-probability"),
        ({"prompt_logprobs": [None, {"1": {"logprob": "x"}}]}, "a token has no log-probability"),
        ({"prompt_logprobs": [None, {"1": {"logprob": -(10**400)}}]}, "a token has no log-probability"),
        (
            {"prompt_logprobs": [None, {"1": {"logprob": math.nan, "decoded_token": "a"}}]},
            "no log-probability",
        ),
        (
            {"prompt_logprobs": [None, {"1": {"logprob": -1, "decoded_token": "z"}}]},
            "does not end with the answer",
        ),
        (
            {"prompt_logprobs": [None] + [{"1": {"logprob": -1, "decoded_token": "z"}}] * 40_000},
            "more than 32,768",
        ),
        ("text", "no prompt_logprobs"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_is_not_retried(reply: object, said: str) -> None:
    with pytest.raises(NoReplyError, match=said) as caught:
        read_from(Way.PROMPT_LOGPROBS, ASKED, reply)
    assert not caught.value.retryable


def test_where_an_answer_begins_is_not_guessed_from_parts_of_characters() -> None:
    assert before_answer([" q", "你", "�", "�", "世界", ",", " 5"], said("q", "你好世界, 5")) == 1
    with pytest.raises(NoReplyError, match="parts of characters"):
        before_answer([" q", "", "你", "好"], said("q", "你好"))


def test_parts_of_characters_are_known_by_their_bytes() -> None:
    steps = [
        {"7": {"logprob": -1.0, "rank": 1, "decoded_token": "�", "bytes": sent}}
        for sent in ([10], [0xE4, 0xBD], [0xA0], [0xE5, 0xA5, 0xBD])
    ]
    asked = ToRead("m", said("?", "你好"), 1.0)
    found = read_from(Way.PROMPT_LOGPROBS, asked, {"prompt_logprobs": [None, *steps]})
    assert (found.before, len(found.tokens)) == (1, 4)


@pytest.mark.parametrize(
    ("tokens", "offsets", "usage"),
    [
        (["你", "\n\n", "bytes:\\xe4\\xbd", "bytes:\\xa0", "好", "!"], [0, 1, 3, 4, 4, 5], {}),  # OpenAI
        (["你", "\n\n", "�", "�", "好", "!", "�"], [0, 1, 3, 4, 5, 6, 7], {"completion_tokens": 2}),  # vLLM
    ],
)
def test_an_echo_ends_with_its_text_although_parts_make_it_longer(
    tokens: list[str], offsets: list[int], usage: dict[str, int]
) -> None:
    logs = {"tokens": tokens, "token_logprobs": [None] + [-1.0] * (len(tokens) - 1), "text_offset": offsets}
    asked = ToRead("m", said("你", "你好"), 1.0)
    found = read_from(Way.ECHO, asked, {"choices": [{"logprobs": logs}], "usage": usage})
    assert (found.before, len(found.tokens)) == (1, 4)


def test_a_trace_keeps_what_bounds_need() -> None:
    token = Token("a", math.log(0.5), (("a", math.log(0.5)), ("b", math.log(0.2))))
    beyond = Token("z", math.log(0.05), (("a", math.log(0.6)), ("b", math.log(0.3))))
    steps = unpack(pack([token, beyond]))
    assert steps.log_p == pytest.approx(np.log([0.5, 0.05]))
    assert steps.known.tolist() == [2, 3]
    assert steps.least == pytest.approx([0.2, 0.3])
    assert steps.left == pytest.approx([0.3, 0.05])
    assert steps.told == pytest.approx(
        [-sum(p * math.log(p) for p in told) for told in ((0.5, 0.2), (0.6, 0.3, 0.05))], rel=1e-6
    )
    assert len(unpack(pack([])).log_p) == 0


def test_a_trace_of_500_tokens_takes_less_than_8_kb() -> None:
    words = WordModel(seed=1, vocabulary=2000, sharpness=3.0)
    rng = random.Random(2)
    text = " ".join(rng.choice(words.words) for _ in range(500))
    asked = ToRead("m", [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": text}], 1.0)
    read = read_from(Way.ECHO, asked, words.echo(plain(asked.messages)))
    assert len(read.tokens) - read.before == 500
    assert len(pack(read.tokens)) < 8_000
