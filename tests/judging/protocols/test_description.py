"""What is said about a protocol: its calls above all."""

from typing import Any

import pytest

from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.deciding import contradict, last_of
from judging.protocols.description import Calls, asked, calls, described
from judging.protocols.protocol import About, Parameter, Part, Protocol, Step
from judging.protocols.replies import Place

SHOWN = "$notice $query"


def make_protocol(*steps: Step, **overrides: Any) -> Protocol:
    """A protocol of these steps."""
    given = {"name": "made", "title": "Made up", "family": "tests", "citation": "nobody", "steps": steps}
    return Protocol(**(given | overrides))


COMPARE = Step("compare", f"{SHOWN} $answers $verdict")
CHECKLIST = Step("checklist", SHOWN, about=About.PROMPT)
USE = Step("compare", f"{SHOWN} $answers $checklist $verdict")
LOOK = Step("look", f"{SHOWN} $answer", about=About.COMPLETION)
SECOND = Step("second", f"{SHOWN} $answers $verdict", other_order=True)
SETTLE = Step("settle", f"{SHOWN} $answers decide $verdict", needed=contradict("compare", "second"))
EACH = Step("analyse", f"{SHOWN} $answers $item", each="aspects")
ASPECTS = {"aspects": Parameter(("style", "truth", "length"), "what is looked at")}


@pytest.mark.parametrize(
    ("protocol", "found", "words"),
    [
        (make_protocol(COMPARE), Calls(1, 1, 0, 0), "1"),
        (make_protocol(CHECKLIST, USE), Calls(1, 1, 1, 0), "1 + 1 once per prompt"),
        (
            make_protocol(LOOK, Step("compare", f"{SHOWN} $answers $look_a $look_b $verdict")),
            Calls(1, 1, 0, 1),
            "1 + 1 once per answer",
        ),
        (
            make_protocol(COMPARE, SECOND, SETTLE, decide=last_of("compare", "settle")),
            Calls(2, 3, 0, 0),
            "2 to 3",
        ),
        (make_protocol(EACH, COMPARE, parameters=ASPECTS), Calls(4, 4, 0, 0), "4"),
        (
            make_protocol(CHECKLIST, LOOK, USE, samples=5),
            Calls(5, 5, 1, 1),
            "5 + 1 once per prompt + 1 once per answer",
        ),
    ],
)
def test_calls_are_counted_by_what_they_are_about(protocol: Protocol, found: Calls, words: str) -> None:
    assert calls(protocol) == found
    assert calls(protocol).words == words


def test_voters_that_ask_the_same_share_the_call() -> None:
    voters = (
        make_protocol(CHECKLIST, USE, name="one"),
        make_protocol(CHECKLIST, Step("decide", f"{SHOWN} $checklist $answers $verdict"), name="two"),
        make_protocol(COMPARE, SECOND, SETTLE, name="three"),
        make_protocol(COMPARE, name="four"),
    )
    voting = make_protocol(steps=(), parts=tuple(Part(one.name, one) for one in voters))
    assert calls(voting) == Calls(least=4, most=5, once_a_prompt=1)
    words = {name: calls(PROTOCOLS[name]).words for name in ("prepair", "swap", "multi-aspect-two")}
    assert words == {"prepair": "1 + 1 once per answer", "swap": "2 to 3", "multi-aspect-two": "6"}


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (COMPARE, "about the pair"),
        (CHECKLIST, "about the prompt"),
        (
            Step("look", "", about=About.PROMPT, author="writer"),
            "about the prompt, by the model that writer names",
        ),
        (SECOND, "about the pair, in the other order"),
        (SETTLE, "about the pair, only if the earlier verdicts require it"),
        (
            Step("talk", "", each="roles", rounds="rounds", in_turn=True),
            "about the pair, for each of roles, rounds times, one after the other",
        ),
        (
            Step("score", "$verdict", about=About.COMPLETION, score=(0, 9), temperature=0.5, only="scored"),
            "about each answer, at temperature 0.5, a score from 0 to 9, if scored is set",
        ),
        (Step("more", "", continues="more"), "about the pair, in the same conversation"),
        (Step("more", "", continues="compare"), "about the pair, after compare"),
    ],
)
def test_a_step_is_put_in_words(step: Step, words: str) -> None:
    assert asked(step) == words


def test_a_protocol_is_described() -> None:
    protocol = make_protocol(
        EACH, COMPARE, parameters=ASPECTS, place=Place.LAST_LINE, aliases=("old",), samples=3, note="Beware."
    )

    found = described(protocol)

    once = dict.fromkeys(("once_a_prompt", "once_an_answer", "once_a_requirement"), 0)
    assert found["calls"] == {"words": "12", "least": 12, "most": 12, **once}
    default = ["style", "truth", "length"]
    (parameter,) = found["parameters"]
    assert parameter == {"name": "aspects", "default": default, "choices": [], "meaning": "what is looked at"}
    assert [step["name"] for step in found["steps"]] == ["analyse", "compare"]
    assert found["verdict_stands"] == Place.LAST_LINE.words
    assert (found["aliases"], found["samples"], found["note"]) == (["old"], 3, "Beware.")


def test_every_place_of_a_verdict_is_named() -> None:
    two = make_protocol(COMPARE, Step("again", f"{SHOWN} $answers $verdict", place=Place.FIELD))

    assert described(two)["verdict_stands"] == f"{Place.FIRST_LINE.words}; {Place.FIELD.words}"
