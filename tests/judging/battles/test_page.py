"""The pages of battles: plain forms, what their script is told, and nothing that tells who writes."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from arena.models import Comparison, Rater
from judging.battles import page as page_module
from judging.battles import visitors
from judging.battles.page import WHY_VOID, blocks
from judging.models import Battle, BattleCall, BattleRules
from tests.factories import (
    make_author,
    make_battle_rules,
    make_client,
    make_contestant,
    make_member,
    make_price,
    make_study,
    make_user,
)

pytestmark = pytest.mark.django_db

ID = 98765430  # of the first model: nothing else is this number
A, B = "The sky is blue. It scatters light.", "Because of the air. Short waves scatter more."


@pytest.fixture
def rules() -> BattleRules:
    make_price()
    study = make_study(visibility="public", slug="sky")
    names = (("Zebra-7B", "Zoo Labs", "zebra-7b"), ("Quokka-Pro", "Island AI", "quokka-pro"))
    authors = [
        make_author(
            pk=ID + number,
            contestant=make_contestant(pk=ID + number, study=study, name=name, organisation=by, slug=slug),
            model=f"{slug}-endpoint",
            base_url=f"https://{slug}.example/v1",
        )
        for number, (name, by, slug) in enumerate(names)
    ]
    return make_battle_rules(study=study, authors=authors, examples=["Why is the sky blue?"])


def post(client: Client, name: str, json: bool = False, **fields: Any) -> Any:
    headers = {"accept": "application/json"} if json else {}
    return client.post(reverse(f"battle-{name}", args=["sky"]), fields, headers=headers)


def begun(client: Client, **fields: Any) -> Battle:
    """A battle that a stranger begins, having agreed."""
    reply = post(client, "start", **{"prompt": "Why is the sky blue?", "consent": "1", **fields})
    assert reply.status_code == 302, reply.content.decode()
    return Battle.objects.latest("pk")


def answer(battle: Battle, first: str = A, second: str = B, state: str = "ready", **columns: Any) -> None:
    """Have both models answer, so that all of both can be seen."""
    now = timezone.now()
    for side, text in enumerate((first, second)):
        done = "replied" if state == "ready" else "in_flight"
        calls = battle.calls.filter(side=side, turn=battle.turn)
        calls.update(state=done, text=text, shown=text, deadline=now)
    still = {"begun_at": now - timedelta(minutes=1), "released": 1000, "released_at": now, "pace": 0.001}
    columns = {**still, **columns}
    Battle.objects.filter(pk=battle.pk).update(state=state, **columns)
    battle.refresh_from_db()


def page(client: Client, query: str = "") -> str:
    return client.get(reverse("battle", args=["sky"]) + query).content.decode()


def poll(client: Client, battle: Battle, mark: str = "", **held: int) -> Any:
    headers = {"if-none-match": mark} if mark else {}
    fields = {"battle": battle.public_id, **held}
    return client.get(reverse("battle-state", args=["sky"]), fields, headers=headers)


def test_a_battle_from_the_prompt_to_the_names(client: Client, rules: BattleRules) -> None:
    assert "I agree" in page(client)
    battle = begun(client)
    assert battle.rater.is_visitor
    answer(battle)
    assert "Short waves" in page(client)
    reply = post(client, "vote", battle=battle.public_id, rating="2", turn="1")
    assert (reply.status_code, reply["Location"]) == (302, "/battle/sky/")
    told = page(client)
    assert "You rated: A is better." in told
    assert all(each in told for each in ("Zebra-7B", "Quokka-Pro", "Zoo Labs", "Licence not stated"))
    assert Comparison.objects.get().rating == 2
    assert "I agree" not in page(client, "?new=1")


def test_consent_comes_before_the_first_battle(client: Client, rules: BattleRules) -> None:
    reply = post(client, "start", prompt="Why?")
    assert reply.status_code == 422
    assert "Agree to the text" in reply.content.decode()
    assert not Battle.objects.exists()
    assert not Rater.objects.exists()
    begun(client)
    assert Rater.objects.get().memberships.get().consent.strip() == rules.consent.strip()


def test_a_refused_prompt_stays_in_its_box_and_makes_nobody_a_visitor(
    client: Client, rules: BattleRules
) -> None:
    rules.most_characters = 10
    rules.save()
    reply = post(client, "start", prompt="far too long for <this>", consent="1")
    assert reply.status_code == 422
    text = reply.content.decode()
    assert "far too long for &lt;this&gt;" in text
    assert "at most 10" in text
    assert visitors.COOKIE not in client.cookies
    assert not Rater.objects.exists()


def test_an_example_is_taken_by_its_button(client: Client, rules: BattleRules) -> None:
    assert begun(client, prompt="", example="0").turns == ["Why is the sky blue?"]


def test_a_form_sent_twice_begins_one_battle(client: Client, rules: BattleRules) -> None:
    begun(client)
    reply = post(client, "start", prompt="Why is the sky blue?", consent="1")
    assert reply.status_code == 302
    assert Battle.objects.count() == 1
    assert "is open" in page(client)


def test_a_vote_sent_twice_is_one_and_another_from_a_second_tab_is_refused(
    client: Client, rules: BattleRules
) -> None:
    battle = begun(client)
    answer(battle)
    for _ in range(2):
        assert post(client, "vote", json=True, battle=battle.public_id, rating="2").status_code == 200
    reply = post(client, "vote", json=True, battle=battle.public_id, rating="7")
    assert (reply.status_code, Comparison.objects.count()) == (409, 1)
    assert "perhaps in another tab" in reply.json()["detail"]
    post(client, "vote", battle=battle.public_id, rating="7")
    assert "perhaps in another tab" in page(client)


def test_neither_alone_is_a_vote(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    answer(battle)
    assert post(client, "vote", battle=battle.public_id, neither="1").status_code == 302
    assert Comparison.objects.get().reason == "neither"
    assert "You rated: neither is acceptable." in page(client)


@pytest.mark.parametrize("rating", ["0", "9", "x", "-1", "1e3", "２"])
def test_a_forged_rating_is_refused(client: Client, rules: BattleRules, rating: str) -> None:
    battle = begun(client)
    answer(battle)
    reply = post(client, "vote", json=True, battle=battle.public_id, rating=rating)
    assert reply.status_code == (200 if rating == "２" else 409)


@pytest.mark.parametrize("name", ["vote", "why", "more", "stop", "leave", "end", "state"])
def test_a_battle_of_somebody_else_is_not_there(client: Client, rules: BattleRules, name: str) -> None:
    battle = begun(client)
    answer(battle)
    other = Client()
    begun(other)
    for stranger, public_id in ((other, battle.public_id), (Client(), battle.public_id), (client, "x\0y")):
        if name == "state":
            reply = stranger.get(reverse("battle-state", args=["sky"]), {"battle": public_id})
        else:
            reply = post(stranger, name, battle=public_id, rating="2")
        assert reply.status_code == 404
    assert not Comparison.objects.exists()


@pytest.mark.parametrize("query", ["", "?new=1"])
def test_looking_writes_nothing(client: Client, rules: BattleRules, query: str) -> None:
    battle = begun(client)
    answer(battle, state="answering")
    page(client, query)
    for asked in (lambda: page(client, query), lambda: poll(client, battle), lambda: page(Client(), query)):
        with CaptureQueriesContext(connection) as queries:
            asked()
        assert not [each for each in queries if re.match("INSERT|UPDATE|DELETE", each["sql"])]


def test_asking_for_what_is_new_costs_one_query_for_each_thing_to_know(
    client: Client, rules: BattleRules
) -> None:
    battle = begun(client)
    answer(battle, state="answering")
    with CaptureQueriesContext(connection) as queries:
        assert poll(client, battle).status_code == 200
    asked = [re.findall('FROM "([a-z_]+)"', each["sql"])[0] for each in queries]
    assert asked == [
        *("judging_battlerules", "arena_rater", "arena_membership", "judging_battle", "judging_battlecall")
    ]


@pytest.mark.parametrize(
    ("overrides", "status"),
    [
        ({"open_to": "nobody"}, 404),
        ({"open_to": "accounts"}, 200),
        ({"open_to": "members"}, 200),
    ],
)
def test_who_may_not_battle_is_told_so(
    client: Client, rules: BattleRules, overrides: dict[str, str], status: int
) -> None:
    BattleRules.objects.update(**overrides)
    reply = client.get(reverse("battle", args=["sky"]))
    assert reply.status_code == status
    assert b"Begin the battle" not in reply.content
    if status == 200:
        said = {"accounts": "Sign in to battle", "members": "Only members"}[overrides["open_to"]]
        assert said in reply.content.decode()
        assert post(client, "start", prompt="Why?", consent="1").status_code == 422
    assert not Battle.objects.exists()


@pytest.mark.parametrize("change", [{"visibility": "private"}, {"visibility": "private", "is_draft": True}])
def test_a_study_that_nobody_may_know_is_not_there(
    client: Client, rules: BattleRules, change: dict[str, Any]
) -> None:
    for name, value in change.items():
        setattr(rules.study, name, value)
    rules.study.save()
    assert client.get(reverse("battle", args=["sky"])).status_code == 404


def test_members_battle_in_a_private_study(rules: BattleRules) -> None:
    rules.study.visibility = "private"
    rules.study.save()
    member = make_client(make_member(rules.study).user)
    assert "Begin the battle" in page(member)
    begun(member)


def test_a_closed_study_has_no_battles(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    rules.study.closed_at = timezone.now()
    rules.study.save()
    assert "no battles now" in page(client)
    assert poll(client, battle).status_code == 404


def test_the_script_is_told_what_is_new(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    waiting = poll(client, battle, a=0, b=0)
    assert waiting.json()["state"] == "waiting"
    assert waiting.json()["can"] == ["stop"]
    for mark in (waiting["ETag"], f"W/{waiting['ETag']}"):  # weak, as it is when the reply was compressed
        assert poll(client, battle, mark=mark, a=0, b=0).status_code == 304
    answer(battle, f"{A}\n\nMore of it. ", f"{B}\n\n", "answering", released=60)
    told = poll(client, battle, mark=waiting["ETag"], a=0, b=0).json()
    assert told["can"] == ["vote", "stop"]
    assert [side["from"] for side in told["sides"]] == [0, 0]
    assert "More of it." in told["sides"][0]["blocks"][1]
    again = poll(client, battle, a=2, b=1).json()
    assert [(side["from"], len(side["blocks"])) for side in again["sides"]] == [(1, 1), (0, 1)]
    answer(battle, f"{A}\n\nMore of it. ", B)
    done = poll(client, battle, a=2, b=1).json()
    assert done["state"] == "ready"
    assert [side["complete"] for side in done["sides"]] == [True, True]


def test_answers_are_ready_only_once_all_of_both_can_be_seen(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    answer(battle, A, B * 9, released=40, pace=0.001)
    told = poll(client, battle).json()
    assert told["state"] == "answering"
    assert [side["complete"] for side in told["sides"]] == [True, False]


def test_a_reload_shows_all_that_was_shown(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    answer(battle, A, B, "answering", released=30)
    told = poll(client, battle).json()
    whole = page(client)
    for side in told["sides"]:
        for block in side["blocks"]:
            assert block.strip() in whole
    assert A[:30] in whole
    assert "scatters light" not in whole


@pytest.mark.parametrize("why", list(WHY_VOID))
def test_a_battle_without_a_vote_says_why_and_never_which_side(
    client: Client, rules: BattleRules, why: str
) -> None:
    battle = begun(client)
    answer(battle)
    seen = []
    for side in (battle.first, battle.second):
        Battle.objects.update(state="void", void=why, void_by=side)
        seen.append(re.sub('value="[A-Za-z0-9]{64}"', "", page(client)))
    assert seen[0] == seen[1]
    if why == Battle.Void.REMOVED:
        assert "Begin the battle" in seen[0]
    else:
        assert WHY_VOID[why] in seen[0]
        assert "Why is the sky blue?" in seen[0]
    shows = why in ("cut", "hung", "left", "budget")
    assert (A in seen[0]) == shows
    assert not any(each in seen[0] for each in ("Zebra", "Quokka"))


def test_a_page_without_script_loads_itself_until_both_have_answered(
    client: Client, rules: BattleRules
) -> None:
    battle = begun(client)
    assert 'http-equiv="refresh"' in page(client)
    answer(battle)
    assert 'http-equiv="refresh"' not in page(client)


def test_stop_and_leave(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    answer(battle, state="answering")
    post(client, "stop", battle=battle.public_id)
    assert list(battle.calls.values_list("ends_early", flat=True)) == [True, True]
    post(client, "leave", battle=battle.public_id)
    assert "You left this battle" in page(client)
    begun(client)


def test_stop_ends_an_answer_that_is_complete_too(client: Client, rules: BattleRules) -> None:
    """Else the one that goes on would be the fast model's."""
    battle = begun(client)
    answer(battle, state="answering")
    battle.calls.filter(side=0).update(state="replied")
    post(client, "stop", battle=battle.public_id)
    assert list(battle.calls.values_list("ends_early", flat=True)) == [True, True]


@pytest.mark.parametrize("change", [{"open_to": "nobody"}, {"consent": "Another text"}])
def test_a_battle_can_be_removed_where_none_can_be_begun(
    client: Client, rules: BattleRules, change: dict[str, str]
) -> None:
    battle = begun(client)
    BattleRules.objects.update(**change)
    assert post(Client(), "remove", battle=battle.public_id).status_code == 404
    post(client, "remove", battle=battle.public_id)
    battle.refresh_from_db()
    assert battle.void == "removed"


def test_a_private_study_that_is_closed_is_not_told_to_strangers(client: Client, rules: BattleRules) -> None:
    type(rules.study).objects.update(visibility="private", closed_at=timezone.now())
    assert client.get("/battle/sky/").status_code == 404


def test_an_example_of_many_digits_is_none(client: Client, rules: BattleRules) -> None:
    assert post(client, "start", prompt="", example="9" * 5000, consent="1").status_code == 422


def test_a_visitor_has_a_battle_removed(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    answer(battle)
    post(client, "vote", battle=battle.public_id, rating="2", turn="1")
    assert post(Client(), "remove", battle=battle.public_id).status_code == 404
    assert "Remove this battle" in client.get("/battle/sky/").content.decode()
    assert post(client, "remove", battle=battle.public_id).status_code == 302
    battle.refresh_from_db()
    assert (battle.void, battle.turns) == ("removed", [""])
    page = client.get("/battle/sky/").content.decode()
    assert "Removed. A release that holds" in page
    assert "Remove this battle" not in page
    assert A not in page


def test_a_visitor_finds_and_removes_an_earlier_battle(client: Client, rules: BattleRules) -> None:
    first = begun(client)
    answer(first)
    post(client, "vote", battle=first.public_id, rating="2", turn="1")
    second = begun(client, prompt="Why is grass green?")
    assert client.get(f"/battle/sky/?battle={second.public_id}").url == "/battle/sky/"  # it is open
    post(client, "leave", battle=second.public_id)
    listed = page(client, "?new=1")
    assert listed.index("Why is grass green?") < listed.index("You rated: A is")
    address = f"/battle/sky/?battle={first.public_id}"
    assert address in listed
    stranger = Client()
    assert "Your last battles" not in page(stranger)
    assert stranger.get(address).status_code == 404
    BattleRules.objects.update(consent="Another text.")  # to which nobody has agreed yet
    shown = client.get(address).content.decode()
    assert "Zebra-7B" in shown
    assert "Remove this battle" in shown
    assert 'id="why"' not in shown
    post(client, "remove", battle=first.public_id)
    assert client.get(address, follow=True).redirect_chain == [("/battle/sky/", 302)]
    assert "You rated: A is" not in page(client, "?new=1")


def test_a_comment_on_an_earlier_battle_leads_back_to_it(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    answer(battle)
    post(client, "vote", battle=battle.public_id, rating="2", turn="1")
    begun(client)
    reply = post(client, "why", battle=battle.public_id, comment="B rambles.")
    assert reply.url == f"/battle/sky/?battle={battle.public_id}"
    assert "B rambles." in page(client, f"?battle={battle.public_id}")


def test_a_further_question_is_asked_of_both(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    answer(battle)
    for _ in range(2):
        post(client, "more", battle=battle.public_id, prompt="And red?", turn="1")
    battle.refresh_from_db()
    assert battle.turns == ["Why is the sky blue?", "And red?"]
    answer(battle, "Dust.", "Sunset.")
    text = page(client)
    assert text.index("Question 1 and") < text.index("It scatters light") < text.index("Dust.")
    refused = post(client, "more", battle=battle.public_id, prompt=" ", turn="2")
    assert refused.status_code == 422
    assert "Type a prompt" in refused.content.decode()


def test_a_conversation_that_goes_on_from_the_better_answer_tells_names_at_its_end(
    client: Client, rules: BattleRules
) -> None:
    BattleRules.objects.update(thread="better")
    battle = begun(client)
    answer(battle)
    post(client, "vote", battle=battle.public_id, rating="1", turn="1")
    hidden = page(client)
    assert "End and see the names" in hidden
    assert "Ask both a further question" in hidden
    assert "Zebra" not in hidden
    post(client, "more", battle=battle.public_id, prompt="And red?", turn="1")
    battle.refresh_from_db()
    answer(battle, "Dust.", "Sunset.")
    assert "It scatters light" in page(client)
    post(client, "vote", battle=battle.public_id, rating="8", turn="2")
    assert "Zebra" not in page(client)
    post(client, "end", battle=battle.public_id)
    assert "Zebra" in page(client)
    assert Comparison.objects.count() == 2


def test_reasons_and_a_comment_are_kept(client: Client, rules: BattleRules) -> None:
    battle = begun(client)
    answer(battle)
    assert post(client, "why", json=True, battle=battle.public_id, comment="x").status_code == 409
    post(client, "vote", battle=battle.public_id, rating="2")
    fields = {"first_reasons": ["Clearer", "Safer"], "second_reasons": [], "comment": "B <b>rambles</b>."}
    post(client, "why", battle=battle.public_id, **fields)
    battle.refresh_from_db()
    assert (battle.first_reasons, battle.second_reasons) == (["Clearer", "Safer"], [])
    text = page(client)
    assert text.count("checked") == 2
    assert "B &lt;b&gt;rambles&lt;/b&gt;." in text


def test_people_who_are_signed_in_choose_models_where_the_study_lets_them(rules: BattleRules) -> None:
    person = make_client(make_user())
    assert "Choose the models" not in page(person)
    BattleRules.objects.update(lets_choose=True)
    assert "Choose the models" in page(person)
    assert "Choose the models" not in page(Client())
    ids = [str(pk) for pk in rules.authors.values_list("pk", flat=True)]
    for wrong in ([ids[0], ids[0]], [ids[0], ""], [ids[0], "999"]):
        reply = post(person, "start", prompt="Why?", consent="1", chosen=wrong)
        assert reply.status_code == 422
        assert "two different models" in reply.content.decode()
    gone = make_contestant(study=rules.study, name="Dodo-3B", retired_at=timezone.now())
    rules.authors.add(make_author(contestant=gone))
    assert "Zebra-7B" in page(person)
    assert "Dodo-3B" not in page(person)
    battle = begun(person, chosen=ids)
    assert battle.is_chosen
    answer(battle)
    text = page(person)
    assert "does not count" in text
    assert "Zebra" not in text


def test_work_is_asked_of_a_visitor_with_many_battles(
    client: Client, rules: BattleRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(client)
    Battle.objects.update(state="void", void="left")
    monkeypatch.setattr("judging.battles.work.FREE", 0)
    assert "data-bits=" in page(client, "?new=1")
    reply = post(client, "start", prompt="Why?", token="", proof="")
    assert reply.status_code == 422
    assert "has to do some work first" in reply.content.decode()


def test_the_first_page_and_that_of_the_study_lead_to_its_battles(client: Client, rules: BattleRules) -> None:
    for path in (reverse("home"), rules.study.get_absolute_url()):
        assert 'href="/battle/sky/"' in client.get(path).content.decode()
    BattleRules.objects.update(open_to="members")
    cache.clear()
    for path in (reverse("home"), rules.study.get_absolute_url()):
        assert "/battle/sky/" not in client.get(path).content.decode()


# --- Blind until the vote ------------------------------------------------------------


def telling(rules: BattleRules) -> list[str]:
    """All that names a model, in any form."""
    words = []
    for author in rules.authors.select_related("contestant", "endpoint"):
        one = author.contestant
        words += [one.name, one.slug, one.organisation, author.endpoint.model, author.endpoint.base_url]
    return [word.lower() for word in words]


def bytes_of(client: Client, battle: Battle) -> Iterator[str]:
    """Everything that a browser is sent before the vote: bodies, headers and cookies."""
    replies = [
        client.get(reverse("battle", args=["sky"])),
        poll(client, battle, a=0, b=0),
        post(client, "vote", json=True, battle=battle.public_id, rating="99"),
        post(client, "start", prompt="Once more?", consent="1"),
        post(client, "why", json=True, battle=battle.public_id),
        post(client, "more", battle=battle.public_id, prompt="", turn=str(battle.turn)),
        client.get(reverse("battle", args=["sky"]) + "?new=1"),
        client.get(reverse("battle-state", args=["sky"]), {"battle": "x"}),
    ]
    for reply in replies:
        yield reply.content.decode()
        headers = dict(reply.headers)
        policy = sorted(headers.pop("Content-Security-Policy", "").split("; "))  # in any order
        headers.pop("X-Request-ID", "")  # drawn
        yield str([policy, sorted(headers.items())])
        yield str(sorted((name, morsel.value) for name, morsel in reply.cookies.items()))


STAGES: list[dict[str, Any]] = [
    {"state": "answering", "released": 25},
    {"state": "ready"},
    {"state": "answering", "is_redrawn": True, "is_random": True},
]


@pytest.mark.parametrize("stage", STAGES)
def test_no_byte_before_the_vote_tells_a_model(
    client: Client, rules: BattleRules, stage: dict[str, Any]
) -> None:
    battle = begun(client)
    answer(battle, **stage)
    BattleCall.objects.update(
        completion_tokens=1147104711, error="Zebra-7B is down", model="zebra-7b-endpoint"
    )
    sent = "\n".join(bytes_of(client, battle)).lower()
    found = [word for word in [*telling(rules), "1147104711"] if word in sent]
    assert found == []
    assert str(ID)[:-1] not in sent


@pytest.mark.parametrize("stage", STAGES)
@time_machine.travel(datetime(2026, 12, 1, 12, tzinfo=UTC), tick=False)
def test_the_same_bytes_are_sent_when_the_models_change_places(
    client: Client, rules: BattleRules, stage: dict[str, Any]
) -> None:
    secret = re.compile("(?<=csrfmiddlewaretoken. value=.)[^\"]*|(?<=csrftoken', ')[^']*")
    battle = begun(client)
    seen = []
    for _ in range(2):
        answer(battle, **stage)
        seen.append([secret.sub("", each) for each in bytes_of(client, battle)])
        first, second = battle.first, battle.second
        Battle.objects.update(first=second, second=first)
        authors = dict(battle.calls.values_list("side", "author"))
        for side in (0, 1):
            battle.calls.filter(side=side).update(author=authors[1 - side])
    assert seen[0] == seen[1]


# --- How texts are divided ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("One.", ["One."]),
        ("One.\n\nTwo.", ["One.\n\n", "Two."]),
        ("One.\n\n\n", ["One.\n\n\n"]),
        ("- a\n\n  b\n\nC", ["- a\n\n  b\n\n", "C"]),
        ("```\na\n\nb\n```\n\nC", ["```\na\n\nb\n```\n\n", "C"]),
        ("A\n\n~~~~\na\n\n~~~\n\nb", ["A\n\n", "~~~~\na\n\n~~~\n\nb"]),
    ],
)
def test_blocks(text: str, parts: list[str]) -> None:
    assert blocks(text) == parts


def test_very_many_blocks_and_fences_are_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    class Place(int):
        def __lt__(self, other: int) -> bool:
            looked.append(other)
            return int(self) < other

    found = page_module._fenced

    def places(text: str) -> list[tuple[Place, ...]]:
        return [tuple(map(Place, span)) for span in found(text)]

    monkeypatch.setattr(page_module, "_fenced", places)
    assert len(blocks("a\n\n```\nb\n\nc\n```\n\n" * 1000)) == 2000
    assert len(looked) < 50_000  # of three million pairs of a blank line and a fence


def test_blocks_that_were_shown_stay_while_a_text_grows() -> None:
    text = "# Title\n\nOne.\n\n- a\n- b\n\n```python\nx = 1\n\ny = 2\n```\n\nEnd.\n\n| a |\n|---|\n| 1 |\n"
    before: list[str] = []
    for end in range(len(text) + 1):
        now = blocks(text[:end])
        assert now[: max(0, len(before) - 1)] == before[:-1]
        before = now
    assert json.dumps(blocks(text)).count("python") == 1
