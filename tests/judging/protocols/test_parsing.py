"""Replies to verdicts: what each form of verdict says, and what is no verdict."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import scales
from arena.texts.marks import without_thinking
from judging.protocols.answer_scales import GRADES, LETTERS, AnswerScale, answer_scale
from judging.protocols.parsing import find_verdict, no_text, read_verdict
from judging.protocols.replies import Place, ReplyText, Verdict
from tests.waiting import quickly

LIKERT = answer_scale("likert", 8)
BINARY = answer_scale("binary", 2)
FORMS = (
    *(answer_scale("likert", points) for points in scales.POINTS),
    BINARY,
    answer_scale("scores", 3),
    answer_scale("grades", 5),
    answer_scale("letters", 3),
    AnswerScale("score", 3, 0, 9),
)

WITHIN = {
    Place.FIRST_LINE: ("{}", "\n {}\nBecause.", "<think>\n1\n</think>\n{}\nBecause."),
    Place.ONLY_LINE: ("{}", "  {}\n", "<reasoning>2</reasoning>{}"),
    Place.LAST_LINE: ("{}", "Because.\n\n{}\n", "1\n2\n{}"),
    Place.FIELD: ("Verdict: {}", "Because.\n**Verdict:** {}\n", "Verdict: 2\nFinal verdict: {}"),
}
"""Replies around a verdict, by its place."""

AROUND = ("{}", "**{}**", "[{}]", "`{}`", "({})", '"{}"', "_{}_", "\\boxed{{{}}}", "{}.")
LABELS = {
    "likert": ("", "Rating: ", "Score = ", "My rating is ", "Bewertung: ", "评分："),
    "score": ("", "Rating: ", "Score = "),
    "binary": ("", "Better answer: ", "My verdict is "),
    "scores": ("", "Scores: "),
    "grades": ("", "Verdict: "),
    "letters": ("", "Verdict: ", "My choice is: "),
}


def wordings(scale: AnswerScale) -> list[tuple[str, int]]:
    """Every verdict of a form in plain words, with its rating."""
    if scale.form == "binary":
        names = ("{}", "Answer {}", "Output ({})", "[[{}]]", "Response {} is better")
        return [(name.format(letter), 1 + "AB".index(letter)) for name in names for letter in "AB"]
    if scale.form == "letters":
        return [(letter, rating) for rating, letter in enumerate(LETTERS, 1)]
    if scale.form == "grades":
        return [(grade, rating) for rating, grade in enumerate(GRADES, 1)]
    if scale.form == "scores":
        pairs = [(a, b) for a in range(1, 11) for b in range(1, 11)]
        return [(f"{a} {b}", 2 + (b > a) - (a > b)) for a, b in pairs]
    lowest, highest = (1, scale.points) if scale.form == "likert" else (scale.lowest, scale.highest)
    return [(str(rating), rating) for rating in range(lowest, highest + 1)]


def read(text: str, scale: AnswerScale = LIKERT, place: Place = Place.FIRST_LINE) -> Verdict:
    return read_verdict(ReplyText(text, "stop"), scale, place)


@given(st.data(), st.sampled_from(FORMS), st.sampled_from(list(WITHIN)))
def test_any_decorated_verdict_is_read_back(data: st.DataObject, scale: AnswerScale, place: Place) -> None:
    words, rating = data.draw(st.sampled_from(wordings(scale)))
    labels = LABELS[scale.form] if "is" not in words else ("",)
    label, around = data.draw(st.sampled_from(labels)), data.draw(st.sampled_from(AROUND))
    text = data.draw(st.sampled_from(WITHIN[place])).format(label + around.format(words))
    assert read(text, scale, place).rating == rating
    start, end = find_verdict(ReplyText(text, "stop"), scale, place)[1] or (0, 0)
    assert words in text[start:end]


WORDS = "the answer output A B (a) A>>B is better verdict rating : 5 10 /".split()  # noqa: SIM905
prose = st.lists(st.sampled_from(WORDS), max_size=12)
other_words = st.sampled_from(["units", "because", "wrong", "cites", "perhaps", "not"])


@given(prose, prose, other_words, st.data())
def test_prose_in_the_place_of_the_verdict_is_never_scored(
    before: list[str], after: list[str], word: str, data: st.DataObject
) -> None:
    line = " ".join([*before, word, *after])
    scale, place = data.draw(st.sampled_from(FORMS)), data.draw(st.sampled_from(list(WITHIN)))
    text = data.draw(st.sampled_from(WITHIN[place])).format(line)
    assert read(text, scale, place).rating is None


@given(st.text(), st.sampled_from(FORMS), st.sampled_from(Place), st.sampled_from(["", "stop", "length"]))
def test_no_text_breaks_a_reader_and_every_rating_is_on_its_scale(
    text: str, scale: AnswerScale, place: Place, finish_reason: str
) -> None:
    verdict = read_verdict(ReplyText(text, finish_reason), scale, place)
    assert (verdict.rating is None) == bool(verdict.reason)
    if verdict.rating is not None:
        highest = scale.highest if scale.form == "score" else scale.points
        assert (scale.lowest if scale.form == "score" else 1) <= verdict.rating <= highest


@given(st.data(), st.sampled_from([BINARY, answer_scale("grades", 5)]), st.sampled_from(list(WITHIN)))
def test_exchanged_names_mirror_the_verdict(data: st.DataObject, scale: AnswerScale, place: Place) -> None:
    words, _ = data.draw(st.sampled_from(wordings(scale)))
    around = data.draw(st.sampled_from(AROUND))
    exchanged = re.sub(r"\b[AB]\b", lambda letter: {"A": "B", "B": "A"}[letter[0]], words)
    exchanged = exchanged.replace("B=A", "A=B")  # the grade in the middle has one name
    pattern = data.draw(st.sampled_from(WITHIN[place]))
    one, other = (read(pattern.format(around.format(text)), scale, place) for text in (words, exchanged))
    assert one.rating is not None
    assert other.rating == scales.mirror(one.rating, scale.points)


def test_refusals_told_by_the_endpoint_and_compared_scores_that_are_kept() -> None:
    for reply in (
        ReplyText("", "stop", "I cannot do this."),
        ReplyText("5", "content_filter"),
        ReplyText("5", "stop", "No."),
    ):
        assert read_verdict(reply, LIKERT, Place.FIRST_LINE).reason == "refused"
        assert no_text(reply) == "refused"
    assert read("7 5", answer_scale("scores", 3)).scores == (Decimal(7), Decimal(5))


@pytest.mark.parametrize(
    ("text", "scale", "place", "rationale"),
    [
        (
            "<think>x</think>\n6\n\nB is longer.\nAnd right.\n",
            LIKERT,
            Place.FIRST_LINE,
            "B is longer.\nAnd right.",
        ),
        ("B is longer.\n\n6", LIKERT, Place.LAST_LINE, "B is longer."),
        ("B is longer.\nVerdict: 6", LIKERT, Place.FIELD, "B is longer."),
        ("6", LIKERT, Place.ONLY_LINE, ""),
        ("Well.\nA is wrong. So Answer B is better.", BINARY, Place.LAST_LINE, "Well.\nA is wrong."),
    ],
)
def test_the_rationale_is_the_rest(text: str, scale: AnswerScale, place: Place, rationale: str) -> None:
    assert read(text, scale, place).rationale == rationale


@pytest.mark.parametrize(
    ("text", "finish_reason", "reason"),
    [
        ("A draft of an answer.", "stop", ""),
        ("A draft of an", "length", ""),
        ("<think>Hm.</think>", "stop", "empty"),
        ("<think>Hm.", "length", "truncated"),
        ("", "stop", "empty"),
        ("\u2060 \u200d", "stop", "empty"),
    ],
)
def test_why_a_reply_that_is_quoted_says_nothing(text: str, finish_reason: str, reason: str) -> None:
    assert no_text(ReplyText(text, finish_reason)) == reason


CHANNELS = "<|channel|>analysis<|message|>1<|end|><|start|>assistant<|channel|>final<|message|>5<|return|>"
HTML = "5\nIn HTML a tag such as <b> is closed by </b>."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("5", "5"),
        ("<think>1</think>5", "5"),
        ("<thought>1</thought>\n<think>2</think>\n5", "\n5"),
        ("1\n</think>\n5", "\n5"),
        (CHANNELS, "5"),
        (HTML, HTML),
        ("The tags are <think> and </think>.\n5", "The tags are <think> and </think>.\n5"),
    ],
)
def test_what_is_thinking_and_what_the_answer(text: str, answer: str) -> None:
    assert without_thinking(text) == (answer, False)


@pytest.mark.parametrize(
    "text",
    [
        "<think>5",
        "5\n<think>\n6",
        "1</think>2</think>3",
        "<|channel|>analysis<|message|>5",
        "<|channel|>final<|message|>5<|end|><|channel|>final<|message|>6",
    ],
)
def test_thinking_without_an_end_leaves_no_answer(text: str) -> None:
    assert without_thinking(text)[1]


PIECES = ("$", "*", " ", "\n", "\t", ".", ". ", "1*", "\\boxed{", "<think>", "<|channel|>final")
OF_FORMS = ("{", '{"rating":', "}\n", "```json\n", "\\[\n", "<|a|>", "<think></think>")


@pytest.mark.parametrize("piece", PIECES + OF_FORMS)
def test_long_runs_cost_linear_time(piece: str) -> None:
    run = piece * (20_000 // len(piece)) + "x"
    for text in (start + run for start in ("", "<|channel|>final<|message|>", "Verdict:", "5\n")):
        with quickly():
            for place in Place:
                assert read(text, BINARY, place).rating is None
                assert read(text, LIKERT, place).rating in (None, 5)
