"""Made-up requests, after the API's own document, to every operation: no server error, no undocumented reply.

The same requests every time and by every caller. ARENA_FUZZ_EXAMPLES says how many for each operation and
kind of data.
"""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from arena.api.auth import issue_token
from arena.data.uploads import jobs
from arena.models import Membership, Rater
from judging.runs.lifecycle import plan_run, start_run
from judging.writing.wanted import Wanted
from leaderboard.models import Snapshot
from leaderboard.refreshing import services as leaderboard
from leaderboard.releases import services as releases
from leaderboard.releases.fields import Fields
from tests.factories import (
    make_assignment,
    make_author,
    make_contestant,
    make_import_job,
    make_judge,
    make_prompt,
    make_question,
    make_rater,
    make_user,
)
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = pytest.mark.django_db
EXAMPLES = int(os.environ.get("ARENA_FUZZ_EXAMPLES", "2"))
OPERATIONS = 72
OPEN = ("/studies/", "/snapshots/")
"""Where what is public is read without a token, and a token changes at most whether there is more to read."""
READERS = ("nobody", "person", "operator")
"""Who asks there: every kind of caller, as judges are raters too."""
CHECKS: Any = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
]


@dataclass
class World:
    """An arena with real rows; known holds, for each name of a field, values that exist."""

    made: HandMade
    known: dict[str, list[Any]]
    tokens: dict[str, str | None]


@pytest.fixture
def _one_connection() -> Iterator[None]:
    """Requests leave the test's own connection open, as with Django's test client."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def world(_one_connection: None) -> Iterator[World]:
    logging.disable(logging.WARNING)
    made = HandMade("Alpha", "Beta", "Gamma", slug="known", name="Known", criteria=["clarity"])
    made.study.tasks = ["compare", "score", "check"]
    made.study.save()
    made.rate("Alpha", "Beta", 2)
    made.rate("Beta", "Gamma", 7)
    with few_rounds(10):
        leaderboard.refresh(made.study)
    for version in ("1.0", "2.0"):
        releases.release(made.study, Fields.read(version, ["Ada Lovelace"], "", "", ""))
    closed = HandMade("Alpha", "Beta", slug="closed", closed_at=timezone.now())
    closed.rate("Alpha", "Beta", 2)
    judge = make_judge(slug="known-judge")
    make_judge(slug="other-judge")
    person = make_rater(user=make_user())
    operator = make_rater(user=make_user(is_staff=True))
    elsewhere = make_rater(kind=Rater.Kind.JUDGE)
    for rater in (person, operator):
        Membership.objects.create(study=made.study, rater=rater)
    run = start_run(made.study, judge, remote=True)
    plan_run(run.pk)
    author = make_author(contestant=make_contestant(study=made.study, slug="loop"))
    make_prompt(study=made.study)
    writing = Wanted(limit=1).start(author)
    pair = made.pair("Alpha", "Gamma")
    ids = [make_assignment(pair=pair, rater=rater).public_id for rater in (person, operator, elsewhere)]
    make_question(prompt=pair.prompt)
    job = make_import_job(("a.csv", "prompt,contestant,answer\nWhy?,Alpha,So.\n"), study=made.study)
    jobs.check(job.pk)
    for rater, kind in ((person, "score"), (operator, "check"), (elsewhere, "score"), (elsewhere, "check")):
        text = make_assignment(kind=kind, completion=pair.first, rater=rater)
        ids.insert(0, text.public_id)
    ids += list(judge.rater.assignments.values_list("public_id", flat=True))
    yield World(
        made,
        {
            "study": ["known"],
            "slug": ["known", "known-judge", "closed"],
            "judge": ["known-judge", "other-judge"],
            "assignment": ids,
            "contestant": ["loop"],
            "run_id": [run.pk, writing.pk],
            "snapshot_id": [Snapshot.objects.get().pk],
            "number": [1, 2, job.pk],
            "other": [2, 1],
            "raters": ["people"],
            "ties": ["on", "off"],
            "category": ["coding"],
            "method": ["elo", "bradley-terry"],
            "kind": ["standings", "matrices", "ratings", "data", "all"],
            "after": [0],
            "criteria": [{"clarity": 4}],
            "reasons": [["Clearer"]],
            "attempt": [1],
            "key": ["rate"],
            "value": [3],
            "lowest": [1],
            "highest": [5],
            "answers": [[{"position": 1, "value": "yes"}]],
        },
        {
            "nobody": None,
            "person": issue_token(person),
            "judge": issue_token(judge.rater),
            "judge elsewhere": issue_token(elsewhere),
            "operator": issue_token(operator, scopes=["rate", "operate", "runs", "read"]),
        },
    )
    logging.disable(logging.NOTSET)


def made_up() -> Iterator[tuple[Any, int]]:
    """What every caller asks, each with a number that says which existing values it gets."""
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", WSGIHandler())
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == OPERATIONS
    for operation in operations:
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            yield from _examples(operation, mode)


def _examples(operation: Any, mode: GenerationMode) -> list[tuple[Any, int]]:
    found: list[tuple[Any, int]] = []

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), real=st.integers(0, 7))
    def keep(case: Any, real: int) -> None:
        found.append((case, real))

    keep()
    return found


def test_no_server_error_and_no_undocumented_reply(world: World) -> None:
    asked = list(made_up())
    for who, token in world.tokens.items():
        with transaction.atomic():
            check(who, token, asked, world.known)
            transaction.set_rollback(True)


def check(who: str, token: str | None, asked: list[tuple[Any, int]], known: dict[str, list[Any]]) -> None:
    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {})
    statuses = set()
    for made, real in asked:
        if who not in READERS and any(part in made.operation.label for part in OPEN):
            continue
        case = made.derive()
        for values in (case.path_parameters, case.query, case.body):
            _make_real(values, known, real)
        response = case.call(headers=headers)
        statuses.add((case.operation.label, response.status_code))
        case.validate_response(response, checks=CHECKS)
    assert {200, 422} <= {status for _, status in statuses}, (who, sorted(statuses))
    if who == "nobody":
        # 404 before 401: an address that is none, such as a run called "x".
        guarded = {code for label, code in statuses if not any(part in label for part in OPEN)}
        assert guarded <= {401, 404}, sorted(statuses)


def _make_real(values: Any, known: dict[str, list[Any]], real: int) -> None:
    """Put values that exist in place of made-up ones, in three of four requests, so that not all are 404."""
    if real > 1 and isinstance(values, dict):
        for name in values.keys() & known.keys():
            values[name] = known[name][real % len(known[name])]
