import json
from functools import partial

import numpy as np
import pytest
from django.core.management import CommandError

from tests.leaderboard.reading import printed
from tests.leaderboard.rows import HandMade

plan = partial(printed, "plan")


def plan_json(*arguments):
    return json.loads(plan(*arguments, "--format", "json"))


def write_votes(path, prompts=40, raters=2, columns=("prompt", "rater")):
    """alpha is usually preferred to beta, beta to gamma; which depends on the prompt and on the rater."""
    generator = np.random.default_rng(5)
    rows = [",".join(("model_a", "model_b", "winner", *columns))]
    for prompt in range(prompts):
        for first, second in (("alpha", "beta"), ("beta", "gamma"), ("alpha", "gamma")):
            chance = generator.uniform(0.4, 0.9)
            for rater in range(raters):
                winner = "model_a" if generator.random() < chance else "model_b"
                values = {"prompt": f"p{prompt}", "rater": f"r{rater}"}
                rows.append(",".join((first, second, winner, *(values[name] for name in columns))))
    path.write_text("\n".join(rows))
    return path


@pytest.fixture
def votes(tmp_path):
    return write_votes(tmp_path / "votes.csv")


class TestFile:
    def test_the_answer_comes_first_then_the_table(self, votes):
        lines = plan(
            votes, "--between", "alpha", "beta", "--gap", "50", "--raters-per-prompt", "3"
        ).splitlines()
        assert lines[0].startswith("You need about ")
        assert "see a gap of 50 points between alpha and beta." in lines[0]
        assert lines[2].split("  ") == ["raters per pair", "more prompts", "in all", "half-width, points"]
        assert [line.split()[0] for line in lines[3:7]] == ["1", "2", "3", "5"]
        assert f" {lines[5].split()[1]} more prompts, " in lines[0]
        assert "40 prompts with 2 raters per pair" in lines[-1]
        text = plan(votes, "--gap", "50", "--level", "90")
        assert "Half-width of the gap's 90% interval by Bradley-Terry." in text

    def test_json_names_the_contestants(self, votes):
        found = plan_json(
            votes, "--between", "gamma", "beta", "--gap", "30", "--level", "90", "--power", "50"
        )
        assert (found["gap"], found["level"], found["power"]) == (30, 90, 50)
        assert (found["evidence"]["first"], found["evidence"]["second"]) == ("gamma", "beta")
        assert found["evidence"]["prompts"] == 40
        assert [need["raters"] for need in found["needs"]] == [1, 2, 3, 5]
        assert found["needed"] == found["needs"][1]
        assert "to see a gap of 30 points between gamma and beta." in found["sentence"]
        needs = [
            plan_json(votes, "--gap", "20", *more)["needed"]["more"]
            for more in (("--power", "50"), (), ("--level", "99"))
        ]
        assert needs[0] < needs[1] < needs[2]

    def test_warnings_stand_below(self, tmp_path):
        path = write_votes(tmp_path / "few.csv", prompts=10, raters=1)
        found = plan(path, "--gap", "20")
        assert "Warning: Only 10 prompts show how much prompts differ" in found
        assert "Warning: No two raters rated the same pair" in found
        text = plan(write_votes(tmp_path / "votes.csv", raters=1), "--gap", "50")
        assert "with 1 rater per pair" in text


class TestAssumptions:
    def test_the_answer_by_hand(self):
        # 121,615 points^2 for one rating at a gap of 30 (p = 0.543), 114.67 wanted: 1061, and two for
        # Student's t, as where no prompt suits one of them better.
        options = ("--gap", "30", "--tie-share", "0")
        for alike in (("--rater-correlation", "0"), ("--prompt-sd", "0")):
            text = plan(*options, *alike)
            assert text.startswith(
                "You need about 1,063 prompts with 1 rater for every pair to see a gap of 30 points"
            )
            assert (
                "Assumed: 2 models, 0% ties, and two raters' ratings of the same answers correlate by 0.00."
                in text
            )
        assert "correlate by 0.25. Standard deviations" in plan(*options)
        options = ("--gap", "30", "--rater-correlation", "0")
        assert plan_json(*options)["needed"]["prompts"] == pytest.approx(
            2 * plan_json(*options, "--contestants", "4")["needed"]["prompts"], abs=4
        )
        found = plan_json(*options, "--raters-per-prompt", "7")
        assert [need["raters"] for need in found["needs"]] == [1, 2, 3, 5, 7]
        assert found["evidence"] is None


@pytest.mark.django_db
class TestStudy:
    @pytest.fixture
    def made(self):
        made = HandMade("alpha", "beta", slug="small", categories=("coding",) * 4)
        for prompt, rating in enumerate((1, 2, 7, 3)):
            made.rate("alpha", "beta", rating, prompt=prompt)
        return made

    def test_the_comparisons_of_a_study_and_of_some_raters(self, made):
        found = plan_json("--study", "small", "--between", "alpha", "beta")
        assert found["evidence"]["prompts"] == 4
        assert found["gap"] == pytest.approx(190.85, abs=0.01), "three wins to one"
        strict = made.judge("strict")
        made.rate("alpha", "beta", 1, rater=strict)
        with pytest.raises(CommandError, match="small, judge:strict: one prompt says nothing"):
            plan("--study", "small", "--raters", "judge:strict", "--gap", "30")
        only = HandMade("alpha", "beta", slug="only")
        only.rate("alpha", "beta", 1, rater=only.judge("kind"))
        with pytest.raises(CommandError, match="only, people: a plan needs ratings, and these are none"):
            plan("--study", "only", "--between", "alpha", "beta")
