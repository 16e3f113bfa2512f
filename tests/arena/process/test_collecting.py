"""What the garbage collector is spared."""

import gc
from collections.abc import Iterator

import pytest

from arena.process.environment import YOUNG, spare_what_stays


@pytest.fixture
def as_before() -> Iterator[None]:
    """This process gets its collector back."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("as_before")
def test_what_is_loaded_is_not_looked_at_again() -> None:
    kept = {"loaded": "long ago"}
    spare_what_stays()
    assert gc.get_freeze_count() > 0
    assert not any(each is kept for each in gc.get_objects())
    assert gc.get_threshold()[0] == YOUNG


@pytest.mark.usefixtures("as_before")
def test_cycles_that_come_later_are_collected() -> None:
    spare_what_stays()
    cycle: list[object] = []
    cycle.append(cycle)
    del cycle
    assert gc.collect() > 0
