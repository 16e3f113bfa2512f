"""Before the answer nothing tells who wrote what: every address a rater can reach, every byte of it."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, get_resolver, reverse
from django.utils import timezone
from scipy.stats import binom

from arena.api.auth import issue_token
from arena.models import Assignment, Completion, Invitation, Pair, Rater, Study
from arena.rating import progress
from arena.rating.urls import urlpatterns
from leaderboard.refreshing import services as refreshing
from tests import factories as make

pytestmark = pytest.mark.django_db
NAMES = ["Zyxonbert-9000", "Quuxalotl Instruct", "Human Demonstrators Guild"]
SECRETS = [
    "zyxonbert",
    "quuxalotl",
    "demonstrators guild",
    "demonstrators-guild",
    "frobnicate-labs",
    "snark-family",
]
JSON = {"Accept": "application/json"}


TASKS = [["compare"], ["score", "check"], ["check"]]


@pytest.fixture
def study(request: pytest.FixtureRequest) -> Study:
    tasks = getattr(request, "param", ["compare"])
    study = make.make_study(sign_up_open=True, guidelines="Read both.", show_references="beside", tasks=tasks)
    telling = {"study": study, "organisation": "Frobnicate-Labs", "family": "Snark-Family"}
    field = [
        make.make_contestant(name=name, slug=name.lower().replace(" ", "-"), **telling) for name in NAMES
    ]
    for _ in range(4):
        prompt = make.make_prompt(study=study, extra={"source": NAMES[0]})
        prompt.references.create(author=NAMES[0], turns=["A reference."])
        make.make_question(prompt=prompt, proposed_by=NAMES[0])
        for each in field:
            written = {"external_id": f"{each.slug}-answer", "extra": {"model": each.name}}
            make.make_completion(prompt=prompt, contestant=each, **written)
    return study


@pytest.fixture
def client(browser: Client) -> Client:
    return browser


def reader(study: Study) -> Rater:
    """A member of the study who has read its guidelines."""
    rater = make.make_member(study)
    study.memberships.update(guidelines_read_at=timezone.now())
    return rater


def everything(response: HttpResponse) -> str:
    """Status line, headers and body as one text."""
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
    cookies = response.cookies.output()
    return f"{headers}\n{cookies}\n{response.content.decode()}"


def visits(client: Client, study: Study, rater: Rater) -> Iterator[tuple[str, HttpResponse]]:
    """Every named address of the rater's pages, asked as a page and as its script asks."""
    token = Invitation.objects.create(study=study).token
    given = {"token": token, "slug": study.slug, "number": 1, "attempt": 1, "pair": 1, "order": "ab"}
    for pattern in urlpatterns:
        assert pattern.name is not None
        if pattern.name == "account_logout":
            continue
        address = reverse(pattern.name, kwargs={name: given[name] for name in pattern.pattern.converters})
        asked = {"assignment": _held(rater), "after": _held(rater)}
        for headers in ({}, JSON):
            yield pattern.name, client.get(address, asked, headers=headers)
        sent = {"assignment": _held(rater), "rater": str(rater.user_id), "reason": "names"}
        for rating in ("", "4"):
            for headers in ({}, JSON):
                said = {"rating": rating, "value": rating, "check-1": rating and "yes"}
                yield pattern.name, client.post(address, sent | said, headers=headers)


def _held(rater: Rater) -> str:
    """The public id of a pair in the rater's hands; empty where there is none."""
    held = Assignment.objects.filter(rater=rater, state="claimed").order_by("pk").first()
    return held.public_id if held else ""


@pytest.mark.parametrize("study", TASKS, indirect=True)
def test_no_response_names_a_contestant(client: Client, study: Study, rater: Rater) -> None:
    seen = set()
    for name, response in visits(client, study, rater):
        seen.add((name, response.status_code))
        text = everything(response).lower()
        assert not [secret for secret in SECRETS if secret in text], name
    # The walk saw real pages: pairs, pairs fetched ahead, refusals, redirects.
    assert {("rate-study", 200), ("rate-study", 422), ("rate-study", 302)} <= seen
    assert {("undo", 200), ("undo", 409)} & seen
    assert {("ahead", 200), ("flag", 200), ("token", 200)} <= seen


def site_addresses(study: Study) -> Iterator[str]:
    """Every address of the site that needs no more than the study to be written down; admin apart."""
    given = {"slug": study.slug, "study": study.slug, "name": "standings", "token": "none"}

    def walk(patterns: list[Any], prefix: str) -> Iterator[str]:
        for each in patterns:
            route = prefix + str(each.pattern)
            if isinstance(each, URLPattern):
                path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: given.get(found[1], "1"), route)
                yield "/" + path.removesuffix(r"\Z").replace("^", "")
            elif getattr(each, "namespace", None) != "admin":
                yield from walk(each.url_patterns, route)

    return walk(get_resolver().url_patterns, "")


@pytest.mark.parametrize("study", TASKS[:2], indirect=True)
def test_a_private_study_gives_its_raters_no_names_on_any_page(client: Client, study: Study) -> None:
    answered = Counter[int]()
    for address in site_addresses(study):
        if study.tasks != TASKS[0] and study.slug not in address:
            continue  # looked at with the other tasks, of which it knows nothing
        response = client.get(address)
        answered[response.status_code] += 1
        assert not [secret for secret in SECRETS if secret in everything(response).lower()], address
    assert answered[200] >= 5
    assert sum(answered.values()) >= 15
    # The scan would find a name.
    Completion.objects.update(turns=["I am Zyxonbert-9000."])
    assert "zyxonbert" in everything(client.get(reverse("rate-study", args=[study.slug]))).lower()


def test_a_public_study_that_is_open_shows_no_text_beside_its_names(client: Client, study: Study) -> None:
    Study.objects.update(visibility="public")
    Completion.objects.update(turns=["An answer with the word plumbiferous."])
    for address in site_addresses(study):
        text = everything(client.get(address)).lower()
        assert not ("plumbiferous" in text and any(secret in text for secret in SECRETS)), address


def test_responses_are_built_alike_and_no_attribute_holds_a_database_id(client: Client, study: Study) -> None:
    Completion.objects.filter(prompt__study=study).delete()
    prompt = study.prompts.first()
    # Ids far from any number that a page has reason to show.
    for number, contestant in enumerate(study.contestants.all(), start=7_700_001):
        make.make_completion(pk=number, prompt=prompt, contestant=contestant, turns=["Text."])
    page = everything(client.get(reverse("rate-study", args=[study.slug])))
    assert page.count('<p dir="auto">Text.</p>') == 2
    assert "77000" not in page
    # With equal texts, the markup of A and B differs in the letter alone.
    a, b = re.findall(r'<section class="response .*?</section>', page, re.S)
    assert a.replace("response-a", "response-b").replace("nswer A", "nswer B") == b


@pytest.mark.parametrize("study", [["score"], ["check"]], indirect=True)
def test_pages_of_equal_texts_are_equal(client: Client, study: Study, rater: Rater) -> None:
    Completion.objects.update(turns=["Text."])
    rate, pages = reverse("rate-study", args=[study.slug]), Counter[str]()
    for _ in range(6):
        shown = client.get(rate, headers=JSON).json()
        html = shown["html"].replace(shown["assignment"], "")
        pages[re.sub(r'value="\w{64}"|\d+ done, [\w ]+ left|<progress[^>]+>| disabled', "", html)] += 1
        sent = {"assignment": shown["assignment"], "rater": str(rater.user_id)}
        client.post(rate, sent | {"value": "3", "check-1": "no"}, headers=JSON)
    assert list(pages.values()) == [3, 3]  # of two prompts, with three texts each


def test_ids_of_assignments_do_not_count_up() -> None:
    pair = make.make_pair()
    ids = [make.make_assignment(pair=pair).public_id for _ in range(20)]
    assert len(set(ids)) == 20
    assert ids != sorted(ids)


@pytest.fixture
def token_study() -> Study:
    """Two contestants that answer alike, whose every name, id and address is a word found nowhere else."""
    study = make.make_study(reveal_names=True, ratings_per_pair_people=4, simulated=True)
    told = ("name", "slug", "family", "organisation", "licence", "size")
    field = [
        make.make_contestant(
            pk=8_800_000 + number,
            study=study,
            generation={"model": f"tokengeneration{number}"},
            extra={"path": f"tokenextra{number}"},
            **{column: f"token{column}{number}" for column in told},
        )
        for number in (1, 2)
    ]
    for number in range(30):
        extra = {"source": "tokenprompt"}
        prompt = make.make_prompt(study=study, extra=extra, external_id=f"tokenid{number}")
        for contestant in field:
            make.make_completion(
                pk=9_900_000 + 2 * number + contestant.pk % 2,
                prompt=prompt,
                contestant=contestant,
                turns=["An answer."],
                external_id=f"tokenexternal{contestant.pk}",
                extra={"model": contestant.name},
            )
    return study


TELLING = re.compile(r"token[a-z]+\d|99000\d\d|880000\d", re.IGNORECASE)
"""A name, id or address of token_study."""


def test_no_byte_before_the_vote_tells_a_contestant(token_study: Study) -> None:
    """All that a rater's browser gets, pair after pair: pages, fragments, what is fetched ahead, headers."""
    rater = reader(token_study)
    client = make.make_client(rater.user)
    rate = reverse("rate-study", args=[token_study.slug])
    seen: list[str] = []

    def look(response: HttpResponse) -> HttpResponse:
        seen.append(everything(response))
        assert not TELLING.findall(seen[-1])
        return response

    for number in range(6):
        look(client.get(rate))
        current = look(client.get(rate, headers=JSON)).json()["assignment"]
        held_ready = look(client.get(f"{rate}next/", {"after": current}, headers=JSON)).json()
        assert held_ready["assignment"] not in ("", current)
        look(client.get(f"{rate}flag/", {"assignment": current}))
        sent = {"assignment": current, "rater": str(rater.user_id), "rating": "9", "reason": "none"}
        for name in ("", "flag/", "shown/"):
            look(client.post(rate + name, sent, headers=JSON))
        look(client.post(rate, sent))
        if number % 3 == 0:
            look(client.post(f"{rate}skip/", sent, headers=JSON))
            look(client.post(f"{rate}undo/", sent, headers=JSON))
        # The vote: from here on, and not before, the reply to it may tell.
        answer = client.post(rate, sent | {"rating": "3"}, headers=JSON)
        assert TELLING.search(answer.json()["reveal"])
        assert not TELLING.search(everything(answer).replace(answer.json()["reveal"], ""))
        look(client.post(f"{rate}undo/", sent, headers=JSON))
        # The pair that was held ready while the names of the last were told is next, and tells nothing.
        assert look(client.get(rate, headers=JSON)).json()["assignment"] == held_ready["assignment"]
    assert len(seen) > 60


def test_no_byte_about_a_single_text_tells_its_contestant(token_study: Study) -> None:
    """Before and after what is said about it, in a study that names the authors of pairs."""
    Study.objects.update(tasks=["score", "check"])
    for prompt in token_study.prompts.all():
        make.make_question(prompt=prompt)
    rater = reader(token_study)
    client, rate = make.make_client(rater.user), reverse("rate-study", args=[token_study.slug])
    kinds = Counter[str]()

    def look(response: HttpResponse) -> HttpResponse:
        assert not TELLING.findall(everything(response))
        return response

    for _ in range(6):
        look(client.get(rate))
        shown = look(client.get(rate, headers=JSON)).json()
        kinds[re.search(r'data-kind="(\w+)"', shown["html"])[1]] += 1
        sent = {"assignment": shown["assignment"], "rater": str(rater.user_id)}
        look(client.get(f"{rate}next/", {"after": shown["assignment"]}, headers=JSON))
        look(client.post(rate, sent, headers=JSON))
        said = {"value": "3", "check-1": "no"}
        assert look(client.post(rate, sent | said, headers=JSON)).json()["reveal"] is None
        look(client.post(rate, sent | {"value": "4", "check-1": "yes"}))
        look(client.post(f"{rate}undo/", sent, headers=JSON))
        look(client.post(f"{rate}skip/", sent, headers=JSON))
    assert kinds == {"score": 3, "check": 3}
    look(client.get(reverse("rater-report", args=[token_study.slug])))


def test_files_that_pages_load_are_the_same_for_every_pair(token_study: Study) -> None:
    rater = reader(token_study)
    client = make.make_client(rater.user)
    rate = reverse("rate-study", args=[token_study.slug])
    loaded = set()
    for _ in range(6):
        html = client.get(rate).content.decode()
        loaded.add(tuple(re.findall(r'(?:src|href)="([^"]+\.(?:js|css|svg))"', html)))
        current = re.search(r'data-assignment="([^"]+)"', html)
        client.post(rate, {"assignment": current[1], "rating": "3"})
    assert len(loaded) == 1
    assert len(loaded.pop()) >= 8


def test_the_order_of_elements_says_nothing_over_many_pages() -> None:
    """Each text stands first as often as a fair coin says in all 40 pages, and for each rater sometimes."""
    prompts, raters = 20, 2
    study = make.make_study(ratings_per_pair_people=raters)
    field = [make.make_contestant(study=study) for _ in range(2)]
    for _ in range(prompts):
        prompt = make.make_prompt(study=study)
        for number, contestant in enumerate(field):
            make.make_completion(prompt=prompt, contestant=contestant, turns=[f"Written by number {number}."])
    first = Counter[str]()
    for _ in range(raters):
        rater = reader(study)
        client = make.make_client(rater.user)
        rate = reverse("rate-study", args=[study.slug])
        shown = client.get(rate, headers=JSON).json()
        own = Counter[str]()
        while shown["assignment"]:
            found = re.search(r"Written by number (\d)\.", shown["html"])
            own[found[1]] += 1
            sent = {"assignment": shown["assignment"], "rater": str(rater.user_id)}
            client.post(f"{rate}skip/", sent, headers=JSON)
            shown = client.get(rate, headers=JSON).json()
        assert own["0"]
        assert own["1"]
        first += own
    low, high = binom.ppf([1e-6, 1 - 1e-6], prompts * raters, 0.5)
    assert low <= first["0"] <= high
    assert first.total() == prompts * raters


@pytest.fixture
def _reads_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others did is read whenever it is told; else the queries would depend on how fast they come."""
    monkeypatch.setattr(progress, "BEHIND", 0.0)


PER_VIEW = re.compile(r"\w{32,64}|(?<=X-Request-ID: )\w{16}")
"""What each view draws anew."""


Bytes = dict[str, tuple[str, int]]


def bytes_for(study: Study, rater: Rater) -> Bytes:
    """What every address of the site gives a rater, and how many queries the rater's own pages take."""
    client, found = make.make_client(rater.user), {}
    token = {"Authorization": f"Bearer {issue_token(rater)}"}
    for address in site_addresses(study):
        headers = token if address.startswith("/api/") else {}
        # Others fill caches.
        counted = address.startswith(f"/rate/{study.slug}/")
        with CaptureQueriesContext(connection) if counted else nullcontext(()) as asked:
            text = everything(client.get(address, headers=headers))
        found[address] = PER_VIEW.sub("", text), len(asked)
    return found


def claimed_once(study: Study, rater: Rater) -> str:
    """The pair shown, with the one held ready: they are drawn here."""
    client = make.make_client(rater.user)
    shown = client.get(reverse("rate-study", args=[study.slug]), headers=JSON).json()["assignment"]
    client.get(reverse("ahead", args=[study.slug]), {"after": shown}, headers=JSON)
    return str(shown)


@pytest.mark.usefixtures("_reads_every_time")
def test_a_rater_gets_the_same_bytes_from_as_many_queries_whoever_wrote_what() -> None:
    """Pages, refusals, files of own data and the API, with a short and a long name changing places."""
    study = make.make_small_study(prompts=4, contestants=2)
    field, rater = list(study.contestants.order_by("pk")), reader(study)
    prompt = study.prompts.last()
    one, other = prompt.completions.order_by("pk")
    pair = make.make_pair(prompt=prompt, first=one, second=other)
    make.make_comparison(pair=pair, rater=rater, source="web")
    rate, client = reverse("rate-study", args=[study.slug]), make.make_client(rater.user)

    def seen(names: list[str]) -> Bytes:
        with transaction.atomic():
            for contestant, name in zip(field, names, strict=True):
                study.contestants.filter(pk=contestant.pk).update(name=name, slug=name, family=name)
            found = bytes_for(study, rater)
            sent = {"assignment": shown, "rater": str(rater.user_id), "reason": "none", "rating": "9"}
            for form in ("", "flag/", "shown/", "undo/"):
                with CaptureQueriesContext(connection) as asked:
                    text = everything(client.post(rate + form, sent, headers=JSON))
                found[f"POST {form}"] = PER_VIEW.sub("", text), len(asked)
            transaction.set_rollback(True)
        return found

    with time_machine.travel(datetime(2026, 1, 1, tzinfo=UTC), tick=False):
        shown = claimed_once(study, rater)
        here, there = (seen(names) for names in (["ox", "ibex" * 20], ["ibex" * 20, "ox"]))
    assert {address for address in here if here[address] != there[address]} <= {"/metrics"}
    assert len(here) > 60


@pytest.mark.usefixtures("_reads_every_time")
def test_nothing_tells_the_right_answer_while_the_study_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address gives a rater the same bytes, from as many queries, whichever answers are right."""
    monkeypatch.setattr(refreshing, "ROUNDS", 20)
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)
    study = make.make_small_study(prompts=6, contestants=2, visibility="public", gold_share=0.0)
    judge = make.make_rater(kind="judge", slug="jay", study=study, facts={"model": "jay-1"})
    for prompt in study.prompts.all():
        one, other = prompt.completions.order_by("pk")
        pair = make.make_pair(prompt=prompt, first=one, second=other)
        for swapped in (False, True):
            make.make_comparison(pair=pair, rater=judge, swapped=swapped, rating=2 + 3 * swapped)
    rater = reader(study)
    make.make_comparison(pair=study.prompts.first().pairs.get(), rater=rater)

    def seen(gold: str) -> Bytes:
        with transaction.atomic():
            Pair.objects.filter(prompt__study=study).update(gold=gold, gold_source="an editor")
            refreshing.refresh(study)
            found = bytes_for(study, rater)
            transaction.set_rollback(True)
        return found

    with time_machine.travel(datetime(2026, 1, 1, tzinfo=UTC), tick=False):
        claimed_once(study, rater)
        first, second = seen("first"), seen("second")
    differing = {address for address in first if first[address] != second[address]}
    assert differing <= {"/metrics"}  # counts these requests
    assert not [address for address, (text, _) in first.items() if "an editor" in text]
    assert len(first) > 60
