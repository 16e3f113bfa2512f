"""The index of a study: stored in the database by the refresh, and kept in memory by its readers."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final
from uuid import uuid4

from arena.models import Completion, Study
from leaderboard.comparisons.index import Array, Index, build
from leaderboard.models import ComparisonIndex

IN_MEMORY: Final = 4
"""Studies whose index a process keeps; one of a million comparisons takes 20 to 60 MB."""

_kept: OrderedDict[int, tuple[str, Index]] = OrderedDict()
_lock: Final = Lock()


def packed(study: Study, rows: Array, people: frozenset[int]) -> bytes:
    authors = Completion.objects.filter(prompt__study=study, contestant__isnull=False).order_by()
    return build(rows, people, dict(authors.values_list("pk", "contestant"))).packed()


def store(study: Study, payload: bytes) -> None:
    ComparisonIndex.objects.update_or_create(
        study=study, defaults={"version": uuid4().hex, "payload": payload}
    )


def newest(study: Study) -> Index | None:
    """From memory where that is the newest; None where none was made yet."""
    row = ComparisonIndex.objects.filter(study=study)
    version = row.values_list("version", flat=True).first()
    with _lock:
        kept = _kept.get(study.pk)
        if kept and kept[0] == version:
            _kept.move_to_end(study.pk)
            return kept[1]
    found = row.values_list("version", "payload").first()
    if found is None:
        return None
    index = Index.unpacked(bytes(found[1]))
    with _lock:
        _kept[study.pk] = (found[0], index)
        while len(_kept) > IN_MEMORY:
            _kept.popitem(last=False)
    return index
