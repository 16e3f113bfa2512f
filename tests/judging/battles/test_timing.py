"""A visitor cannot tell from when the words come which side has the slow model: battles in made-up time."""

import random
import re
from dataclasses import dataclass

import pytest

from judging.battles.release import Release, Side, released_at
from tests.judging.battles.timing import ALPHA, Course, Look, chances

FLUSH, POLL = 0.4, 0.5
BATTLES = 60
LONGEST = 400.0


@dataclass(frozen=True)
class Written:
    """An answer that is written evenly, and of which whole sentences may be shown."""

    text: str
    speed: float
    since: float

    def at(self, moment: float) -> Side:
        there = int(max(moment - self.since, 0.0) * self.speed)
        if there >= len(self.text):
            return Side(len(self.text), True, self.since)
        ends = [found.end() for found in re.finditer(r"\. ", self.text[:there])]
        return Side(ends[-1] if ends else 0, False, self.since)


def words(rng: random.Random) -> str:
    return " ".join("".join(rng.choices("abcdefgh", k=rng.randint(2, 9))) for _ in range(rng.randint(4, 22)))


def played(rng: random.Random, fast: float, slow: float) -> Course:
    side = rng.randint(0, 1)
    speeds = (slow, fast) if side == 0 else (fast, slow)
    answers = [
        Written(" ".join(f"{words(rng)}." for _ in range(rng.randint(4, 15))), speed, rng.random())
        for speed in speeds
    ]
    release: Release | None = None
    stored = Side(0), Side(0)
    looks: list[Look] = []
    flush, poll = rng.random() * FLUSH, rng.random() * POLL
    while poll < LONGEST and not (looks and all(looks[-1].complete)):
        if flush <= poll:
            stored = answers[0].at(flush), answers[1].at(flush)
            release = released_at(flush, release, stored)
            flush += FLUSH
        else:
            looks.append(seen(release and released_at(poll, release, stored), stored))
            poll += POLL
    return Course((answers[0].text, answers[1].text), looks, side)


def seen(release: Release | None, sides: tuple[Side, Side]) -> Look:
    released = release.released if release else 0
    first, second = (min(released, side.length) for side in sides)
    ended = [side.is_complete and released >= side.length for side in sides]
    return Look((first, second), (ended[0], ended[1]))


@pytest.mark.parametrize(("fast", "slow"), [(400.0, 60.0), (150.0, 100.0), (300.0, 20.0), (2000.0, 500.0)])
def test_nothing_tells_which_side_is_slow(fast: float, slow: float) -> None:
    rng = random.Random(3)
    courses = [played(rng, fast, slow) for _ in range(BATTLES)]
    assert all(look.lengths[0] == look.lengths[1] for course in courses for look in course.open_looks)
    assert all(all(course.looks[-1].complete) for course in courses)
    assert {name: chance for name, chance in chances(courses).items() if chance <= ALPHA} == {}


def test_a_stop_at_the_end_of_a_sentence_would_tell() -> None:
    """The clues find what they are to find: here both stop where the slow one's sentences end."""
    rng = random.Random(3)
    courses = []
    for number in range(BATTLES):
        texts = " ".join(f"{words(rng)}." for _ in range(9)), " ".join(f"{words(rng)}." for _ in range(9))
        ends = [found.end() for found in re.finditer(r"\. ", texts[number % 2])]
        looks = [Look((end, end)) for end in ends for _ in range(3)]
        courses.append(Course(texts, looks, number % 2))
    assert {"at_ends", "before_ends"} <= {name for name, p in chances(courses).items() if p <= ALPHA}
