import numpy as np
import pytest
from django.test import Client
from django.utils import timezone
from scipy import stats

from arena.models import Completion, CompletionFeature, Rater
from leaderboard.models import ComputedView, SnapshotSlice
from leaderboard.refreshing.services import refresh
from tests import factories
from tests.leaderboard.answers.features.studies import measured_study, study_of_turns
from tests.leaderboard.reading import computed, records, text, words

pytestmark = pytest.mark.django_db

ENTROPY = {
    "Ada": [1.0, 1.5, 0.5, 2.0, 1.2, 0.9],
    "Bob": [3.0, 2.5, 2.0, 1.0, 2.2, 3.1],
    "Cleo": [2.0, 2.2, 1.0, 1.6, 2.9, 1.1],
}
SAID = {
    "p": {("Ada", "Bob"): [1, 2, 3, 6, 1, 2], ("Bob", "Cleo"): [7, 5, 6, 3, 4, 8]},
    "judge": {("Ada", "Cleo"): [2, 2, 5, 3, 1, 6]},
}


def closed_study(**more):
    study = {"slug": "measured", "visibility": "public", "closed_at": timezone.now()}
    made = measured_study(
        ENTROPY, SAID, {"judge": {"Ada": [5, 4, 4, 2, 5, 4], "Bob": [1, 2, 2, 4, 1, 1]}}, **study | more
    )
    for each in list(CompletionFeature.objects.all()):
        factories.make_feature(completion=each.completion, name="mean_logprob", value=-each.value)
    return made


@pytest.fixture(scope="module")
def shared(shared_rows, rounds):
    study = closed_study()
    refresh(study)
    return study


@pytest.fixture
def study(made):
    return made


def page_of(client, study, query="", **headers):
    if not study.snapshots.exists():
        refresh(study)
    return computed(client, study, f"/studies/{study.slug}/features/{query}", **headers).context["page"]


def test_the_page_says_what_a_feature_is_worth(client, study):
    page = page_of(client, study)
    assert [option.label for option in page.switches[0].options] == ["People", "Judge", "Judge, text scores"]
    assert [option.label for option in page.switches[1].options] == ["Mean log-probability", "Entropy"]
    assert page.verdict[0].startswith("Spearman’s correlation of Mean log-probability and People is 0.")
    assert page.verdict[1].startswith("Among the answers of a single model it ranges from ")
    own = [row["Spearman"] for row in records(client, page.panel("models").csv_url)]
    assert [f"{float(value):.2f}" for value in sorted(own)] == ["0.15", "0.43", "0.97"]
    assert "it ranges from 0.15 to 0.97. " in page.verdict[1]
    assert " The feature picks the preferred answer in " in page.verdict[1]
    assert "chance would be 50%" in page.verdict[1]
    slugs = ["correlations", "pairs", "models", "answers", "deciles", "standings", "weakest"]
    assert [panel.slug for panel in page.panels] == slugs


def test_another_feature_and_other_raters_are_asked_for(client, study):
    page = page_of(client, study, "?raters=judge:judge&feature=entropy")
    assert page.filters == "Judge, Entropy"
    assert page.found["feature"]["name"] == "entropy"
    assert ComputedView.objects.count() == 1  # the first feature is stored with the snapshot, others are not
    (stored,) = SnapshotSlice.objects.filter(kind="features", raters="judge:judge", method="")
    assert page.found["features"] == stored.content["features"]
    assert page.query == "?raters=judge%3Ajudge&feature=entropy"
    by_name = {each["feature"]["name"]: each["correlation"]["pearson"] for each in page.found["features"]}
    assert by_name["entropy"] == -by_name["mean_logprob"] == page.found["correlation"]["pearson"]


def test_variants_and_sources_are_chosen_and_never_mixed(client, study):
    for each in list(CompletionFeature.objects.filter(name="entropy")):
        factories.make_feature(completion=each.completion, variant="released", value=-each.value)
        factories.make_feature(completion=each.completion, variant="released", source="b", value=each.value)
    refresh(study)
    page = page_of(client, study, "?feature=entropy&variant=released&source=b")
    assert [switch.label for switch in page.switches] == ["Compared with", "Feature", "Variant", "Source"]
    assert page.asked.series(page.known.features) == ("entropy", "released", "b", "0")
    assert [option.query for option in page.switches[2].options] == [
        "?raters=people&feature=entropy",
        "?raters=people&feature=entropy&variant=released",
    ]
    assert any("code released with the paper" in notice for notice in page.notices)
    names = [row["Feature"] for row in records(client, page.panel("correlations").csv_url)]
    assert names[2:] == ["Entropy (released)", "Entropy (released, b)"]
    # Of what the released code computes nothing is expected, so no answer is called weak and none picked.
    assert (page.weakest, page.panel("weakest")) == ([], None)
    assert "The answer with the higher value is preferred in " in page.verdict[1]
    sides = [row["Expected of better answers"] for row in records(client, page.panel("pairs").csv_url)]
    assert sides == ["higher", "lower", "not known", "not known"]
    told = "Of Entropy (released) and Entropy (released, b) it is how often the higher value is preferred."
    assert page.panel("pairs").note.endswith(told)
    assert page.panel("standings").note.startswith("Whether better answers have higher or lower")


def test_the_weakest_answers_come_first_and_lead_to_where_they_can_be_read(client, study):
    page = page_of(client, study, "?feature=entropy")
    assert [(row.contestant, row.value) for row in page.weakest[:2]] == [("Bob", "3.100"), ("Bob", "3.000")]
    assert page.weakest[0].prompt == "p5"
    address = page.weakest[0].address
    assert address.startswith("/studies/measured/comparisons/")
    assert client.get(address).status_code == 200
    text = page.found["weakest"][0]["text"]
    completion = CompletionFeature.objects.filter(completion=text).first().completion
    factories.make_answer(completion=completion)
    refresh(study)
    page = page_of(client, study, "?feature=entropy")
    assert page.weakest[0].address == f"/studies/measured/requirements/texts/{text}/"


HOSTILE = "<script>alert(1)</script> [link](javascript:alert(2))"


def test_what_raters_said_stands_beside_the_weakest_answers_of_a_model(client, study):
    known = {"slug": "said", "visibility": "public", "closed_at": timezone.now()}
    made = study_of_turns({"Ada": [[3.0, 1.0]]}, {"Ada": [[2, 9]]}, "strict", **known)
    made.scores.filter(turn=1).update(rationale=HOSTILE)
    page = page_of(client, made)
    content = text(client.get("/studies/said/features/"))
    assert "Score 2 of 10" in content
    assert "<script>alert(1)" not in content
    assert "&lt;script&gt;alert(1)&lt;/script&gt; [link](javascript:alert(2))" in content
    # What is said of a turn stands beside that turn alone.
    assert [[one.words for one in row.said] for row in page.weakest] == [["Score 2 of 10"], ["Score 9 of 10"]]
    page = page_of(client, study, "?feature=entropy&model=Ada")
    assert {row.contestant for row in page.weakest} == {"Ada"}
    assert (page.weakest[0].value, page.filters) == ("2.000", "People, Entropy, Ada")
    assert [each["Model"] for each in records(client, page.panel("weakest").csv_url)] == ["Ada"] * 6
    words = [one.words for row in page.weakest for one in row.said]
    assert any(one.startswith("Better than another answer (shown ") for one in words)
    found = client.get("/api/v1/studies/measured/features/", {"feature": "entropy", "model": "Ada"}).json()
    assert {each["contestant"] for each in found["weakest"]} == {"Ada"}


def test_an_operator_is_led_to_second_answers(client, admin_client, study):
    type(study).objects.update(closed_at=None)
    player = study.contestants.get(name="Bob")
    factories.make_author(contestant=player)
    refresh(study)
    query = "?feature=entropy&model=Bob"
    page = page_of(admin_client, study, query)
    expected = f"/judging/writing/measured/model/{player.slug}/?kind=second&weakest_by=entropy&limit=6"
    assert page.second_address == expected
    assert admin_client.get(expected).status_code == 200
    assert page_of(admin_client, study, "?feature=entropy&model=Ada").second_address == ""
    assert page_of(client, study, query).second_address == ""


def test_until_the_study_closes_nothing_tells_of_single_answers(client, admin_client, study):
    type(study).objects.update(closed_at=None)
    refresh(study)
    page = page_of(client, study)
    assert "nothing" not in page.found
    assert [page.found[name] for name in ("deciles", "weakest", "points")] == [[], [], []]
    assert [each["contestant"] for each in page.found["contestants"]] == ["Bob"]  # the others have 6 ratings
    few = page_of(client, study, "?raters=judge:judge")
    assert few.found["pairs"] is None  # six pairs
    assert client.get("/api/v1/studies/measured/features/").json()["deciles"] == []
    assert client.get("/api/v1/studies/measured/tables/features/").status_code == 404
    assert page_of(admin_client, study).found["points"]


def test_few_opinions_stay_hidden_until_the_study_closes(client):
    made = measured_study(
        {"Ada": [1, 2, 4], "Bob": [3, 2, 1]}, {"q": {("Ada", "Bob"): [1, 2, 3]}}, visibility="public"
    )
    assert "fewer than 10 opinions are given" in page_of(client, made).nothing.lower()


@pytest.mark.parametrize(
    ("features", "said", "sentence"),
    [
        ({"Ada": [1]}, {}, "Nobody has rated an answer that has features yet."),
        (
            {"Ada": [None, 1], "Bob": [None, None]},
            {"q": {("Ada", "Bob"): [1, None]}},
            "No answer has both Entropy",
        ),
        ({"Ada": [1], "Bob": [2]}, {"q": {("Ada", "Bob"): [1]}}, "fewer than 3 answers"),
    ],
)
def test_empty_states_say_why(client, features, said, sentence):
    made = measured_study(features, said, visibility="public", closed_at=timezone.now())
    page_of(client, made)
    assert sentence in words(client.get(f"/studies/{made.slug}/features/"))


def test_answers_to_one_prompt_have_no_intervals(client):
    features, said = {"Ada": [1], "Bob": [3], "Cleo": [2]}, {"q": {("Ada", "Bob"): [1], ("Bob", "Cleo"): [6]}}
    made = measured_study(features, said, visibility="public", closed_at=timezone.now())
    page = page_of(client, made)
    assert "All answers are to one prompt, so there are no intervals." in page.notices
    assert page.found["correlation"]["spearman_low"] is None


def test_simulated_raters_say_so(client, study):
    Rater.objects.filter(slug="judge").update(simulated=True)
    refresh(study)
    page = page_of(client, study, "?raters=judge:judge")
    assert "Judge (simulated)" in page.verdict[0]
    assert page.simulated


def test_tables_are_copied_while_nothing_changes(study, monkeypatch):
    first = refresh(study).snapshot
    factories.make_score(completion=CompletionFeature.objects.first().completion, value=3)
    monkeypatch.setattr(
        "leaderboard.answers.features.content.feature_correlation", lambda *given: made.append(given)
    )
    made = []
    monkeypatch.setattr(
        "leaderboard.answers.features.content.Worth._correlation", lambda *given: made.append(1) or {}
    )
    second = refresh(study).snapshot
    tables = SnapshotSlice.objects.filter(kind="features").exclude(raters="scores:people")
    payloads = [
        dict(tables.filter(snapshot=each).values_list("inputs", "payload")) for each in (first, second)
    ]
    assert payloads[0] == payloads[1]
    assert made  # of the new scores


def test_turns_are_chosen_and_the_api_has_them(client):
    rng = np.random.default_rng(3)
    values, scores = rng.normal(size=(2, 6, 2)), rng.integers(1, 11, size=(2, 6, 2))
    of = [dict(zip(("Ada", "Bob"), each.tolist(), strict=True)) for each in (values, scores)]
    made = study_of_turns(*of, "judged", slug="turns", visibility="public", closed_at=timezone.now())
    page = page_of(client, made)
    assert page.known.given == 24
    assert ">Features</a>" in client.get("/studies/turns/scores/").content.decode()
    assert page.verdict[0].startswith(
        "Spearman’s correlation of Entropy, all turns and Judged, text scores is "
    )
    assert " over 24 turns" in page.verdict[0]
    named = [(each.label, len(each.options)) for each in page.switches]
    assert named == [("Turn", 3), ("Weakest answers", 3)]
    assert [option.label for option in page.switches[0].options] == ["All turns", "1", "2"]
    assert page.weakest[0].prompt.endswith((", turn 1", ", turn 2"))
    names = [row["Feature"] for row in records(client, page.panel("correlations").csv_url)]
    assert names == ["Entropy, all turns", "Entropy, turn 1", "Entropy, turn 2"]
    second = page_of(client, made, "?turn=2")
    assert second.filters == "turn 2"
    assert " over 12 answers" in second.verdict[0]
    assert {row.prompt[-8:] for row in second.weakest} == {", turn 2"}
    found = client.get("/api/v1/studies/turns/features/", {"turn": "2"}).json()
    expected = stats.spearmanr(values[..., 1].ravel(), scores[..., 1].ravel()).statistic
    assert found["correlation"]["spearman"] == pytest.approx(expected, abs=1e-6)
    assert (found["feature"]["turn"], found["parameters"]["turn"]) == ("2", "2")


def test_features_of_turns_that_nobody_scored_say_what_is_missing(client):
    made = measured_study({"Ada": [None]}, {}, visibility="public", closed_at=timezone.now())
    factories.make_feature(completion=made.contestants.get().completions.get(), turn=1)
    assert "The features are of single turns, which nobody has scored yet;" in page_of(client, made).nothing


def test_what_a_judge_says_later_is_not_held_back_by_a_page_that_is_kept(settings, study):
    settings.PAGE_CACHE_MB = 1
    reader, address = Client(), f"/studies/{study.slug}/features/?feature=entropy&model=Ada"
    page = computed(reader, study, address).context["page"]
    before = text(reader.get(address))
    answer = Completion.objects.get(pk=page.found["weakest"][0]["text"])
    factories.make_score(completion=answer, value=3, highest=10, rationale="Too short.")
    factories.make_answer(completion=answer, value="no", rationale="Not in verse.")
    after = text(reader.get(address))
    for said in ("Too short.", "Not in verse."):
        assert (said in before, said in after) == (False, True)
