import csv
import json
import math
from functools import partial

import pytest
from django.core.management import CommandError

from arena.models import Rater, Study
from leaderboard.refreshing import services
from tests.leaderboard.reading import printed, without_database

rank = partial(printed, "rank")


def rank_json(*arguments):
    return json.loads(rank(*arguments, "--format", "json"))


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    rows = ["alpha,beta,model_a,p1", "alpha,beta,tie,p2", "beta,gamma,model_b,p2", "gamma,alpha,model_a,p3"]
    path.write_text("\n".join(["model_a,model_b,winner,prompt", *rows]))
    return path


@pytest.mark.parametrize("name", ["food", "simple"])
class TestGoldenScores:
    def golden(self, folder, name, algorithm):
        with (folder / "evalica" / f"{name}-golden.csv").open(newline="") as file:
            return {
                row["item"]: float(row["score"])
                for row in csv.DictReader(file)
                if row["algorithm"] == algorithm
            }

    def test_sequential_elo(self, reference_data, name):
        file = reference_data / "evalica" / f"{name}.csv"
        found = rank_json(file, "--method", "elo-study", "--k", 4, "--no-bootstrap")
        golden = self.golden(reference_data, name, "elo")
        ratings = {row["contestant"]: row["rating"] for row in found["standings"]}
        assert ratings == pytest.approx(golden, rel=0, abs=1e-9)
        assert [row["rank"] for row in found["standings"]] == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize("bootstrap", [(), ("--no-bootstrap",)])
    def test_bradley_terry(self, reference_data, name, bootstrap):
        found = rank_json(
            reference_data / "evalica" / f"{name}.csv", "--method", "bradley-terry", "--rounds", 5, *bootstrap
        )
        golden = {
            item: 400 * math.log10(score)
            for item, score in self.golden(reference_data, name, "bradley_terry").items()
        }
        centre = sum(golden.values()) / len(golden)
        expected = {item: 1000 + score - centre for item, score in golden.items()}
        assert {row["contestant"]: row["rating"] for row in found["standings"]} == pytest.approx(
            expected, abs=0.01
        )
        assert found["parameters"]["prior_games"] == 0


LLMFAO = ("models.jsonl", "prompts.jsonl", "results.jsonl")
FILES = {
    "evalica/food.csv": (),
    "llmfao/crowd-comparisons.csv": LLMFAO,
    "llmfao/gpt4-crowd-comparisons.csv": LLMFAO,
}
"""A public file of every kind that ``rank`` reads, and what its import needs beside it."""

MOST = 300
"""So many lines of each file, so that an import takes no second."""

AS_TABLE = (
    *("--format", "table", "--kind", "comparisons"),
    *("--map", "first=left", "--map", "second=right", "--map", "winner=winner", "--set", "rater=crowd"),
)


@pytest.mark.django_db
@pytest.mark.parametrize("name", FILES)
def test_a_file_ranks_alike_with_and_without_a_database(reference_data, tmp_path, name):
    whole = reference_data / name
    beside = [whole.parent / each for each in FILES[name]]
    file = tmp_path / whole.name
    file.write_text("".join(whole.read_text().splitlines(keepends=True)[:MOST]))
    printed("import_data", "alike", file, *beside, *(() if beside else AS_TABLE))
    judge = Rater.objects.filter(kind="judge").first()
    raters = f"judge:{judge.slug}" if judge else "people"
    for method in ("elo", "bradley-terry", "elo-study"):
        options = ("--method", method, "--rounds", 20)
        direct = rank_json(file, *options)
        stored = json.loads(printed("standings", "alike", *options, "--raters", raters, "--format", "json"))
        assert {key: stored[key] for key in direct} == direct


@pytest.mark.django_db
def test_comparisons_without_a_prompt_are_resampled_singly_and_the_board_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(services, "ROUNDS", 20)
    battles = tmp_path / "battles.csv"
    votes = [f"{a},{b},{winner}" for a, b in ("ab", "bc", "ca") for winner in ("model_a", "model_b", "tie")]
    battles.write_text("\n".join(["model_a,model_b,winner", *votes]))
    printed("import_data", "battles", battles)
    snapshot = services.refresh(Study.objects.get()).snapshot
    stored = snapshot.slices.get(
        kind="standings", ties="on", category="", method="elo", raters="people"
    ).content
    direct = rank_json(battles, "--rounds", 20)
    assert snapshot.counts["prompts"] == 0
    for row in stored["standings"]:
        del row["kind"]
    assert {key: stored[key] for key in direct} == direct
    assert (stored["parameters"]["resample"], stored["parameters"]["units"]) == ("games", 9)
    assert "The ratings name no prompts, so single ratings were resampled" in stored["warnings"][-1]
    assert all(row["low"] < row["rating"] < row["high"] for row in stored["standings"])


class TestJson:
    def test_the_contract_and_the_defaults(self, votes):
        found = rank_json(votes, "--rounds", 20)
        assert {"method", "parameters", "games", "left_out", "standings"} <= found.keys()
        keys = {"contestant", "rating", "low", "high", "rank", "games", "wins", "losses", "ties"}
        assert all(keys <= row.keys() for row in found["standings"])
        assert (found["method"], found["games"], found["left_out"]) == ("elo", 4, 0)
        assert all(row["low"] <= row["rating"] <= row["high"] for row in found["standings"])
        used = rank_json(votes)["parameters"]
        assert (used["ties"], used["k"], used["rounds"]) == ("on", 32, 1000)
        assert (used["seed"], used["interval"]) == (0, 95)
        found = rank_json(votes, "--no-bootstrap")
        assert [(row["low"], row["high"]) for row in found["standings"]] == [(None, None)] * 3
        for options, decimals in (((), 6), (("--no-bootstrap",), 9)):
            ratings = [row["rating"] for row in rank_json(votes, *options)["standings"]]
            assert ratings == [round(rating, decimals) for rating in ratings]
            assert ratings != [round(rating, decimals - 1) for rating in ratings]

    def test_prompts_are_resampled_where_the_file_has_them_and_else_games(self, votes, tmp_path):
        used = rank_json(votes, "--rounds", 3)["parameters"]
        assert (used["resample"], used["clusters"]) == ("prompts", 3)
        path = tmp_path / "votes.jsonl"
        path.write_text('{"left": "x", "right": "y", "winner": "left"}')
        assert rank_json(path, "--rounds", 3)["parameters"]["resample"] == "games"

    def test_ties_interval_and_seed(self, votes):
        found = rank_json(votes, "--ties", "off", "--no-bootstrap")
        assert (found["games"], found["left_out"], found["parameters"]["ties"]) == (3, 1, "off")
        wide = rank_json(votes, "--interval", 95)["standings"][0]
        narrow = rank_json(votes, "--interval", 90)["standings"][0]
        assert (narrow["low"], narrow["high"]) == (wide["quantiles"]["5"], wide["quantiles"]["95"])
        assert rank(votes, "--format", "json") == rank(votes, "--format", "json", "--seed", 0)
        assert rank(votes, "--format", "json") != rank(votes, "--format", "json", "--seed", 1)


@pytest.fixture
def graded(tmp_path):
    """Ratings on eight points by three raters, with lengths, each pair in both orders."""
    path = tmp_path / "graded.csv"
    lines = ["model_a,model_b,rating,points,prompt,rater,length_a,length_b"]
    for prompt in range(12):
        for number, (one, other) in enumerate((("x", "y"), ("y", "z"), ("z", "x"))):
            rating = 1 + (3 * prompt + 2 * number) % 8
            lines.append(f"{one},{other},{rating},8,p{prompt},r{prompt % 3},{100 + 7 * prompt},120")
            lines.append(f"{other},{one},{9 - rating},8,p{prompt},r{number},90,{60 + prompt * number}")
    path.write_text("\n".join(lines))
    return path


class TestMethods:
    @pytest.mark.parametrize("method", ["elo", "bradley-terry", "davidson", "ordinal"])
    def test_every_method_ranks(self, graded, method):
        found = rank_json(graded, "--method", method, "--rounds", 20)
        assert found["method"] == method
        assert [row["rank"] for row in found["standings"]] == [1, 2, 3]
        assert all(row["low"] <= row["high"] for row in found["standings"])
        assert {"rank_ub", "p_first", "group", "unbounded"} <= found["standings"][0].keys()
        assert sum(map(len, found["groups"])) >= 3

    @pytest.mark.parametrize(
        ("unit", "clusters", "units"),
        [("prompts", 12, 12), ("raters", 3, 3), ("games", None, 72), ("prompts-and-raters", 12, 3)],
    )
    def test_what_is_resampled(self, graded, unit, clusters, units):
        used = rank_json(graded, "--resample", unit, "--rounds", 3)["parameters"]
        assert (used["resample"], used["clusters"], used["units"]) == (unit, clusters, units)

    def test_options_of_tables_and_json(self, graded):
        ties = [
            sum(row["ties"] for row in rank_json(graded, "--no-bootstrap", *band)["standings"]) / 2
            for band in ((), ("--tie-band", "4-5"), ("--tie-band", "3-6"))
        ]
        assert ties[0] == ties[1] < ties[2]
        found = rank_json(graded, "--method", "ordinal", "--adjust", "length,raters", "--rounds", 20)
        assert set(found["effects"]) == {"length"}
        assert found["parameters"]["adjust"] == ["length", "raters"]
        options = ("--method", "ordinal", "--adjust", "raters", "--rounds", 5)
        assert rank_json(graded, *options)["parameters"]["intervals"] == "sandwich"
        asked = rank_json(graded, *options, "--intervals", "bootstrap")
        assert asked["parameters"]["intervals"] == "bootstrap"

    def test_sandwich_intervals_and_pairwise_probabilities(self, graded):
        found = rank_json(graded, "--method", "davidson", "--intervals", "sandwich")
        assert found["parameters"]["intervals"] == "sandwich"
        row = found["standings"][0]
        assert row["high"] - row["rating"] == pytest.approx(row["rating"] - row["low"], abs=1e-5)
        assert "(robust covariance; 12 prompts" in rank(
            graded, "--method", "davidson", "--intervals", "sandwich"
        )
        above = rank_json(graded, "--pairwise", "--rounds", 50)["probability_above"]
        assert [above[i][i] for i in range(3)] == [None] * 3
        assert above[0][1] + above[1][0] == pytest.approx(1)
        found = rank_json(graded, "--rounds", 5)
        assert "threads" not in found["parameters"]
        text = rank(graded, "--method", "bradley-terry", "--rounds", 50, "--interval", 90)
        assert "rank  rank ub  model   score  90% interval" in text
        assert "cannot be told apart at 90%" in text
        assert "Removing" in text


class TestTable:
    def test_it_shows_uncertainty_and_n(self, votes, tmp_path):
        text = rank(votes, "--rounds", 50)
        first_line = text.splitlines()[0]
        assert first_line.startswith("Elo with K=32")
        assert (
            "95% interval for other prompts of this kind (50 resamples; 3 prompts); seed 0. 4 ratings "
            "counted." in first_line
        )
        assert " to " in next(line for line in text.splitlines() if "gamma" in line)
        assert "Warning: The intervals come from only 3 prompts" in text
        path = tmp_path / "votes.csv"
        path.write_text("left,right,winner,prompt\na,b,left,p\n")
        first_line = rank(path, "--rounds", 5).splitlines()[0]
        assert "No intervals; seed 0. 1 rating counted. Methodology" in first_line

    def test_names_cannot_move_the_cursor_or_the_columns(self, tmp_path):
        path = tmp_path / "votes.csv"
        path.write_text("left,right,winner\n文字,a-long-name,left\na-long-name,文字,left\n")
        # On a terminal each of the two characters is as wide as two letters.
        rows = [
            line.replace("文字", "wide")
            for line in rank(path, "--method", "elo-study", "--no-bootstrap").splitlines()
        ]
        ends = {
            row.index(rating) + len(rating)
            for row in rows
            for rating in ("1001.5", " 998.5")
            if rating in row
        }
        assert len(ends) == 1
        path = tmp_path / "votes.jsonl"
        path.write_text(json.dumps({"left": "\x1b[2Jx\ud800", "right": "y\u202e\nz", "winner": "tie"}))
        text = rank(path, "--no-bootstrap")
        assert r"\u001b[2Jx\ud800" in text
        assert r"y\u202e\nz" in text
        path = tmp_path / "votes.csv"
        path.write_text("left,right,winner\na,b,left\nc,d,left\n")
        text = rank(path, "--rounds", 2)
        assert "Group 1 of 2" in text
        assert "2 groups that never met (a, b; c, d)" in text


class TestErrors:
    def test_what_the_file_does_not_hold(self, tmp_path, votes, graded):
        path = tmp_path / "votes.csv"
        path.write_text("model_a,model_b,rating,points\nx,y,1,8\ny,x,2,5\n")
        with pytest.raises(CommandError, match="on scales of 5 and 8 points; a band needs one scale"):
            rank(path, "--tie-band", "4-5")
        with pytest.raises(CommandError, match="resample is 'raters', but the ratings name no raters"):
            rank(votes, "--resample", "raters")
        with pytest.raises(
            CommandError, match="to adjust for size, the file needs the columns 'size_a' and 'size_b'"
        ):
            rank(graded, "--method", "ordinal", "--adjust", "size")
        path.write_text("left,right,winner\nx,y,tie\n")
        with pytest.raises(CommandError, match="with ties off all 1 are left out"):
            rank(path, "--ties", "off")


def test_it_needs_no_database(votes):
    done = without_database("rank", votes, "--format", "json", "--rounds", 10)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["standings"]) == 3
