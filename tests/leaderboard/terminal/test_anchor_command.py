import csv
import io
import json
from functools import partial

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from scipy.special import chdtrc

from leaderboard.stats.anchored import anchored
from leaderboard.stats.ranking_method import METHODOLOGY
from tests.leaderboard.reading import printed, without_database
from tests.leaderboard.rows import HandMade

NAMES = ("alpha", "beta", "gamma")


run = partial(printed, "anchor")


def run_json(*arguments):
    return json.loads(run(*arguments, "--format", "json"))


def make_rows(prompts=40, rated=12):
    """One vote a row: the judge in both orders on every pair, a person on the first prompts' pairs."""
    generator = np.random.default_rng(1)
    rows = []
    for prompt in range(prompts):
        for first, second in (("alpha", "beta"), ("beta", "gamma"), ("alpha", "gamma")):
            person = "left" if generator.random() < 0.6 else "right"
            verdict = person if generator.random() < 0.8 else "tie"
            turned = {"left": "right", "right": "left", "tie": "tie"}[verdict]
            rows.append((first, second, verdict, f"p{prompt}", "robot"))
            rows.append((second, first, turned if generator.random() < 0.9 else "tie", f"p{prompt}", "robot"))
            if prompt < rated:
                rows.append((first, second, person, f"p{prompt}", "Ada"))
    return rows


def write(path, rows, header="left,right,winner,prompt,rater"):
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return path


@pytest.fixture
def votes(tmp_path):
    return write(tmp_path / "votes.csv", make_rows())


class TestWhoIsAPerson:
    def rows(self, *others):
        more = [
            (*row[:4], name, kind)
            for name, kind in others
            for row in make_rows(rated=0)
            if row[3] in ("p0", "p1", "p2")
        ]
        return [*((*row, "judge" if row[4] == "robot" else "person") for row in make_rows()), *more]

    def write(self, folder, *others):
        return write(folder / "votes.csv", self.rows(*others), "left,right,winner,prompt,rater,rater_kind")

    def test_a_judge_of_the_file_is_left_out_and_told(self, tmp_path):
        alone = run_json(self.write(tmp_path), "--judges", "robot")
        path = self.write(tmp_path, ("mechanical", "judge"))
        found = run_json(path, "--judges", "robot")
        assert found["counts"] == alone["counts"]
        told = (
            "mechanical: judges by the column rater_kind, whose ratings are left out. Name them with --judges"
        )
        assert found["warnings"][0].startswith(told)
        assert told in run(path, "--judges", "robot")
        assert run_json(path, "--judges", "robot", "--without", "mechanical")["warnings"] == alone["warnings"]

    @pytest.mark.parametrize("name", ["gpt-4", "AntiJudge"])
    def test_who_looks_like_a_judge_counts_as_a_person_and_is_told(self, tmp_path, name):
        alone = run_json(self.write(tmp_path), "--judges", "robot")
        found = run_json(self.write(tmp_path, (name, "")), "--judges", "robot")
        assert found["warnings"][0].startswith(f"{name}: counted as people, though by their names")
        assert found["warnings"][1:] == alone["warnings"]

    def test_rank_says_that_both_count_alike(self, tmp_path):
        path = self.write(tmp_path)
        out, err = io.StringIO(), io.StringIO()
        call_command("rank", str(path), stdout=out, stderr=err)
        assert "ratings by people and by judges count alike" in err.getvalue()


class TestFile:
    def test_it_is_the_estimator_on_the_means_of_the_pairs(self, votes):
        score = {"left": 1.0, "tie": 0.5, "right": 0.0}
        rows = make_rows()
        pairs = sorted({(*sorted(row[:2]), row[3]) for row in rows})

        def mean(pair, by):
            own = [
                score[row[2]] if row[0] == pair[0] else 1 - score[row[2]]
                for row in rows
                if (*sorted(row[:2]), row[3]) == pair and row[4] == by
            ]
            return np.mean(own) if own else np.nan

        a, b = ([NAMES.index(pair[side]) for pair in pairs] for side in (0, 1))
        human, judge = ([mean(pair, by) for pair in pairs] for by in ("Ada", "robot"))
        expected = anchored(a, b, human, judge, 3, prompt=[pair[2] for pair in pairs], interval=90)
        found = run_json(votes, "--judges", "robot", "--interval", 90)
        for row in found["standings"]:
            number = NAMES.index(row["contestant"])
            assert row["rating"] == pytest.approx(expected.rating[number], abs=1e-6)
            assert row["low"] == pytest.approx(expected.low[number], abs=1e-6)
            assert row["bias"]["high"] == pytest.approx(expected.bias.high[number], abs=1e-6)
        power = round(expected.power, 6)
        ends = {"power_low": round(expected.power_low, 6), "power_high": round(expected.power_high, 6)}
        shared = {"ties": "on", "interval": 90.0, "power": power, **ends, "methodology": METHODOLOGY}
        assert found["parameters"] == shared
        assert 0 < expected.power < 1
        assert found["counts"]["human_pairs"] == 36
        assert (found["judges"], found["simulated"], found["comparisons_left_out"]) == (["robot"], False, 0)

    def test_the_table_shows_every_estimate_and_what_it_rests_on(self, votes):
        text = run(votes, "--judges", "robot", "--interval", 90)
        lines = text.splitlines()
        assert "People rated 36 pairs of 12 prompts, worth " in lines[0]
        assert "the judge 120 pairs of 40 prompts, 36 of them also rated by people" in lines[0]
        assert "11 df" in lines[0]
        for title in (
            "anchored, 90%",
            "people only, 90%",
            "judge only, 90%",
            "judge's bias, 90%",
            "worth",
        ):
            assert title in lines[2]
        assert sorted(line.split()[2] for line in lines[3:6]) == list(NAMES)
        assert "judge's bias: the judge minus anchored" in text
        assert "Warning: People rated pairs of only 12 prompts" in text

    def test_ties_off_are_left_out_and_a_judge_can_be(self, votes, tmp_path):
        found = run_json(votes, "--judges", "robot", "--ties", "off")
        assert found["comparisons_left_out"] == sum(row[2] == "tie" for row in make_rows())
        assert "ratings left out" in run(votes, "--judges", "robot", "--ties", "off")
        others = [(*row[:4], "other robot") for row in make_rows()]
        more = write(tmp_path / "more.csv", [*make_rows(), *others])
        alone = run_json(votes, "--judges", "robot")
        assert (
            run_json(more, "--judges", "robot", "--without", "other robot")["standings"] == alone["standings"]
        )
        assert run_json(more, "--judges", "robot")["counts"]["human_pairs"] == 120
        assert run_json(more, "--judges", "robot,other robot")["counts"] == alone["counts"]

    def test_groups_apart_one_prompt_and_names_that_would_move_the_cursor(self, tmp_path):
        rows = [
            (first, second, "left" if prompt % 3 else "right", f"p{prompt}", rater)
            for prompt in range(12)
            for first, second in (("a", "b"), ("c", "d"))
            for rater in (("robot", "Ada") if prompt < 6 else ("robot",))
        ]
        text = run(write(tmp_path / "votes.csv", rows), "--judges", "robot")
        assert "Group 1 of 2" in text
        assert "2 groups that never met (a, b; c, d)" in text
        pairs = (("a", "b", "left"), ("b", "c", "left"), ("c", "a", "left"))
        rows = [(*pair, "p", rater) for pair in pairs for rater in ("robot", "Ada")]
        text = run(write(tmp_path / "votes.csv", rows), "--judges", "robot")
        assert text.splitlines()[0].endswith(f"No intervals. Methodology {METHODOLOGY}.")
        assert " to " not in "\n".join(text.splitlines()[2:6])
        assert "Warning: People rated pairs of one prompt only" in text
        rows = [(*(name.replace("alpha", "\x1b[2Jx") for name in row[:2]), *row[2:]) for row in make_rows()]
        assert r"\u001b[2Jx" in run(write(tmp_path / "votes.csv", rows), "--judges", "robot")

    def test_somebody_people_never_saw_lose_is_said(self, tmp_path):
        rows = [
            (*row[:2], "left", *row[3:])
            if row[:2] == ("alpha", "gamma") or (row[0] == "alpha" and row[4] == "Ada")
            else row
            for row in make_rows()
        ]
        found = run_json(write(tmp_path / "votes.csv", rows), "--judges", "robot")
        assert found["prior"]["human"]
        assert all(row["rating"] is not None for row in found["standings"])

    def test_it_needs_no_database(self, votes):
        done = without_database("anchor", votes, "--judges", "robot")
        assert done.returncode == 0, done.stderr
        assert "alpha" in done.stdout


class TestPublicStudy:
    """The numbers docs/methodology.md gives for it."""

    @pytest.fixture
    def llmfao(self, reference_data, tmp_path):
        rows = [
            (row["left"], row["right"], row["winner"], row["prompt"], judge or row["worker"])
            for name, judge in (("crowd", ""), ("gpt4", "GPT-4"))
            for row in csv.DictReader(
                (reference_data / "llmfao" / f"{name}-comparisons.csv").open(newline="")
            )
        ]
        return write(tmp_path / "llmfao.csv", rows)

    def test_gpt_4_adds_nothing_to_the_crowd(self, llmfao):
        found = run_json(llmfao, "--judges", "GPT-4")
        assert found["counts"] == {
            "human_pairs": 2139,
            "judged_pairs": 2995,
            "shared_pairs": 2139,
            "human_prompts": 13,
            "judged_prompts": 19,
            "left_out": 241,
        }
        assert round(found["parameters"]["power"], 2) == 0.01
        assert round(found["effective_votes"]) == 2140
        ranked = [row for row in found["standings"] if row["rank"]]
        assert (len(ranked), len(found["standings"])) == (59, 70)
        half_widths = [(row["high"] - row["low"]) / 2 for row in ranked]
        assert (round(min(half_widths)), round(max(half_widths))) == (27, 128)
        bias = {row["contestant"]: row["bias"] for row in ranked}
        for name, wanted in (("GPT 3.5 Turbo", (587, 353, 821)), ("Luminous Extended", (-404, -538, -270))):
            assert tuple(round(bias[name][key]) for key in ("rating", "low", "high")) == wanted
        assert found["balance"]["contestants"] < 1e-6
        assert found["warnings"][0].startswith("People rated no pair of Code Llama (13B)")


class TestErrors:
    @pytest.mark.parametrize("option", ["--judges=--", "--without=--", "--interval=--"])
    def test_two_dashes_as_a_value_are_refused_too(self, votes, option):
        """Python 3.11 hands them over as an empty list."""
        with pytest.raises(CommandError, match=r"no rating is by the rater|must be a number"):
            run(votes, "--judges=robot", option)


@pytest.mark.django_db
class TestStudy:
    @pytest.fixture
    def made(self):
        made = HandMade(*NAMES, slug="small", categories=("coding",) * 4 + ("poems",) * 4)
        robot, other = made.judge("robot"), made.judge("other")
        for prompt in range(8):
            for first, second in (("alpha", "beta"), ("gamma", "beta"), ("alpha", "gamma")):
                rating = 1 + (prompt * 3 + len(first)) % 8
                made.rate(first, second, rating, prompt=prompt, rater=robot)
                made.rate(second, first, 9 - rating, prompt=prompt, rater=robot)
                made.rate(first, second, 8, prompt=prompt, rater=other)
                if prompt < 4:
                    made.rate(first, second, 9 - rating if prompt == 2 else rating, prompt=prompt)
        return made

    def test_people_are_the_anchor_of_the_judge_named(self, made):
        found = run_json("--study", "small", "--judges", "robot")
        assert found == run_json("--study", "small", "--judges", "judge:robot")
        assert (found["source"], found["judges"]) == ("small", ["ROBOT"])
        counts = found["counts"]
        assert (counts["human_pairs"], counts["judged_pairs"], counts["human_prompts"]) == (12, 24, 4)
        # All four prompts with people are of one category, the four others not: chi-square 7, one degree.
        assert found["balance"]["categories"] == pytest.approx(chdtrc(1, 7), abs=1e-6)
        assert run_json("--study", "small", "--judges", "robot,other")["counts"] == counts

    def test_studies_that_have_no_people(self, made):
        lonely = HandMade(*NAMES, slug="lonely")
        lonely.rate("alpha", "beta", 1, rater=lonely.judge("lone"))
        with pytest.raises(CommandError, match="lonely: no person has rated a pair of this study"):
            run("--study", "lonely", "--judges", "lone")

    def test_simulated_votes_say_so(self, made):
        toy = made.judge("toy", simulated=True)
        made.rate("alpha", "beta", 1, rater=toy)
        made.rate("gamma", "beta", 1, rater=toy)
        assert "Some ratings are simulated" in run("--study", "small", "--judges", "toy")
        assert run_json("--study", "small", "--judges", "toy")["simulated"] is True
