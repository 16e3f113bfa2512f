"""Peak memory that bootstrapped Elo adds to a process.

python -m tests.benchmarks.rating_memory GAMES games|prompts prints it in MB. The caller's arrays are there
before the measurement begins.
"""

import sys
from pathlib import Path

import numpy as np

from leaderboard.stats.elo_bootstrap import bootstrap_elo

CONTESTANTS = 20
GAMES_OF_A_PROMPT = 190
GENERATED_AT_ONCE = 100_000


def arrays(games):
    """Both contestants, score and prompt of so many random games, made without large temporaries."""
    generator = np.random.default_rng(0)
    a, b, prompt = (np.empty(games, dtype=np.int64) for _ in range(3))
    score = np.empty(games)
    for start in range(0, games, GENERATED_AT_ONCE):
        part = slice(start, min(start + GENERATED_AT_ONCE, games))
        size = part.stop - part.start
        a[part] = generator.integers(CONTESTANTS, size=size)
        b[part] = (a[part] + generator.integers(1, CONTESTANTS, size=size)) % CONTESTANTS
        score[part] = generator.integers(3, size=size) / 2
        prompt[part] = generator.integers(-(-games // GAMES_OF_A_PROMPT), size=size)
    return a, b, score, prompt


def peak():
    """Highest memory of this process so far, in MB."""
    # Not ru_maxrss, which begins with what the parent of this process had.
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000


def main(games, unit):
    bootstrap_elo([0], [1], [1], 2, rounds=2)
    a, b, score, prompt = arrays(games)
    cluster = prompt if unit == "prompts" else None
    before = peak()
    bootstrap_elo(a, b, score, CONTESTANTS, cluster=cluster)
    print(round(peak() - before))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
