"""The index of a study: stored in the database by the refresh, and kept in memory by its readers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final
from uuid import uuid4

import numpy as np

from arena.models import Completion, Prompt, Study
from leaderboard.models import ComparisonIndex
from leaderboard.snapshots.comparison_index import Index, build
from leaderboard.snapshots.rows import Rows

IN_MEMORY: Final = 4
"""Indexes that a process keeps; one of a million comparisons takes 20 to 60 MB."""


def packing(study: Study, rows: Rows, people: frozenset[int]) -> Callable[[], bytes]:
    """Packs the index without pairs of private prompts; what it needs of the database is read before."""
    authors = Completion.objects.filter(prompt__study=study, contestant__isnull=False).order_by()
    contestants = dict(authors.values_list("pk", "contestant"))
    private = list(Prompt.objects.filter(study=study, is_private=True).values_list("pk", flat=True))
    shown = rows[~np.isin(rows["prompt"], private)] if private else rows
    return lambda: build(shown, people, contestants).packed()


def store(study: Study, payload: bytes) -> None:
    made = {"version": uuid4().hex, "payload": payload}
    # Without reading the old one, which is as large.
    if not ComparisonIndex.objects.filter(study=study).update(**made):
        ComparisonIndex.objects.create(study=study, **made)


def newest(study: Study) -> Index | None:
    """From memory where that is the newest; None where none was made yet."""
    version = ComparisonIndex.objects.filter(study=study).values_list("version", flat=True).first()
    try:
        return None if version is None else _read(study.pk, version)
    except ComparisonIndex.DoesNotExist:  # deleted since its version was read
        return None


@lru_cache(maxsize=IN_MEMORY)
def _read(study: int, version: str) -> Index:
    # Stored meanwhile may be a newer version, which nobody asks for by this one again.
    return Index.unpacked(bytes(ComparisonIndex.objects.values_list("payload", flat=True).get(study=study)))
