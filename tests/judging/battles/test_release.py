"""Properties of the pace at which both answers are released."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.battles.release import RATE, STOP, Release, Side, Sides, released_at

FLUSH = 0.4


@dataclass(frozen=True)
class Answer:
    """An answer that is written evenly, from ``after`` seconds on, with ``speed`` characters a second."""

    length: int
    speed: float
    after: float

    def at(self, moment: float) -> Side:
        there = min(self.length, int(max(moment - self.after, 0.0) * self.speed))
        return Side(there, there == self.length, self.after)

    def __post_init__(self) -> None:
        assert self.length > 0


ANSWERS = st.builds(Answer, st.integers(1, 3000), st.floats(3.0, 900.0), st.floats(0.0, 8.0))


def played(first: Answer, second: Answer, moments: Sequence[float]) -> list[tuple[Release | None, Sides]]:
    """What is released at each moment."""
    release, found = None, []
    for moment in moments:
        sides = first.at(moment), second.at(moment)
        release = released_at(moment, release, sides)
        found.append((release, sides))
    return found


def shown(release: Release | None, side: Side) -> tuple[int, bool]:
    """The characters of a side that are seen, and whether its end is."""
    if release is None:
        return 0, False
    return min(release.released, side.length), side.is_complete and release.released >= side.length


def can_be_seen(sides: Sides) -> bool:
    return all(side.length >= STOP or (side.is_complete and side.length) for side in sides)


EVENLY = [number * FLUSH for number in range(100)]
MOMENTS = st.lists(st.floats(0.0, 60.0), min_size=5, max_size=60).map(sorted)


@given(ANSWERS, ANSWERS, MOMENTS)
def test_what_is_seen_is_there_and_stays(first: Answer, second: Answer, moments: list[float]) -> None:
    before = 0
    for release, sides in played(first, second, moments):
        if release is None:
            assert not can_be_seen(sides)
            continue
        assert release.released >= before
        assert release.released <= max(side.length for side in sides)
        # The answer that is still being written is never overtaken.
        assert all(release.released <= side.length or side.is_complete for side in sides)
        before = release.released


@given(ANSWERS, ANSWERS, MOMENTS)
def test_nothing_is_seen_before_both_have_begun(first: Answer, second: Answer, moments: list[float]) -> None:
    for release, sides in played(first, second, moments):
        if not all(side.length for side in sides):
            assert release is None


@given(ANSWERS, ANSWERS)
def test_it_begins_when_there_is_something_to_see(first: Answer, second: Answer) -> None:
    """So that a model that fails before is replaced unseen, and reading is timed from there."""
    for release, sides in played(first, second, EVENLY):
        assert (release is not None) == can_be_seen(sides)


@given(ANSWERS, ANSWERS, MOMENTS)
def test_nobody_sees_which_side_is_which(first: Answer, second: Answer, moments: list[float]) -> None:
    as_drawn = [[shown(r, side) for side in sides] for r, sides in played(first, second, moments)]
    mirrored = [[shown(r, side) for side in sides] for r, sides in played(second, first, moments)]
    assert as_drawn == [pair[::-1] for pair in mirrored]


@given(st.integers(1, 2000), st.integers(1, 2000), st.floats(3.0, 900.0), st.floats(0.0, 6.0))
def test_the_slower_one_can_be_either(short: int, long: int, speed: float, after: float) -> None:
    """The same two texts, once the first is the slow one and once the second: seen alike while it writes."""
    slow, fast = speed, 3000.0
    seen = []
    for speeds in ((slow, fast), (fast, slow)):
        first = Answer(short, speeds[0], after if speeds[0] == slow else 0.0)
        second = Answer(long, speeds[1], after if speeds[1] == slow else 0.0)
        play = played(first, second, EVENLY)
        both = [(shown(r, sides[0]), shown(r, sides[1])) for r, sides in play]
        seen.append([pair for pair in both if not (pair[0][1] or pair[1][1])])
    both_written = [moment for moment in EVENLY if moment < after + min(short, long) / slow]
    for _, one, other in zip(both_written, *seen, strict=False):
        assert one == other


@given(ANSWERS, ANSWERS, MOMENTS)
def test_none_is_faster_than_the_rate(first: Answer, second: Answer, moments: list[float]) -> None:
    last: tuple[float, int] | None = None
    for moment, (release, _) in zip(moments, played(first, second, moments), strict=True):
        if release is None:
            continue
        assert release.moment <= moment + 1e-6
        if last:
            assert release.released - last[1] <= (moment - last[0]) * RATE + 1
        last = release.moment, release.released


@given(ANSWERS, ANSWERS)
def test_everything_is_released_in_the_end(first: Answer, second: Answer) -> None:
    release = played(first, second, EVENLY)[-1][0]
    assert release is not None
    sides = Side(first.length, True), Side(second.length, True)
    for _ in sides:  # the end of one, then that of the other
        release = released_at(release.moment + 1e5, release, sides)
        assert release is not None
    assert release.released == max(first.length, second.length)


@given(ANSWERS, ANSWERS)
def test_all_of_both_is_seen_by_one_who_looks_once(first: Answer, second: Answer) -> None:
    """Nothing is stored any more once both have answered, and the page computes the rest."""
    sides = Side(first.length, True), Side(second.length, True)
    seen = released_at(1e5, Release(0.0, 0.0, 0, RATE), sides)
    assert seen is not None
    assert seen.released == max(first.length, second.length)
    halfway = released_at(min(first.length, second.length) / RATE + 0.5, Release(0.0, 0.0, 0, RATE), sides)
    assert halfway is not None
    wanted = min(min(first.length, second.length) + RATE / 2, seen.released)
    assert wanted - 1 <= halfway.released <= wanted


@given(ANSWERS, ANSWERS, MOMENTS, st.lists(st.floats(0.0, 60.0), max_size=30))
def test_who_looks_in_between_sees_no_more_than_is_seen_later(
    first: Answer, second: Answer, moments: list[float], looks: list[float]
) -> None:
    """A page computes what may be seen from what was last stored."""
    play = list(zip(moments, played(first, second, moments), strict=True))
    for (_, (stored, sides)), (later, (after, _)) in pairwise(play):
        if stored is None or after is None:
            continue
        for look in (each for each in looks if stored.moment <= each <= later):
            seen = released_at(look, stored, sides)
            assert seen is not None
            assert stored.released <= seen.released <= after.released


@pytest.mark.parametrize("long_is_slow", [False, True])
def test_what_goes_on_behind_an_end_tells_nothing_about_who_was_slow(long_is_slow: bool) -> None:
    short, long = Answer(400, 40.0, 0.0), Answer(3000, 3000.0, 0.0)
    if long_is_slow:
        short, long = Answer(400, 400.0, 0.0), Answer(3000, 40.0, 0.0)
    play = dict(zip(EVENLY, played(short, long, EVENLY), strict=True))
    seen = [release.released for release, _ in play.values() if release]
    alone = [count for count in seen if count > 400]
    assert all(30.0 < (later - now) / FLUSH < 40.0 for now, later in pairwise(alone))
    assert seen[-1] > 1000
