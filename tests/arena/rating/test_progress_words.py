"""What raters are told of how far they have come."""

import pytest

from arena.models import Study
from arena.rating import progress
from arena.rating.progress import Progress


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (Progress(compared=3, open=20), "3 done, 20 left"),
        (Progress(compared=3, open=10), "3 done, at most 10 left"),
        (Progress(compared=3), "3 done, none left"),
        (Progress(compared=3, scored=1, skipped=2, open=20, goal=9), "4 of 9, 2 skipped"),
    ],
)
def test_how_far_a_rater_has_come(done: Progress, words: str) -> None:
    assert done.words == words


@pytest.mark.parametrize(
    ("done", "nothing", "others", "said"),
    [
        (Progress(), "Nothing yet.", False, "S has nothing to rate yet."),
        (Progress(compared=1), "Nothing yet.", False, "S has nothing to rate. You rated 1 pair of S."),
        (Progress(), "", False, "Others have rated all of S."),
        (Progress(), "", True, "Other raters hold the last ones. If they return one, you find it here."),
        (Progress(compared=2, skipped=1), "", False, "You rated 2 pairs of S and skipped 1."),
        (
            Progress(scored=1),
            "",
            True,
            "You scored 1 answer of S. Other raters hold the last ones. If they return one, you find it "
            "here.",
        ),
    ],
)
def test_why_there_is_no_task(
    monkeypatch: pytest.MonkeyPatch, done: Progress, nothing: str, others: bool, said: str
) -> None:
    monkeypatch.setattr(progress, "why_nothing", lambda study: nothing)
    assert done.ended(Study(name="S"), others_hold_some=others) == said
