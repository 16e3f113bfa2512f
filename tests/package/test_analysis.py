"""The functions of a notebook against the commands, and against pages."""

import io
import json
import subprocess
import sys

import pandas as pd
import pytest
from django.core.management import call_command

import likert_arena
from leaderboard.pages.standings.figure import intervals
from leaderboard.stats.checks import ParameterError, StatsError
from leaderboard.terminal.votes import VoteFileError

ROUNDS = 50
MODELS = ("Heron", "Stork", "Crane")


def rows():
    """Ratings of four raters, one of them a judge, on six prompts."""
    winners = ("model_a", "tie", "model_b", "model_a", "model_a", "tie")
    return [
        {"prompt": f"p{prompt}", "rater": rater, "model_a": a, "model_b": b, "winner": winner}
        for prompt in range(6)
        for at, rater in enumerate(("Ann", "Bo", "Cem", "judy"))
        for winner in [winners[(prompt + at) % 6]]
        for a, b in (MODELS[:2], MODELS[1:], MODELS[::2])
    ]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "votes.csv"
    pd.DataFrame(rows()).to_csv(path, index=False)
    return path


def printed(command, *arguments):
    out = io.StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=io.StringIO())
    return out.getvalue().rstrip("\n")


@pytest.mark.parametrize(
    ("form", "more"), [("path", {}), ("text", {}), ("records", {}), ("frame", {}), ("iterator", {})]
)
def test_rank_is_the_command_whatever_form_ratings_have(file, form, more):
    source = {
        "path": lambda: file,
        "text": lambda: str(file),
        "records": rows,
        "frame": lambda: pd.DataFrame(rows()),
        "iterator": lambda: iter(rows()),
    }[form]()
    found = likert_arena.rank(source, rounds=ROUNDS, **more)
    assert found.to_dict() == json.loads(printed("rank", file, "--rounds", ROUNDS, "--format", "json"))
    assert str(found) == printed("rank", file, "--rounds", ROUNDS)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({"method": "bradley-terry", "intervals": "sandwich"}, "--method bradley-terry --intervals sandwich"),
        ({"ties": False}, "--ties off"),
        ({"resample": "raters", "seed": 3, "interval": 90}, "--resample raters --seed 3 --interval 90"),
        ({"method": "ordinal", "adjust": ["raters"]}, "--method ordinal --adjust raters"),
        ({"k": 8, "pairwise": True}, "--k 8 --pairwise"),
    ],
)
def test_arguments_of_rank_are_the_options_of_its_command(file, arguments, options):
    found = likert_arena.rank(file, rounds=ROUNDS, **arguments).to_dict()
    command = printed("rank", file, "--rounds", ROUNDS, "--format", "json", *options.split())
    assert found == json.loads(command)


def test_a_frame_of_a_ranking_has_a_row_for_each_model(file):
    found = likert_arena.rank(file, rounds=ROUNDS)
    frame = found.to_frame()
    assert list(frame["contestant"]) == [row["contestant"] for row in found.to_dict()["standings"]]
    assert set(frame["contestant"]) == set(MODELS)
    assert frame["games"].sum() == 2 * len(rows())
    assert (frame["low"] <= frame["rating"]).all()
    assert (frame["rating"] <= frame["high"]).all()


def test_a_figure_is_that_of_the_page_in_the_colours_of_the_style_sheet(file):
    found = likert_arena.rank(file, rounds=ROUNDS)
    standings = found.to_dict()
    order = [row["contestant"] for row in standings["standings"]]
    (page,) = intervals(order, [("Score", standings)])["data"]
    (trace,) = found.figure().data
    assert list(trace.x) == page["x"] == [row["rating"] for row in standings["standings"]]
    assert list(trace.error_x.array) == page["error_x"]["array"]
    assert page["marker"]["color"] == "--series-1"
    assert trace.marker.color.startswith("#")
    assert '"--' not in found.figure().to_json()


def test_a_notebook_shows_the_table_with_its_intervals_and_no_markup_of_names():
    hostile = [
        {**row, "model_a": row["model_a"].replace("Heron", "<script>alert(1)</script>")} for row in rows()
    ]
    page = likert_arena.rank(hostile, rounds=ROUNDS)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<tr>") == 1 + 3
    assert "95% interval" in page
    found = likert_arena.rank(rows(), rounds=ROUNDS)
    best = found.to_dict()["standings"][0]
    assert f"<td>{best['low']:.1f} to {best['high']:.1f}</td>" in found._repr_html_()


def test_compare_is_its_command(file):
    found = likert_arena.compare(file, rounds=ROUNDS)
    assert found.to_dict() == json.loads(printed("compare", file, "--rounds", ROUNDS, "--format", "json"))
    assert str(found) == printed("compare", file, "--rounds", ROUNDS)
    frame = found.to_frame()
    assert len(frame) == 3 * len(found.by_method)
    assert found.figure().data[0].name == "Bradley-Terry"
    assert "Kendall" in found._repr_html_()


def test_plan_is_its_command_with_and_without_ratings(file):
    found = likert_arena.plan(file, between=("Heron", "Crane"), gap=30)
    options = ["--between", "Heron", "Crane", "--gap", 30]
    assert found.to_dict() == json.loads(printed("plan", file, *options, "--format", "json"))
    assert str(found) == printed("plan", file, *options)
    alone = likert_arena.plan(gap=30, assumed={"ties": 0.3})
    assert str(alone) == printed("plan", "--gap", 30, "--tie-share", 0.3)
    frame = alone.to_frame()
    assert list(alone.figure().data[0].y) == list(frame["prompts"])
    assert alone.to_dict()["sentence"] in alone._repr_html_()


def test_anchor_is_its_command(file):
    found = likert_arena.anchor(file, "judy")
    assert found.to_dict() == json.loads(printed("anchor", file, "--judges", "judy", "--format", "json"))
    assert str(found) == printed("anchor", file, "--judges", "judy")
    assert {"rating", "human.rating", "judge.rating", "bias.rating"} <= set(found.to_frame().columns)
    assert len(found.figure().data) == 3
    assert "anchored" in found._repr_html_()


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: likert_arena.rank("no-such.csv"), VoteFileError, "no-such.csv"),
        (lambda: likert_arena.rank([]), VoteFileError, "records: "),
        (lambda: likert_arena.rank([{**rows()[0], "winner": "lefty"}]), VoteFileError, "line 1"),
        (lambda: likert_arena.rank([rows()[0], {"model_a": "x"}]), VoteFileError, "line 2"),
        (lambda: likert_arena.rank([3]), TypeError, "a mapping of columns to values, not int"),
        (lambda: likert_arena.rank(rows(), method="elu"), ParameterError, "no method 'elu'"),
        (lambda: likert_arena.rank(rows(), tie_band="3-6"), StatsError, "winners instead of ratings"),
        (lambda: likert_arena.plan(), ValueError, "needs a gap"),
        (lambda: likert_arena.plan(rows()), ValueError, "name two models in between"),
        (lambda: likert_arena.plan(rows(), between=("Heron", "Emu")), ValueError, "no model 'Emu'"),
        (
            lambda: likert_arena.plan(rows(), gap=30, assumed={"ties": 0.1}),
            ValueError,
            "ties cannot be assumed",
        ),
        (lambda: likert_arena.anchor(rows(), []), ValueError, "judges needs a name"),
        (lambda: likert_arena.anchor(rows(), "nobody"), StatsError, "no rating is by the rater 'nobody'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(call, error, said):
    with pytest.raises(error) as raised:
        call()
    assert said in str(raised.value)


def test_missing_values_and_numbers_of_other_libraries_are_read():
    frame = pd.DataFrame(
        {"model_a": ["x", "y", "x"], "model_b": ["y", "x", "y"], "rating": [1, 8, 4], "points": [8, 8, 8]}
    )
    frame["note"] = [None, float("nan"), pd.NA]
    assert likert_arena.rank(frame, rounds=None).to_dict()["games"] == 3


def test_no_django_is_loaded():
    program = """
import sys, likert_arena
assert "scipy" not in sys.modules
votes = [
    {"prompt": prompt, "rater": rater, "model_a": "x", "model_b": "y", "winner": winner}
    for prompt in "ab" for rater, winner in (("s", "x"), ("t", "tie"))
]
likert_arena.rank(votes).figure()
likert_arena.compare(votes)
likert_arena.plan(gap=20)
likert_arena.anchor(votes, "s")
assert "django" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
