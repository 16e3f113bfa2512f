"""Requirements of InFoBench checked on real processes, by a model that answers as the stored answers do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judging.protocols.neutralizing import neutral
from tests.judging.endpoints.server import ChatServer
from tests.judging.processes import Arena
from tests.judging.protocols.infobench import answering, asked, read_rows

pytestmark = pytest.mark.processes

KILLS = 3
KILLED = 60  # texts of the run that is killed

SEED = """
import json
from arena.models import Completion, Prompt, Question
from judging.judges.services import create_judge
from tests.factories import judge_with
from tests.factories import make_contestant, make_study
study = make_study(slug="pairs")
contestant = make_contestant(study=study)
for row in map(json.loads, open({path!r}, encoding="utf-8")):
    prompt = Prompt.objects.create(
        study=study, turns=[row["instruction"]], input=row["input"], external_id=row["id"]
    )
    Completion.objects.create(
        prompt=prompt, contestant=contestant, turns=[row["output"]], digest=row["id"].rjust(64)
    )
    Question.objects.bulk_create(
        Question(prompt=prompt, position=n, text=text)
        for n, text in enumerate(row["decomposed_questions"], 1)
    )
for name in ("loopback", "killed"):
    create_judge(name, name, judge_with(model=name, base_url={url!r}, timeout=10, protocol="requirements"))
"""

FOUND = """
import json
from collections import Counter
from arena.models import Answer
from judging.models import JudgeCall
def of(judge):
    answers = Answer.objects.filter(rater__slug=judge)
    calls = JudgeCall.objects.filter(run__judge__rater__slug=judge)
    return {
        "values": Counter(answers.values_list("value", flat=True)),
        "answers": [[a.completion.turns[0], a.question.text] for a in answers.select_related()],
        "calls": Counter(calls.values_list("state", flat=True)),
        "committed": [[call.messages, call.state] for call in calls],
    }
print(json.dumps({judge: of(judge) for judge in ("loopback", "killed")}))
"""


@pytest.fixture
def easy_set(reference_data: Path) -> Path:
    return reference_data / "infobench" / "easy_set.gpt-4.jsonl"


@pytest.fixture
def model(easy_set: Path) -> Iterator[ChatServer]:
    with ChatServer(answering(read_rows(easy_set), delay=0.05)) as server:
        yield server


@pytest.fixture
def arena_process(tmp_path: Path, easy_set: Path, model: ChatServer) -> Iterator[Arena]:
    arena = Arena(tmp_path, WORKER_CONCURRENCY="8")
    arena.run(SEED.format(path=str(easy_set), url=model.url))
    try:
        yield arena
    finally:
        arena.kill()


def found(arena: Arena) -> dict[str, Any]:
    counted: dict[str, Any] = json.loads(arena.run(FOUND))
    return counted


def test_stored_answers_come_out_and_nothing_committed_is_asked_twice(
    arena_process: Arena, model: ChatServer, easy_set: Path
) -> None:
    rows = read_rows(easy_set)
    arena_process.start()
    output, errors = arena_process.judge().communicate(timeout=600)
    assert "Run 1 is finished." in output, errors
    every = {(neutral(row["output"]), text) for row in rows for text in row["decomposed_questions"]}
    assert asked(model.requests) == dict.fromkeys(every, 1)
    bodies = [json.dumps(body, ensure_ascii=False) for body in model.requests]
    instructions = [json.dumps(row["instruction"], ensure_ascii=False)[1:-1] for row in rows]
    assert not [one for one in instructions if any(one in body for body in bodies)]
    assert found(arena_process)["loopback"]["values"] == {"yes": 610, "no": 80}
    told = json.loads(arena_process.manage("drfr", "pairs", "--format", "json"))
    whole = told["raters"][0]["contestants"][0]["sets"][""]
    assert (whole["questions"], whole["met"], whole["unanswered"]) == (690, 610, 0)
    assert whole["drfr"] == pytest.approx(610 / 690)

    before = len(model.requests)
    watching = arena_process.judge("--judge", "killed", "--limit", str(KILLED))
    for number in range(1, KILLS + 1):
        model.wait_for(before + 25 * number)
        arena_process.kill()
        arena_process.start()
    output, errors = watching.communicate(timeout=600)
    assert "Run 2 is finished." in output, errors
    left = found(arena_process)["killed"]
    texts = {text for text, _ in left["answers"]}
    wanted = {(text, question) for text, question in every if text in set(map(neutral, texts))}
    assert len(texts) == KILLED
    assert len(left["answers"]) == len(wanted)
    committed = asked({"messages": messages} for messages, state in left["committed"] if state == "replied")
    assert committed == dict.fromkeys(wanted, 1)
    again = asked(model.requests[before:]) - committed
    lost = asked({"messages": messages} for messages, state in left["committed"] if state != "replied")
    assert left["calls"]["abandoned"] >= 1
    assert again <= lost
