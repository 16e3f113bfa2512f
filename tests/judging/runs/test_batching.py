"""Many threads, few batches: nothing lost, nothing doubled, and nobody waits for ever."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Barrier, Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.runs.batching import Combiner


class OddError(Exception):
    """Raised for some items."""


def test_one_item_is_handled_by_itself() -> None:
    batches: list[list[int]] = []

    def handle(items: Sequence[int]) -> list[int]:
        batches.append(list(items))
        return [item * 2 for item in items]

    combiner = Combiner(handle, most=5)
    assert [combiner.do(1), combiner.do(2)] == [2, 4]
    assert batches == [[1], [2]]


@given(
    threads=st.integers(1, 16),
    each=st.integers(1, 12),
    most=st.integers(1, 10),
    linger=st.sampled_from([0.0, 0.001]),
)
def test_nothing_is_lost_and_nothing_doubled(threads: int, each: int, most: int, linger: float) -> None:
    handled: Counter[tuple[int, int]] = Counter()
    sizes = []

    def handle(items: Sequence[tuple[int, int]]) -> list[tuple[str, int, int] | Exception]:
        sizes.append(len(items))
        handled.update(items)  # no lock: batches are handled one at a time
        return [OddError(f"{a} {b}") if b % 5 == 4 else ("done", a, b) for a, b in items]

    combiner = Combiner(handle, most=most, linger=lambda: linger)
    start = Barrier(threads)

    def work(thread: int) -> None:
        start.wait()
        for number in range(each):
            if number % 5 == 4:
                with pytest.raises(OddError, match=f"^{thread} {number}$"):
                    combiner.do((thread, number))
            else:
                assert combiner.do((thread, number)) == ("done", thread, number)

    in_threads(threads, work)
    assert handled == Counter({(thread, number): 1 for thread in range(threads) for number in range(each)})
    assert max(sizes) <= most


def test_items_gather_while_a_batch_is_handled_and_keep_their_order() -> None:
    gathering = Gathering(most=4)
    first = gathering.begin(0)
    others = [gathering.hand_in(item) for item in range(1, 7)]
    gathering.go_on.set()
    assert [future.result(10) for future in [first, *others]] == [0, 1, 2, 3, 4, 5, 6]
    assert gathering.batches == [[0], [1, 2, 3, 4], [5, 6]]


def test_a_full_batch_does_not_linger() -> None:
    # An hour of lingering would show as a test that hangs.
    combiner: Combiner[int, int] = Combiner(lambda items: [*items], most=3, linger=lambda: 3600)
    in_threads(3, lambda number: combiner.do(number))
    in_threads(6, lambda number: combiner.do(number))


def test_an_exception_of_a_batch_reaches_all_its_threads_and_no_other() -> None:
    def fail_at_first(items: Sequence[int]) -> None:
        if 0 in items:
            raise OddError("all of them")

    gathering = Gathering(most=3, before=fail_at_first)
    blocking = gathering.begin(9)
    failing = [gathering.hand_in(item) for item in (0, 1, 2)]
    after = gathering.hand_in(3)
    gathering.go_on.set()
    assert blocking.result(10) == 9
    for future in failing:
        with pytest.raises(OddError, match="all of them"):
            future.result(10)
    assert after.result(10) == 3


def test_too_few_results_and_no_room_are_errors() -> None:
    combiner: Combiner[int, int] = Combiner(lambda items: [], most=3)
    with pytest.raises(ValueError, match="0 results for 1 items"):
        combiner.do(1)
    with pytest.raises(ValueError, match="at least one"):
        Combiner(lambda items: [*items], most=0)


def test_an_interrupt_while_handling_leaves_nobody_waiting() -> None:
    def interrupt(items: Sequence[int]) -> None:
        if 1 in items:
            raise KeyboardInterrupt

    gathering = Gathering(most=2, before=interrupt)
    first = gathering.begin(0)
    interrupted = [gathering.hand_in(1), gathering.hand_in(2)]
    after = gathering.hand_in(3)
    gathering.go_on.set()
    assert first.result(10) == 0
    for future in interrupted:
        with pytest.raises(KeyboardInterrupt):
            future.result(10)
    assert after.result(10) == 3


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Do ``work`` in so many threads, each given its number; raises what any of them raised."""
    with ThreadPoolExecutor(count) as pool:
        for future in [pool.submit(work, number) for number in range(count)]:
            future.result(30)


class Gathering:
    """A combiner whose first batch waits for ``go_on``, so that the next ones gather meanwhile."""

    def __init__(self, most: int, before: Callable[[Sequence[int]], None] = lambda items: None) -> None:
        self.batches: list[list[int]] = []
        self.go_on = Event()
        self._begun = Event()
        self._before = before
        self._handed_in = 0
        self._combiner = Combiner(self._handle, most=most)
        self._pool = ThreadPoolExecutor(16)

    def begin(self, item: int) -> "Future[int]":
        """Hand in the item that is handled first; returns when it is being handled."""
        future = self._pool.submit(self._combiner.do, item)
        assert self._begun.wait(10)
        return future

    def hand_in(self, item: int) -> "Future[int]":
        """Hand in an item that has to wait; returns when it stands in the queue."""
        future = self._pool.submit(self._combiner.do, item)
        self._handed_in += 1
        for _ in range(10_000):
            if len(self._combiner._waiting) == self._handed_in:
                return future
            wait([future], timeout=0.001)
        raise AssertionError("the item never stood in the queue")

    def _handle(self, items: Sequence[int]) -> list[int]:
        self.batches.append([*items])
        self._begun.set()
        assert self.go_on.wait(10)
        self._before(items)
        return [*items]


def test_an_interrupt_while_results_are_handed_out_leaves_nobody_waiting() -> None:
    class Interrupted(list[int]):
        def __iter__(self) -> Iterator[int]:
            yield 0
            raise KeyboardInterrupt

    combiner = Combiner[int, int](Interrupted, most=3, linger=lambda: 10.0)
    ended: list[object] = []

    def want(item: int) -> None:
        try:
            ended.append(combiner.do(item))
        except BaseException as error:
            ended.append(type(error))

    threads = [Thread(target=want, args=(item,), daemon=True) for item in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(ended) == 3
    assert set(ended) <= {0, KeyboardInterrupt}
