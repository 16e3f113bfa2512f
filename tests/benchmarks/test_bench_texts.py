"""Time of measuring texts; run by ``make bench``."""

import random
from pathlib import Path
from time import process_time

import pytest

from leaderboard.stats.style import size_of

WORDS = 250
TEXTS = 2000
ROUNDS = 5


@pytest.fixture(scope="module")
def texts():
    docs = Path(__file__).parents[2] / "docs"
    words = " ".join(page.read_text() for page in sorted(docs.glob("*.md"))).split()
    rng = random.Random(1)
    return [" ".join(rng.choices(words, k=WORDS)) for _ in range(TEXTS)]


def test_sizes_of_texts(benchmark, texts):
    size_of(["the tokenizer is loaded once"])
    began = process_time()
    benchmark.pedantic(lambda: [size_of([text]) for text in texts], rounds=ROUNDS)
    each = (process_time() - began) / (ROUNDS * TEXTS)
    print(f"\n100,000 texts of {WORDS} words: {100_000 * each:.1f} s of one processor")


@pytest.mark.parametrize("text", ["a", " ", "\n", ".", "😀", "हि", "e\u0301"])
def test_one_text_of_five_million_bytes(benchmark, text):
    long = text * (5_000_000 // len(text.encode()))
    found = benchmark.pedantic(size_of, ([long],), rounds=1)
    assert found.characters == len(long)
