"""Finding pairs in the browser's index, and by SQL in tables that hold the same rows; processor time of each.

Run tests.benchmarks.browsing on a scratch database first, then with the same DATABASE_URL (SQLite):
python -m tests.benchmarks.browsing_in_sql

The tables have what a refresh would have to write: a row for each answer with its flags, a row for each pair.
"""

import os
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl

import numpy as np

from tests.benchmarks.browsing import QUESTIONS
from tests.benchmarks.paired import medians

RUNS: Final = 5
TABLES: Final = """
CREATE TABLE pair (pair INTEGER PRIMARY KEY, prompt INT, first INT, second INT, newest INT, spread REAL);
CREATE TABLE answer (pair INT, rater INT, points INT, rating INT, reason INT,
                     tie INT, flipped INT, judges INT, people INT);
"""
INDEXES: Final = """
CREATE INDEX newest ON pair (newest DESC);
CREATE INDEX widest ON pair (spread DESC, newest DESC);
CREATE INDEX of_prompt ON pair (prompt);
CREATE INDEX of_first ON pair (first);
CREATE INDEX of_second ON pair (second);
CREATE INDEX of_pair ON answer (pair);
CREATE INDEX of_rater ON answer (rater, rating, pair);
CREATE INDEX rated ON answer (points, rating, rater, pair);
CREATE INDEX unscored ON answer (reason, rater, pair) WHERE reason > 0;
CREATE INDEX flipped ON answer (flipped, pair) WHERE flipped;
CREATE INDEX judges ON answer (judges, rater, pair) WHERE judges;
CREATE INDEX people ON answer (people, pair) WHERE people;
ANALYZE;
"""
SIDES: Final = {"scored": "rating > 0", "tie": "rating > 0 AND tie", "side": "rating > 0 AND NOT tie"}


def written(index, database):
    spread = np.nan_to_num(index.spread, nan=-1.0)
    pairs = (index.pair, index.prompt, index.first, index.second, index.newest, spread)
    flags = [(index.flags & bit > 0).astype(int) for bit in (1, 2, 4, 8)]
    answers = (index.pair[index.place], index.rater, index.points, index.rating, index.reason, *flags)
    database.executescript(TABLES)
    for table, columns in (("pair", pairs), ("answer", answers)):
        rows = zip(*(column.tolist() for column in columns), strict=True)
        database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)  # noqa: S608 - ids and constants
    database.executescript(INDEXES)
    database.commit()


def conditions(question):
    from leaderboard.comparisons.index import REASONS

    if question.prompts is not None:
        yield f"prompt IN ({', '.join(map(str, question.prompts))})"
    yield from (f"(first = {one} OR second = {one})" for one in question.contestants)
    asked = []
    if question.only:
        asked.append(question.only)
    if question.raters is not None:
        asked.append(f"rater IN ({', '.join(map(str, question.raters))})")
    if question.rating:
        asked.append("rating = {} AND points = {}".format(*question.rating))
    if question.answer in SIDES:
        asked.append(SIDES[question.answer])
    elif question.answer:
        asked.append(f"reason > 0 AND reason = {REASONS.index(question.answer)}")
    if asked:
        yield f"pair IN (SELECT pair FROM answer WHERE {' AND '.join(asked)})"  # noqa: S608 - ids and constants


def selected(database, question):
    """How many pairs there are, after reading the first ten of them."""
    where = " AND ".join(conditions(question)) or "1"
    order = "spread DESC, newest DESC" if question.widest else "newest DESC"
    database.execute(f"SELECT pair FROM pair WHERE {where} ORDER BY {order} LIMIT 10").fetchall()  # noqa: S608 - ids and constants
    found: int = database.execute(f"SELECT count(*) FROM pair WHERE {where}").fetchone()[0]  # noqa: S608 - ids and constants
    return found


def main():
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
    import django

    django.setup()
    from arena.models import Study
    from leaderboard.comparisons import stored
    from leaderboard.comparisons.filters import Known
    from leaderboard.comparisons.index import places
    from leaderboard.models import Snapshot

    study = Study.objects.get()
    index, snapshot = stored.newest(study), Snapshot.objects.newest(study)
    if index is None or snapshot is None:
        sys.exit("Run tests.benchmarks.browsing on this database first.")
    known = Known.of(study, snapshot.counts, np.unique(index.points).tolist())
    path = Path(tempfile.mkdtemp()) / "rows.sqlite3"
    database = sqlite3.connect(path)
    start = time.process_time()
    written(index, database)
    print(f"rows: {time.process_time() - start:.1f} s of the processor, {path.stat().st_size / 1e6:.0f} MB")
    for name, query in QUESTIONS.items():
        asked = known.question(study, known.parse(dict(parse_qsl(query.removeprefix("?")))))
        there, number = places(index, asked), selected(database, asked)
        _, by_index = medians(lambda asked=asked: places(index, asked), RUNS)
        _, by_sql = medians(lambda asked=asked: selected(database, asked), RUNS)
        assert number == len(there), f"{name}: {number} and {len(there)} pairs"
        print(f"{name}: index {by_index:.0f} ms, SQL {by_sql:.0f} ms, {number:,} pairs")


if __name__ == "__main__":
    main()
