"""A public crowd study, read once: the page docs/llmfao.md, its board, its agreement by other programs.

Every table and quoted line of the page is computed here again; with -s this prints what it must hold.
"""

import json
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from arena.models import Study
from leaderboard.anchoring.content import data_of_study
from leaderboard.models import SnapshotSlice
from leaderboard.pages.standings.sentences import findings
from leaderboard.raters.agreement.coefficients import agreement
from leaderboard.refreshing import services
from leaderboard.snapshots.reading import opinions
from leaderboard.snapshots.settings import Setting
from leaderboard.standings.page import Board
from leaderboard.stats.planning import plan_from_data
from leaderboard.stats.ranking_method import Method
from leaderboard.terminal.options import opinions_chosen
from tests.arena.data.test_reference_data import LLMFAO, check_stored
from tests.leaderboard import llmfao_page as llmfao
from tests.leaderboard.files.test_tables import copied, what_is_ranked
from tests.leaderboard.llmfao_page import FIT, GPT4, GPT35, LABELS, METHODS, ORDINAL, PEOPLE, Votes
from tests.leaderboard.reading import printed

pytestmark = pytest.mark.django_db

PAGE = Path(__file__).parents[2] / "docs" / "llmfao.md"
README = Path(__file__).parents[2] / "README.md"
AGREEMENT_ROUNDS = 400
FILES = {"people": "crowd", "judge:gpt-4": "gpt4", "judge:gpt-3.5": "gpt3"}


@pytest.fixture(scope="module")
def shared(shared_rows, reference_data):
    printed("import_data", "llmfao", reference_data / "llmfao")
    return Study.objects.get()


@pytest.fixture
def study(shared):
    return deepcopy(shared)


@pytest.fixture(scope="module")
def read(shared):
    """The opinions of each kind of rater."""
    return {rater: opinions_chosen(shared, rater, "")[0] for rater in LABELS}


@pytest.fixture(scope="module")
def everything(shared, read):
    return {rater: Votes.read(shared, own) for rater, own in read.items()}


def said_of_votes(people):
    for name in ("GPT 4", "Mythalion 13B"):
        yield f"{name}: {100 * people.shown_first(name):.0f}%"
    name = "Falcon Instruct (40B)"
    prompts = np.bincount(people.ratings.prompt[people.of(name)])
    yield f"{name}: {prompts.max()} of {prompts.sum()}"
    leaders = {
        people.only(people.ratings.prompt != prompt).ranked(FIT).standings[0].contestant
        for prompt in np.unique(people.ratings.prompt)
    }
    yield f"{' or '.join(sorted(leaders))} is first whichever single prompt is left out"


def said_of_ranks(gpt35, found):
    ordinal = llmfao.scores(gpt35.ranked(ORDINAL))
    plain, whole = llmfao.ranks(gpt35.without_position()), llmfao.ranks(ordinal)
    for name in ("MythoMax-L2 (13B)", "GPT 4"):
        yield f"{name} from {plain[name]} to {whole[name]}"
    order = [row.contestant for row in found["Bradley-Terry"].standings]
    alike = llmfao.inseparable(found["Bradley-Terry"])
    others = sum(frozenset(("GPT 4", name)) in alike for name in order)
    yield f"{others} other models share a letter with GPT 4"
    ends = sum(frozenset(pair) not in alike for pair in product(order[:10], order[-10:]))
    yield f"{ends} of the 100 pairs"
    neighbours = sum(frozenset(pair) not in alike for pair in pairwise(order))
    yield f"{neighbours} of the 58 pairs of neighbours"


def said_by_commands(everything, found):
    judges = [everything[rater].ranked(METHODS["Bradley-Terry"]) for rater in (GPT4, GPT35)]
    for standings in (found["Bradley-Terry"], *judges, found["ordinal, leans"]):
        yield from findings(standings.details, standings.parameters["interval"])
    people = everything[PEOPLE]
    pair = people.names.index("GPT 4"), people.names.index("Platypus-2 Instruct (70B)")
    yield plan_from_data(people.ratings, gap=30.0).sentence(people.names)
    yield plan_from_data(people.ratings, between=pair).sentence(people.names)


def said_of_anchoring(rankings):
    for each in rankings:
        votes = each.found.effective_votes_overall
        yield f"{votes:,.0f} with {each.data.judges[0]} (power {each.found.power:.2f})"


def computed(study, read, everything):
    """Everything the page must hold: its tables, and the lines it says."""
    crowd = np.unique(read[PEOPLE].rows["pair"])
    shared = {r: replace(own, rows=own.rows[np.isin(own.rows["pair"], crowd)]) for r, own in read.items()}
    same = {rater: Votes.read(study, own) for rater, own in shared.items()}
    judges = ("gpt-4", "gpt-3.5")
    anchored = [data_of_study(study, [judge], ties=True).ranking(95.0) for judge in judges]
    people = everything[PEOPLE]
    found = {label: people.ranked(method) for label, method in METHODS.items()}
    likened = {label: llmfao.scores(standings) for label, standings in found.items()}
    likened |= {"ordinal without position": people.without_position()}
    by_gpt4 = dict(zip(anchored[0].data.names, anchored[0].found.best.value.tolist(), strict=True))
    said = (
        *said_of_votes(people),
        *said_of_ranks(same[GPT35], found),
        *said_by_commands(everything, found),
        *said_of_anchoring(anchored),
    )
    return {
        "methods": llmfao.method_table(found),
        "likeness": llmfao.likeness_table(likened),
        "certainty": llmfao.certainty_table(people, found),
        "raters": llmfao.rater_table(same, by_gpt4),
        "agreement": llmfao.agreement_table(same),
        "effects": llmfao.effect_table(everything),
        "said": "\n".join(said),
    }


def test_the_study_holds_the_data(study, reference_data):
    check_stored(study, reference_data, LLMFAO)


def test_the_page_is_what_the_data_say(study, read, everything):
    found = computed(study, read, everything)
    for name, text in found.items():
        print(f"\n{name}:\n{text}")
    page = PAGE.read_text()
    said = found.pop("said").splitlines()
    assert [name for name, table in found.items() if table not in page] == []
    flowing = " ".join(page.replace("\n> ", "\n").split())
    assert [line for line in said if line not in flowing] == []


def test_the_readme_shows_the_first_ten_of_the_board(everything):
    board = llmfao.board_table({LABELS[rater]: own.ranked(llmfao.ELO) for rater, own in everything.items()})
    print(f"\n{board}")
    assert board in README.read_text()


def test_people_and_judges_stand_side_by_side(study, client):
    Study.objects.update(visibility="public")
    board = Board.read(study, services.refresh(study).snapshot, Setting("people"))
    counts = board.snapshot.counts
    assert (counts["prompts"], counts["contestants"], counts["comparisons"]) == (19, 70, 15403)
    assert {choice["label"]: choice["comparisons"] for choice in counts["raters"]} == {
        "People": 8931,
        "GPT-3.5": 3236,
        "GPT-4": 3236,
    }
    assert len(board.rows) == 59, "people saw 59 of the 70 models"
    table = board.panel("raters").table
    kinds, numbers = ("People", "GPT-3.5", "GPT-4"), ("rank", "rating", "low", "high")
    assert table.columns == ("Contestant", *(f"{kind}: {number}" for kind in kinds for number in numbers))
    assert len(table.rows) == 70
    assert [row[0] for row in table.rows[:59]] == list(board.order)
    figure = board.panel("standings").figure
    assert [trace["name"] for trace in figure["data"]] == ["People", "GPT-3.5", "GPT-4"]
    # The votes as shown, counted in the files themselves: left, tie, right.
    stored = SnapshotSlice.objects.filter(snapshot=board.snapshot)
    (scale,) = stored.get(kind="ratings", raters="people", category="").content["scales"]
    assert scale["counts"] == [2911, 3471, 2549]
    for judge in ("judge:gpt-3.5", "judge:gpt-4"):
        overall = stored.get(kind="correlation", raters=judge).content["rows"][0]
        assert (overall["category"], overall["n"]) == (None, 2139)
    assert "8,931" in client.get("/studies/llmfao/").content.decode()
    assert "GPT-4: rank" in client.get("/studies/llmfao/tables/raters.csv").content.decode()


def test_a_round_trip_through_files_changes_no_standings(study, tmp_path):
    before = what_is_ranked(study)
    assert {key.split()[0] for key in before} == set(FILES)
    assert what_is_ranked(copied(study, "csv", tmp_path)) == before


def votes(folder, name):
    """One row for a vote and orientation: who, on which prompt, on which two models, -1, 0 or 1."""
    found = pd.read_csv(folder / f"{name}-comparisons.csv")
    found = found.assign(
        value=found.winner.map({"left": -1, "tie": 0, "right": 1}),
        worker=found.worker if "worker" in found else name,
    )
    turned = found.assign(left=found.right, right=found.left, value=-found.value)
    return pd.concat([found, turned])[["prompt", "left", "right", "worker", "value"]]


PAIR = ["prompt", "left", "right"]


def coefficients(x, y):
    return [f(x, y).statistic for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def own(row):
    return [row[name] for name in ("pearson", "spearman", "kendall")]


def test_agreement_equals_other_programs(study, reference_data):
    read = {selector: votes(reference_data / "llmfao", name) for selector, name in FILES.items()}
    made = agreement(opinions(study), Method(rounds=AGREEMENT_ROUNDS))
    found = {(table.kind, table.raters): json.loads(table.payload) for table in made}
    people = read["people"]
    for judge in ("judge:gpt-4", "judge:gpt-3.5"):
        check_correlation(found["correlation", judge]["rows"][0], people, read[judge])
        (entry,) = (e for e in found["agreement", judge]["others"] if e["raters"] == "people")
        check_kappa(entry["rows"][0], people, read[judge])
    check_ceiling(found["correlation", "people"]["rows"][0], people)
    check_within(found["agreement", "people"]["within"]["rows"][0], people)


def check_correlation(row, people, judge):
    means = pd.concat([each.groupby(PAIR).value.mean() for each in (people, judge)], axis=1, join="inner")
    means.columns = ["x", "y"]
    assert row["n"] * 2 == len(means)
    groups = [group for _, group in means.groupby("prompt")]
    prompts = len(groups)
    assert row["prompts"] == prompts
    assert own(row) == pytest.approx(coefficients(means.x.round(9), means.y), abs=1e-6)
    # The interval, from a bootstrap written another way.
    generator = np.random.default_rng(0)
    drawn = [
        pd.concat([groups[i] for i in generator.integers(0, prompts, prompts)]).corr().x.y
        for _ in range(AGREEMENT_ROUNDS)
    ]
    error = np.arctanh(drawn).std(ddof=1) * np.sqrt(prompts / (prompts - 1))
    error *= stats.t.ppf(0.975, prompts - 1)
    expected = np.tanh(np.arctanh(row["pearson"]) + np.array([-error, error]))
    assert [row["pearson_low"], row["pearson_high"]] == pytest.approx(expected, abs=0.01)


def check_kappa(row, people, judge):
    both = people.merge(judge, on=PAIR)
    assert row["n"] * 2 == len(both)
    counted = pd.crosstab(both.value_y, both.value_x).to_numpy()
    assert row["kappa"] == pytest.approx(cohens_kappa(counted, wt="quadratic").kappa, abs=1e-6)
    assert row["kappa_verdict"] == pytest.approx(cohens_kappa(counted).kappa, abs=1e-6)
    assert row["exact"] == pytest.approx((both.value_x == both.value_y).mean(), abs=1e-6)


def check_ceiling(row, people):
    each = people.groupby([*PAIR, "worker"]).value.agg(["sum", "count"])
    all_of_pair = each.groupby(PAIR).transform("sum")
    rest = all_of_pair - each
    x, y = each["sum"] / each["count"], rest["sum"] / rest["count"].replace(0, np.nan)
    kept = y.notna()
    assert own(row) == pytest.approx(coefficients(x[kept].round(9), y[kept].round(9)), abs=1e-6)
    assert row["n"] * 2 == len(y[kept].groupby(PAIR).size())


def check_within(row, people):
    first = people.drop_duplicates([*PAIR, "worker"])
    several = first[first.groupby(PAIR).value.transform("size") > 1]
    assert (row["pairs"] * 2, row["ratings"] * 2) == (several.groupby(PAIR).ngroups, len(several))
    table = several.pivot_table(index="worker", columns=PAIR, values="value").to_numpy()
    for name, level in (("alpha", "interval"), ("alpha_verdict", "nominal")):
        expected = krippendorff.alpha(table, level_of_measurement=level)
        assert row[name] == pytest.approx(expected, abs=1e-6)
    size = several.groupby(PAIR).value.transform("size")
    even = several[size == row["fleiss_ratings"]]
    votes = np.array([group.to_numpy() for _, group in even.groupby(PAIR).value])
    assert row["fleiss_pairs"] * 2 == len(votes)
    assert row["fleiss"] == pytest.approx(fleiss_kappa(aggregate_raters(votes)[0]), abs=1e-6)
