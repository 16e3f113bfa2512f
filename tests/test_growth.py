"""What raters, judges, pages and sweeps ask of the database reads no more where a study holds more."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.urls import resolve
from django.utils.module_loading import import_string

from arena.models import StudyEvent
from arena.rating import progress
from judging.remote import unconfigured
from leaderboard.models.querysets import tail
from leaderboard.pages.kept import MARKS
from tests.benchmarks.growth import BOARD, Work
from tests.benchmarks.growth_rows import GrowingStudy

BLOCK, TIMES = 800, 12

PIECES = ("claim", "answer", "batch", "judge_plan", "judge_claim", "call_claim", "run_claim", "home")

MORE = 700
"""How much more a statement may read, because people and judges have more in hand each time. Every table
that grows has at least 1,100 rows more.
"""

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class Reads:
    """What statements read: rows and entries of indexes, on SQLite steps of its machine."""

    def __init__(self) -> None:
        self._found: Counter[str] = Counter()
        self._steps, self._given = 0, {}
        self._last, self._before = "", 0
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(self._count, 1)

    def of(self, piece: Callable[[], Any]) -> Counter[str]:
        """By statement what a piece of work reads."""
        self._found = Counter()
        piece()
        return self._found

    @contextmanager
    def measured(self) -> Iterator[None]:
        self._before = self._total()
        with connection.execute_wrapper(self._read):
            yield
            self._add_up()

    def measuring(self, function: Callable[[], Any]) -> Callable[[], None]:
        def measure() -> None:
            with self.measured():
                function()

        return measure

    def plan(self, sql: str) -> str:
        explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
        with connection.cursor() as cursor:
            cursor.execute(f"{explain} {sql}", self._given[sql])
            return "\n".join(f"    {row[-1]}" for row in cursor.fetchall())

    def _count(self) -> None:
        self._steps += 1

    def _total(self) -> int:
        if connection.vendor == "sqlite":
            return self._steps
        with connection.connection.cursor() as cursor:
            cursor.execute(
                "SELECT SUM(pg_stat_get_xact_tuples_returned(oid)) FROM pg_class "
                "WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace"
            )
            return int(cursor.fetchone()[0])

    def _read(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        self._add_up()
        self._last, self._given[sql] = sql, params
        return execute(sql, params, many, context)

    def _add_up(self) -> None:
        """Count what the last statement read since it began: SQLite reads on while rows are fetched."""
        total = self._total()
        if self._last and not self._last.startswith(("SAVEPOINT", "RELEASE")):
            self._found[self._last] += total - self._before
        self._last, self._before = "", total


@pytest.fixture
def reads() -> Iterator[Reads]:
    if connection.vendor == "postgresql":
        # Tables as small as here it would rather read whole.
        for way in ("seqscan", "bitmapscan", "hashjoin", "mergejoin"):
            connection.cursor().execute(f"SET LOCAL enable_{way} = off")
        yield Reads()
    else:
        yield Reads()
        connection.connection.set_progress_handler(None, 0)


def test_nothing_reads_more_where_a_study_holds_more(
    reads: Reads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "BEHIND", 3600.0)
    monkeypatch.setattr(unconfigured, "OLDEST", 3600.0)
    monkeypatch.setattr(unconfigured, "PLANNED", 1)  # so that the statement is the same each time
    monkeypatch.setattr(settings, "ALLOWED_HOSTS", ["*"])
    grown = GrowingStudy(BLOCK)
    work = Work(grown, tmp_path, reads)
    pieces: dict[str, Callable[[], Any]] = {name: getattr(work, name) for name in PIECES}
    mark = partial(MARKS[resolve(BOARD).func], slug=grown.study.slug)
    pieces |= {"mark": reads.measuring(mark), "mark of home": reads.measuring(MARKS[resolve("/").func])}
    pieces |= {"what a board was made from": reads.measuring(partial(tail, grown.study))}
    pieces |= {path: reads.measuring(import_string(path)) for path in settings.SWEEPS}
    for piece in pieces.values():  # what is read once in a process
        piece()
    few = {name: reads.of(piece) for name, piece in pieces.items()}
    grown.grow(TIMES * BLOCK)
    StudyEvent.objects.bulk_create(StudyEvent(kind="signed_in") for _ in range(TIMES * BLOCK))
    for piece in pieces.values():
        piece()
    many = {name: reads.of(piece) for name, piece in pieces.items()}
    more = [
        f"{name} reads {n} instead of {few[name][sql]} by {sql}\n{reads.plan(sql)}"
        for name, found in many.items()
        for sql, n in found.items()
        if n > few[name][sql] + MORE
    ]
    assert not more, "\n".join(more)
