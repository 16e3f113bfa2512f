"""The page of how often judges are right, its API, and what stays hidden while people rate."""

import json

import pytest

from arena.models import Comparison, Pair, Study
from leaderboard.files.bundle import making
from leaderboard.files.bundle.archive import RIGHT_ANSWERS, Reader
from leaderboard.files.bundle.recomputing import recompute
from leaderboard.files.bundle.right_answers import right_answers_from
from leaderboard.models import SnapshotSlice
from leaderboard.pages.format import percent
from leaderboard.refreshing import computing, services
from leaderboard.trust.measures import MEASURES
from leaderboard.trust.table import RIGHT
from tests import factories
from tests.leaderboard.reading import printed, records, text, words
from tests.leaderboard.trust.studies import Judging

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(shared_rows, rounds):
    """Twelve plain pairs and two tricky ones, two judges of a model, a person on all of them; closed."""
    made = Judging()
    for number in range(14):
        made.pair(("first", "second")[number % 2], "plain" if number < 12 else "tricky")
    right = "12" * 7
    made.judge("good", right, right, model="M", protocol="Vanilla")
    poor = made.judge("poor", right[:10] + "1111", "1" * 13 + "?", model="M", protocol="CoT", seconds=2)
    poor.facts |= {"prices": {"currency": "EUR", "thousand_pairs": 1.5}}
    poor.save()
    made.person("12" * 6 + "21")
    made.person("12" * 7)
    made.publish(slug="small")
    return made


PAGE, API = "/studies/small/trust/", "/api/v1/studies/small/trust/"


def reopened(made):
    Study.objects.filter(pk=made.study.pk).update(closed_at=None)
    made.study = Study.objects.get()
    services.refresh(made.study)


def test_the_page_is_what_the_command_prints(client, made, django_assert_max_num_queries):
    with django_assert_max_num_queries(20):
        page = client.get(PAGE)
    found = page.context["page"].found
    wanted = json.loads(printed("meta_evaluate", "small", "--matrix", "--rounds=10", "--format=json"))
    assert {name: found[name] for name in wanted if name != "parameters"} == {
        name: own for name, own in wanted.items() if name != "parameters"
    }
    assert "good is right in 100.0% of its ratings" in words(page)
    assert client.get("/studies/small/").url == PAGE, "no model is ranked"
    assert "Leaderboard" not in text(page)
    assert "Grey: people, and rules that need no judge" in words(page)
    rows = [row.slug for row in page.context["page"].view.rows if row.slug]
    assert rows == ["good", "poor"]
    assert '<tr class="provisional"><th scope="row" class="name"><bdi>Always the longer' in text(page)


def test_tables_figures_columns_and_parts(client, made):
    rows = records(client, f"{PAGE}tables/judges.csv")
    own = {row["Pairs of"]: row for row in rows if row["Judge"] == "poor"}
    assert own["tricky"]["Right (%)"] == "66.6667"
    assert (own["tricky"]["Replies"], own["All"]["Pairs"]) == ("4", "14")
    (cell,) = [row for row in records(client, f"{PAGE}tables/matrix.csv") if row["Protocol"] == "CoT"]
    assert cell["Base"] == "good"
    (own,) = [row for row in records(client, f"{PAGE}tables/models.csv") if row["Pairs of"] == "tricky"]
    assert (own["Protocols"], own["Base (%)"], own["Best protocol but the base (%)"]) == (
        "2",
        "100.0",
        "66.6667",
    )
    assert own["Best other protocol, more than the base (points)"] == "-33.3333"
    panels = [panel.slug for panel in client.get(PAGE).context["page"].panels]
    assert panels == ["matrix", "models", "self-models", "best", "difficulty", "judges"], (
        "there is a single model"
    )
    (best, _) = records(client, f"{PAGE}tables/best.csv")
    assert (best["Subset"], best["Judge"], best["Right (%)"], best["Base judge"]) == (
        "plain",
        "good",
        "100.0",
        "",
    )
    pairs = client.get(f"{PAGE}figures/difficulty.json").json()["layout"]["yaxis"]
    assert pairs["dtick"] == 1, "half a pair is none"
    every = words(client.get(f"{PAGE}?columns=all&sort=price&subset=tricky"))
    assert "1.50 EUR" in every
    assert "4,000" in every
    found = client.get(f"{PAGE}?subset=tricky").context["page"].view.rows
    assert {row.slug: round(RIGHT.value(row), 4) for row in found if row.slug} == {"good": 1, "poor": 0.6667}


def test_other_settings_are_computed(client, made):
    query = "?unscored=wrong&base=poor&gold=people&level=90"
    assert client.get(API + query).status_code == 202
    assert 'subset=tricky"' in text(client.get(f"{PAGE}{query}&subset=tricky")), "waits for its own address"
    while computing.compute_next(made.study.pk):
        pass
    found = client.get(API + query).json()
    wanted = printed(
        "meta_evaluate", "small", "--matrix", "--unscored=wrong", "--base=poor", "--gold=people",
        "--interval=90", "--rounds=10", "--format=json",
    )  # fmt: skip
    assert found["judges"] == json.loads(wanted)["judges"]
    assert "wrong (replies without a rating)" in words(client.get(PAGE + query))
    assert client.get(f"{API}?base=nobody").status_code == 404
    reply = client.get(f"{API}?unscorde=wrong")
    assert reply.status_code == 422
    assert reply.json()["field"] == "unscorde"


def test_subsets_that_are_no_part_of_the_average(client, made):
    assert client.get(f"{API}?without=nothing").status_code == 404
    query = "?without=tricky"
    assert client.get(API + query).status_code == 202
    while computing.compute_next(made.study.pk):
        pass
    assert client.get(API + query).json()["parameters"]["averaged"] == ["plain"]
    shown = words(client.get(PAGE + query))
    assert "12 rated pairs with a right answer on plain" in shown
    assert "No part of the average: tricky." in shown
    assert "average without tricky" in shown


def test_sections_of_several_models_and_protocols(client, rounds):
    made = Judging()
    for number in range(12):
        made.pair("first", ("plain", "case/one", "case/two")[number % 3])
    said = {
        "vanilla": ("112111211121", "121221112212", "212212221122"),
        "cot": ("111211121112", "122112121221", "221221212212"),
    }
    for protocol, verdicts in said.items():
        for model, own in zip("MNO", verdicts, strict=True):
            made.judge(f"{model}-{protocol}", own, own[::-1], model=model, protocol=protocol)
    made.judge("M-swap", "12" * 6, "12" * 6, model="M", protocol="swap")
    made.publish(slug="grid")
    address = "/studies/grid/trust/"
    page = client.get(address)
    panels = {panel.slug: panel for panel in page.context["page"].panels}
    assert list(panels) == [
        *("matrix", "protocols", "models", "base", "halves", "self-protocols", "self-models", "best"),
        *("correlations", "difficulty", "judges"),
    ]
    for slug, panel in panels.items():
        assert client.get(panel.csv_url).status_code == 200
        assert not panel.has_figure or client.get(panel.figure_url).status_code == 200, slug
    assert "Correlation of ranks over models: base and average Spearman" in panels["base"].note
    drawn = client.get(f"{address}figures/correlations.json").json()
    assert drawn["layout"]["xaxis"]["ticktext"] == ["case", "case/one", "case/two", "plain"]
    (cells,) = (trace["z"] for trace in drawn["data"])
    assert (cells[0][3], cells[0][1]) == (cells[3][0], None), "a group does not compare with its own subsets"
    names = client.get(f"{address}figures/protocols.json").json()["layout"]["yaxis"]["ticktext"]
    assert {"vanilla (base)", "swap (1/3)"} < set(names)
    assert names[-1] == "swap (1/3)"
    part = client.get(f"{address}?subset=case").context["page"]
    assert "Correlation" not in part.panel("base").note
    (own,) = [
        each for each in part.panel("matrix").table.items if (each.model, each.protocol) == ("M", "cot")
    ]
    rows = records(client, f"{address}tables/judges.csv")
    (wanted,) = [row for row in rows if (row["Judge"], row["Pairs of"]) == ("M-cot", "case")]
    assert round(100 * own.accuracy, 4) == float(wanted["Right (%)"])


class TestWhileOpen:
    """Raters see judges alone, on subsets of ten pairs or more; operators see everything."""

    def test_everybody(self, client, made):
        reopened(made)
        page = client.get(PAGE)
        found = page.context["page"].found
        assert set(found["parameters"]["subsets"]) == {"plain"}
        assert found["baselines"] == []
        assert all(set(each["subsets"]) == {"plain"} for each in found["judges"])
        for name in ("confusion", *(key for each in MEASURES if each.sealed for key in each.keys)):
            assert {each["subsets"]["plain"][name] for each in found["judges"]} == {None}
        for address in (page, client.get(f"{PAGE}?columns=all"), client.get(API)):
            shown = address.content.decode()
            assert "tricky" not in shown
            assert "Always" not in shown
        assert client.get("/api/v1/studies/small/tables/trust/").json()["content"] == found
        hidden = client.get(f"{PAGE}?without=tricky")
        assert hidden.status_code == 404, "small subsets are not named while people rate"
        refused = client.get(f"{PAGE}?gold=people")
        assert refused.status_code == 404
        assert "While people rate, only labels say which answer is right." in refused.content.decode()
        assert client.get(f"{PAGE}?sealed=").context["page"].found == found
        assert client.get(f"{PAGE}?ties=tie").context["page"].setting.sealed

    def test_nothing_follows_from_what_people_said(self, client, made):
        """Of a measure of people's ratings that is declared public, readers would see a change."""
        reopened(made)
        shown = client.get(API).json()
        assert shown["judges"]
        for number, one in enumerate(Comparison.objects.filter(rater__kind="person").order_by("pk")):
            one.rating = 1 + (3 * number) % one.points
            one.save(update_fields=["rating"])
        made.study.touch()
        services.refresh(Study.objects.get())
        assert client.get(API).json()["judges"] == shown["judges"]

    def test_operators(self, staff, made):
        reopened(made)
        assert "tricky" in staff.get(PAGE).context["page"].found["parameters"]["subsets"]

    def test_after_reopening_nothing_is_shown_of_the_closed_study(self, client, made):
        Study.objects.filter(pk=made.study.pk).update(closed_at=None)
        assert "One moment" in text(client.get(PAGE))

    def test_too_few_pairs(self, client, made):
        Study.objects.filter(pk=made.study.pk).update(closed_at=None)
        made.study.prompts.update(subset="")
        made.study.prompts.filter(pk__gt=made.pairs[8].prompt_id).delete()
        services.refresh(Study.objects.get())
        assert "No subset has 10 pairs with a right answer" in words(client.get(PAGE))


def test_the_first_page_shows_the_judges_that_are_right_most_often(client, made):
    page = client.get("/")
    assert "good is right in 100.0% of its ratings" in words(page)
    (entry,) = page.context["groups"][0][1]
    assert [(row.rank, row.name, row.score) for row in entry.leaders.rows] == [
        ("1", "good", "100.0%"),
        ("2", "poor", percent(by_slug(client)["poor"])),
    ]
    assert f'href="{PAGE}">See judge accuracy' in text(page)


def by_slug(client):
    return {row.slug: RIGHT.value(row) for row in client.get(PAGE).context["page"].view.rows}


def test_most_people_are_right_where_nothing_is_labelled(client, made):
    Pair.objects.update(gold="", gold_source="")
    made.study.touch()
    services.refresh(Study.objects.get())
    assert client.get("/studies/small/").url == PAGE
    while computing.compute_next(made.study.pk) or "One moment" in text(client.get(PAGE)):
        pass
    page = client.get(PAGE)
    assert page.context["page"].setting.gold == "people"
    assert page.context["page"].found["parameters"]["ties_left_out"] == 2
    reopened(made)
    assert "Judge accuracy" not in text(client.get("/studies/small/raters/"))
    assert "No pair of this study has a right answer" in words(client.get(PAGE))


def test_nothing_to_show(staff):
    made = Judging()
    study, page = made.study, f"/studies/{made.study.slug}/trust/"
    made.pair("")
    made.person("1")
    services.refresh(study)
    assert "No judge has rated in this study." in words(staff.get(page))
    made.judge("good", "1", "1")
    services.refresh(study)
    assert f"python manage.py import_data {study.slug} FILE --format llmbar" in words(staff.get(page))
    assert 'href="?gold=people"' in text(staff.get(page))
    assert "Judge accuracy" not in text(staff.get(study.get_absolute_url(), follow=True))
    made.pairs[0].gold, made.pairs[0].gold_source = "first", "by hand"
    made.pairs[0].save()
    services.refresh(study)
    # Nothing is known of its model, so there is no matrix.
    shown = staff.get(page)
    assert "good is right in 100.0% of its ratings." in words(shown)
    assert [panel.slug for panel in shown.context["page"].panels] == ["judges"]


def test_a_bundle_computes_it_again(made, tmp_path):
    factories.make_pair(prompt=made.pairs[0].prompt, gold="first", gold_source="by hand")  # not rated
    made.study.touch()
    services.refresh(Study.objects.get())
    with (tmp_path / "bundle.zip").open("w+b") as file:
        making.make(Study.objects.get(), file)
    found = recompute(Reader(tmp_path / "bundle.zip"))
    assert found.verdict.is_equal, found.verdict.differences
    assert SnapshotSlice.objects.filter(kind="trust").exists()
    content = json.loads(Reader(tmp_path / "bundle.zip").read(RIGHT_ANSWERS))
    assert len(content["prompt"]) == 15
    assert sorted(set(content["prompt"])) == list(range(14))
    held = right_answers_from(json.dumps(content).encode()).instances
    assert held.prompt.tolist() == content.pop("prompt")
    alone = right_answers_from(json.dumps(content).encode()).instances
    assert alone.prompt.tolist() == list(range(15)), "older bundles have pairs without prompts"
