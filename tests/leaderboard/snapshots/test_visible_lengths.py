import pytest
from django.utils import timezone

from arena.models import Study
from leaderboard.snapshots.visible_lengths import visible_lengths

OPEN, CLOSED = Study(), Study(closed_at=timezone.now())


def group(prompts, completions, category=None, subset=None):
    counts = {"prompt": prompts, "completion": completions, "demonstration": prompts}
    texts = [{"what": what, "count": count} for what, count in counts.items()]
    return {"category": category, "subset": subset, "prompts": prompts, "texts": texts}


def lengths(*groups, kinds=("model", "model", "people")):
    contestants = [
        {"contestant": f"{place}", "kind": kind, "completions": 9} for place, kind in enumerate(kinds)
    ]
    return {"groups": list(groups), "contestants": contestants}


def told(content):
    """The groups that say how long completions are."""
    return [
        each["category"] or each["subset"] or "All"
        for each in content["groups"]
        if any(row["what"] == "completion" for row in each["texts"])
    ]


def test_parts_in_which_two_models_wrote_are_told():
    content = lengths(
        group(10, 20), group(6, 12, "coding"), group(4, 8, "poems"), group(10, 20, None, "easy")
    )
    assert told(visible_lengths(OPEN, content)) == ["All", "coding", "poems", "easy"]


@pytest.mark.parametrize(
    ("poems", "everything"),
    [
        pytest.param(group(4, 4, "poems"), group(10, 16), id="one model in a category"),
        pytest.param(group(2, 4, "poems"), group(10, 18), id="one model in those without a category"),
    ],
)
def test_no_category_is_told_where_one_may_be_of_a_single_model(poems, everything):
    """The others would tell it too: it is what they leave of all."""
    subsets = [group(5, 8, None, "easy"), group(5, everything["texts"][1]["count"] - 8, None, "hard")]
    content = lengths(everything, group(6, 12, "coding"), poems, *subsets)
    assert told(visible_lengths(OPEN, content)) == ["All", "easy", "hard"]
    assert told(visible_lengths(CLOSED, content)) == ["All", "coding", "poems", "easy", "hard"]


@pytest.mark.parametrize("completions", [1, 10])
def test_nothing_is_told_where_one_model_may_have_written_all_that_is_known(completions):
    assert told(visible_lengths(OPEN, lengths(group(10, completions)))) == []


def test_older_snapshots_and_the_only_model_are_not_told():
    """Beside a newer one it would tell those that came in between."""
    content = lengths(group(10, 20), group(10, 20, "coding"))
    assert told(visible_lengths(OPEN, content, past=True)) == []
    assert visible_lengths(CLOSED, content, past=True) == content
    content = visible_lengths(OPEN, lengths(group(3, 9), kinds=("model", "people")))
    assert [row["what"] for row in content["groups"][0]["texts"]] == ["prompt"]
    assert content["contestants"] == []
