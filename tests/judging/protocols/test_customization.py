"""What an operator's own texts must hold."""

from collections.abc import Iterator

import pytest

from judging.protocols.answer_scales import POINTS, answer_scale
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.conversation import keys
from judging.protocols.customization import wording_problems
from judging.protocols.protocol import About, ConfiguredProtocol, Parameter, Part, Protocol, Step
from judging.protocols.rendering import PairTexts
from judging.protocols.replies import Place
from tests.judging.protocols.scripted import COMPARING, ask_all

PAIR = PairTexts(prompt=["Why?"], input="", first=["Because."], second=["Why not?"], secret=b"secret")

GOOD = "Which is better?\n\n$notice\n\n$query\n\n$answers\n\n$verdict"


def make_protocol(**overrides: object) -> Protocol:
    """A protocol that looks at each answer, then through a list of questions, then compares."""
    given: dict[str, object] = {
        "name": "two-looks",
        "title": "Look twice",
        "family": "tests",
        "citation": "nobody",
        "steps": (
            Step("look", "$notice $query $answer", about=About.COMPLETION),
            Step("ask", "$notice $query $answers: $item", each="asks"),
            Step("compare", "$rules $notice $query $answers $look_a $look_b $ask $verdict"),
        ),
        "place": Place.FIRST_LINE,
        "parameters": {
            "asks": Parameter(("Is it true?", "Is it kind?"), "what is asked"),
            "rules": Parameter("Be fair.", "what counts"),
        },
    }
    return Protocol(**(given | overrides))  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", COMPARING.values(), ids=list(COMPARING))
def test_texts_hold_what_they_must_and_whatever_they_may_use_is_filled_in(protocol: Protocol) -> None:
    assert wording_problems(protocol, protocol.texts) == []
    wording = {
        name: f"{text} and {' '.join(f'[${usable}]' for usable in sorted(known))}"
        for name, text, known in _texts_of(protocol)
    }
    form = protocol.forms[0]
    configured = ConfiguredProtocol(protocol, answer_scale(form, POINTS[form][-1]), wording=wording)
    assert wording_problems(protocol, wording) == []
    waves, _ = ask_all(configured, PAIR, lambda _: "Nothing to say.")
    asked = [question for wave in waves for question in wave]
    assert set(keys(configured)) >= {question.key for question in asked} != set()
    assert not [one for one in asked if "$" in one.messages[-1]["content"]]


def _texts_of(protocol: Protocol) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Every text with its name and what all steps that share it can use."""
    for name, text in protocol.texts.items():
        owner, _, own = name.rpartition("/")
        parts = {part.name: part.protocol for part in protocol.parts}
        used_by = parts.get(owner, protocol)
        sharing = [step for step in used_by.steps if (step.text or step.name) == own]
        yield name, text, frozenset.intersection(*(used_by.placeholders(step) for step in sharing))


def test_an_operator_may_word_a_text_differently() -> None:
    apart = GOOD.replace("$answers", "First: $answer_a\n\nSecond: $answer_b")
    for text in (GOOD, apart, f"{GOOD} For $$5."):
        assert wording_problems(PROTOCOLS["likert"], {"rate": text}) == []


def test_a_parameter_may_be_left_out_and_an_empty_text_lacks_everything() -> None:
    without = "$notice $query $answers $look_a $look_b $ask $verdict"

    assert wording_problems(make_protocol(), {"compare": without}) == []
    assert wording_problems(make_protocol(), {"compare": f"{without} $rules $asks"}) == []
    found = wording_problems(PROTOCOLS["likert"], {"rate": ""})

    assert len(found) == 3
    assert "$answers, $query is missing" in found[2]


BAD = [
    ("compare", "$look_a $look_b $ask $notice $query $answers", 'Text "compare" asks for a verdict'),
    ("compare", "$look_a $look_b $ask $query $answers $verdict", 'Text "compare" shows what others wrote'),
    ("look", "$query $answer", 'Text "look" shows what others wrote, so it must hold $notice'),
    ("compare", "$look_a $look_b $ask $notice $query $verdict", "what it is about: $answers is missing"),
    ("compare", "$look_a $look_b $ask $notice $query $answer_a $verdict", "about: $answers is missing"),
    ("compare", "$look_a $look_b $ask $notice $answers $verdict", "what it is about: $query is missing"),
    ("look", "$notice $query", "what it is about: $answer is missing"),
    ("look", "$notice $query $answer $answers", "$answers is not a placeholder"),
    ("look", "$notice $query $answer $verdict", "$verdict is not a placeholder"),
    ("look", "$notice $query $answer $compare", "$compare is not a placeholder"),
    ("ask", "$notice $query $answers", 'is asked for each of "asks", so it must hold $item'),
    ("compare", "$look_a $notice $query $answers $verdict", "builds on: $ask, $look_b is missing"),
    ("look", "$notice $query $answer\ncosts $5", 'Text "look", line 2: a $ begins no placeholder'),
    ("look", "$notice $query $answer \x00", 'Text "look" holds the character NUL'),
    ("glance", GOOD, 'Protocol two-looks has no text "glance". Its texts: look, ask, compare.'),
]


@pytest.mark.parametrize(("name", "text", "sentence"), BAD)
def test_a_text_that_cannot_be_used_is_refused_in_one_sentence(name: str, text: str, sentence: str) -> None:
    (problem,) = wording_problems(make_protocol(), {name: text})

    assert sentence in problem
    assert problem.endswith(".")


EXAMPLE = 'instruction = "i"\nanswer = "a"\nquestion = "q"\nreply = "NO"'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (EXAMPLE, ""),
        (f'{EXAMPLE}\ninput = "x"', ""),
        ("Answer: a", "it is not TOML. Expected '=' after a key in a key/value pair (at line 1, column 7)."),
        (f"{EXAMPLE}\nscore = 1", 'it has no place for "score". Use instruction, answer, question, reply, '),
        (EXAMPLE.replace("question", "input"), '"question" is missing.'),
        (EXAMPLE.replace('"a"', '" "'), '"answer" must be a text.'),
        (EXAMPLE.replace('"a"', "1"), '"answer" must be a text.'),
        (EXAMPLE.replace("NO", "Maybe"), '"reply" must be YES or NO.'),
        (f"{EXAMPLE}\x00", "holds the character NUL"),
    ],
)
def test_an_example_of_an_operator_has_all_that_is_asked_about(text: str, sentence: str) -> None:
    problems = wording_problems(PROTOCOLS["requirements-alone"], {"example_1": text})
    assert len(problems) == bool(sentence)
    assert sentence in " ".join(problems)


def test_the_texts_of_voters_are_named_after_them() -> None:
    voting = make_protocol(steps=(), parts=(Part("mine", make_protocol()),), parameters={})

    assert wording_problems(voting, voting.texts) == []
    assert "so it must hold $notice" in wording_problems(voting, {"mine/look": "$query $answer"})[0]
    assert "Its texts: mine/look, mine/ask, mine/compare" in wording_problems(voting, {"look": GOOD})[0]


def test_a_text_that_two_steps_share_is_held_to_what_both_can_use() -> None:
    shared = make_protocol(
        steps=(
            Step("review", "$notice $query $answers $verdict"),
            Step("again", "$notice $query $answers $verdict", text="review", other_order=True),
        ),
    )

    assert wording_problems(shared, {"review": GOOD}) == []
    (problem,) = wording_problems(shared, {"review": f"{GOOD} $review"})
    assert "$review is not a placeholder" in problem
