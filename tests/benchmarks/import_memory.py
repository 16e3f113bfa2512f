"""What importing a file of 200 MB takes: memory and time.

Run with: .venv/bin/python -m tests.benchmarks.import_memory [MEGABYTES [FILE...]]
with DATABASE_URL naming a scratch database (it is migrated and filled). Ends with an error where an import
took more memory than LIMIT.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

LIMIT: Final = 500_000_000
"""Bytes an import may hold at its peak, Python and Django included."""

PROMPTS: Final = 2000
CONTESTANTS: Final = 20
WORDS: Final = ("rain", "roof", "river", "stone", "letter", "window", "garden", "number", "answer", "morning")


def _text(rng, characters):
    return " ".join(rng.choices(WORDS, k=characters // 6))


def prompts(size):
    rng = random.Random(1)
    length = 200_000
    for number in range(size // length):
        yield {"id": f"long{number}", "instruction": _text(rng, length)}


def completions(size):
    """Answers of about 1 kB, by ever more contestants to the same prompts."""
    rng = random.Random(2)
    for number in range(size // 1050):
        contestant, prompt = divmod(number, PROMPTS)
        yield {"prompt": f"p{prompt}", "contestant": f"contestant-{contestant}", "text": _text(rng, 1000)}


def comparisons(size, *, ids=True):
    """Votes of about 150 bytes on all pairs of CONTESTANTS."""
    rng = random.Random(3)
    for number in range(size // (151 if ids else 135)):
        first, second = rng.sample(range(CONTESTANTS), 2)
        row = {
            "prompt": f"p{rng.randrange(PROMPTS)}",
            "first": f"contestant-{first}",
            "second": f"contestant-{second}",
            "rater": f"{'rater' if ids else 'walker'}-{number % 500}",
            "rating": rng.randint(1, 8),
            "points": 8,
        }
        yield row | {"id": f"vote-{number}"} if ids else row


def write(path, rows):
    with path.open("w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def measure(path, *, dry_run=False):
    """Import in a process of its own, print what it took and return its peak memory in bytes."""
    command = [sys.executable, "manage.py", "import_data", "memory", str(path)]
    size = path.stat().st_size / 1e6
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        run = subprocess.Popen(command + ["--dry-run"] * dry_run, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(run.pid, 0)
        seconds = time.perf_counter() - start
        run.returncode = os.waitstatus_to_exitcode(status)
        if status:
            output.seek(0)
            raise SystemExit(f"the import of {path.name} failed: {output.read()[-2000:]}")
    peak = usage.ru_maxrss * 1024
    what = f"{path.name}, {size:.0f} MB, {'dry run' if dry_run else 'import'}"
    print(f"{what}: peak {peak / 1e6:.0f} MB, {seconds:.0f} s", flush=True)
    return peak


def main():
    size = int(float(sys.argv[1] if len(sys.argv) > 1 else 200) * 1_000_000)
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], check=True)
    kinds = {
        "prompts.jsonl": prompts(size),
        "comparisons.jsonl": comparisons(size),
        "comparisons-without-ids.jsonl": comparisons(size, ids=False),
        "completions.jsonl": completions(size),
    }
    wanted = sys.argv[2:] or list(kinds)
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        bare = ({"id": f"p{number}", "instruction": "Say something."} for number in range(PROMPTS))
        measure(write(Path(folder) / "base-prompts.jsonl", bare))
        measure(write(Path(folder) / "base-answers.jsonl", completions(CONTESTANTS * PROMPTS * 1050)))
        for name in wanted:
            file = write(Path(folder) / name, kinds[name])
            peaks += [measure(file, dry_run=dry_run) for dry_run in (True, False)]
            file.unlink()
    print(f"highest peak {max(peaks) / 1e6:.0f} MB, limit {LIMIT / 1e6:.0f} MB")
    if max(peaks) > LIMIT:
        raise SystemExit("an import took more memory than it may")


if __name__ == "__main__":
    main()
