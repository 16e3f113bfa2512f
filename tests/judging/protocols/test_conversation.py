"""Whatever a protocol is made of, its questions are asked once, never change, and fence what others wrote."""

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.rules import scales
from judging.protocols import conversation
from judging.protocols.answer_scales import POINTS, answer_scale
from judging.protocols.conversation import Question
from judging.protocols.protocol import About, ConfiguredProtocol, Parameter, Protocol, Step
from judging.protocols.rendering import PairTexts
from judging.protocols.replies import Place, ReplyText
from tests.judging.protocols.scripted import GOOD, ask_all, outside, reply_to

PARAMETERS = {
    "roles": Parameter(("First: one", "Second: another"), ""),
    "samples": Parameter(2, ""),
    "rounds": Parameter(2, ""),
}

PAIR = PairTexts(["foreign query"], "", ["foreign, dull"], [f"foreign, {GOOD}"], b"secret")

SHOWN = {About.PROMPT: "$query", About.COMPLETION: "$query $answer", About.PAIR: "$query $answers"}


@st.composite
def step_lists(draw: st.DrawFn) -> tuple[Step, ...]:
    """Steps of every kind, each quoting some of those before it; the last one gives the verdict."""
    steps: list[Step] = []
    for number in range(draw(st.integers(0, 3))):
        steps.append(draw(step_after(tuple(steps), f"step{number}")))
    return (*steps, draw(step_after(tuple(steps), "last", is_last=True)))


@st.composite
def step_after(draw: st.DrawFn, before: tuple[Step, ...], name: str, *, is_last: bool = False) -> Step:
    about = About.PAIR if is_last else draw(st.sampled_from(About))
    plain = Step(name, "", about=about)
    visible = sorted({placeholder for earlier in before for placeholder in plain.sees(earlier)})
    quoted = draw(st.lists(st.sampled_from(visible), unique=True)) if visible else []
    each = "" if is_last else draw(st.sampled_from(["", "roles", "samples"]))
    in_turn = bool(each) and draw(st.booleans())
    other_order = about is About.PAIR and draw(st.booleans())
    continued = [one.name for one in before if (one.about, one.other_order) == (about, other_order)]
    texts = ["$notice", SHOWN[about], *(f"${one}" for one in quoted)]
    asks = is_last or (about is About.PAIR and draw(st.booleans()))
    return Step(
        name,
        " ".join([*texts, "$item" * bool(each), "$earlier" * in_turn, "$verdict" * asks]),
        about=about,
        each=each,
        rounds="rounds" if each == "roles" and draw(st.booleans()) else "",
        in_turn=in_turn,
        continues=draw(st.sampled_from(["", *continued, *([name] * in_turn)])),
        other_order=other_order,
    )


@st.composite
def configured_protocols(draw: st.DrawFn) -> ConfiguredProtocol:
    protocol = Protocol("x", "x", "x", "x", draw(step_lists()), Place.LAST_LINE, parameters=PARAMETERS)
    form = draw(st.sampled_from(["likert", "binary", "grades", "scores"]))
    scale = answer_scale(form, draw(st.sampled_from(POINTS[form])))
    return ConfiguredProtocol(protocol, scale, samples=draw(st.integers(1, 2)))


def ask(
    configured: ConfiguredProtocol, pair_texts: PairTexts
) -> tuple[dict[str, Question], dict[str, ReplyText]]:
    """All questions and replies by key; the remarks of the model are as foreign as the answers."""

    def said(question: Question) -> str:
        return f"{'' if question.scale else 'foreign '}{reply_to(question.messages)}"

    waves, replies = ask_all(configured, pair_texts, said)
    return {question.key: question for wave in waves for question in wave}, replies


@given(configured_protocols())
@settings(max_examples=150)
def test_every_question_is_asked_once_and_fences_what_others_wrote(configured: ConfiguredProtocol) -> None:
    asked, _ = ask(configured, PAIR)
    assert set(asked) == set(conversation.keys(configured))
    for question in asked.values():
        for message in question.messages:
            if message["role"] == "user":
                assert "foreign" not in outside(message["content"])


@given(configured_protocols(), st.data())
@settings(max_examples=50)
def test_questions_do_not_depend_on_replies(configured: ConfiguredProtocol, data: st.DataObject) -> None:
    asked, replies = ask(configured, PAIR)
    key = data.draw(st.sampled_from(sorted(asked)))
    without = {name: reply for name, reply in replies.items() if name != key}
    again = {question.key: question for question in conversation.next_questions(configured, PAIR, without)}
    assert again[key] == asked[key]


@given(configured_protocols())
@settings(max_examples=50)
def test_the_swapped_pair_gets_the_mirrored_verdict(configured: ConfiguredProtocol) -> None:
    there, back = (
        conversation.verdict(configured, ask(configured, pair_texts)[1]).rating
        for pair_texts in (PAIR, PAIR.swapped())
    )
    assert there is not None
    assert back == scales.mirror(there, configured.scale.points)
    assert scales.preference(there, configured.scale.points) > 0


@given(configured_protocols())
@settings(max_examples=50)
def test_questions_about_less_than_the_pair_ignore_the_rest_of_it(configured: ConfiguredProtocol) -> None:
    there, _ = ask(configured, PAIR)
    other = PairTexts(PAIR.prompt, PAIR.input, PAIR.first, ["foreign, another"], PAIR.secret)
    elsewhere, _ = ask(configured, other)
    for key, question in there.items():
        if question.about is About.PROMPT or question.side == "first":
            assert elsewhere[key].messages == question.messages
