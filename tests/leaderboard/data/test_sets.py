"""Statistics of a study's prompts and requirements."""

import pytest
from django.utils import timezone

from leaderboard.refreshing.services import refresh
from tests import factories
from tests.leaderboard.answers.requirements.studies import Checking, infobench
from tests.leaderboard.reading import records

pytestmark = pytest.mark.django_db
HOSTILE = "<img src=x>"


def rows_of(client, study, panel):
    return records(client, f"/studies/{study.slug}/data/tables/{panel}.csv")


def test_by_hand(client, rounds):
    made = Checking(visibility="public", closed_at=timezone.now())
    made.prompt(["Content"], ["Content", HOSTILE], category="Law", subset="hard", turns=["One  two\nthree"])
    made.prompt(category="Law", subset="hard", turns=["Four words, two", "turns here"], input="more of it")
    made.prompt([], category="Arts", turns=["One"])
    made.rater("p", ["yy", "yy"], ["", ""], ["y", "y"])
    waiting = made.prompts[0][0]
    factories.make_question(prompt=waiting, is_accepted=False, proposed_by="m", labels=["Waiting"])
    refresh(made.study)
    first, hard = rows_of(client, made.study, "sets")
    assert list(first.values()) == ["All prompts", "3", "3.0", "3", "1.0", "2"]
    assert list(hard.values()) == ["Subset hard", "2", "4.0", "2", "1.0", "1"]
    assert [list(row.values()) for row in rows_of(client, made.study, "requirements")] == [
        ["All prompts", "0", "1", "33.3333"],
        ["All prompts", "1", "1", "33.3333"],
        ["All prompts", "2", "1", "33.3333"],
        ["Subset hard", "0", "1", "50.0"],
        ["Subset hard", "1", "0", "0.0"],
        ["Subset hard", "2", "1", "50.0"],
    ]
    assert [list(row.values()) for row in rows_of(client, made.study, "kinds")] == [
        ["All prompts", "Content", "2", "66.6667"],
        ["All prompts", HOSTILE, "1", "33.3333"],
        ["Subset hard", "Content", "2", "100.0"],
        ["Subset hard", HOSTILE, "1", "50.0"],
    ]
    figure = client.get(f"/studies/{made.study.slug}/data/figures/requirements.json").json()
    assert [trace["name"] for trace in figure["data"]] == ["All prompts", "Subset hard"]
    assert figure["data"][1]["y"] == [50, 0, 50]
    assert "Subset hard: 1 of 2 prompts (50.0%)" in figure["data"][1]["text"][2]


def test_a_study_without_requirements_shows_what_it_has(client, rounds):
    study = factories.make_small_study(prompts=2, contestants=2, visibility="public")
    refresh(study)
    page = client.get(f"/studies/{study.slug}/data/").content.decode()
    assert "Words per prompt" in page
    assert "equirements" not in page


def test_the_table_that_infobench_prints(client, rounds, reference_data):
    """Qin et al. (2024), Tables 2 and 6, of the Easy Set; the Hard Set is not among the files."""
    study = infobench(reference_data / "infobench" / "easy_set.gpt-4.jsonl")
    type(study).objects.update(visibility="public", closed_at=timezone.now())
    refresh(study)
    (row,) = rows_of(client, study, "sets")
    assert list(row.values()) == ["All prompts", "252", "17.77", "690", "2.74", "71"]
    kinds = {row["Kind"]: int(row["Requirements"]) for row in rows_of(client, study, "kinds")}
    assert kinds == {"Content": 517, "Format": 167, "Style": 52, "Linguistic": 48, "Number": 8}
    assert sum(kinds.values()) == 792
    numbers = {
        int(row["Requirements"]): int(row["Prompts"]) for row in rows_of(client, study, "requirements")
    }
    assert (sum(numbers.values()), sum(n * count for n, count in numbers.items())) == (252, 690)
    assert sorted(numbers, key=numbers.__getitem__)[-2:] == [3, 2]  # as Figure 5 (c) shows
