"""Whole protocols over the published replies of GPT-4: the same calls and winners as their authors recorded.

The replies are those that LLMBar publishes with its data (Zeng et al. 2024, MIT licence).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from judging.protocols import conversation
from judging.protocols.answer_scales import answer_scale
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.protocol import ConfiguredProtocol
from judging.protocols.rendering import PairTexts
from judging.protocols.replies import ReplyText, Verdict, mirrored
from tests.judging.protocols.replay import FOLDERS
from tests.judging.protocols.scripted import blocks

Record = Mapping[str, Any]

OWN, OTHER = "swap = False", "swap = True"

AIDED: Final = {
    "Vanilla": ("rules", ()),
    "Vanilla_NoRules": ("vanilla", ()),
    "CoT": ("cot", ()),
    "Metrics": ("metrics", ("metrics",)),
    "Reference": ("reference", ("reference",)),
    "Metrics_Reference": ("metrics-reference", ("metrics", "reference")),
}
"""By strategy: our protocol, and the keys of what is written beforehand, in the order of the files."""

UNREAD: Final = {"CoT": 1, "Swap_CoT": 1}
"""Verdicts that stand in a sentence with other words: LLMBar's expression finds them, our parser does not."""


def records(data: Path, strategy: str) -> Iterator[Record]:
    for folder in FOLDERS:
        yield from json.loads((data / "llmbar" / folder / "gpt-4" / f"{strategy}.json").read_text())


def play(
    protocol: str, record: Record, given: Mapping[str, ReplyText], order: str
) -> tuple[list[str], Verdict]:
    """The keys asked for in one order, with the given replies, and the verdict in the recorded numbering."""
    scale = answer_scale(*(("scores", 3) if protocol == "rating" else ("binary", 2)))
    configured = ConfiguredProtocol(PROTOCOLS[protocol], scale)
    asked: list[str] = []
    while questions := conversation.next_questions(
        configured, texts_of(record, order), {key: given[key] for key in asked}
    ):
        asked += [question.key for question in questions]
    found = conversation.verdict(configured, {key: given[key] for key in asked})
    return asked, found if order == OWN else mirrored(found, scale.points)


def texts_of(record: Record, order: str) -> PairTexts:
    own = PairTexts([record["input"]], "", [record["output_1"]], [record["output_2"]], b"secret")
    return own if order == OWN else own.swapped()


def said(reply: list[str]) -> ReplyText:
    return ReplyText(*reply)


def words(text: str) -> str:
    """The text with single spaces."""
    return " ".join(text.split())


def passes(record: Record, order: str) -> dict[str, ReplyText]:
    """The replies of a swapping strategy, as our protocol calls them in one order."""
    first, *decision = record["results"]
    other = OTHER if order == OWN else OWN
    given = {"compare": said(first[order]["completion"]), "compare_swapped": said(first[other]["completion"])}
    return given | ({"synthesise": said(decision[0][order]["completion"])} if decision else {})


DECISIONS: Final = {"Swap": 42, "Swap_CoT": 46}
"""How often the two passes contradicted each other, counted in each order."""

WITHHELD: Final = {"Metrics": 2, "Reference": 4, "Metrics_Reference": 4}
"""Verdicts that LLMBar asked for although a filter had withheld an aid; with us such a pair is unscored."""


@pytest.mark.parametrize("strategy", AIDED)
def test_a_comparison_with_aids_comes_to_the_recorded_winner(reference_data: Path, strategy: str) -> None:
    protocol, aids = AIDED[strategy]
    unscored: Counter[str] = Counter()
    for record in records(reference_data, strategy):
        *written, compared = record["results"]
        for order in (OWN, OTHER):
            given = dict(zip(aids, map(said, written), strict=True))
            withheld = any(not reply.text for reply in given.values())
            given["compare"] = said(compared[order]["completion"])
            asked, verdict = play(protocol, record, given, order)
            assert asked == [*aids, *(() if withheld else ("compare",))]
            if verdict.rating is None:
                unscored["withheld" if withheld else verdict.reason] += 1
            else:
                assert str(verdict.rating) == compared[order]["winner"]
    assert unscored["withheld"] == WITHHELD.get(strategy, 0)
    assert unscored["unparsable"] == UNREAD.get(strategy, 0)
    assert set(unscored) <= {"withheld", "unparsable"}


@pytest.mark.parametrize(("strategy", "protocol"), [("Swap", "swap"), ("Swap_CoT", "swap-cot")])
def test_swapping_decides_contradictions(reference_data: Path, strategy: str, protocol: str) -> None:
    decisions = unread = 0
    for record in records(reference_data, strategy):
        for order in (OWN, OTHER):
            asked, verdict = play(protocol, record, passes(record, order), order)
            assert asked == [*passes(record, order)]
            decisions += "synthesise" in asked
            unread += verdict.rating is None
            assert verdict.rating is None or str(verdict.rating) == record["results"][-1][order]["winner"]
    assert decisions == DECISIONS[strategy]
    assert unread == UNREAD.get(strategy, 0)


@pytest.mark.parametrize(("strategy", "protocol"), [("Swap", "swap"), ("Swap_CoT", "swap-cot")])
def test_explanations_are_renamed_alike(reference_data: Path, strategy: str, protocol: str) -> None:
    shown_in = 0
    for record in records(reference_data, strategy):
        for order in (OWN, OTHER):
            given = passes(record, order)
            if given.pop("synthesise", None):
                shown_in += 1
                configured = ConfiguredProtocol(PROTOCOLS[protocol], answer_scale("binary", 2))
                (question,) = conversation.next_questions(configured, texts_of(record, order), given)
                shown = blocks(question.messages[-1]["content"])
                published = words(record["results"][1][order]["prompt"])
                favouring = [shown[f"EVALUATION IN FAVOUR OF ANSWER {name}"] for name in "AB"]
                explanations = [words(text.partition("\n\nVerdict:")[0]) for text in favouring]
                assert all(explanation in published for explanation in explanations)
                assert published.index(explanations[0]) < published.index(explanations[1])
    assert shown_in == DECISIONS[strategy]


def test_compared_scores_come_to_the_recorded_winner_or_a_tie(reference_data: Path) -> None:
    ties = empty = 0
    for record in records(reference_data, "Rating"):
        (scored,) = record["results"]
        sides = {OWN: ("score_1", "score_2"), OTHER: ("score_2", "score_1")}
        for order, names in sides.items():
            given = dict(
                zip(("rate.first", "rate.second"), (said(scored[name]) for name in names), strict=True)
            )
            asked, verdict = play("rating", record, given, order)
            assert asked == list(given)
            ties += verdict.rating == 2
            empty += verdict.rating is None
            if verdict.rating in (1, 3):
                assert {1: "1", 3: "2"}[verdict.rating] == scored[order]["winner"]
    assert (ties, empty) == (76, 2)
