import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from arena.models import Comparison, Contestant
from leaderboard.pages.rater_kinds.families import Kin, Named, kin
from leaderboard.pages.rater_kinds.flags import Answers, flags, sentences
from leaderboard.pages.rater_kinds.judge_facts import judge_facts
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.judges.studies import make_field, rate
from tests.leaderboard.rows import few_rounds


class TestKin:
    @pytest.mark.parametrize("name", ["Acme-7B", "acme 7b", "other/ACME_7b"])
    def test_the_same_model_by_another_spelling(self, name):
        assert kin(["acme/acme-7b"], [Named(name)]) == Kin((name,), ())

    def test_who_is_kin(self):
        assert kin(["acme-7b"], [Named("The best", "", ("best", "acme/Acme-7B"))]).itself == ("The best",)
        found = kin(["acme-7b"], [Named("Acme 70B"), Named("Acme 7B"), Named("Zeta"), Named("X", "acme")])
        assert found == Kin(("Acme 7B",), ("Acme 70B", "X"))
        assert found.everyone == ("Acme 7B", "Acme 70B", "X")
        assert kin(["acme-7b", "zeta-1"], [Named("Acme 9"), Named("Zeta 2")]).family == ("Acme 9", "Zeta 2")
        assert kin([], [Named("Acme")]) == kin([""], [Named("–")]) == Kin()


OWN = {"kin": ["Acme 7B"], "against": "people", "n": 40, "difference": 0.2, "low": 0.1, "high": 0.3}


class TestSentences:
    def said(self, kin=None, answers=None, own_family=None):
        return {flag.kind: flag.sentence for flag in flags("J", kin or Kin(), answers, 0.05, own_family)}

    def test_competing_relatives_and_the_share_of_unscored_answers_are_named(self):
        assert self.said(answers=Answers(100, 5)) == {}
        found = self.said(Kin(("Acme 7B",), ("Acme 70B",)))
        assert found["competes"] == "J judges its own answers: it is also ranked here as Acme 7B."
        assert "may be of the same family as Acme 70B." in found["family"]
        text = self.said(answers=Answers(1000, 60))["unscored"]
        assert text.startswith("J gave no rating to 60 of 1,000 pairs (6.0%).")

    @pytest.mark.parametrize(
        ("given", "unscored", "flagged"), [(100, 6, True), (100, 5, False), (19, 19, False), (0, 0, False)]
    )
    def test_the_share_of_unscored_answers(self, given, unscored, flagged):
        assert ("unscored" in self.said(answers=Answers(given, unscored))) == flagged

    @pytest.mark.parametrize(
        ("difference", "low", "high", "words"),
        [
            (0.2, 0.1, 0.3, "0.70 points higher than people do (interval +0.35 to +1.05)"),
            (0.2, 0.1, 0.3, "may be self-preference"),
            (-0.2, -0.3, -0.1, "J rates models that may be of its own family (Acme 7B) 0.70 points lower"),
            (0.2, -0.1, 0.5, "This may be chance."),
            (0.2, None, None, "This may be chance."),
        ],
    )
    def test_self_preference(self, difference, low, high, words):
        measured = {**OWN, "difference": difference, "low": low, "high": high}
        assert words in self.said(own_family=measured)["self-preference"]


def test_what_is_sure_comes_first_and_of_that_what_was_measured():
    chance = flags("A", Kin(family=("Acme 7B",)), None, 0.05, {**OWN, "low": -0.1})
    measured = flags("B", Kin(("Acme 7B",), ("Acme 70B",)), None, 0.05, OWN)
    said = sentences({"judge:a": chance, "judge:b": measured})
    assert [each.split()[0] for each in said[:2]] == ["B", "B"]
    assert said[0].endswith(
        "over 40 pairs, with all ratings put on a scale of 1–8. This may be self-preference."
    )
    assert said[1].startswith("B judges its own answers")
    assert len(said) == 5


pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def study(shared_rows):
    """A judge that is contestant A, likes it, and refuses a tenth of all; a person, and another judge."""
    with few_rounds(10):
        made = make_field(slug="small")
        Contestant.objects.filter(study=made, slug="a").update(name="Acme 7B")
        own = factories.make_judge(slug="acme", name="Acme judge", model="acme/acme-7b")
        rows = rate(made, own.rater, 0, 50, seed=1)
        liked = [row.pk for row in rows if "Acme 7B" in _first(row)]
        Comparison.objects.filter(pk__in=liked).update(rating=1)
        late = [row.pk for row in rows[-12:]]
        Comparison.objects.filter(pk__in=late).update(status="unscored", rating=None, reason="refused")
        rate(made, factories.make_rater(name="Ada"), 0, 50, seed=2)
        rate(made, factories.make_judge(slug="fair", name="Fair judge", model="zeta-1").rater, 0, 50, seed=3)
        services.refresh(made)
    return made


def _first(row):
    shown = row.pair.second if row.swapped else row.pair.first
    return shown.contestant.name.replace("A", "Acme 7B", 1) if shown.contestant.slug == "a" else ""


EXPECTED = ("also ranked here as Acme 7B", "no rating to 12 of 120 pairs", "may be self-preference")


class TestWhereJudgesAreChosen:
    @pytest.mark.parametrize(
        ("name", "query"),
        [("study", {"raters": "judge:acme"}), ("study-raters", {}), ("study-agreement", {})],
    )
    def test_pages(self, client, study, name, query):
        text = client.get(reverse(name, args=[study.slug]), query).content.decode()
        for words in EXPECTED:
            assert words in text

    def test_judges_who_have_no_stake_are_not_flagged(self, client, study):
        text = client.get(reverse("study-rater", args=[study.slug, "judge:acme"])).content.decode()
        for words in EXPECTED:
            assert words in text
        text = client.get(reverse("study-rater", args=[study.slug, "judge:fair"])).content.decode()
        assert "also ranked here" not in text
        text = client.get(reverse("study", args=[study.slug]), {"raters": "judge:fair"}).content.decode()
        assert "also ranked here" not in text

    def test_the_api(self, client, study):
        address = f"/api/v1/studies/{study.slug}/standings/"
        found = client.get(address, {"raters": "judge:acme"}).json()["flags"]
        assert [flag["kind"] for flag in found] == ["competes", "unscored", "self-preference"]
        assert client.get(address, {"raters": "people"}).json()["flags"] == []

    def test_the_command(self, study):
        out = StringIO()
        call_command("ablate", study.slug, "--judges", "acme,fair", "--rounds", "10", stdout=out)
        assert "Flag: Acme judge judges its own answers" in out.getvalue()
        out = StringIO()
        options = ("--judges", "acme,fair", "--rounds", "10", "--json", "-")
        call_command("ablate", study.slug, *options, stdout=out)
        own, other = json.loads(out.getvalue())["raters"]
        assert own["own_family"]["difference"] > own["own_family"]["low"] > 0
        assert other["own_family"] is None
        assert other["flags"] == []


class TestFacts:
    def test_scale_parameters_samples_and_wording(self, study):
        from django.utils import timezone

        judge = factories.make_judge(slug="worded", protocol="likert", model="m")
        judge.wording, judge.samples = {"rate": "Own words $query $answers $verdict"}, 3
        judge.save()
        facts = judge_facts(study, "judge:worded", timezone.now())
        setup = dict(facts.setup)
        assert facts.family
        assert facts.form == "one number of the rating scale"
        assert setup["samples"] == "3, the majority decides"
        assert setup["wording"] == f"own wording, hash {judge.current_prompt_hash()[:12]} (rate)"

    def test_a_score_has_its_own_scale_and_its_samples_a_mean(self, study):
        from django.utils import timezone

        factories.make_judge(slug="scorer", protocol="direct-score", samples=3)
        facts = judge_facts(study, "judge:scorer", timezone.now())
        assert (facts.form, facts.points) == ("a score of one answer from 1 to 5", 0)
        assert dict(facts.setup)["samples"] == "3, their mean counts"

    def test_the_usual_wording_is_not_mentioned(self, study):
        from django.utils import timezone

        factories.make_judge(slug="plain", model="m")
        assert "wording" not in dict(judge_facts(study, "judge:plain", timezone.now()).setup)

    def test_an_imported_judge_is_known_by_its_file(self, study):
        from django.utils import timezone

        told = {"model": "m-1", "protocol": "CoT", "source": "a paper", "order_free": True, "seconds": 2.5}
        prices = {"currency": "USD", "thousand_pairs": 12}
        factories.make_rater(kind="judge", slug="elsewhere", study=study, facts={**told, "prices": prices})
        factories.make_rater(kind="judge", slug="unknown", study=study)
        facts = judge_facts(study, "judge:elsewhere", timezone.now())
        assert {name: getattr(facts, name) for name in told} == told
        assert (facts.imported, facts.form) == (True, "")
        assert dict(facts.costs) == {"price": "USD 12 for a thousand pairs", "seconds a rating": "2.5"}
        assert judge_facts(study, "judge:unknown", timezone.now()) is None

    def test_a_judge_of_single_answers_is_free_of_the_order(self, study):
        from django.utils import timezone

        for slug, protocol in (("alone", "rating"), ("both", "scores")):
            factories.make_judge(slug=slug, protocol=protocol, form="scores", points=3)
        free = {
            slug: judge_facts(study, f"judge:{slug}", timezone.now()).order_free for slug in ("alone", "both")
        }
        assert free == {"alone": True, "both": False}
