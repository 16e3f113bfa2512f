"""The published replies of GPT-4 come to the winners that were recorded with them.

The replies are those that LLMBar publishes with its data (Zeng et al. 2024, MIT licence).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from judging.protocols import conversation
from judging.protocols.answer_scales import AnswerScale, answer_scale
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.conversation import Question
from judging.protocols.parsing import read_verdict
from judging.protocols.protocol import ConfiguredProtocol
from judging.protocols.rendering import PairTexts
from judging.protocols.replies import Place, ReplyText, mirrored
from tests.judging.protocols.scripted import blocks

FOLDERS: Final = ("Natural", "Adversarial/Neighbor")

PLACES: Final[Mapping[str, tuple[Place, ...]]] = {
    "Vanilla": (Place.ONLY_LINE,),
    "Vanilla_NoRules": (Place.ONLY_LINE,),
    "Vanilla_1shot": (Place.ONLY_LINE,),
    "Vanilla_2shot": (Place.ONLY_LINE,),
    "CoT": (Place.LAST_LINE,),
    "Metrics": (Place.ONLY_LINE,),
    "Reference": (Place.ONLY_LINE,),
    "Metrics_Reference": (Place.ONLY_LINE,),
    "Swap": (Place.LAST_LINE, Place.ONLY_LINE),
    "Swap_CoT": (Place.LAST_LINE, Place.LAST_LINE),
}
"""Where the verdicts of each strategy stand, pass by pass."""

RATINGS: Final = (
    "Rating",
    "Rating_NoRules",
    "Rating_Metrics",
    "Rating_Reference",
    "Rating_Metrics_Reference",
)
"""The strategies that score one answer at a time, from 0 to 9."""

BINARY: Final = answer_scale("binary", 2)
NINE: Final = AnswerScale("score", 3, 0, 9)

OWN, OTHER = "swap = False", "swap = True"
SAME, DIFFERENT, UNREAD, TIED = "same winner", "another winner", "not read", "equal scores"


def outcomes(data: Path, strategy: str) -> Counter[str]:
    """How often the winner of a reply (of a pair of scores) is the recorded one, per order."""
    counts: Counter[str] = Counter()
    for record in records(data, strategy):
        counts.update(_of_scores(record) if strategy in RATINGS else _of_choices(record, strategy))
    return counts


def records(data: Path, strategy: str) -> Iterator[Mapping[str, Any]]:
    for folder in FOLDERS:
        yield from json.loads((data / "llmbar" / folder / "gpt-4" / f"{strategy}.json").read_text())


def _of_choices(record: Mapping[str, Any], strategy: str) -> Iterator[str]:
    # What was written before the verdicts, metrics and references, are lists.
    verdicts = [one for one in record["results"] if isinstance(one, dict)]
    for order, (place, one) in product((OWN, OTHER), zip(PLACES[strategy], verdicts, strict=False)):
        rating = _read(one[order]["completion"], BINARY, place)
        # The swapped order shows the second output as (a).
        winner = rating and "12"[(rating - 1) ^ (order == OTHER)]
        yield UNREAD if winner is None else SAME if winner == one[order]["winner"] else DIFFERENT


def _of_scores(record: Mapping[str, Any]) -> Iterator[str]:
    one = record["results"][-1]
    first, second = (_read(one[name], NINE, Place.ONLY_LINE) for name in ("score_1", "score_2"))
    for order in (OWN, OTHER):
        if first is None or second is None:
            yield UNREAD
        elif first == second:
            yield TIED
        else:
            yield SAME if one[order]["winner"] == ("1" if first > second else "2") else DIFFERENT


def _read(completion: list[str], scale: AnswerScale, place: Place) -> int | None:
    return read_verdict(ReplyText(*completion), scale, place).rating


def test_the_documentation_has_the_counts(reference_data: Path) -> None:
    counts: Counter[str] = Counter()
    for strategy in (*PLACES, *RATINGS):
        counts += outcomes(reference_data, strategy)
    said = [
        f"On the {counts.total():,} verdicts of GPT-4",
        f"{len(PLACES) + len(RATINGS)} strategies",
        f"{counts[SAME]:,} give the winner that its authors recorded, {counts[DIFFERENT]} another, "
        f"{counts[UNREAD]} are not read, and {counts[TIED]} are equal scores",
    ]
    page = Path(__file__).parents[3] / "docs" / "judging.md"
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert [one for one in said if one not in text] == []


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
