"""The operators' page of battles: what it asks, refuses, says before saving, and writes in the log."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from arena.models import Membership, Role, Study, StudyEvent
from judging.battles.operating import NO_BUDGET, NO_CONSENT, TOO_FEW
from judging.models import BattleRules, Price, Purse
from tests.factories import (
    make_author,
    make_battle_rules,
    make_client,
    make_contestant,
    make_rater,
    make_study,
    make_user,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(make_user(username="ada", is_staff=True))
    return client


def make_models(study: Study, *names: str, **of_author: Any) -> list[Any]:
    return [
        make_author(contestant=make_contestant(study=study, name=name), model=name.lower(), **of_author)
        for name in names
    ]


def priced(author: Any, prompt: str = "1", completion: str = "2", currency: str = "USD") -> None:
    endpoint = author.endpoint
    Price.objects.create(
        model=endpoint.model,
        base_url=endpoint.base_url,
        prompt=prompt,
        completion=completion,
        currency=currency,
    )


def address(study: Study) -> str:
    return f"/operate/{study.slug}/battles/"


USUAL = {
    "open_to": "everybody",
    "consent": "Your texts are stored.",
    "examples": "Why is the sky blue?\nName three rivers.",
    "system": "",
    "temperature": "0.7",
    "max_tokens": "1000",
    "random_share": "25",
    "warm_up": "20",
    "most_characters": "4000",
    "most_turns": "2",
    "thread": "own",
    "visitor_daily": "50",
    "address_daily": "200",
    "most_waiting": "50",
    "naming": "hold",
    "blocked_words": "",
    "fails_closed": ["", "on"],
    "lets_choose": "",
    "budget": "",
}


def sent(authors: list[Any], /, **changed: Any) -> dict[str, Any]:
    return {**USUAL, "authors": [each.pk for each in authors], **changed}


def test_battles_are_opened_and_each_change_is_on_record(ada: Client) -> None:
    study = make_study(visibility="public")
    models = make_models(study, "Alder", "Birch")
    page = ada.post(address(study), sent(models), follow=True).content.decode()
    rules = BattleRules.objects.get()
    assert (rules.open_to, rules.temperature, rules.random_share) == ("everybody", 0.7, 0.25)
    assert rules.examples == ["Why is the sky blue?", "Name three rivers."]
    assert set(rules.authors.all()) == {*models}
    assert NO_BUDGET in page
    notes = list(StudyEvent.objects.values_list("note", flat=True))
    assert "Battle rules, Models: “Alder”, “Birch”. Before: none." in notes
    assert any(note.startswith("Battle rules, Open to: Everybody, without an account.") for note in notes)
    assert not any("Your texts are stored" in note for note in notes)
    before = StudyEvent.objects.count()
    ada.post(address(study), sent(models))
    assert StudyEvent.objects.count() == before


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"authors": []}, TOO_FEW),
        ({"consent": " "}, NO_CONSENT),
        ({"temperature": "3"}, "Enter a number from 0 to 2, or leave it empty."),
        ({"most_turns": "0"}, "1"),
        ({"examples": "x" * 1001}, "Entry 1 has 1001 characters; the limit is 1000."),
        ({"budget": "5"}, "A budget needs a price for"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_saved(ada: Client, changed: dict[str, Any], said: str) -> None:
    study = make_study(visibility="public")
    answer = ada.post(address(study), sent(make_models(study, "Alder", "Birch"), **changed))
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert [*errors] == [*changed]
    assert said in errors[next(iter(changed))][0]
    assert not BattleRules.objects.exists()


def test_a_closed_study_of_battles_needs_no_models(ada: Client) -> None:
    study = make_study()
    ada.post(address(study), sent([], open_to="nobody", consent=""))
    assert BattleRules.objects.get().open_to == "nobody"


def test_the_budget_of_a_day_is_in_the_currency_of_the_prices(ada: Client) -> None:
    study = make_study(visibility="public")
    models = make_models(study, "Alder", "Birch")
    for model in models:
        priced(model, currency="EUR")
    page = ada.post(address(study), sent(models, budget="5"), follow=True).content.decode()
    purse = Purse.objects.get(battles=study)
    assert (purse.budget, purse.currency) == (5, "EUR")
    assert NO_BUDGET not in page
    assert "At most 5.00 EUR: no battle begins that could pass it." in page
    ada.post(address(study), sent(models, budget=""))
    purse.refresh_from_db()
    assert purse.budget is None


def test_the_dearest_two_models_are_named_before_saving(ada: Client) -> None:
    study = make_study(visibility="public")
    models = make_models(study, "Alder", "Birch", "Cedar")
    for model, price in zip(models, ("1", "100", "10"), strict=True):
        priced(model, price, price)
    answer = ada.post(address(study), sent(models, cost="1"), headers={"HX-Request": "true"})
    page = answer.content.decode()
    assert not BattleRules.objects.exists()
    # 4,000 characters of 4 bytes and 16 + 16 + 256 tokens around them; 1,000 tokens of the answer.
    turn = (4 * 4000 + 288 + 1000) * Decimal("0.000110")
    assert f"At most {turn.quantize(Decimal('0.0001'))} USD with one turn, between Birch and Cedar" in page
    # The second turn is sent the first, its answer of 4 bytes a token, and 16 tokens around each.
    second = turn + (4 * 4000 + 4 * 1000 + 32) * Decimal("0.000110")
    assert f"and {(turn + second).quantize(Decimal('0.0001'))} USD with 2." in page
    assert "Nothing limits what a day can cost" in page


def test_a_cost_that_is_not_known_is_not_guessed(ada: Client) -> None:
    study = make_study(visibility="public")
    models = make_models(study, "Alder", "Birch")
    priced(models[0])
    page = ada.post(address(study), sent(models, cost="1"), headers={"HX-Request": "true"}).content.decode()
    assert "Not known: a model has no price" in page


def test_what_is_missing_is_listed(ada: Client) -> None:
    page = ada.get(address(make_study(is_draft=True))).content.decode()
    assert "The study is a draft. Publish it first." in page
    assert "Two models with an endpoint: none is chosen." in page
    assert "No model of this study has an endpoint yet." in page


def test_only_who_may_have_models_asked_changes_it(ada: Client) -> None:
    rules = make_battle_rules()
    bob = make_user(username="bob")
    Membership.objects.create(study=rules.study, rater=make_rater(user=bob), role=Role.OPERATOR)
    client = make_client(bob)
    page = client.get(address(rules.study))
    assert "You can read these settings." in page.content.decode()
    assert "Save</button>" not in page.content.decode()
    assert client.post(address(rules.study), sent([])).status_code == 403
    assert client.get(address(make_study())).status_code == 404


def test_a_change_since_the_page_was_opened_is_not_undone(ada: Client) -> None:
    rules = make_battle_rules(system="")
    models = list(rules.authors.all())
    seen = ada.get(address(rules.study)).context["form"].seen
    BattleRules.objects.update(system="Be brief.")
    ada.post(address(rules.study), sent(models, seen=seen))
    rules.refresh_from_db()
    assert (rules.system, rules.most_turns) == ("Be brief.", 2)
