import csv
import io

import pytest
from django.utils import timezone

from arena.models import Prompt, Rater, Score
from arena.rating.publication import no_people_yet
from leaderboard.answers.asked import FEWEST
from leaderboard.refreshing.services import refresh
from tests import factories
from tests.leaderboard.answers.scores.studies import scored_study
from tests.leaderboard.reading import computed

pytestmark = pytest.mark.django_db

SAID = {
    "p1": {"Ada": [5, 5, 4], "Bob": [4, 4, 3], "Cleo": [2, 1, 1]},
    "p2": {"Ada": [4, 5, 5], "Bob": [3, 4, 4], "Cleo": [1, 2, None]},
    "judge": {"Ada": [3, 5, 4], "Bob": [4, 5, 3], "Cleo": [1, 1, 2]},
}


@pytest.fixture
def study():
    """Two people and a judge score three models; prompts have sets and categories."""
    made = scored_study(SAID, slug="scored", visibility="public", closed_at=timezone.now())
    for number, prompt in enumerate(made.prompts.order_by("pk")):
        Prompt.objects.filter(pk=prompt.pk).update(
            subset=("easy", "hard")[number % 2], category=("Law", "Arts")[number % 2]
        )
    return made


def shown(client, study, query="", **headers):
    if not study.snapshots.exists():
        refresh(study)
    return computed(client, study, f"/studies/{study.slug}/scores/{query}", **headers)


def page_of(client, study, query=""):
    return shown(client, study, query).context["page"]


def test_the_page_says_who_scores_highest(client, study):
    page = page_of(client, study)
    assert page.verdict[0].startswith("Ada scores highest: 4.67 (")
    assert page.verdict[0].endswith("on a scale of 1–5.")
    assert page.verdict[1].endswith("1 reply of 18 held no score and does not count.")
    assert [(row.measured.name, row.measured.shown) for row in page.rows] == [
        ("Ada", "4.67"),
        ("Bob", "3.67"),
        ("Cleo", "1.40"),
    ]
    assert page.caption == "People: 17 scores."
    assert "Pearson’s correlation of People and Judge is 0." in page.sentences[0][0]
    assert "That of a person and the mean of the others is 0." in page.sentences[0][0]


def test_models_have_a_page_where_pairs_rank_them(client, study):
    address = f"/studies/scored/contestants/{study.contestants.get(name='Ada').slug}/"
    assert [row.address for row in page_of(client, study).rows] == ["", "", ""]
    said = client.get(address).content.decode()
    assert 'See <a href="/studies/scored/scores/">Text scores</a>.' in said
    assert "Nobody has done so yet" not in said
    refresh(compared(study))
    assert page_of(client, study).rows[0].address == address
    assert client.get(address).context["page"].overall


def test_a_model_scored_on_easy_prompts_alone_is_not_first(client):
    hard = {"Ada": [1, 5, 5], "Bob": [None, 4, 4]}
    made = scored_study({"judge": hard}, visibility="public", closed_at=timezone.now())
    page = page_of(client, made)
    assert [round(each["mean"], 2) for each in page.found["contestants"]] == [3.67, 4.0]
    assert page.verdict[0].startswith("Ada scores highest on the same prompts: 3.67")


def test_switches_change_the_numbers(client, study):
    def means(query):
        return [each["mean"] for each in page_of(client, study, query).found["contestants"]]

    assert means("?raters=judge:judge") == [4.0, 4.0, pytest.approx(4 / 3, abs=1e-6)]
    assert means("?category=Arts") == means("?subset=hard") == [5, 4, 1.5]
    page = page_of(client, study, "?raters=judge:judge&category=Arts")
    assert page.filters == "Judge, Arts"
    assert [switch.label for switch in page.switches] == ["Scored by", "Set", "Category"]


def test_turns_are_chosen_where_there_are_several(client, study):
    Score.objects.filter(completion__contestant__name="Ada").update(turn=2)
    page = page_of(client, study, "?turn=2")
    assert [option.label for option in page.switches[-1].options] == ["All", "Whole answer", "2"]
    assert [each["contestant"] for each in page.found["contestants"]] == ["Ada"]
    assert page.beside is None


@pytest.mark.parametrize(("highest", "width"), [(5, ""), (10, "matrix"), (20, "large")])
def test_a_heat_map_of_many_scores_scrolls_on_a_phone(client, highest, width):
    said = {"p": {"Ada": [1, 2, 3], "Bob": [2, 3, 4]}}
    made = scored_study(said, visibility="public", closed_at=timezone.now())
    Score.objects.update(highest=highest)
    assert page_of(client, made).panel("by-model").width == width


def test_all_raters_have_the_same_bins(client, study):
    Score.objects.filter(rater__slug="judge").update(value=2.5)
    raters = page_of(client, study).found["raters"]
    assert {tuple(each["edges"]) for each in raters} == {tuple(raters[0]["edges"])}
    assert len(raters[0]["counts"]) == 20


def test_a_judge_of_the_family_of_a_model_is_named(client, study):
    study.contestants.filter(name="Bob").update(name="Zephyr 7B")
    Rater.objects.filter(slug="judge").update(name="Zephyr")
    own = page_of(client, study, "?raters=judge:judge").notices
    assert own[-1] == (
        "By its name, Zephyr may be of the same family as Zephyr 7B. A judge may favour its family."
    )
    assert not any("family" in notice for notice in page_of(client, study).notices)


def test_drift_is_of_scores_with_a_date_alone(client, study):
    Score.objects.filter(rater__slug="judge").update(is_dated=False)
    drift = page_of(client, study).panel("drift").table
    # Of a model with three scores by a person, the one in the middle tells no slope.
    assert [(row[0], row[-1]) for row in drift.rows] == [("People", 12), ("Judge", 0)]


def test_while_people_rate_a_few_scores_stay_hidden(client, admin_client):
    """Of each model, rater and category."""
    six, named = [5, 4, 3, 5, 4, 3], {"Ada": 0, "Bob": 1, "Cleo": 1}
    said = {rater: {name: [value - down for value in six] for name, down in named.items()} for rater in "pq"}
    said |= {"judge": {"Ada": [5, 4, 4], "Bob": [3, 3]}}
    study = scored_study(said, slug="open", visibility="public")
    Score.objects.filter(completion__contestant__name="Cleo", rater__slug="q").delete()
    study.prompts.filter(external_id="p0").update(category="Law")
    study.prompts.exclude(external_id="p0").update(category="Arts")
    page = page_of(client, study)
    assert [option.label for option in page.switches[-1].options] == ["All", "Arts"]
    assert [each["contestant"] for each in page.found["contestants"]] == ["Ada", "Bob"]
    assert [each["rater"] for each in page.found["raters"]] == ["people"]
    assert page.found["agreement"] == []
    for query in ("?raters=judge:judge", "?category=Law"):
        page = page_of(client, study, query)
        assert page.found is None
        assert page.nothing.startswith(f"Fewer than {FEWEST} scores of each model are given here")
        assert client.get(f"/api/v1/studies/open/scores/{query}").status_code == 404
    own = admin_client.get("/studies/open/scores/").context["page"].found
    assert [len(own["contestants"]), len(own["raters"]), own["agreement"][0]["texts"]] == [3, 2, 5]
    judge, ada = Score.objects.filter(rater__slug="judge").first().rater, study.contestants.get(name="Ada")
    for number in range(12):  # on which no person has a score
        text = factories.make_completion(prompt=factories.make_prompt(study=study), contestant=ada)
        factories.make_score(completion=text, rater=judge, **({} if number < 4 else {"reason": "refused"}))
    refresh(study)
    assert [each["rater"] for each in page_of(client, study).found["raters"]] == ["people"]
    Score.objects.filter(reason="refused").update(value=3, status="scored", reason="")
    Score.objects.filter(rater=judge).first().delete()
    refresh(study)
    page = page_of(client, study)
    assert [each["rater"] for each in page.found["raters"]] == ["people", "judge:judge"]
    assert page.found["agreement"] == []


def compared(study):
    """The study, in which a person also prefers Ada to Bob to Cleo on every prompt."""
    person = factories.make_rater(name="Paula")
    for prompt in study.prompts.all():
        texts = list(prompt.completions.order_by("contestant__name"))
        for first, second in ((0, 1), (1, 2), (0, 2)):
            pair = factories.make_pair(prompt=prompt, first=texts[first], second=texts[second])
            factories.make_comparison(pair=pair, rater=person, rating=1)
    return study


def test_text_scores_stand_beside_scores_from_pairs(client, study):
    page = page_of(client, compared(study))
    assert page.beside["agreement"]["spearman"] == 1
    sentence, anchor = page.sentences[1]
    assert sentence.startswith(
        "Spearman’s correlation of text scores and scores from pairs by People is 1.00"
    )
    assert page.panel(anchor).table.rows[0][0] == "Ada"
    board = client.get("/studies/scored/?columns=all").context["page"]
    (column,) = (each for each in board.view.table.columns if each.key == "text-score")
    assert [column.text(entry) for entry in board.view.entries] == ["4.67", "3.67", "1.40"]
    assert "Spearman’s correlation with Elo (People): 1.00" in column.help


def test_every_rater_has_a_colour_of_its_own(client, study):
    """The judge alone compared a pair, and comes first among the raters of the snapshot."""
    texts = list(study.prompts.first().completions.order_by("contestant__name"))
    pair = factories.make_pair(prompt=texts[0].prompt, first=texts[0], second=texts[1])
    factories.make_comparison(
        pair=pair, rater=Score.objects.filter(rater__slug="judge").first().rater, rating=1
    )
    drawn = page_of(client, study).panel("distribution").figure["data"]
    assert len({trace["marker"]["color"] for trace in drawn}) == len(drawn) == 2


def test_requirements_stand_beside_text_scores(client, study):
    for number, text in enumerate(Score.objects.filter(rater__slug="judge").order_by("pk")):
        question = text.completion.prompt.questions.first() or factories.make_question(
            prompt=text.completion.prompt
        )
        factories.make_answer(
            completion=text.completion,
            question=question,
            rater=text.rater,
            value="yes" if number < 5 else "no",
        )
    refresh(study)
    page = client.get("/studies/scored/requirements/").context["page"]
    assert page.columns[-1] == ("Mean text score", "By Judge, 1–5: one score for the whole answer.")
    assert [(row.measured.name, row.measured.cells[-1]) for row in page.rows] == [
        ("Ada", "4.00"),
        ("Bob", "4.00"),
        ("Cleo", "1.33"),
    ]
    assert page.sentences[0][0].startswith(
        "Spearman’s correlation of requirements met and mean text scores by Judge is 0.87"
    )
    assert page.panel("text-scores").table.rows[0] == ("Ada", 100.0, 4.0)
    found = client.get("/api/v1/studies/scored/requirements/").json()
    assert found["text_scores"]["means"]["Cleo"] == pytest.approx(4 / 3, abs=1e-6)
    assert found["text_scores"]["people"]["raters"] == 2


def test_scores_that_wait_to_count_are_not_said_to_be_missing(client, admin_client):
    made = scored_study({"p": {"Ada": [1, 2], "Bob": [2]}}, slug="open", visibility="public")
    for score in Score.objects.all():
        task = factories.make_assignment(
            completion=score.completion,
            rater=score.rater,
            kind="score",
            state="submitted",
            finished_at=timezone.now(),
        )
        Score.objects.filter(pk=score.pk).update(assignment=task)
    refresh(made)
    found = {name: each.get("/studies/open/scores/") for name, each in (("", client), ("op", admin_client))}
    said = {name: each.content.decode() for name, each in found.items()}
    assert found[""].context["page"].nothing == no_people_yet(made, "score")
    assert "No score counts yet. While the study is open" in said[""]
    assert "3 by 1 person" not in said[""]
    assert "Waiting to count on the leaderboard: 3 by 1 person." in said["op"]
    assert "2 more people help; closing the study counts the rest." in said["op"]
    assert client.get("/api/v1/studies/open/scores/").json()["detail"] == no_people_yet(made, "score")


def test_equal_scores_are_equal_in_words_tables_and_figures(client):
    names = ("Ada", "Bob", "Cleo")
    said = {rater: {name: [4, 4, 4] for name in names} for rater in ("e1", "judge-e")}
    made = scored_study(said, slug="equal", visibility="public", closed_at=timezone.now())
    page = page_of(client, made)
    assert page.verdict == ("All three models here score 4.00 on average, on a scale of 1–5.", "")
    assert page.caption == "People: 9 scores."
    assert [row.measured.cells[0] for row in page.rows] == ["0.00"] * 3
    assert not page.has_intervals
    assert "These numbers give no interval." in client.get("/studies/equal/scores/").content.decode()
    assert page.sentences == []
    assert not page.panel("agreement").has_figure
    assert page.panel("agreement").note == "No correlation can be told of them; the table says why."
    rows = list(csv.DictReader(io.StringIO(client.get(page.panel("agreement").csv_url).content.decode())))
    assert all(row["Why none"] for row in rows)


def test_the_only_model_is_not_held_against_its_own_average(client):
    made = scored_study({"e2": {"Ada": [4, 3]}}, visibility="public", closed_at=timezone.now())
    page = page_of(client, made)
    assert page.verdict[0].startswith("Ada scores 3.50 (")
    assert [row.measured.cells[0] for row in page.rows] == ["–"]
    assert page.notices == ["Only 2 prompts: others may give other numbers."]


def test_beside_scores_of_judges_a_page_says_how_those_of_people_come_to_count(client):
    made = scored_study({"judge-q": {"Ada": [3, 4] * 6}}, slug="judged", visibility="public")
    assert page_of(client, made).notices[-1] == no_people_yet(made, "score by people")
    made.closed_at = timezone.now()
    made.save()
    refresh(made)
    assert "by people" not in " ".join(page_of(client, made).notices)
