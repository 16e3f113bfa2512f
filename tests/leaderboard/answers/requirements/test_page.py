import io
import re

import pytest
from django.utils import timezone

from leaderboard.answers.requirements.table import people_sentence
from leaderboard.files.bundle.archive import RESULTS, Reader
from leaderboard.files.bundle.recomputing import recompute
from leaderboard.refreshing.services import refresh, refresh_if_stale
from tests import factories
from tests.leaderboard.answers.requirements.studies import Checking
from tests.leaderboard.reading import computed

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(shared_rows, rounds):
    """Two models, three prompts, and people who contest the last requirement of the first prompt."""
    made = Checking(visibility="public", closed_at=timezone.now())
    made.prompt(["Format"], ["Content"], ["Style"], category="Arts: Film", subset="easy")
    made.prompt(["Content"], ["Format"], category="Law", subset="hard")
    made.prompt(["Content"], category="Law", subset="hard")
    made.rater("p1", ["yyy", "yny"], ["yn", "yn"], ["y", "n"], seconds=6.0)
    made.rater("p2", ["yyn", "ynn"], ["yn", "nn"], ["y", "n"], seconds=6.0)
    made.judge("j", ["yyy", "nnn"], ["yn", "yn"], ["u", "?"])
    refresh(made.study)
    return made


def shown(client, study, query="", **headers):
    if not study.snapshots.exists():
        refresh(study)
    return computed(client, study, f"/studies/{study.slug}/requirements/{query}", **headers)


def page_of(client, study, query=""):
    return shown(client, study, query).context["page"]


def test_a_study_of_checks_alone_opens_here_and_has_no_tabs_of_pairs(client, made):
    page = shown(client, made.study).content.decode()
    assert client.get(f"/studies/{made.study.slug}/").url == f"/studies/{made.study.slug}/requirements/"
    named = re.findall('data-label="([^"]+)"', page)
    assert named == ["Requirements", "Data", "Download and cite"]
    first = client.get("/").content.decode()
    assert re.search(r'class="card-meta num">[\d]+ checks\.', first)
    assert "See the results" in first


def test_models_of_a_study_of_checks_alone_have_no_page(client, made):
    assert [row.address for row in page_of(client, made.study).rows] == ["", ""]
    slug = made.models[0].slug
    said = client.get(f"/studies/{made.study.slug}/contestants/{slug}/").content.decode()
    assert f'See <a href="/studies/{made.study.slug}/requirements/">Requirements</a>.' in said


def test_the_page_says_who_meets_most(client, made):
    page = page_of(client, made.study)
    assert "Only 3 prompts: others may give another order." in list(page.notes(page.found))
    assert page.verdict[0].startswith("Ada meets the most requirements: 80.0%")
    shown_rows = [(row.measured.name, row.measured.shown) for row in page.rows]
    assert shown_rows == [("Ada", "80.0%"), ("Bob", "25.0%")]
    assert page.filters == "People"
    assert page.found["contested"] == 1


def test_switches_change_the_numbers(client, made):
    def drfr(query):
        return [each["drfr"] for each in page_of(client, made.study, query).found["contestants"]]

    assert drfr("?raters=judge:j") == [0.8, 0.2]
    assert drfr("?raters=judge:j&missing=no") == [0.8, 0.166667]
    assert drfr("?subset=easy") == [1.0, 0.5]
    assert drfr("?category=Law") == [0.666667, 0.0]
    assert drfr("?contested=out") == [0.8, 0.25]


def test_what_everybody_fails_leads_to_its_answers(client, made):
    page = page_of(client, made.study)
    (line,) = page.listed
    assert (len(page.failed), page.same) == (1, 2)
    text = client.get(line.address).context["page"]
    assert list(text.raters.values()) == ["j", "Person 1", "Person 2"]
    assert [cell.words for cell in text.rows[1].cells] == ["Not met"] * 3
    assert len(text.others) == 2


def test_an_answer_has_what_its_models_probabilities_say(client, made):
    address = page_of(client, made.study).listed[0].address
    assert not client.get(address).context["page"].features
    text = client.get(address).context["page"].completion
    about = {"completion": text, "source": "a server"}
    factories.make_feature(**about, name="entropy_high.full", variant="bounds", value=1.25)
    factories.make_feature(**about, name="entropy_low.full", variant="bounds", value=0.5)
    factories.make_feature(completion=text, name="our_own", turn=1, value=-0.125)
    page = client.get(address)
    assert [(row.label, row.turn, row.shown, row.source) for row in page.context["page"].features] == [
        ("Entropy, prompt and answer", 0, "0.5–1.25", "a server"),
        ("our_own", 1, "−0.125", ""),
    ]
    assert "<td>Bounds</td>" in page.content.decode()


def test_sources_stand_beside_people_with_their_cost(client, made):
    page = page_of(client, made.study, "?hour=30")
    judge = page.sources["rows"][1]
    assert (judge["rater"], page.sources["beside"]) == ("judge:j", "people")
    table = page.panel("sources").table
    people = dict(zip(table.columns, table.rows[0], strict=True))
    # Two people, twelve answers each, six seconds each: 2.4 minutes at 30 an hour.
    assert (people["Minutes"], people["Cost"]) == (2.4, pytest.approx(1.2))
    assert page_of(client, made.study, "?beside=judge:j").sources["beside"] == "judge:j"


def test_while_people_rate_single_requirements_and_answers_are_for_operators(client, admin_client):
    made = Checking(visibility="public")
    made.prompt(*[["Content"]] * 9, category="Arts", subset="easy")
    made.prompt(["Format"], category="Law", subset="hard")
    made.rater("p", ["y" * 9, "n" * 9], ["y", "n"])
    page = page_of(client, made.study)
    assert (page.found["questions"], page.any_text, page.failed) == ([], "", [])
    assert [each["drfr"] for each in page.found["contestants"]] == [1.0, 0.0]
    # Of groups in which a model has fewer than ten checks nothing shows.
    assert page.found["contestants"][0]["labels"] == {}
    text = made.prompts[0][1][0]
    address = f"/studies/{made.study.slug}/requirements/texts/{text.pk}/"
    assert client.get(address).status_code == 403
    # Which requirements people disagree about is told when the study closes.
    assert shown(client, made.study, "?contested=out").status_code == 404
    assert shown(admin_client, made.study, "?contested=out").status_code == 200
    for few in ("?subset=easy", "?subset=hard", "?category=Law"):
        hidden = page_of(client, made.study, few)
        assert hidden.found is None
        assert hidden.nothing.startswith("Fewer than 10 requirements of each model are checked here;")
        asked = client.get(f"/api/v1/studies/{made.study.slug}/requirements/{few}")
        assert (asked.status_code, asked.json()["detail"]) == (404, hidden.nothing)
    assert client.get(f"/studies/{made.study.slug}/requirements/tables/questions.csv").status_code == 404
    own = admin_client.get(f"/studies/{made.study.slug}/requirements/").context["page"]
    assert own.found["questions"]
    assert page_of(admin_client, made.study, "?subset=hard").rows[0].measured.shown == "100.0%"
    assert admin_client.get(address).status_code == 200
    text.extra = {"written": {"model": "loopback", "temperature": 0.5, "cut": [1]}}
    text.save()
    assert "cut at the token limit" in admin_client.get(address).content.decode()


def test_while_people_rate_only_parts_with_numbers_are_offered(client, admin_client):
    made = Checking(models=["Ada"], visibility="public")
    made.prompt(*[["Content"]] * 9, category="Arts", subset="easy")
    made.prompt(["Format"], category="Law", subset="hard")
    made.prompt(*[["Content"]] * 10, category="Maths", subset="hard")
    made.rater("p", ["y" * 9], ["y"], ["y" * 10])

    def offered(page):
        return {switch.name: [option.label for option in switch.options] for switch in page.switches}

    page = page_of(client, made.study)
    assert offered(page) == {"subset": ["All", "hard"], "category": ["All", "Maths"]}
    assert page.verdict[0].startswith("Ada meets 100.0% (")
    assert page.verdict[0].endswith("the requirements.")
    hidden = page_of(client, made.study, "?category=Law")
    assert hidden.found is None
    assert offered(hidden)["category"] == ["All", "Law", "Maths"]
    everything = offered(page_of(admin_client, made.study))
    assert everything == {"subset": ["All", "easy", "hard"], "category": ["All", "Arts", "Law", "Maths"]}


def test_a_judge_of_the_family_of_a_model_is_named(client):
    made = Checking(models=["GPT-4", "Alpaca"], visibility="public", closed_at=timezone.now())
    made.prompt(["Content"], ["Format"])
    made.judge("gpt-4-0314", ["yy", "yn"])
    made.judge("other", ["yy", "yn"])
    warned = "By its name, gpt-4-0314 may be of the same family as GPT-4. A judge may favour its family."
    assert warned in page_of(client, made.study, "?raters=judge:gpt-4-0314").notices
    assert warned not in page_of(client, made.study, "?raters=judge:other").notices


def test_a_bundle_follows_new_answers_and_computes_again(client, made):
    def bundle():
        found = client.get(f"/studies/{made.study.slug}/results/bundle.zip")
        return Reader(io.BytesIO(b"".join(found.streaming_content)))

    before = bundle()
    report = recompute(before)
    assert (report.verdict.is_equal, report.verdict.different) == (True, 0)
    assert b'"kind":"requirements","method":"","raters":"judge:j"' in before.read(RESULTS).replace(b" ", b"")
    made.judge("late", ["yyy", "yyy"], ["yy", "yy"], ["y", "y"])
    refresh_if_stale(made.study)
    assert b"judge:late" in bundle().read(RESULTS)


def test_requirements_stand_beside_scores(client):
    made = Checking(models=["Ada", "Bob", "Cleo"], visibility="public", closed_at=timezone.now())
    made.prompt(["A"], ["B"], ["C"])
    made.prompt(["A"], ["B"])
    person = made.rater("p", ["yyy", "yyn", "ynn"], ["yy", "yn", "nn"])
    for _, (ada, bob, cleo) in made.prompts:
        for first, second in ((ada, bob), (bob, cleo), (ada, cleo)):
            pair = factories.make_pair(prompt=ada.prompt, first=first, second=second)
            factories.make_comparison(pair=pair, rater=person, rating=1)
    page = page_of(client, made.study)
    assert page.beside["agreement"]["spearman"] == 1
    assert "scores from pairs by People is 1.00" in page.sentences[0][0]
    assert page.panel("scores").table.rows[0][:2] == ("Ada", 100.0)
    board = client.get(f"/studies/{made.study.slug}/?columns=all").context["page"]
    (column,) = (each for each in board.view.table.columns if each.key == "requirements")
    assert [column.text(entry) for entry in board.view.entries] == ["100.0%", "60.0%", "20.0%"]


def test_people_who_all_agree_have_no_kappa_but_were_compared():
    unanimous = {"pairs": 12, "fleiss_unmirrored": None}
    assert people_sentence(unanimous) == (
        "All verdicts on 12 pairs are the same, so Fleiss’ kappa is not defined."
    )
    assert people_sentence({**unanimous, "pairs": 0}).startswith("No two people checked the same two answers")


@pytest.mark.parametrize(
    ("pairs", "low", "high", "said"),
    [
        (40, 0.1, 0.7, "is 0.40 (0.10–0.70), over 40 pairs: fair agreement."),
        (40, -0.1, 0.7, "over 40 pairs; this does not show that they agree."),
        (40, -0.9, -0.1, "over 40 pairs; they contradict each other."),
        (12, 0.1, 0.7, "over 12 pairs, too few to tell how far they agree."),
        (40, None, None, "is 0.40, over 40 pairs."),
    ],
)
def test_how_far_people_agree_follows_from_the_interval(pairs, low, high, said):
    name = "fleiss_unmirrored"
    found = {"pairs": pairs, name: 0.4, f"{name}_low": low, f"{name}_high": high}
    assert people_sentence(found).endswith(said)


@pytest.mark.parametrize(("kinds", "drawn"), [(8, "scatter"), (9, "bar")])
def test_a_radar_has_eight_directions_at_most(client, rounds, kinds, drawn):
    made = Checking(visibility="public", closed_at=timezone.now())
    made.prompt(*([f"kind {number}"] for number in range(kinds)))
    made.rater("p", ["y" * kinds, "n" + "y" * (kinds - 1)])
    page = page_of(client, made.study)
    panel = page.panel("labels")
    assert len(panel.table.rows) == kinds
    assert {trace["type"] for trace in panel.figure["data"]} == {drawn}
    if drawn == "bar":
        assert [trace["x"] for trace in panel.figure["data"]] == [[100] * 9, [0, *[100] * 8]]
    assert (page.panel("labels-map") is None) == (drawn == "bar")
