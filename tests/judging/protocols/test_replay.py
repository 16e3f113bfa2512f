"""The published replies of GPT-4 come to the winners that were recorded with them."""

from collections import Counter
from pathlib import Path

import pytest

from tests.judging.protocols.replay import (
    DIFFERENT,
    PLACES,
    RATINGS,
    SAME,
    TIED,
    UNREAD,
    outcomes,
    table,
    unread,
)

UNREAD_SENTENCES = {
    "CoT": [
        "Therefore, because Output (b) correctly identifies all the prime numbers and Output (a) does not, "
        "Output (b) is better."
    ],
    "Swap_CoT": ["Therefore, in accordance with the rules of evaluation, Output (a) is better."],
}
"""Closing sentences that say more than which output is better. What else they say could take it back, so they
are not read, although these two do not."""


@pytest.mark.parametrize("strategy", PLACES)
def test_choices_come_to_the_recorded_winners(reference_data: Path, strategy: str) -> None:
    counts = outcomes(reference_data, strategy)
    missed = UNREAD_SENTENCES.get(strategy, [])
    expected = {"Swap": 510, "Swap_CoT": 514}.get(strategy, 468)
    assert counts == Counter({SAME: expected - len(missed), UNREAD: len(missed)})
    assert unread(reference_data, strategy) == missed


@pytest.mark.parametrize(
    ("strategy", "equal", "empty"), list(zip(RATINGS, (76, 108, 50, 62, 40), (2, 2, 0, 0, 0), strict=True))
)
def test_scores_come_to_the_winners(reference_data: Path, strategy: str, equal: int, empty: int) -> None:
    """Equal scores, and the one empty reply of either strategy, have no winner with us.

    Where they are recorded, both orders have another one, which is a way to count half.
    """
    counts = outcomes(reference_data, strategy)
    assert counts[DIFFERENT] == 0
    assert (counts[SAME], counts[TIED], counts[UNREAD]) == (468 - equal - empty, equal, empty)


def test_the_documentation_has_the_counts(reference_data: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "judging.md"
    assert table(reference_data) in page.read_text(encoding="utf-8")
