from copy import deepcopy

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.refreshing import computing, services
from tests import factories
from tests.leaderboard.judges.studies import make_field, make_judge_rater, rate

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(shared_rows, rounds):
    """A person, a judge with a model of its own, and a simulated one, over the same pairs."""
    study = make_field(slug="small")
    judge = factories.make_judge(slug="strict", name="Strict", model="acme/alpha-7b")
    rate(study, judge.rater, 100, seed=1)
    rate(study, make_judge_rater("leaning", simulated=True), 200, seed=2)
    rate(study, factories.make_rater(name="Ada"), 0, 100, orders=(False,), seed=3)
    services.refresh(study)
    return study, judge


@pytest.fixture
def study(shared):
    return deepcopy(shared)[0]


def page(client, study, **query):
    address = reverse("study-judges", args=[study.slug])
    first = client.get(address, query)
    while computing.compute_next(study.pk):
        pass
    return first, client.get(address, query)


def test_it_waits_and_then_shows_every_measure_table_and_figure(client, study):
    waiting, ready = page(client, study)
    assert "One moment" in waiting.content.decode()
    text = ready.content.decode()
    assert "60 pairs of 20 prompts that every judge here rated." in text
    for name in (
        "Prefers the first",
        "Second place is worth",
        "Changes its verdict",
        "Pearson r with the mean of people",
    ):
        assert f'<th scope="row" role="rowheader">{name}</th>' in text
    assert "Elo, ties count half" in text
    assert "Elo, ties off" in text
    assert "leaning" in text.lower()
    assert "(simulated)" in text
    base = reverse("study-judges", args=[study.slug])
    csv = client.get(f"{base}tables/measures.csv").content.decode()
    assert "Second place is worth,Elo points," in csv
    slugs = ["measures", "ratings-8", "position", "elo-ties-on", "elo-ties-off", "correlation"]
    assert [panel.slug for panel in ready.context["page"].panels] == slugs
    assert "acme/alpha-7b" in text
    assert "127.0.0.1" not in text
    text = client.get(reverse("study-raters", args=[study.slug])).content.decode()
    assert reverse("study-judges", args=[study.slug]) in text


class TestChoice:
    def test_two_of_three_one_alone_or_nobody(self, client, study):
        _, ready = page(client, study, **{"with": ["judge:strict", "people"]})
        text = ready.content.decode()
        assert '<th scope="col" role="columnheader" class="num">Strict</th>' in text
        assert 'class="num">LEANING' not in text
        text = page(client, study, **{"with": "judge:strict"})[1].content.decode()
        assert "Name at least two judges. Choose others above." in text
        found = client.get(reverse("study-judges", args=[study.slug]), {"with": "judge:nobody"})
        assert found.status_code == 404
        assert "This study has no raters &quot;judge:nobody&quot;" in found.content.decode()

    def test_nothing_in_common(self, client, study):
        other = make_field(1, slug="other")
        pairs = list(other.prompts.get().pairs.order_by("pk"))
        for slug, pair in zip(("here", "there"), pairs, strict=False):
            factories.make_comparison(pair=pair, rater=make_judge_rater(slug))
        services.refresh(other)
        text = page(client, other)[1].content.decode()
        assert "No pair of this study was rated by all of HERE, THERE. Choose others above." in text


class TestCosts:
    @pytest.fixture
    def asked(self, shared):
        """Two priced calls and one cached reply about one pair, one call about another without a price."""
        study, judge = deepcopy(shared)
        run = factories.make_run(study=study, judge=judge, currency="EUR", state="finished")
        pairs = [row.pair for row in study.comparisons.filter(rater=judge.rater, swapped=False)[:4:3]]
        first, second = (factories.make_assignment(pair=pair, rater=judge.rater) for pair in pairs)
        assert pairs[0].prompt_id != pairs[1].prompt_id
        one = _call(run, first, "one", cost="0.01", latency=2.0, prompt_tokens=100)
        _call(run, first, "two", cost="0.03", latency=4.0, prompt_tokens=50)
        _call(run, first, "three", cached_from=one, latency=9.0, prompt_tokens=7)
        _call(run, second, "one", latency=1.0)
        return study

    def test_operators_alone_see_them(self, client, asked, admin_client):
        page(client, asked)
        base = reverse("study-judges", args=[asked.slug])
        assert client.get(f"{base}tables/costs.csv").status_code == 404
        assert "Cost and time" not in page(client, asked)[1].content.decode()
        text = page(admin_client, asked)[1].content.decode()
        assert "Cost and time per thousand pairs" in text
        csv = admin_client.get(f"{reverse('study-judges', args=[asked.slug])}tables/costs.csv")
        rows = {line.split(",")[0]: line for line in csv.content.decode().splitlines()}
        # Two pairs: three calls sent, 7 s, 150 tokens, 0.04 in all.
        assert ",1500.0," in rows["Calls"]
        assert ",3500.0," in rows["Endpoint time"]
        assert ",75000.0," in rows["Prompt tokens"]
        assert ",20.0," in rows["Cost"]
        assert "EUR, 1 without a price" in rows["Cost"]
        assert ",25.0," in rows["From the cache"]


def _call(run, assignment, key, **values):
    given = {"state": "replied", "finished_at": timezone.now(), "key": key}
    return factories.make_call(run, assignment=assignment, **given, **values)
