import math

import pytest
from django.utils import timezone

from arena.data.importing.texts import digest_of
from arena.models import LeftOutRows, Reference, Study
from leaderboard.data.figure import coverage_bars, length_boxes
from leaderboard.data.page import DataPage
from leaderboard.data.table import (
    EVERYTHING,
    LENGTHS,
    TextLengths,
    text_contestants_table,
    text_lengths,
    unscored_table,
)
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.refreshing import services
from leaderboard.snapshots.stored import Stored
from leaderboard.stats.style import tokenizer_name
from tests import factories
from tests.leaderboard.reading import records, words
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
HOSTILE = '</script><img src=x onerror=alert(1)><b>"&'
ADDRESS = "/studies/small/data/"
SECRET = "zanzibar"


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Two prompts, two models and a person; the model alpha writes four words, beta one."""
    made = HandMade("alpha", "beta", slug="small", categories=("coding", HOSTILE))
    made.contestants["people"] = factories.make_contestant(study=made.study, name="people", kind="people")
    answers = {"alpha": f"{SECRET} in four words", "beta": SECRET, "people": f"a {SECRET}"}
    for prompt in made.prompts:
        prompt.turns, prompt.subset = [f"Say {SECRET} please"], "" if prompt.category == "coding" else "easy"
        prompt.save()
        for name, text in answers.items():
            factories.make_completion(
                prompt=prompt, contestant=made.contestants[name], turns=[text], digest=digest_of([text])
            )
    Reference.objects.create(prompt=made.prompts[0], author="Ada", turns=["four words by Ada"])
    made.rate("alpha", "beta", 1)
    made.rate("alpha", "beta", 2, prompt=1)
    made.rate("beta", "alpha", 7, prompt=1)
    made.rate("alpha", "beta", None, rater=made.judge("strict", simulated=True), reason="out_of_range")
    made.change(closed_at=timezone.now())
    services.refresh(made.study)
    return made


def rows_of(client, panel, query="", address=ADDRESS):
    return records(client, f"{address}tables/{panel}.csv{query}")


def test_the_page_tables_and_figures_name_everything_and_show_no_text(made, client):
    page = client.get(ADDRESS).content.decode()
    for wording in ("Length in words", "Answers of each model", "How often pairs were rated"):
        assert wording in page
    assert tokenizer_name() in page
    assert SECRET not in page
    assert page.count("<th scope=") > 20
    for measure in ("words", "tokens"):
        for panel in client.get(f"{ADDRESS}?measure={measure}").context["page"].panels:
            for address in (panel.csv_url, panel.table_url, panel.figure_url):
                assert SECRET not in client.get(address).content.decode()


def test_rows_that_imports_left_out_are_counted_by_reason_and_no_file_is_named(made, client):
    assert "left out" not in client.get(ADDRESS).content.decode()
    for file, reason, rows in (("anna.csv", "NaN", 2), ("bo.csv", HOSTILE, 3), ("bo.csv", "NaN", 4)):
        LeftOutRows.objects.create(study=made.study, file=file, digest=file, reason=reason, rows=rows)
    assert rows_of(client, "left-out") == [
        {"Reason": "NaN", "Rows": "6"},
        {"Reason": HOSTILE, "Rows": "3"},
    ]
    assert "anna.csv" not in client.get(ADDRESS).content.decode()


def test_lengths_coverage_and_unscored_replies_by_hand(made, client):
    found = {(row["Part"], row["Texts"]): row for row in rows_of(client, "lengths")}
    everything = found["All prompts", "Answers"]
    assert {name: everything[name] for name in ("n", "Unknown", "Mean", "Min", "Median", "Max")} == {
        "n": "4",
        "Unknown": "0",
        "Mean": "2.5",
        "Min": "1",
        "Median": "2.5",
        "Max": "4",
    }
    assert everything["SD"] == f"{math.sqrt((2.25 * 4) / 3):.1f}"
    assert found["All prompts", "Prompts"]["Mean"] == "3"
    assert found["coding", "Demonstrations"]["Mean"] == "3"  # two words by a contestant, four in a reference
    assert found[HOSTILE, "Demonstrations"]["n"] == "1"
    assert ("Subset easy", "Prompts") in found
    found = {row["Contestant"]: row for row in rows_of(client, "contestants")}
    assert [found[name]["Mean words"] for name in ("alpha", "beta", "people")] == ["4.0", "1.0", "2.0"]
    assert [found[name]["Kind"] for name in ("alpha", "people")] == ["model", "people"]
    people, judge = rows_of(client, "coverage")
    assert list(people.values())[:1] == ["People"]
    assert [people[f"{number}"] for number in ("0 ratings", "1 rating", "2 ratings")] == ["0", "1", "1"]
    assert (judge["Raters"], judge["0 ratings"]) == ("STRICT (simulated)", "2")
    people, judge = rows_of(client, "unscored")
    assert (people["Unscored"], judge["Unscored"], judge["Out of range"]) == ("0", "1", "1")
    assert judge["Share, %"] == "100.0"


def test_the_number_of_pairs_is_said_once_no_rating_waits(made, client):
    assert "<dt>Pairs</dt>" in client.get(ADDRESS).content.decode()
    snapshot = Snapshot.objects.newest(made.study)
    Snapshot.objects.filter(pk=snapshot.pk).update(counts=snapshot.counts | {"waiting": 3})
    assert "<dt>Pairs</dt>" not in client.get(ADDRESS).content.decode()


def test_lengths_that_tell_who_wrote_a_text_are_sealed_while_people_rate(made, client, admin_client):
    Study.objects.update(closed_at=None)
    for visitor in (client, admin_client):
        assert visitor.get(f"{ADDRESS}tables/contestants.csv").status_code == 404
        for panel in ("lengths", "all-lengths"):
            assert {row["Texts"] for row in rows_of(visitor, panel)} == {"Prompts", "Answers"}
        page = visitor.get(ADDRESS).content.decode()
        assert "Demonstrations" not in page
        assert "on average" not in visitor.get("/studies/small/contestants/alpha/").content.decode()
    found = client.get("/api/v1/studies/small/tables/data/").json()["content"]
    assert found["contestants"] == []
    assert {row["what"] for row in found["groups"][0]["texts"]} == {"prompt", "completion"}


def test_lengths_of_the_only_model_are_sealed_too(made, client):
    Study.objects.update(closed_at=None)
    made.contestants["beta"].completions.all().delete()
    made.study.touch()
    services.refresh(made.study)
    assert {row["Texts"] for row in rows_of(client, "lengths")} == {"Prompts"}


def test_lengths_of_a_new_model_are_not_the_difference_of_two_snapshots(made, client):
    Study.objects.update(closed_at=None)
    before = Snapshot.objects.get()
    gamma = factories.make_contestant(study=made.study, name="gamma")
    for prompt in made.prompts:
        factories.make_completion(prompt=prompt, contestant=gamma, turns=["one two"], digest="gamma")
    made.study.touch()
    after = services.refresh(made.study).snapshot

    def completions(snapshot):
        groups = client.get(f"/api/v1/snapshots/{snapshot.pk}/tables/data/").json()["content"]["groups"]
        return [row for group in groups for row in group["texts"] if row["what"] == "completion"]

    assert completions(after)
    assert not completions(before)
    Study.objects.update(closed_at=timezone.now())
    assert completions(before)


def test_references_are_no_secret_where_no_people_are_compared(made, client):
    Study.objects.update(closed_at=None)
    made.contestants["people"].completions.all().delete()
    made.study.touch()
    services.refresh(made.study)
    lengths = {(row["Part"], row["Texts"]): row for row in rows_of(client, "lengths")}
    assert lengths["All prompts", "Demonstrations"]["Mean"] == "4"


def test_a_study_without_texts_says_so(client):
    made = HandMade("alpha", "beta", slug="bare")
    address = "/studies/bare/data/"
    made.prompts[0].turns = []
    made.prompts[0].save()
    for name in ("alpha", "beta"):
        factories.make_completion(prompt=made.prompts[0], contestant=made.contestants[name], turns=[])
    made.rate("alpha", "beta", 1)
    services.refresh(made.study)
    page = client.get(address).content.decode()
    assert "This study was imported without texts" in page
    assert 'id="switch-measure"' not in page
    assert client.get(f"{address}figures/lengths.json").status_code == 404
    assert [row["Unknown"] for row in rows_of(client, "lengths", address=address)[:2]] == ["1", "2"]


def test_unknown_texts_are_counted_and_an_older_snapshot_fills_at_the_next_refresh(made, client):
    prompt = factories.make_prompt(study=made.study, turns=[], category="coding")
    services.refresh(made.study, anew=True)
    assert "1 text of this study is unknown" in client.get(ADDRESS).content.decode()
    assert prompt.turns == []
    SnapshotSlice.objects.filter(kind="data").delete()
    response = client.get(ADDRESS)
    assert response.status_code == 200
    assert client.get(f"{ADDRESS}tables/lengths.csv").status_code == 404


@pytest.mark.parametrize("path", ["data/", ""])
def test_what_is_not_counted_yet_is_not_said_to_be_none(client, path):
    study = factories.make_study(slug="new", visibility="public")
    services.refresh(study)
    address = f"/studies/new/{path}"
    before = words(client.get(address))
    assert "not counted yet" not in before
    assert "without texts" not in before
    factories.make_completion(prompt=factories.make_prompt(study=study))
    study.touch()
    after = words(client.get(address))
    assert "not counted yet" in after
    assert "has 0 prompts" not in after
    services.refresh(study)
    assert "not counted yet" not in words(client.get(address))


@pytest.mark.parametrize(
    ("prompt", "answer", "said"),
    [
        (10, 10, "Answers are about as long as prompts (median 10 words against 10)."),
        (10, 21, "Answers are about 2.1 times as long as prompts (median 21 words against 10)."),
        (40, 20, "Prompts are about twice as long as answers (median 40 words against 20)."),
        (10, 1234, "Answers are about 120 times as long as prompts (median 1,234 words against 10)."),
        (1, 1, "Answers are about as long as prompts (median 1 word against 1)."),
    ],
)
def test_the_finding_is_in_words_that_readers_know(prompt, answer, said):
    page = DataPage(study=Study(), snapshot=Snapshot(), address="", measure="words", stored=Stored({}))
    lengths = [
        TextLengths(EVERYTHING, 1, what, "words", 1, 0, *(float(size),) * 2, *(float(size),) * 5)
        for what, size in (("prompt", prompt), ("completion", answer))
    ]
    vars(page)["lengths"] = lengths
    assert page.finding == said


def test_boxes_hold_the_quartiles_and_hover_texts_the_true_numbers():
    row = {"count": 2, "unknown": 1, "mean": 5.25, "sd": 1.0}
    row |= {"min": 0, "q1": 2, "median": 5, "q3": 7.5, "max": 9}
    empty = dict.fromkeys(row) | {"count": 0, "unknown": 0}
    texts = [
        {"what": "prompt", "measure": "words"} | row,
        {"what": "completion", "measure": "words"} | row | {"max": 5_000_000},
        {"what": "demonstration", "measure": "words"} | empty,
    ]
    groups = [{"category": None, "subset": None, "prompts": 2, "texts": texts}]
    figure = length_boxes(
        "words", text_lengths({"groups": [*groups, groups[0] | {"category": "x"}]}, "words")
    )
    boxes = [trace for trace in figure["data"] if trace["type"] == "box"]
    assert [trace["name"] for trace in boxes] == ["Prompts", "Answers"]
    assert boxes[0]["q1"] == [2, 2]
    assert boxes[0]["lowerfence"] == [1, 1]  # 0 has no place on a logarithmic axis
    assert boxes[1]["upperfence"] == [5_000_000, 5_000_000]
    assert len({*boxes[0]["y"], *boxes[1]["y"]}) == 4
    points = [trace for trace in figure["data"] if trace["type"] == "scatter"]
    assert "shortest 0, longest 9 words" in points[0]["text"][0]
    axis = figure["layout"]["xaxis"]
    assert (axis["tickvals"][:4], axis["ticktext"][:4]) == ([1, 10, 100, 1000], ["1", "10", "100", "1,000"])


def test_retired_models_and_raters_without_replies_have_rows():
    model = {
        "contestant": "alpha",
        "kind": "model",
        "retired": True,
        "completions": 3,
        "empty": 1,
        "unknown": 0,
    }
    model |= {f"{name}_{part}": 1.5 for name in LENGTHS for part in ("mean", "sd")}
    table = text_contestants_table({"tokenizer": "t", "contestants": [model]})
    assert table.rows[0][:6] == ("alpha (retired)", "model", 3, 1, 0, 1.5)
    silent = {"raters": "people", "label": "People", "comparisons": 0, "reasons": {}}
    assert unscored_table({"unscored": [silent]}).rows == (("People", 0, 0, None, 0),)


def test_bars_of_coverage_reach_as_far_as_the_longest():
    rows = [{"label": name, "pairs": pairs} for name, pairs in (("A", [1, 5, 1]), ("B", [6, 1]))]
    figure = coverage_bars({"pairs": 7, "many": 2, "coverage": rows})
    assert [trace["y"] for trace in figure["data"]] == [[1, 5, 1], [6, 1, 0]]
    assert figure["layout"]["xaxis"]["ticktext"] == ["0", "1", "2 or more"]
