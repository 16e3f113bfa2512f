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
from scipy.stats import binom

from arena.models import Assignment, Completion, Invitation, Rater, Study
from arena.rating.urls import urlpatterns
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
    given = {"token": token, "slug": study.slug, "number": 1, "attempt": 1}
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
    from arena.rating import services

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


@pytest.fixture
def token_study() -> Study:
    """Two contestants that answer alike, whose every name, id and address is a word found nowhere else."""
    study = make.make_study(reveal_names=True, ratings_per_pair_people=4, simulated=True)
    field = [
        make.make_contestant(
            pk=8_800_000 + number,
            study=study,
            name=f"Tokenname{number}",
            slug=f"tokenslug{number}",
            family=f"Tokenfamily{number}",
            organisation=f"Tokenorganisation{number}",
            licence=f"tokenlicence{number}",
            size=f"tokensize{number}",
            generation={"model": f"tokengeneration{number}"},
            extra={"path": f"tokenextra{number}"},
        )
        for number in (1, 2)
    ]
    for number in range(30):
        prompt = make.make_prompt(
            study=study, extra={"source": "tokenprompt"}, external_id=f"tokenid{number}"
        )
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
    rater = make.make_member(token_study)
    token_study.memberships.update(guidelines_read_at=timezone.now())
    client = Client()
    client.force_login(rater.user)
    rate = reverse("rate-study", args=[token_study.slug])
    seen: list[str] = []

    def look(response: HttpResponse) -> HttpResponse:
        seen.append(everything(response))
        assert not TELLING.findall(seen[-1])
        return response

    for number in range(12):
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
    assert len(seen) > 100


def test_files_that_pages_load_are_the_same_for_every_pair(token_study: Study) -> None:
    rater = make.make_member(token_study)
    token_study.memberships.update(guidelines_read_at=timezone.now())
    client = Client()
    client.force_login(rater.user)
    rate = reverse("rate-study", args=[token_study.slug])
    loaded = set()
    for _ in range(6):
        html = client.get(rate).content.decode()
        loaded.add(tuple(re.findall(r'(?:src|href)="([^"]+\.(?:js|css|svg))"', html)))
        current = re.search(r'data-assignment="([^"]+)"', html)
        assert current
        client.post(rate, {"assignment": current[1], "rating": "3"})
    assert len(loaded) == 1
    assert len(loaded.pop()) >= 8


def test_no_place_on_the_page_goes_to_a_contestant_more_often() -> None:
    """Four hundred draws, each the first of its pair and its rater, so that no balance steadies the coin."""
    from arena.rating import pairing

    draws = 400
    swapped = sum(pairing.choose_order(seed, pair_imbalance=0, rater_imbalance=0) for seed in range(draws))
    low, high = binom.ppf([0.0005, 0.9995], draws, 0.5)
    assert low <= swapped <= high


def test_the_order_of_elements_says_nothing_over_many_pages() -> None:
    """Each contestant's text stands first in half of 160 pages, and in about half of those of every rater."""
    prompts, raters = 40, 4
    study = make.make_study(ratings_per_pair_people=raters)
    field = [make.make_contestant(study=study) for _ in range(2)]
    for _ in range(prompts):
        prompt = make.make_prompt(study=study)
        for number, contestant in enumerate(field):
            make.make_completion(prompt=prompt, contestant=contestant, turns=[f"Written by number {number}."])
    low, high = binom.ppf([0.0005, 0.9995], prompts, 0.5)
    first = Counter[str]()
    for _ in range(raters):
        rater = make.make_member(study)
        study.memberships.update(guidelines_read_at=timezone.now())
        client = Client()
        client.force_login(rater.user)
        rate = reverse("rate-study", args=[study.slug])
        shown = client.get(rate, headers=JSON).json()
        own = Counter[str]()
        while shown["assignment"]:
            found = re.search(r"Written by number (\d)\.", shown["html"])
            assert found
            own[found[1]] += 1
            sent = {"assignment": shown["assignment"], "rater": str(rater.user_id)}
            client.post(f"{rate}skip/", sent, headers=JSON)
            shown = client.get(rate, headers=JSON).json()
        assert low <= own["0"] <= high
        first += own
    assert first == {"0": prompts * raters // 2, "1": prompts * raters // 2}
