"""Every address, asked by everybody who may not have it: run as a case of ``python -m tests.faults holes``.

Each study has a mark in all its texts. Whoever may not see it gets no reply with the mark, whoever may not
operate it writes nothing, and nothing ends with an error of the server.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.db import connection, transaction
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.utils import timezone

from arena.api.auth import issue_token, rater_token
from arena.models import ApiToken, Assignment, Flag, Invitation, Membership, Pair, Rater, Role
from leaderboard.models import Snapshot
from leaderboard.refreshing import services as refreshing
from leaderboard.releases import services as releases
from leaderboard.releases.fields import Fields
from tests import factories as make
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = pytest.mark.django_db

KINDS: Final = ("public-open", "public-closed", "private-open", "private-closed", "private-draft")
PARAMETER: Final = re.compile(r"<(?:\w+:)?(\w+)>")
WRITE: Final = re.compile(r'\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+"?(\w+)', re.IGNORECASE)
FORM: Final = {"kind": "closed", "sure": "yes", "name": "New", "slug": "new", "role": "operator", "text": "T"}
ELSEWHERE: Final = {"django_session", "leaderboard_computedview", "arena_rendering"}
"""Tables that a reader writes to: a session, numbers of another study that were asked for, texts as HTML."""
OWN: Final = ("join/", "rate/", "account/", "try/")
"""Addresses of people's own data, and of the invitation that they were given."""


class Known:
    """A study with something at each of its addresses; ids: parameters of addresses by their names."""

    def __init__(self, kind: str) -> None:
        visibility, _, state = kind.partition("-")
        self.mark = f"Mark{kind.title().replace('-', '')}"
        names = [f"{self.mark} {name}" for name in ("Heron", "Ibis", "Crane")]
        made = HandMade(*names, slug=kind, name=f"{self.mark} study", visibility=visibility)
        self.study = study = made.study
        study.tasks, study.description = ["compare", "score", "check"], self.mark
        study.is_draft = state == "draft"
        study.closed_at = timezone.now() if state == "closed" else None
        study.save()
        prompt = made.prompts[0]
        judge = make.make_judge(slug=f"judge-{kind}", name=f"Judge {kind}")
        question = make.make_question(prompt=prompt, text=f"{self.mark} question")
        for shown in (names[:2], names[1:], names[::2]):
            made.rate(*shown, 2, rater=make.make_rater(name=f"{self.mark} rater"), rationale=self.mark)
            reply = made.rate(*shown, 3, rater=judge.rater, rationale=self.mark)
        for completion in prompt.completions.all():
            make.make_answer(completion=completion, question=question, rationale=self.mark)
        make.make_training_pairs(study)
        self.members = {role: self._member(role) for role in Role}
        pair = Pair.objects.filter(prompt=prompt).latest("pk")
        held = make.make_assignment(pair=pair, rater=self.members[Role.RATER])
        flagged = make.make_assignment(
            pair=pair, rater=self.members[Role.OPERATOR], state=Assignment.State.SKIPPED
        )
        with few_rounds(10):
            refreshing.refresh(study)
        for version in ("1.0", "2.0"):
            releases.release(study, Fields.read(version, [self.mark], self.mark, "", self.mark))
        first, second = (each.contestant for each in prompt.completions.order_by("pk")[:2])
        self.ids: dict[str, Any] = {
            **{"slug": kind, "number": 1, "other": 2, "order": "ab", "attempt": 1, "selector": "people"},
            **{"panel": "standings", "kind": "standings", "form": "csv", "what": "comparisons"},
            **{"pair": pair.pk, "prompt": prompt.pk, "question": question.pk, "comparison": reply.pk},
            **{"first": first.slug, "second": second.slug, "text": prompt.completions.first().pk},
            "contestant": first.pk,
            "flag": Flag.objects.create(assignment=flagged, reason=Flag.Reason.OTHER, comment=self.mark).pk,
            "assignment": held.public_id,
            "rater": self.members[Role.RATER].pk,
            "member": Membership.objects.get(study=study, role=Role.RATER).pk,
            "link": Invitation.objects.create(study=study, note=self.mark).pk,
            "job": make.make_import_job((f"{self.mark}.jsonl", "{"), study=study).pk,
            "run_id": make.make_run(study=study, judge=judge, state="paused").pk,
            "snapshot_id": Snapshot.objects.filter(study=study).latest("pk").pk,
            **{"group": 1, "account": 1, "key": "a-b", "token": "none", "provider_id": "oidc", "uidb36": "1"},
        }

    def _member(self, role: Role) -> Rater:
        rater = make.make_member(self.study, name=f"{self.mark} {role}")
        rater.memberships.update(role=role, guidelines_read_at=timezone.now())
        return rater

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Each route of the arena, and its address here."""
        for route in _routes():
            ids = dict(self.ids)
            if "judges/<" in route:
                ids["slug"] = f"judge-{self.study.slug}"
            if route.startswith("studies/"):
                ids["contestant"] = ids["first"]
            yield route, "/" + PARAMETER.sub(lambda found, ids=ids: str(ids[found[1]]), route)


def _routes(resolver: Any = None, before: str = "") -> Iterator[str]:
    for each in (resolver or get_resolver()).url_patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _routes(each, route)
        elif not route.startswith("admin/") and "^" not in route:
            yield route


def strangers(study: Known, other: Known) -> dict[str, Client]:
    """Everybody who neither sees the study nor operates it."""
    asking = make.make_rater(kind="judge", slug="asks")
    rater, elsewhere = study.members[Role.RATER], other.members[Role.OPERATOR]
    tokens = {
        "a rater's key": issue_token(rater),
        "a key of an operator elsewhere": issue_token(elsewhere),
        "a judge's key": issue_token(asking),
        "a worker": rater_token(asking),
        "a revoked key": _revoked(study.members[Role.OPERATOR]),
        "a made-up key": "arena_x",
    }
    users = {"a visitor": None, "an account": make.make_user(), "a rater": rater.user}
    users |= {f"{role} elsewhere": member.user for role, member in other.members.items()}
    clients = {who: Client(raise_request_exception=False) for who in users}
    for who, user in users.items():
        if user:
            clients[who].force_login(user)
    bearers = {who: {"Authorization": f"Bearer {token}"} for who, token in tokens.items()}
    return clients | {
        who: Client(raise_request_exception=False, headers=headers) for who, headers in bearers.items()
    }


def _revoked(rater: Rater) -> str:
    token = issue_token(rater)
    ApiToken.objects.filter(rater=rater).update(revoked_at=timezone.now())
    return token


def ask(client: Client, method: str, address: str) -> tuple[HttpResponseBase, str, set[str]]:
    """The reply, its headers and body as a text, and the tables written to; nothing of it stays."""
    written: set[str] = set()

    def watch(execute: Any, sql: str, *given: Any) -> Any:
        if found := WRITE.match(sql):
            written.add(found[1])
        return execute(sql, *given)

    is_api = address.startswith("/api/")
    body = {"data": json.dumps(FORM), "content_type": "application/json"} if is_api else {"data": FORM}
    kept = client.cookies.copy()
    with transaction.atomic(), connection.execute_wrapper(watch):
        reply = client.post(address, **body) if method == "POST" else client.get(address)
        said = b"".join(reply.streaming_content) if reply.streaming else reply.content
        transaction.set_rollback(True)
    client.cookies = kept
    return reply, f"{reply.headers}{said.decode(errors='replace')}", written - ELSEWHERE


@pytest.mark.parametrize("kind", KINDS)
def test_strangers_see_and_change_nothing(kind: str) -> None:
    study, other = Known(kind), Known("private-other")
    surprises, asked = [], 0
    for who, client in strangers(study, other).items():
        for route, address in study.addresses():
            if client.headers and not route.startswith("api/"):
                continue
            for method in ("GET", "POST"):
                reply, said, written = ask(client, method, address)
                asked += 1
                # A rater sees and changes their own.
                is_own = route.startswith(OWN) or (route.startswith("api/") and who == "a rater's key")
                seen = study.mark in said and not study.study.is_public and not is_own
                operated = reply.status_code == 200 and re.match(r"(operate|judging)/.", route)
                failed = reply.status_code >= 500 and route != "readyz"
                if seen or failed or operated or (written and not is_own):
                    surprises.append((who, method, address, reply.status_code, sorted(written)))
    print(f"{kind}: {asked} requests")
    assert surprises == []


def test_an_operator_reaches_nothing_of_another_study_through_the_own_one() -> None:
    study, other = Known("private-open"), Known("private-other")
    client = Client(raise_request_exception=False)
    client.force_login(other.members[Role.OPERATOR].user)
    study.ids["slug"] = other.study.slug
    for route, address in study.addresses():
        if len(PARAMETER.findall(route)) > 1 and "slug" in PARAMETER.findall(route):
            for method in ("GET", "POST"):
                reply, said, _ = ask(client, method, address)
                assert study.mark not in said, (method, address)
                assert reply.status_code < 500, (method, address)
