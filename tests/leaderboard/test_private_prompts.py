"""A secret of a private prompt is in no byte that anybody but an operator gets."""

import io
import json
import re
import zipfile
from urllib.parse import urljoin

import pytest
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import timezone

from arena.api.auth import issue_token
from arena.data import export
from arena.models import Completion, Membership
from arena.rules.subsets import LIVE_SUBSET
from leaderboard.files import exports
from leaderboard.files.bundle.making import make
from leaderboard.files.interchange import vote_file
from leaderboard.refreshing import services
from leaderboard.refreshing.computing import compute_next
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

SECRET = "xyzzy"
LINK = re.compile(r'(?:href|src|action|data-figure)="([^"]+)"')


class Live(HandMade):
    """Two models on two prompts of the operators and two private ones of visitors, rated alike."""

    def __init__(self, **overrides):
        super().__init__("alpha", "beta", slug="live", categories=("coding", "coding"), **overrides)
        private = {"study": self.study, "subset": LIVE_SUBSET, "is_private": True, "category": ""}
        private |= {"input": SECRET, "extra": {"a": SECRET}}
        self.prompts += [factories.make_prompt(**private, turns=[f"{SECRET} {n}"]) for n in range(2)]
        for prompt in self.prompts[2:]:
            for name in self.contestants:
                factories.make_completion(
                    prompt=prompt, contestant=self.contestants[name], turns=[f"{SECRET} by {name}"]
                )
        self.visitor = factories.make_visitor(name="Visitor 1")
        self.strict = self.judge("strict")
        for number in range(4):
            rater = self.visitor if number > 1 else self.person
            said = {"rationale": SECRET, "raw_reply": f"{SECRET} Rating: 2"} if number > 1 else {}
            self.rate("alpha", "beta", 2, prompt=number, rater=rater, **said)
            self.rate("beta", "alpha", 7, prompt=number, rater=self.strict, **said)
        self.asked = factories.make_question(prompt=self.prompts[2], text=f"Is it {SECRET}?", position=1)
        factories.make_answer(
            completion=self.completion("alpha", self.prompts[2]), question=self.asked, rater=self.strict
        )
        services.refresh(self.study)


def body_of(reply):
    return b"".join(reply.streaming_content) if reply.streaming else reply.content


def unpacked(body):
    """The bytes, and those of the files in an archive."""
    if not zipfile.is_zipfile(io.BytesIO(body)):
        return body
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def parts(address):
    """The page without a query, and each of its switches: once one was seen, others show nothing new."""
    path, _, query = address.partition("?")
    try:
        view = resolve(path).view_name
    except Resolver404:
        view = path
    return {(view, part) for part in query.split("&")} if query else {path}


def crawl(client, starts):
    """What the pages that can be reached from the first ones answer, at each value of each switch."""
    waiting, known = list(starts), set().union(*map(parts, starts))
    while waiting:
        address = waiting.pop(0)
        reply = client.get(address, follow=True)
        if "Retry-After" in reply.headers and compute_next(1):
            waiting.append(address)
        body = body_of(reply)
        yield address, body
        if not reply.headers["Content-Type"].startswith("text/html"):
            continue
        for link in LINK.findall(body.decode()):
            inside = urljoin(address, link.replace("&amp;", "&")).partition("#")[0]
            ours = inside.startswith("/") and not inside.startswith(("/static/", "/account/"))
            if ours and not parts(inside) <= known:
                known |= parts(inside)
                waiting.append(inside)


def api_of(client, study):
    """The addresses of the API that read something of a study."""
    document = client.get("/api/v1/openapi.json").json()
    places = {"slug": study.slug, "first": "alpha", "second": "beta", "snapshot_id": "1", "kind": "data"}
    for path, operations in document["paths"].items():
        if "get" in operations:
            yield re.sub(r"{(\w+)}", lambda found: str(places.get(found[1], "1")), path)


@pytest.mark.parametrize("closed", [False, True])
def test_no_byte_for_readers_and_raters_holds_a_secret(closed, client):
    live = Live(closed_at=timezone.now() if closed else None)
    member = factories.make_member(live.study)
    Membership.objects.update(guidelines_read_at=timezone.now(), consented_at=timezone.now())
    token = issue_token(member)
    home = f"/studies/{live.study.slug}/"
    files = [f"{home}results/{what}.csv" for what in ("arena", "preferences", "consensus", "evalica")]
    pairs = live.study.prompts.values_list("pairs", flat=True)
    ours = [f"{home}{page}/{pk}/" for page in ("comparisons", "trust/wrong") for pk in pairs]
    starts = ["/", home, f"{home}results/bundle.zip", "/try/", f"/rate/{live.study.slug}/", *files, *ours]
    seen = 0
    for browser in (Client(), factories.make_client(member.user)):
        for address, body in crawl(browser, starts):
            seen += 1
            assert SECRET.encode() not in unpacked(body), address
    for address in api_of(client, live.study):
        for headers in ({}, {"Authorization": f"Bearer {token}"}):
            assert SECRET.encode() not in unpacked(body_of(client.get(address, headers=headers))), address
    assert seen > 50


def test_a_search_finds_no_private_prompt(client):
    live = Live(closed_at=timezone.now())
    found = client.get(f"/studies/{live.study.slug}/comparisons/?search={SECRET}").content.decode()
    assert "pair-prompt" not in found
    assert "pair-prompt" in client.get(f"/studies/{live.study.slug}/comparisons/").content.decode()


TABLES = ("prompts", "completions", "comparisons", "questions", "scores", "answers", "pairs", "features")


def test_exports_leave_private_texts_out_unless_an_operator_asks():
    study = Live().study

    def told(**how):
        return [json.dumps([*export.rows(study, what, **how)], default=str) for what in TABLES]

    assert not [rows for rows in told() if SECRET in rows]
    assert [SECRET in rows for rows in told(private=True)][:4] == [True] * 4
    assert len([*export.rows(study, "comparisons")]) == 8
    assert [row["private"] for row in export.rows(study, "prompts")] == [None, None, True, True]
    assert exports.note_on_private(study) == "5 ratings are on private prompts. Their texts are left out."
    kept = vote_file(study, "preferences", "jsonl", {"raters": "all", "private": "on"})
    assert SECRET.encode() not in b"".join(kept.pieces)
    assert kept.left_out["on private prompts"] == 2
    assert SECRET.encode() in b"".join(
        vote_file(study, "preferences", "jsonl", {"raters": "all"}, private=True).pieces
    )


@pytest.mark.parametrize("private", [False, True])
def test_bundles_hold_private_texts_only_where_asked(private):
    study, file = Live().study, io.BytesIO()
    make(study, file, with_texts=True, private=private)
    assert (SECRET.encode() in unpacked(file.getvalue())) is private


def test_the_page_of_exports_counts_what_it_leaves_out(staff):
    Live()
    page = staff.get("/studies/live/export/").content.decode()
    assert "5 ratings are on private prompts. Their texts are left out." in page
    query = "?what=prompts&format=jsonl"
    assert SECRET.encode() not in body_of(staff.get(f"/studies/live/export/file/{query}"))
    assert SECRET.encode() in body_of(staff.get(f"/studies/live/export/file/{query}&private=on"))


def test_people_are_asked_about_no_private_prompt_and_judges_are():
    live = Live()
    assert set(Completion.objects.rateable_in(live.study).values_list("prompt__is_private", flat=True)) == {
        False
    }
    assert Completion.objects.comparable().filter(prompt__in=live.prompts[2:]).count() == 4
