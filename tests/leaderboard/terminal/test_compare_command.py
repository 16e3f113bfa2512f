import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from leaderboard.terminal.side_by_side import VARIANTS
from tests.leaderboard.reading import printed
from tests.leaderboard.rows import HandMade


def compare(*arguments):
    return printed("compare", *arguments, "--rounds", "20")


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    rows = ["x,y,model_a", "y,x,tie", "z,y,model_b", "y,z,model_a", "x,z,tie", "z,x,model_a", "x,y,model_b"]
    path.write_text("\n".join(["model_a,model_b,winner", *rows]))
    return path


def test_every_method_stands_in_the_json_as_rank_prints_it(votes):
    found = json.loads(compare(votes, "--format", "json"))
    assert list(found["methods"]) == list(VARIANTS)
    methods = ["elo", "elo", "bradley-terry", "davidson", "ordinal"]
    assert [each["method"] for each in found["methods"].values()] == methods
    assert found["methods"]["Elo, ties off"]["parameters"]["ties"] == "off"
    out = StringIO()
    call_command("rank", str(votes), "--method", "davidson", "--rounds", "20", "--format", "json", stdout=out)
    assert found["methods"]["Davidson"] == json.loads(out.getvalue())


def test_the_table_has_columns_for_each_method_and_intervals_a_table_of_their_own(votes):
    lines = compare(votes).splitlines()
    assert lines[0].startswith(
        "7 ratings counted. Elo, ties off: 2 ties left out. Rank (best rank by intervals) and score. Ties"
    )
    assert all(label in lines[2] for label in VARIANTS)
    assert [line.split()[0] for line in lines[3:6]] == ["y", "x", "z"]
    assert lines[7] == "95% interval if every rating were independent (20 resamples; 7 ratings); seed 0."
    assert lines[9].split() == lines[2].split()
    first = json.loads(compare(votes, "--format", "json"))["methods"]["Davidson"]["standings"][0]
    assert f"{first['low']:.0f} to {first['high']:.0f}" in "\n".join(lines[10:13])
    assert max(map(len, lines[2:6] + lines[9:13])) <= 100
    text = "\n".join(lines)
    assert "Bradley-Terry: Removing " in text
    assert "Davidson: Two equally good models would tie in " in text
    assert "Ordinal: Being shown first is worth" in text


def test_one_prompt_or_only_ties(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("prompt,model_a,model_b,winner\np,x,y,model_a\np,y,x,model_a\n")
    assert "interval:" not in compare(path)
    path.write_text("left,right,winner\nx,y,tie\ny,x,tie\n")
    assert "Elo, ties off" not in json.loads(compare(path, "--format", "json"))["methods"]


def test_it_says_how_far_the_methods_agree(votes):
    found = json.loads(compare(votes, "--format", "json"))["agreement"]
    assert found["with"] == "Bradley-Terry"
    assert found["kendall"]["Bradley-Terry"] == 1.0
    ratings = [
        {row["contestant"]: row["rating"] for row in each["standings"]}
        for each in json.loads(compare(votes, "--format", "json"))["methods"].values()
    ]
    for (label, tau), rated in zip(found["kendall"].items(), ratings, strict=True):
        # Three contestants: each pair in the same order counts +1, in the other -1.
        signs = [
            np.sign((rated[a] - rated[b]) * (ratings[2][a] - ratings[2][b])) for a, b in ("xy", "yz", "xz")
        ]
        assert tau == pytest.approx(sum(signs) / 3, abs=1e-6), label
    assert "Kendall's tau with Bradley-Terry: Elo " in compare(votes)


def test_a_warning_stands_once_with_its_advice(tmp_path):
    path = tmp_path / "votes.csv"
    rows = [f"{prompt},x,y,model_{'ab'[prompt % 2]}" for prompt in range(12)]
    path.write_text("\n".join(["prompt,model_a,model_b,winner", *rows]))
    text = compare(path)
    assert text.count("The intervals come from only 12 prompts") == 1


@pytest.mark.django_db
def test_a_study_says_whose_comparisons_they_are():
    made = HandMade("alpha", "beta", slug="small")
    made.rate("alpha", "beta", 1)
    made.rate("beta", "alpha", 3)
    assert compare("--study", "small").startswith("small: People, all categories.")
    found = json.loads(compare("--study", "small", "--format", "json"))
    assert (found["study"], found["raters"]) == ("small", "people")
