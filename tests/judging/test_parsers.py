"""A table of replies as models really send them."""

import pytest

from judging.answer_scales import answer_scale
from judging.parsers import Place, ReplyText, Verdict, read_verdict, without_thinking

SCORED = [
    ("5", 5),
    ("1", 1),
    ("8", 8),
    ("5\nBoth answers are fine, but B says more.", 5),
    ("5\r\nBecause.", 5),
    ("\n\n4\nThe first line was empty.", 4),
    ("   6   \n", 6),
    ("**7**\nBecause", 7),
    ("# 5", 5),
    ("`3`", 3),
    ("[[6]]", 6),
    ('"2"', 2),
    ("7.", 7),
    ("5.0", 5),
    ("5/8", 5),
    ("5 out of 8", 5),
    ("Rating: 5", 5),
    ("**Rating:** 5", 5),
    ("**Rating: 5**\nB.", 5),
    ("Rating (1-8): 5", 5),
    ("My rating is 3", 3),
    ("The final score: 4", 4),
    ("Score = 3", 3),
    ("７", 7),
    ("Rating：５", 5),
    ("+4", 4),
    ("\ufeff5", 5),
    ("<think>\nMaybe 3, or 4.\n</think>\n\n6\nB is better.", 6),
    ("<THINKING>1</THINKING><reasoning>2</reasoning>\n3", 3),
    ("2\nIgnore that. The rating is 8.", 2),
    ("1\n8", 1),
]

UNSCORED = [
    ("", "empty"),
    (" \n\t ", "empty"),
    ("<think>5</think>", "empty"),
    ("0", "out_of_range"),
    ("9", "out_of_range"),
    ("10\nmuch better", "out_of_range"),
    ("-3", "out_of_range"),
    ("−3", "out_of_range"),
    ("-0", "out_of_range"),
    ("Rating: 85", "out_of_range"),
    ("9" * 50, "out_of_range"),
    ("9" * 5000, "unparsable"),
    ("10/10", "unparsable"),
    ("5/10", "unparsable"),
    ("Rating (1-10): 5", "unparsable"),
    ("4.5", "unparsable"),
    ("4,5", "unparsable"),
    ("1-8", "unparsable"),
    ("4-5", "unparsable"),
    ("5 or 6", "unparsable"),
    ("5 6", "unparsable"),
    ("5 - B is better", "unparsable"),
    ("- 5", "unparsable"),
    ("seven", "unparsable"),
    ("½", "unparsable"),
    ("B", "unparsable"),
    ("Assistant 2 is better", "unparsable"),
    ("Answer A has 3 points, answer B has 5.\n6", "unparsable"),
    ("Here is my rating:\n5", "unparsable"),
    ("```\n5\n```", "unparsable"),
    ('{"rating": 5}', "unparsable"),
    ("<think>5", "unparsable"),
    ("Rating" + " " * 20000 + "x", "unparsable"),
    ("I can't help with that", "refused"),
    ("I’m sorry, but I cannot compare these answers.", "refused"),
    ("As an AI, I have no opinions.", "refused"),
    ("I am unable to rate this content.", "refused"),
    ("I won't do that.\n5", "refused"),
]


def first_line(reply: ReplyText, points: int) -> Verdict:
    return read_verdict(reply, answer_scale("likert", points), Place.FIRST_LINE)


@pytest.mark.parametrize(("text", "rating"), SCORED)
def test_scored(text: str, rating: int) -> None:
    verdict = first_line(ReplyText(text, "stop"), 8)
    assert (verdict.rating, verdict.reason, verdict.status) == (rating, "", "scored")


@pytest.mark.parametrize(("text", "reason"), UNSCORED, ids=[text[:20] for text, _ in UNSCORED])
def test_unscored(text: str, reason: str) -> None:
    verdict = first_line(ReplyText(text, "stop"), 8)
    assert (verdict.rating, verdict.reason, verdict.status) == (None, reason, "unscored")


@pytest.mark.parametrize("text", ["", "Let me think", "1", "Rating: 1", "<think>well"])
def test_cut_off_before_the_verdict_is_complete(text: str) -> None:
    assert first_line(ReplyText(text, "length"), 8).reason == "truncated"


def test_cut_off_after_the_verdict_is_scored() -> None:
    assert first_line(ReplyText("6\nBecause answer B", "length"), 8).rating == 6


@pytest.mark.parametrize(
    "reply",
    [
        ReplyText("", "stop", "I cannot do this."),
        ReplyText("5", "content_filter"),
        ReplyText("5", "stop", "No."),
    ],
)
def test_refusals_told_by_the_endpoint(reply: ReplyText) -> None:
    assert first_line(reply, 8).reason == "refused"


def test_the_scale_decides_what_is_in_range() -> None:
    assert first_line(ReplyText("3"), 3).rating == 3
    assert first_line(ReplyText("4"), 3).reason == "out_of_range"
    assert first_line(ReplyText("2/3"), 3).rating == 2
    assert first_line(ReplyText("2/8"), 3).reason == "unparsable"


def test_the_rationale_is_what_follows_the_verdict() -> None:
    verdict = first_line(ReplyText("<think>x</think>\n6\n\nB is longer.\nAnd right.\n"), 8)
    assert verdict.rationale == "B is longer.\nAnd right."


def test_many_blocks_of_reasoning_cost_linear_time() -> None:
    text, is_open = without_thinking("<think></think>" * 50_000 + "5")
    assert (text, is_open) == ("5", False)
