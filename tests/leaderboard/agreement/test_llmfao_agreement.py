"""Agreement of raters on a public crowd study, against other programs that read its files themselves."""

import json

import krippendorff
import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from arena.models import Study
from leaderboard.agreement.coefficients import agreement
from leaderboard.snapshots.reading import opinions
from leaderboard.stats import Method

ROUNDS = 400
FILES = {"people": "crowd", "judge:gpt-4": "gpt4", "judge:gpt-3.5": "gpt3"}


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


@pytest.fixture(scope="module")
def read(reference_data):
    return {selector: votes(reference_data / "llmfao", name) for selector, name in FILES.items()}


@pytest.fixture
def found(reference_data, db):
    call_command("import_data", "llmfao", str(reference_data / "llmfao"), verbosity=0)
    study = Study.objects.get(slug="llmfao")
    made = agreement(opinions(study), Method(rounds=ROUNDS))
    return {(table.kind, table.raters): json.loads(table.payload) for table in made}


def coefficients(x, y):
    return [f(x, y).statistic for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def own(row):
    return [row[name] for name in ("pearson", "spearman", "kendall")]


def test_agreement_equals_other_programs(found, read):
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
        for _ in range(ROUNDS)
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
