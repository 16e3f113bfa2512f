"""The expected rating: worked by hand, computed a second way, and what holds for any probabilities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.endpoints.client import Reply, Token
from judging.endpoints.logprobs import (
    LEAST_MASS,
    expected_rating,
    lacks_mass,
    tokens_of,
    verdict_logprobs,
)
from judging.protocols.answer_scales import AnswerScale, answer_scale
from judging.protocols.replies import Place

LIKERT = answer_scale("likert", 8)
BINARY = answer_scale("binary", 2)


def make_token(text: str, probabilities: dict[str, float]) -> Token:
    """A token with the probabilities of what could stand in its place."""
    alternatives = tuple((other, math.log(share)) for other, share in probabilities.items())
    return Token(text, dict(alternatives).get(text, -0.5), alternatives)


def make_reply(*tokens: Token | str, text: str | None = None, finish_reason: str = "stop") -> Reply:
    """A reply made of tokens; those given as texts have no alternatives."""
    known = tuple(token if isinstance(token, Token) else Token(token, -0.1) for token in tokens)
    return Reply(
        "".join(token.text for token in known) if text is None else text, finish_reason, "m", tokens=known
    )


def first_line(reply: Reply, scale: AnswerScale = LIKERT) -> float | None:
    return expected_rating(reply, scale, Place.FIRST_LINE)


def test_a_token_that_is_half_a_character_is_replaced() -> None:
    (token,) = tokens_of({"content": [{"token": "\ud800", "logprob": -1, "top_logprobs": []}]})
    assert token.text == "\ufffd"


def test_worked_by_hand() -> None:
    # 0.5, 0.3 and 0.1 of 0.9 fall on 6, 7 and 2; the rest goes to a token that is no answer.
    reply = make_reply(make_token("6", {"6": 0.5, "7": 0.3, "2": 0.1, "B": 0.1}), "\n", "Because.")
    assert first_line(reply) == pytest.approx((6 * 0.5 + 7 * 0.3 + 2 * 0.1) / 0.9)
    assert first_line(reply) == pytest.approx(5.8889, abs=1e-4)


@pytest.mark.parametrize(
    ("reply", "scale", "place", "expected"),
    [
        # A token with a space before it is the same answer.
        (
            make_reply("Rating", ":", make_token(" 6", {" 6": 0.4, "6": 0.2, " 3": 0.4})),
            LIKERT,
            Place.FIRST_LINE,
            0.6 * 6 + 0.4 * 3,
        ),
        # The better answer counts one or two.
        (
            make_reply("So", ".", "\n", "Answer", make_token(" A", {" A": 0.75, " B": 0.25})),
            BINARY,
            Place.LAST_LINE,
            1.25,
        ),
        # AlpacaEval's names of the outputs, and a tie between the two.
        (make_reply(make_token("m", {"m": 0.6, "M": 0.3, "A": 0.1})), BINARY, Place.ONLY_LINE, 1.3),
        (
            make_reply("[[", make_token("C", {"A": 0.2, "C": 0.5, "B": 0.3}), "]]"),
            answer_scale("letters", 3),
            Place.LAST_LINE,
            2.1,
        ),
        # A score of one answer is weighed on its own scale.
        (
            make_reply(make_token("7", {"7": 0.5, "9": 0.5})),
            AnswerScale("score", 3, 0, 9),
            Place.ONLY_LINE,
            8,
        ),
    ],
)
def test_by_form_of_verdict(reply: Reply, scale: AnswerScale, place: Place, expected: float) -> None:
    assert expected_rating(reply, scale, place) == pytest.approx(expected)


def test_a_closing_sentence_is_found_although_the_line_names_both() -> None:
    closing = ["Output", " (", make_token("b", {"a": 0.2, "b": 0.8}), ")", " is", " better", "."]
    reply = make_reply(
        "Output", " (", make_token("a", {"a": 1.0}), ")", " is", " poor", ".", " Therefore", ", ", *closing
    )
    assert expected_rating(reply, BINARY, Place.LAST_LINE) == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("reply", "scale", "place"),
    [
        (Reply("6", "stop", "m"), LIKERT, Place.FIRST_LINE),  # no log-probabilities
        (make_reply("6"), LIKERT, Place.FIRST_LINE),  # no alternatives
        (make_reply(make_token("9", {"9": 1.0})), LIKERT, Place.FIRST_LINE),  # no verdict
        # Tokens of another text.
        (make_reply(make_token("6", {"6": 1.0}), text="6\nBut"), LIKERT, Place.FIRST_LINE),
        (
            make_reply(make_token("6", {"6": 1.0}), "/", make_token("8", {"8": 1.0})),
            answer_scale("likert", 5),
            Place.FIRST_LINE,
        ),
        (
            make_reply("Rating", " (1-", make_token("8", {"8": 1.0}), "): ", make_token("8", {"8": 1.0})),
            LIKERT,
            Place.FIRST_LINE,
        ),
        (make_reply(make_token("A", {"A": 1.0}), ">>", "B"), answer_scale("grades", 5), Place.FIRST_LINE),
        (make_reply(make_token("7", {"7": 1.0}), " 5"), answer_scale("scores", 3), Place.FIRST_LINE),
        (make_reply(make_token("Answer A", {"6": 1.0})), BINARY, Place.FIRST_LINE),  # one token for two words
    ],
)
def test_none_where_it_cannot_be_had(reply: Reply, scale: AnswerScale, place: Place) -> None:
    assert expected_rating(reply, scale, place) is None
    assert verdict_logprobs(reply, scale, place) == ([] if reply.tokens else None)


WORDS = tuple((f"word{number}", math.log(0.045)) for number in range(20))


@pytest.mark.parametrize(
    ("alternatives", "expected"),
    [
        (WORDS, None),  # a grammar chose the verdict among tokens that the model would not have written
        ((*WORDS[:18], ("7", math.log(0.05)), ("6", math.log(0.05))), 6.5),
        ((*WORDS[:18], ("7", math.log(0.04)), ("6", math.log(0.05))), None),
        ((), None),
    ],
)
@pytest.mark.parametrize("own", [0.0, -18.0])
def test_a_verdict_without_probability_has_no_mean(
    alternatives: tuple[tuple[str, float], ...], expected: float | None, own: float
) -> None:
    """However likely the server calls the token that it chose itself."""
    reply = make_reply(Token("7", dict(alternatives).get("7", own), alternatives))
    found = first_line(reply)
    assert found == (None if expected is None else pytest.approx(expected, abs=0.01))
    assert (verdict_logprobs(reply, LIKERT, Place.FIRST_LINE) == []) == (expected is None)
    assert lacks_mass(reply, LIKERT, Place.FIRST_LINE) == (expected is None)


def test_thinking_before_the_answer_and_marks_after_it_have_tokens_too() -> None:
    verdict = make_token("6", {"6": 0.5, "4": 0.5})
    reply = make_reply("<think>", "6", "</think>", "\n", verdict, "<|im_end|>", text="6")
    assert first_line(reply) == pytest.approx(5)


def test_a_character_spread_over_tokens_is_put_together_again() -> None:
    halves = ["é".encode()[:1], "é".encode()[1:]]
    spread = [half.decode("utf-8", "surrogateescape") for half in halves]
    verdict = make_token("6", {"6": 0.25, "7": 0.75})
    reply = make_reply("D", *spread, "ja vu", "\n", verdict, text="Déja vu\n6")
    assert expected_rating(reply, LIKERT, Place.LAST_LINE) == pytest.approx(6.75)


def test_what_it_is_made_of_can_be_stored() -> None:
    reply = make_reply(Token("6", -0.7, (("6", -0.7), ("\udce2\x00" + "x" * 100, -0.8))))
    stored = verdict_logprobs(reply, LIKERT, Place.FIRST_LINE)
    assert stored == [["6", -0.7], ["\ufffd\ufffd" + "x" * 38, -0.8]]


logs = st.floats(min_value=-60, max_value=0)


@given(st.dictionaries(st.integers(1, 8), logs, min_size=1), st.data())
def test_any_probabilities_agree_with_numpy_on_the_scale(
    found: dict[int, float], data: st.DataObject
) -> None:
    said = data.draw(st.sampled_from(sorted(found)))
    alternatives = tuple((str(rating), log) for rating, log in found.items())
    value = first_line(make_reply(Token(str(said), found[said], alternatives)))
    weights = np.exp(np.array(list(found.values())))
    if weights.sum() < LEAST_MASS:
        assert value is None
        return
    assert value == pytest.approx(np.average(list(found), weights=weights), abs=1e-9)
    assert min(found) - 1e-9 <= value <= max(found) + 1e-9


@given(st.integers(1, 8))
def test_a_certain_answer_is_its_rating(rating: int) -> None:
    assert first_line(make_reply(Token(str(rating), 0.0, ((str(rating), 0.0), ("x", -9999.0))))) == rating
