"""The demo study lets everybody battle between simulated models, which say so."""

import pytest

from arena.demo.load import load_demo, open_demo
from judging.battles.demo import open_battles
from judging.models import Author, BattleRules

pytestmark = pytest.mark.django_db


def test_the_demo_study_is_open_to_battles_between_simulated_models() -> None:
    study = load_demo(open_demo()).study
    open_battles()
    rules = study.battle_rules
    assert rules.is_open
    assert rules.open_to == "everybody"
    assert {author.contestant.name for author in rules.authors.all()} == {
        "Lapwing 34B",
        "Redshank 13B",
        "Dunnock 7B",
        "Turnstone 3B",
    }
    assert all(author.endpoint.is_simulated for author in Author.objects.all())


def test_rules_that_are_there_stay() -> None:
    study = load_demo(open_demo()).study
    BattleRules.objects.create(study=study)
    open_battles()
    assert BattleRules.objects.get().open_to == "nobody"


def test_a_study_that_only_has_the_address_of_the_demo_stays_as_it_is() -> None:
    study = load_demo(open_demo()).study
    type(study).objects.filter(pk=study.pk).update(simulated=False)
    open_battles()
    assert not BattleRules.objects.exists()
