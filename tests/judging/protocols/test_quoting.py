"""How earlier replies are shown to later steps, above all in the other order."""

from decimal import Decimal

import pytest

from judging.protocols.answer_scales import AnswerScale, answer_scale
from judging.protocols.parsing import read_verdict
from judging.protocols.rendering import examples, in_words, quoted, relabelled
from judging.protocols.replies import Place, ReplyText, Verdict, mirrored, side_of
from tests.judging.protocols.scripted import scales

SCALES = [scale for scale in scales() if scale.form != "score"]


@pytest.mark.parametrize(
    ("written", "exchanged"),
    [
        ("Answer A is better.", "Answer B is better."),
        ("Output (a) is better", "Output (b) is better"),
        ("Response **B** wins", "Response **A** wins"),
        ("Answers A and B both fail", "Answers B and A both fail"),
        ("Answer A/B", "Answer B/A"),
        ("Answer A is longer than Answer B.", "Answer B is longer than Answer A."),
        ("Answer A's tone", "Answer B's tone"),
        ("B is better than A.", "A is better than B."),
        ("I prefer B, but A has style.", "I prefer A, but B has style."),
        ("A>>B", "B>>A"),
        ("[[A]]", "[[B]]"),
        ("A good answer needs vitamin B.", "A good answer needs vitamin B."),
        ("They answer a question about grade A beef.", "They answer a question about grade A beef."),
        ("Answer B or a variant", "Answer A or a variant"),
        (
            "Die Antworten A und B sind kurz, Antwort A ist besser.",
            "Die Antworten B und A sind kurz, Antwort B ist besser.",
        ),
        ("La réponse A est meilleure que B.", "La réponse B est meilleure que A."),
        ("La respuesta B gana.", "La respuesta A gana."),
        ("回答A更好,回答B太短。", "回答B更好,回答A太短。"),
        ("Ответ A лучше, чем B", "Ответ B лучше, чем A"),
        ("They answer AB tests; model BERT", "They answer AB tests; model BERT"),
        ("The response a user wants", "The response a user wants"),
    ],
)
def test_the_names_of_the_answers_are_exchanged_and_nothing_else(written: str, exchanged: str) -> None:
    assert relabelled(written) == exchanged
    assert relabelled(exchanged) == written


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_a_verdict_in_words_is_read_back_and_mirrors(scale: AnswerScale) -> None:
    for rating in range(1, scale.points + 1):
        scores = {1: (8, 3), 2: (6, 6), 3: (3, 8)}[rating] if scale.form == "scores" else None
        given_scores = (Decimal(scores[0]), Decimal(scores[1])) if scores else None
        verdict = Verdict(rating, scores=given_scores)
        for one in (verdict, mirrored(verdict, scale.points)):
            read = read_verdict(ReplyText(in_words(one, scale)), scale, Place.ONLY_LINE)
            assert (read.rating, read.scores) == (one.rating, one.scores)
        assert mirrored(mirrored(verdict, scale.points), scale.points) == verdict


def test_no_verdict_has_no_words_no_side_and_mirrors_to_itself() -> None:
    nothing = Verdict(None, "empty")
    assert mirrored(nothing, 8) == nothing
    assert side_of(nothing, 8) == ""
    with pytest.raises(ValueError, match="no verdict"):
        in_words(nothing, SCALES[0])


def test_a_verdict_is_quoted_as_its_reader_sees_it() -> None:
    likert = answer_scale("likert", 8)
    reply = ReplyText("<think>hm</think>Answer B is richer.\n7")
    read = read_verdict(reply, likert, Place.LAST_LINE)
    assert quoted(reply, read, likert, exchange=False) == "Answer B is richer.\n\nVerdict: 7"
    turned = mirrored(read, 8)
    assert quoted(reply, turned, likert, exchange=True) == "Answer A is richer.\n\nVerdict: 2"
    # What has no verdict is quoted as it is.
    reply = ReplyText("<think>hm</think> I cannot decide. ")
    for verdict in (None, Verdict(None, "unparsable")):
        assert quoted(reply, verdict, likert, exchange=False) == "I cannot decide."


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_examples_of_verdicts_are_what_a_judge_could_say(scale: AnswerScale) -> None:
    first, second = (
        read_verdict(ReplyText(words), scale, Place.ONLY_LINE).rating for words in examples(scale).values()
    )
    assert side_of(Verdict(first), scale.points) == "first"
    assert second == scale.points + 1 - first
