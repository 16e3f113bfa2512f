"""Judges that ask for a prompt's own references are shown them; for a prompt without any, one is written."""

from collections.abc import Callable
from typing import Any

import pytest

from arena.models import Comparison
from arena.rating import plans
from judging.models import JudgeCall
from judging.protocols.catalogue import PROTOCOLS
from judging.runs.estimating import estimate
from tests.factories import make_judge, make_small_study
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import ChatServer, text_of
from tests.judging.protocols.scripted import COMPARING, blocks, scripted

ASKING = {
    "reference": {},
    "metrics-reference": {},
    "strong-reference": {},
    "rating": {"with_reference": True},
    "rubric": {"with_reference": True},
}
"""Protocols that can show a prompt's own references, and what they need beside."""


def test_these_protocols_can_ask_for_them() -> None:
    assert {name for name, one in COMPARING.items() if "own_references" in one.parameters} == set(ASKING)


@pytest.mark.parametrize("name", ASKING)
def test_own_references_are_shown_and_one_is_written_where_there_is_none(
    arena: Any, drain: Callable[[], None], name: str
) -> None:
    study = make_small_study(prompts=2, contestants=2)
    with_own, without = study.prompts.order_by("pk")
    with_own.references.create(author="Ann", turns=["Ann's first turn", "and her second"])
    with_own.references.create(author="Ben", turns=["Ben says"])
    with_own.references.create(author="nobody", turns=[""])
    with ChatServer(scripted()) as model:
        form = PROTOCOLS[name].forms[0]
        judge = make_judge(
            base_url=model.url,
            protocol=name,
            form=form,
            points=3 if form == "scores" else 8,
            parameters={**ASKING[name], "own_references": True},
        )
        expected = estimate(study, judge, plans.Wanted())
        planned(judge, study)
        drain()
        said = [(text_of(body), blocks(text_of(body)).get("REFERENCE")) for body in model.requests]
    assert Comparison.objects.filter(status="scored").count() == 2
    written = JudgeCall.objects.get(key="reference")
    assert written.assignment.pair.prompt == without
    shown = {
        prompt: {reference for text, reference in said if reference and prompt.instruction in text}
        for prompt in (with_own, without)
    }
    assert shown[with_own] == {
        "Reference 1:\nTurn 1:\nAnn's first turn\n\nTurn 2:\nand her second\n\nReference 2:\nBen says"
    }
    assert shown[without] == {written.raw_reply.strip()}
    assert expected.calls.high == JudgeCall.objects.count() == len(said)


def test_another_judge_is_not_shown_them(arena: Any, drain: Callable[[], None]) -> None:
    study = make_small_study(prompts=1, contestants=2)
    study.prompts.get().references.create(author="Ann", turns=["Ann says"])
    with ChatServer(scripted()) as model:
        planned(make_judge(base_url=model.url, protocol="reference"), study)
        drain()
        assert not any("Ann says" in text_of(body) for body in model.requests)
