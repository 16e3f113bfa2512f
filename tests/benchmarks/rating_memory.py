"""Peak memory that bootstrapped Elo adds to a process.

python -m tests.benchmarks.rating_memory GAMES games|prompts numpy|numba prints it in MB. The caller's arrays
and the compiled code are there before the measurement begins.
"""

import resource
import sys

import numpy as np

from leaderboard.stats import bootstrap_elo

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
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main(games, unit, backend):
    bootstrap_elo([0], [1], [1], 2, rounds=2, backend=backend)
    a, b, score, prompt = arrays(games)
    cluster = prompt if unit == "prompts" else None
    # Enough rounds that every thread holds as many at once as it ever would, and no more.
    rounds = 1000 if games < 100_000 else 32 if games < 10_000_000 else 4
    before = peak()
    bootstrap_elo(a, b, score, CONTESTANTS, rounds=rounds, cluster=cluster, backend=backend, threads=2)
    print(round(peak() - before))


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
