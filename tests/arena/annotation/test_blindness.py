"""Before the answer nothing tells who wrote what: every address a rater can reach, every byte of it."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.utils import timezone

from arena.annotation.urls import urlpatterns
from arena.models import Assignment, Completion, Invitation, Rater, Study
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


@pytest.fixture
def study() -> Study:
    study = make.make_study(sign_up_open=True, guidelines="Read both.")
    field = [
        make.make_contestant(
            study=study,
            name=name,
            slug=name.lower().replace(" ", "-"),
            organisation="Frobnicate-Labs",
            family="Snark-Family",
        )
        for name in NAMES
    ]
    for _ in range(4):
        prompt = make.make_prompt(study=study, extra={"source": NAMES[0]})
        for contestant in field:
            make.make_completion(
                prompt=prompt,
                contestant=contestant,
                external_id=f"{contestant.slug}-answer",
                extra={"model": contestant.name},
            )
    return study


@pytest.fixture
def rater(study: Study) -> Rater:
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
    given = {"token": token, "slug": study.slug}
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        assert pattern.name is not None
        known = {name: given[name] for name in pattern.pattern.converters}
        address = reverse(pattern.name, kwargs=known)
        if pattern.name == "logout":
            continue
        asked = {"assignment": _held(rater), "after": _held(rater)}
        for headers in ({}, JSON):
            yield pattern.name, client.get(address, asked, headers=headers)
        sent = {"assignment": _held(rater), "rater": str(rater.user_id), "reason": "names"}
        for rating in ("", "4"):
            for headers in ({}, JSON):
                data = sent | {"rating": rating}
                yield pattern.name, client.post(address, data, headers=headers)


def _held(rater: Rater) -> str:
    """The public id of a pair in the rater's hands; empty where there is none."""
    held = Assignment.objects.filter(rater=rater, state="claimed").order_by("pk").first()
    return held.public_id if held else ""


def test_no_response_names_a_contestant(study: Study, rater: Rater) -> None:
    client = Client()
    client.force_login(rater.user)
    seen = set()
    for name, response in visits(client, study, rater):
        seen.add((name, response.status_code))
        text = everything(response).lower()
        assert not [secret for secret in SECRETS if secret in text], name
    # The walk saw real pages: pairs, pairs fetched ahead, refusals, redirects.
    assert {("rate-study", 200), ("rate-study", 422), ("rate-study", 302), ("undo", 200)} <= seen
    assert {("ahead", 200), ("flag", 200), ("shown", 204), ("token", 200)} <= seen


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


def test_a_private_study_gives_its_raters_no_names_on_any_page(study: Study, rater: Rater) -> None:
    client = Client()
    client.force_login(rater.user)
    answered = Counter[int]()
    for address in site_addresses(study):
        response = client.get(address)
        answered[response.status_code] += 1
        assert not [secret for secret in SECRETS if secret in everything(response).lower()], address
    assert answered[200] >= 5
    assert sum(answered.values()) >= 15


def test_a_public_study_that_is_open_shows_no_text_beside_its_names(study: Study, rater: Rater) -> None:
    Study.objects.update(visibility="public")
    Completion.objects.update(turns=["An answer with the word plumbiferous."])
    client = Client()
    client.force_login(rater.user)
    for address in site_addresses(study):
        text = everything(client.get(address)).lower()
        assert not ("plumbiferous" in text and any(secret in text for secret in SECRETS)), address


def test_the_scan_would_find_a_name(study: Study, rater: Rater) -> None:
    client = Client()
    client.force_login(rater.user)
    Completion.objects.update(turns=["I am Zyxonbert-9000."])
    page = client.get(reverse("rate-study", args=[study.slug]))
    assert "zyxonbert" in everything(page).lower()


def test_no_attribute_holds_a_database_id(study: Study, rater: Rater) -> None:
    Completion.objects.filter(prompt__study=study).delete()
    prompt = study.prompts.first()
    # Ids far from any number that a page has reason to show.
    for number, contestant in enumerate(study.contestants.all(), start=7_700_001):
        make.make_completion(pk=number, prompt=prompt, contestant=contestant, turns=["Text."])
    client = Client()
    client.force_login(rater.user)
    page = everything(client.get(reverse("rate-study", args=[study.slug])))
    assert page.count('<p dir="auto">Text.</p>') == 2
    assert "77000" not in page


def test_both_responses_are_built_alike(study: Study, rater: Rater) -> None:
    """With equal texts, the markup of A and B differs in the letter alone."""
    Completion.objects.update(turns=["The same text."])
    client = Client()
    client.force_login(rater.user)
    html = client.get(reverse("rate-study", args=[study.slug])).content.decode()
    a, b = re.findall(r'<section class="response .*?</section>', html, re.S)
    assert a.replace("response-a", "response-b").replace("esponse A", "esponse B") == b


def test_the_place_of_a_contestant_is_drawn_evenly() -> None:
    """Over many raters every contestant stands about as often first as second."""
    from arena import services

    study = make.make_small_study(prompts=30, contestants=2, ratings_per_pair_people=4)
    for _ in range(4):
        rater = make.make_member(study)
        while assignment := services.claim(study, rater):
            services.skip(rater, assignment.public_id)
    swapped = Assignment.objects.filter(swapped=True).count()
    assert Assignment.objects.count() == 120
    # Four showings of each pair are two and two, whatever the draw.
    assert swapped == 60
    firsts = Assignment.objects.filter(rater=rater, swapped=True).count()
    assert 5 <= firsts <= 25


def test_ids_of_assignments_do_not_count_up(study: Study) -> None:
    ids = [
        make.make_assignment(pair=make.make_pair(prompt=study.prompts.first())).public_id for _ in range(20)
    ]
    assert len(set(ids)) == 20
    assert ids != sorted(ids)
