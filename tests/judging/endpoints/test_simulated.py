"""The simulated judge answers whatever any protocol asks, in its place and form."""

from dataclasses import replace

import pytest

from judging.endpoints.client import NoReplyError, Request
from judging.endpoints.simulated import SimulatedClient, Simulation
from judging.protocols import conversation
from judging.protocols.answer_scales import FORMS, POINTS, AnswerScale, answer_scale
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.conversation import Question
from judging.protocols.parsing import read_verdict
from judging.protocols.protocol import About, ConfiguredProtocol, Task
from judging.protocols.rehearsal import NOTE, verdict
from judging.protocols.rendering import OneText
from judging.protocols.replies import Place, ReplyText, Verdict
from tests.judging.protocols.scripted import COMPARING, ask_all, scales

REQUEST = Request("simulated", [], 1.0)

SCALES = [*scales(), AnswerScale("score", 3, 1, 10)]


def make_client(question: Question, seed: int = 1, **simulation: object) -> SimulatedClient:
    options = {"noise": 0, "strengths": {"weak": 800, "strong": 1200}, **simulation}
    return SimulatedClient(Simulation.from_options(options), "weak", "strong", seed, question)


def ask(question: Question, **options: object) -> Verdict:
    assert question.scale is not None
    assert question.place is not None
    reply = make_client(question, **options).ask(REQUEST)  # type: ignore[arg-type]
    return read_verdict(ReplyText(reply.text, reply.finish_reason), question.scale, question.place)


def make_question(scale: AnswerScale, place: Place = Place.FIRST_LINE, **fields: object) -> Question:
    return replace(Question("rate", [], About.PAIR, scale=scale, place=place), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", [place for place in Place if place not in (Place.OPENING, Place.LINES)])
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{scale.name}-{scale.points}-{scale.highest}")
def test_every_form_is_answered_in_every_place(scale: AnswerScale, place: Place) -> None:
    assert ask(make_question(scale, place)).status == "scored"
    text = make_client(make_question(scale, place)).ask(REQUEST).text
    assert (NOTE in text) == (place is not Place.ONLY_LINE)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_the_stronger_one_is_better_in_either_order(form: str) -> None:
    scale = answer_scale(form, POINTS[form][-1])
    plain, turned = (ask(make_question(scale, other_order=other)).rating for other in (False, True))
    assert (plain, turned) == (scale.points, 1)


def test_equal_answers_get_equal_scores_and_a_step_without_verdict_a_note() -> None:
    assert verdict(0.5, answer_scale("scores", 3)) == "10 10"
    assert verdict(0.5, answer_scale("grades", 5)) == "A=B"
    assert [verdict(share, answer_scale("scores", 3)) for share in (0.0, 1.0)] == ["10 1", "1 10"]
    assert [verdict(share, AnswerScale("score", 3)) for share in (0.0, 0.5, 1.0)] == ["1", "6", "10"]
    assert make_client(Question("explain", [], About.PAIR)).ask(REQUEST).text == NOTE


def test_the_bias_goes_with_the_place_and_one_answer_alone_has_none() -> None:
    options = {"strengths": {"weak": 0, "strong": 0}, "position_bias": 200}
    question = make_question(answer_scale("binary", 2))
    assert ask(question, **options).rating == 2
    assert ask(replace(question, other_order=True), **options).rating == 2
    question = make_question(AnswerScale("score", 3, 0, 9), about=About.COMPLETION)
    sides = [ask(replace(question, side=side), position_bias=5000).rating for side in ("first", "second")]
    assert sides == [2, 7]


@pytest.mark.parametrize("name", sorted(PROTOCOLS.keys() - COMPARING.keys() - {"published"}))
def test_a_single_answer_is_rated_by_its_own_strength(name: str) -> None:
    protocol = PROTOCOLS[name]
    configured = ConfiguredProtocol.of(protocol, protocol.forms[0], 8).asking({1: "Is it kind?", 2: "So?"})
    text = OneText(["Say hi"], "", ["hi"], b"secret")
    simulation = Simulation.from_options({"noise": 0, "strengths": {"weak": 800, "strong": 1200}})
    found = []
    for slug in ("weak", "strong"):
        _, replies = ask_all(
            configured,
            text,
            lambda one, slug=slug: SimulatedClient(simulation, slug, None, 1, one, [1, 2]).ask(REQUEST).text,
        )
        if protocol.task is Task.CHECK:
            found.append([one.rating for one in conversation.checks(configured, replies).values()])
        else:
            found.append([conversation.scores(configured, replies)[0].value])
    if protocol.task is Task.CHECK:
        assert found == [[2, 2], [1, 1]]
    else:
        assert found[0] < found[1]


def test_an_answer_without_a_strength_gets_no_reply() -> None:
    with pytest.raises(NoReplyError, match="no strength is stated for weak"):
        make_client(make_question(answer_scale("binary", 2)), strengths={"strong": 1}).ask(REQUEST)


def test_samples_and_orders_have_errors_of_their_own() -> None:
    question = make_question(answer_scale("likert", 8))
    options = {"noise": 300, "strengths": {"weak": 0, "strong": 0}}
    asked = [question, replace(question, sample=1), replace(question, other_order=True)]
    drawn = [[ask(one, seed=seed, **options).rating for seed in range(50)] for one in asked]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


def test_the_plain_rating_is_drawn_as_it_always_was() -> None:
    question = make_question(answer_scale("likert", 8))
    texts = [make_client(question, seed, noise=300).ask(REQUEST).text[0] for seed in range(20)]
    assert "".join(texts) == "88888587866548886386"
