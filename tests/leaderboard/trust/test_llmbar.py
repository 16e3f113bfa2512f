"""From LLMBar's files to the command: what is imported and printed equals the raw files and the tables."""

import json
import shutil

import pytest

from arena.data.importing.imports import import_files
from tests.leaderboard.reading import printed
from tests.leaderboard.stats import llmbar_raw
from tests.leaderboard.stats.llmbar_raw import SUBSETS, Files

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shared_rows")]

JUDGES = {
    "gpt-4-vanilla": ("gpt-4", "Vanilla"),
    "gpt-4-metrics-reference": ("gpt-4", "Metrics_Reference"),
    "gpt-4-rating": ("gpt-4", "Rating"),
    "palm2-vanilla-norules": ("palm2", "Vanilla_NoRules"),
}


@pytest.fixture(scope="module")
def files(reference_data, judge_data):
    return Files(reference_data, judge_data)


@pytest.fixture(scope="module")
def imported(shared_rows, files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("llmbar")
    for subset, path in SUBSETS.items():
        for model, protocol in JUDGES.values():
            (folder / subset / model).mkdir(parents=True, exist_ok=True)
            shutil.copy(files.path(model, protocol, subset), folder / subset / model)
        shutil.copy(files.roots["gpt-4"] / path / "dataset.json", folder / subset)
    report = import_files("llmbar", [folder])
    assert report.ok


def found(*options):
    return json.loads(printed("meta_evaluate", "llmbar", *options, "--format=json"))


@pytest.mark.usefixtures("imported")
def test_as_published(files):
    content = found("--as-published=llmbar", "--base=gpt-4-vanilla", "--rounds=200")
    assert {each["judge"]: (each["model"], each["protocol"]) for each in content["judges"]} == JUDGES
    for each in content["judges"]:
        for subset, own in each["subsets"].items():
            replies = files.replies(*JUDGES[each["judge"]], subset)
            wanted = (
                llmbar_raw.accuracy(replies),
                llmbar_raw.agreement(replies),
                llmbar_raw.hedging(replies),
            )
            assert (own["accuracy"], own["agreement"], own["hedging"]) == pytest.approx(wanted, abs=5e-7)
            assert own["low"] < own["accuracy"] < own["high"]
    baselines = {each["baseline"]: each["subsets"] for each in content["baselines"]}
    for name, wanted in (("longer", (0.565, 0.119403)), ("constant", (0.42, 0.559701))):
        assert [baselines[name][subset]["accuracy"] for subset in SUBSETS] == list(wanted)
    assert [baselines["always first"][subset]["alpha"] for subset in SUBSETS] == [-0.99, -0.992537]
    (own,) = [each for each in content["matrix"]["differences"] if each["protocol"] == "Metrics_Reference"]
    assert own["difference"] == pytest.approx(0.036082, abs=5e-7)
    assert (own["only_base"], own["only_judge"]) == (2, 13)


@pytest.mark.usefixtures("imported")
def test_unscored_replies():
    def natural(*options):
        judges = {
            each["judge"]: each["subsets"]["Natural"] for each in found(*options, "--rounds=20")["judges"]
        }
        assert judges["gpt-4-vanilla"]["alpha"] == 0.89821
        return judges["palm2-vanilla-norules"]

    left_out, wrong = natural(), natural("--unscored=wrong")
    assert (left_out["asked"], left_out["scored"], left_out["both"]) == (200, 194, 97)
    assert (left_out["accuracy"], left_out["accuracy_bounds"]) == (0.845361, [0.82, 0.85])
    assert (left_out["agreement"], wrong["accuracy"]) == (0.835052, 0.82)
