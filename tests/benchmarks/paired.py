"""Timing of rivals side by side: interleaved repeats in one process, medians, ratios.

Absolute times drift on a shared machine; ratios of times taken in turn hardly do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time


@dataclass(frozen=True)
class Rival:
    """Something to time. ``updates`` is the work one call does: rivals may do less of the same work."""

    name: str
    run: Callable[[], object]
    updates: float


def race(title, ours, *others, repeats=5):
    """Print the time per update of each and return how many times slower than ours the others are."""
    rivals = (ours, *others)
    taken: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    ours.run()
    for _ in range(repeats):
        for rival in rivals:
            start = perf_counter()
            rival.run()
            taken[rival.name].append((perf_counter() - start) / rival.updates)
    fastest = median(taken[ours.name])
    print(f"\n{title}")
    for rival in rivals:
        each = median(taken[rival.name])
        print(f"  {rival.name:<44} {each * 1e9:10.1f} ns per update {each / fastest:8.1f} x")
    return {rival.name: median(taken[rival.name]) / fastest for rival in others}


def medians(action, runs):
    """Medians in milliseconds, of the clock and of the processor, over ``runs`` calls after a first one."""
    clock, processor = [], []
    for _ in range(runs + 1):
        start, used = perf_counter(), process_time()
        action()
        clock.append(1000 * (perf_counter() - start))
        processor.append(1000 * (process_time() - used))
    return median(clock[1:]), median(processor[1:])
