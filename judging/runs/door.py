"""The door through which this arena's own worker asks for judges.

Calls are claimed in this process: one thread does so for all judges, and simulated ones need what the API
never shows. Replies are handed in at the API's own view, each judge's with its token, as from elsewhere.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from io import BytesIO

from django.core.handlers.wsgi import WSGIRequest
from django.urls import resolve

from arena.api.auth import rater_token
from arena.models import Rater
from judging.endpoints.client import Reply
from judging.runs import limiting
from judging.runs.asking import ask
from judging.runs.claiming import Claimed, claim
from judging.runs.committing import Result, commit_each
from judging.runs.heartbeat import this_worker
from judging.worker.arena import REFUSED, hand_in, handed_in
from judging.worker.arena_client import ArenaReply
from judging.worker.worker import Ended, Task

REPLIED = "/api/v1/assignments/replied/"


class JudgingDoor:
    """See ``judging.worker.worker.Door``."""

    def claim(self, free: int) -> list[Task]:
        return [task_of(each) for each in claim(this_worker(), free)]

    def replied(self, ended: Sequence[Ended]) -> None:
        by_judge: dict[Rater, list[Ended]] = defaultdict(list)
        for each in ended:
            by_judge[each.call.work.judge.rater].append(each)
        for rater, some in by_judge.items():
            results = [handed_in(_name(each.call), each) for each in some]
            try:
                list(hand_in(partial(_post, rater_token(rater)), results))
            except PermissionError:  # a judge that was paused meanwhile: its replies are paid for
                commit_each([Result(each.call.call.pk, each.result, each.seconds) for each in some])
        limiting.ended.difference_update(each.call.call.pk for each in ended)


def task_of(claimed: Claimed) -> Task:
    work, _, asked = claimed
    about = f"assignment {work.assignment.pk} for {work.judge.slug}"
    return Task(claimed, partial(_ask, claimed), about, asked.lease.total_seconds())


def _ask(claimed: Claimed) -> Reply:
    try:
        return ask(claimed.work, claimed.asked)
    finally:
        limiting.ended.add(claimed.call.pk)


def _name(claimed: Claimed) -> tuple[str, str, int]:
    return claimed.work.assignment.public_id, claimed.call.key, claimed.call.attempt


def _post(token: str, body: bytes) -> ArenaReply:
    """Call the view in this process, so that no web server has to be there."""
    request = WSGIRequest(
        {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": REPLIED,
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_AUTHORIZATION": f"Bearer {token}",
            "SERVER_NAME": "arena",
            "SERVER_PORT": "80",
            "wsgi.input": BytesIO(body),
        }
    )
    view = resolve(REPLIED)
    response = view.func(request, *view.args, **view.kwargs)
    if response.status_code not in (200, *REFUSED):
        raise PermissionError(response.content.decode())
    return ArenaReply(response.status_code, json.loads(response.content))


door = JudgingDoor()
