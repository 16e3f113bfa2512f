"""The published replies of GPT-4 come to the winners that were recorded with them."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from judging.protocols import conversation
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.conversation import Question
from judging.protocols.protocol import ConfiguredProtocol
from judging.protocols.rendering import PairTexts
from judging.protocols.replies import ReplyText, mirrored
from tests.judging.protocols.replay import BINARY, UNREAD, outcomes, records, table
from tests.judging.protocols.scripted import blocks


def test_the_documentation_has_the_counts(reference_data: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "judging.md"
    assert table(reference_data) in page.read_text(encoding="utf-8")


OWN, OTHER = "swap = False", "swap = True"
SWAPPING = pytest.mark.parametrize(("strategy", "protocol"), [("Swap", "swap"), ("Swap_CoT", "swap-cot")])
DECISIONS: Final = {"Swap": 42, "Swap_CoT": 46}
"""How often the two passes contradicted each other, counted in each order."""


def passes(record: Mapping[str, Any], order: str) -> dict[str, ReplyText]:
    """The replies of a swapping strategy, as our protocol calls them in one order."""
    first, *decision = record["results"]
    other = OTHER if order == OWN else OWN
    given = {"compare": first[order], "compare_swapped": first[other]}
    given |= {"synthesise": decision[0][order]} if decision else {}
    return {key: ReplyText(*said["completion"]) for key, said in given.items()}


def asked(
    protocol: str, record: Mapping[str, Any], order: str, replies: Mapping[str, ReplyText]
) -> list[Question]:
    texts = PairTexts([record["input"]], "", [record["output_1"]], [record["output_2"]], b"secret")
    configured = ConfiguredProtocol(PROTOCOLS[protocol], BINARY)
    return conversation.next_questions(configured, texts if order == OWN else texts.swapped(), replies)


@SWAPPING
def test_swapping_decides_contradictions(reference_data: Path, strategy: str, protocol: str) -> None:
    configured = ConfiguredProtocol(PROTOCOLS[protocol], BINARY)
    decisions = unscored = 0
    for record, order in product(records(reference_data, strategy), (OWN, OTHER)):
        given, replies = passes(record, order), dict[str, ReplyText]()
        while questions := asked(protocol, record, order, replies):
            replies |= {question.key: given[question.key] for question in questions}
        assert replies == given
        decisions += "synthesise" in replies
        found = conversation.verdict(configured, replies)
        verdict = found if order == OWN else mirrored(found, 2)
        unscored += verdict.rating is None
        assert verdict.rating is None or str(verdict.rating) == record["results"][-1][order]["winner"]
    assert decisions == DECISIONS[strategy]
    assert unscored == outcomes(reference_data, strategy)[UNREAD]


@SWAPPING
def test_explanations_are_renamed_alike(reference_data: Path, strategy: str, protocol: str) -> None:
    shown_in = 0
    for record, order in product(records(reference_data, strategy), (OWN, OTHER)):
        given = passes(record, order)
        if given.pop("synthesise", None):
            shown_in += 1
            (question,) = asked(protocol, record, order, given)
            shown = blocks(question.messages[-1]["content"])
            published = " ".join(record["results"][1][order]["prompt"].split())
            favouring = [shown[f"EVALUATION IN FAVOUR OF ANSWER {name}"] for name in "AB"]
            explanations = [" ".join(text.partition("\n\nVerdict:")[0].split()) for text in favouring]
            assert all(explanation in published for explanation in explanations)
            assert published.index(explanations[0]) < published.index(explanations[1])
    assert shown_in == DECISIONS[strategy]
