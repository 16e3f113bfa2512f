"""Live prompts become public by an operator's word alone, and private again while no release holds them."""

import pytest
from django.test import Client

from arena.audit.recording import Kind, record
from arena.models import Prompt, StudyEvent
from judging.battles.errors import BattleError
from judging.battles.publishing import RELEASED, live_prompts, publish, publish_clean, withdraw
from judging.battles.voting import vote
from judging.models import Publication
from tests.factories import make_battle, make_battle_rules, make_client, make_prompt, make_study, make_user

pytestmark = pytest.mark.django_db

A, B = "It scatters light.", "Short waves scatter more."


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(make_user(username="ada", is_staff=True))
    return client


def make_live(prompt: str, *answers: str, rules: object = None) -> Prompt:
    battle = make_battle(*(answers or (A, B)), rules=rules or make_battle_rules(), turns=[prompt])
    return vote(battle, 3, False).pair.prompt


def test_only_clean_prompts_are_published_together() -> None:
    rules, ada = make_battle_rules(), make_user()
    clean = make_live("Why is the sky blue?", rules=rules)
    typed = make_live("Write to ada@example.org.", rules=rules)
    answered = make_live("Who are you?", A, "Call +44 20 7946 0958. Any time.", rules=rules)
    assert publish_clean(rules.study, ada) == (1, 2)
    public = Prompt.objects.filter(is_private=False)
    assert [*public] == [clean]
    assert Publication.objects.get().by == ada
    assert publish(rules.study, [typed, answered], ada) == 2
    assert publish(rules.study, [typed], ada) == 0
    notes = set(StudyEvent.objects.values_list("note", flat=True))
    assert {f"Live prompt {clean} published.", "2 live prompts published."} <= notes


def test_a_prompt_of_another_study_or_that_is_not_live_is_left_alone() -> None:
    rules, ada = make_battle_rules(), make_user()
    other = make_live("Why?")
    own = make_prompt(study=rules.study, is_private=True)
    assert publish(rules.study, [other, own], ada) == 0


def test_it_is_private_again_while_no_release_holds_it() -> None:
    prompt, ada = make_live("Why?"), make_user()
    study = prompt.study
    record(Kind.RELEASE, ada, "Release 1", study=study)
    publish(study, [prompt], ada)
    assert withdraw(study, prompt, ada)
    assert not withdraw(study, prompt, ada)
    publish(study, [prompt], ada)
    record(Kind.RELEASE, ada, "Release 2", study=study)
    with pytest.raises(BattleError, match=RELEASED):
        withdraw(study, prompt, ada)
    assert live_prompts(study).get().is_private is False


def test_the_page_marks_what_was_found_and_escapes_the_rest(ada: Client) -> None:
    prompt = make_live("<script>alert(1)</script> ada@example.org")
    page = ada.get(f"/operate/{prompt.study.slug}/battles/prompts/").content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; " in page
    assert '<mark title="email address">ada@example.org</mark>' in page
    assert "Publish all the same" in page


def test_the_page_publishes_withdraws_and_removes(ada: Client) -> None:
    prompt = make_live("Why?")
    address = f"/operate/{prompt.study.slug}/battles/prompts/"
    for button, is_private in (("publish", False), ("withdraw", True), ("clean", False)):
        assert ada.post(address, {button: "1", "prompt": prompt.pk}).status_code == 302
        prompt.refresh_from_db()
        assert prompt.is_private is is_private
    ada.post(address, {"remove": "1", "prompt": prompt.pk})
    prompt.refresh_from_db()
    assert (prompt.turns, prompt.is_private) == ([], True)
    assert ada.post(address, {"publish": "1", "prompt": "x"}).status_code == 404


def test_others_do_not_see_it() -> None:
    prompt = make_live("Why?")
    address = f"/operate/{prompt.study.slug}/battles/prompts/"
    assert make_client(make_user()).get(address).status_code == 404
    assert make_client(make_user(is_staff=True)).get(address).status_code == 200
    other = make_study()
    staff = make_client(make_user(is_staff=True))
    answer = staff.post(f"/operate/{other.slug}/battles/prompts/", {"publish": "1", "prompt": prompt.pk})
    assert answer.status_code == 404
