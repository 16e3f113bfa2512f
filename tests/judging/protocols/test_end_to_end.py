"""Every protocol through the services: a real client, a loopback endpoint, the real API."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from arena.models import Comparison, Study
from arena.rules import scales
from judging.models import Judge, JudgeCall
from judging.protocols.answer_scales import POINTS
from judging.protocols.catalogue import PROTOCOLS
from judging.runs.lifecycle import start_run
from tests.factories import make_completion, make_contestant, make_judge, make_prompt, make_study
from tests.judging.endpoints.server import ChatServer
from tests.judging.protocols.scripted import GOOD, Opinion, by_content, by_position, scripted
from tests.judging.protocols.sequences import SEQUENCES

Drain = Callable[[], None]


def make_pair() -> Study:
    """A study of one pair, whose better completion a scripted model knows."""
    study = make_study()
    prompt = make_prompt(study=study)
    for turns in ([f"an {GOOD} answer"], ["a dull answer"]):
        make_completion(prompt=prompt, contestant=make_contestant(study=study), turns=turns)
    return study


def make_asking(protocol: str, model: ChatServer) -> Judge:
    form = PROTOCOLS[protocol].forms[0]
    judge: Judge = make_judge(base_url=model.url, protocol=protocol, form=form, points=POINTS[form][-1])
    return judge


def asked_once(model: ChatServer) -> bool:
    """Whether what reached the endpoint are the calls on record that were not served from earlier replies."""
    made = JudgeCall.objects.filter(cached_from=None)
    recorded = Counter((call.model, str(call.messages)) for call in made)
    received = Counter((body["model"], str(body["messages"])) for body in model.requests)
    hashes = list(made.values_list("request_hash", flat=True))
    return recorded == received and len(set(hashes)) == len(hashes)


def keys_of(protocol: str, *, without: str = "") -> list[str]:
    """The keys of the table, in order; without those of a step that turns out not to be needed."""
    keys = [call.key for wave in SEQUENCES[protocol] for call in wave]
    return sorted(key for key in keys if not without or not key.endswith(without))


@pytest.mark.parametrize(
    ("protocol", "opinion", "unneeded"),
    [
        ("swap", by_content, "synthesise"),
        ("swap", by_position, ""),  # a contradiction, which a decision follows
        ("chateval", by_content, ""),
        ("rating", by_content, ""),
        ("wildbench", by_content, ""),
        ("cot-self-consistency", by_content, ""),
        ("protocol-consistency", by_content, "synthesise"),
    ],
)
def test_a_judge_asks_what_the_table_says_and_finds_the_better_answer(
    protocol: str, opinion: Opinion, unneeded: str, arena: Any, model: ChatServer, drain: Drain
) -> None:
    model.script = scripted(opinion)
    run = start_run(make_pair(), make_asking(protocol, model), both_orders=True)
    drain()
    run.refresh_from_db()
    assert run.state == "finished"
    assert Comparison.objects.count() == 2
    for comparison in Comparison.objects.select_related("pair__first", "pair__second"):
        first, _ = comparison.pair.shown(comparison.swapped)
        preference = scales.preference(comparison.rating or 0, comparison.points)
        prefers_first = opinion is by_position or GOOD in first.turns[0]
        assert preference < 0 if prefers_first else preference > 0
        calls = JudgeCall.objects.filter(assignment=comparison.assignment)
        assert sorted(calls.values_list("key", flat=True)) == keys_of(protocol, without=unneeded)
    assert set(JudgeCall.objects.values_list("state", flat=True)) == {"replied"}
    assert asked_once(model)
    if opinion is by_position:  # both orders share their two passes, and each has a decision
        assert (JudgeCall.objects.count(), len(model.requests)) == (6, 4)
