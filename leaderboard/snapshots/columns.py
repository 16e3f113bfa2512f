"""Comparisons of a study as columns, kept in a file that spares reading most of them again.

Comparisons are only added; a row changes only when a later one revises it. So columns hold up to their last
id once revised rows are marked. They are used only if count, sum of ids and number of current rows, and the
creation times of study and last row, are those of the database.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db import connections, models
from django.db.models import Case, Count, F, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Cast, Coalesce

from arena.models import Assignment, Comparison, Completion, CriterionRating, Pair, Purpose, Study
from leaderboard.snapshots import kept
from leaderboard.snapshots.pair_turns import AT_TURN

Rows = npt.NDArray[Any]

logger = logging.getLogger(__name__)

KEPT: Final = "ratings"

WORTH_KEEPING: Final = 20_000

GROWTH: Final = 0.02

AT_ONCE: Final = 10_000

IDENTICAL: Final = "identical"

COMPARISON: Final = [
    ("id", "i8"),
    ("current", "?"),
    ("counts", "?"),
    ("pair", "i8"),
    ("rater", "i8"),
    ("swapped", "?"),
    ("points", "i2"),
    ("rating", "i2"),
    ("reason", "S12"),
    ("score_difference", "f8"),
]
PAIR: Final = [("id", "i8"), ("prompt", "i8"), ("first", "i8"), ("second", "i8")]
COMPLETION: Final = [("id", "i8"), ("contestant", "i8")]
NOTHING: Final = np.empty(0)
EXPECTED: Final = [("id", "i8"), ("expected", "f8")]
CRITERION: Final = [("id", "i8"), ("points", "i2"), ("rating", "i2"), ("reason", "S12")]


def comparisons(study: Study, revision: int) -> Rows:
    """Every comparison of a study, revised ones too, by id: fields COMPARISON.

    ``pair`` is a pair at its turn (``pair_turns``). ``counts`` is false for repeats, checks and
    adjudications. ``rating`` is 0 where there is none, and where a judge compared identical texts (then
    ``reason`` is IDENTICAL).
    ``score_difference`` is first minus second score as shown, or NaN.
    """
    old = _load(study, revision)
    read = None if old is None else _read_on(study, old)
    if read is None:
        old, read = None, _comparisons(study, after=0)
    lacking = len(read) - (0 if old is None else len(old))
    if len(read) >= WORTH_KEEPING and lacking > GROWTH * len(read):
        _store(study, revision, read)
    return read


def pairs(study: Study) -> Rows:
    """The pairs of a study by id: fields PAIR."""
    found = Pair.objects.filter(prompt__study=study).order_by()
    return _by_id(fetched(found.values_list("pk", "prompt", "first", "second"), PAIR))


def at_turn() -> Any:
    """The column ``pair`` of comparisons in a query."""
    return F("pair") + F("turn") * Value(AT_TURN, output_field=models.BigIntegerField())


def prompts(prompt: npt.NDArray[Any], unnamed: Collection[int]) -> npt.NDArray[Any]:
    """What stands for the prompt of each comparison: its id, or for ``unnamed`` one of its own below 0."""
    return np.where(np.isin(prompt, list(unnamed)), -1 - np.arange(len(prompt)), prompt)


def completions(study: Study) -> Rows:
    """The completions of a study by id: fields COMPLETION, ``contestant`` 0 for none."""
    found = Completion.objects.filter(prompt__study=study).order_by()
    author = Coalesce(F("contestant"), Value(0), output_field=models.BigIntegerField())
    return _by_id(fetched(found.annotate(author=author).values_list("pk", "author"), COMPLETION))


def criteria(study: Study) -> dict[str, Rows]:
    """The ratings by each criterion (0 for none), by id of their comparison: fields CRITERION.

    The study's criteria come first, then others by name.
    """
    found = CriterionRating.objects.filter(comparison__study=study).order_by()
    known = [str(name) for name in study.criteria]
    named = sorted(found.values_list("criterion", flat=True).distinct())
    ordered = sorted(named, key=lambda name: known.index(name) if name in known else len(known))
    return {name: of_criterion(study, name) for name in ordered}


def of_criterion(study: Study, name: str) -> Rows:
    found = CriterionRating.objects.filter(comparison__study=study, criterion=name).order_by()
    rating = Coalesce(F("rating"), Value(0), output_field=models.IntegerField())
    fields = ("comparison", "points", "given", "reason")
    return _by_id(fetched(found.annotate(given=rating).values_list(*fields), CRITERION))


def expected(study: Study) -> Rows:
    """The expected ratings of judges, by id of their comparison: fields EXPECTED.

    What a panel keeps there is its mean before it was rounded, and tells of no probabilities.
    """
    on_scale = Q(expected__gte=1, expected__lte=F("points"), rating__isnull=False)
    apart = Q(status=Comparison.Status.IDENTICAL) | Q(source=Comparison.Source.PANEL)
    found = Comparison.objects.filter(on_scale, study=study).exclude(apart).order_by()
    return _by_id(fetched(found.values_list("pk", "expected"), EXPECTED))


def at_random(study: Study) -> npt.NDArray[np.int64]:
    """The ids of comparisons on pairs that were drawn at random, as a control of how others were chosen."""
    drawn = Assignment.objects.filter(study=study, is_random=True, comparisons__isnull=False).order_by()
    return np.sort(fetched(drawn.values_list("comparisons"), [("id", "i8")])["id"])


def neither(study: Study) -> npt.NDArray[np.int64]:
    """The ids of comparisons whose raters accept neither answer."""
    found = Comparison.objects.filter(study=study, neither=True).order_by().values_list("pk")
    return np.sort(fetched(found, [("id", "i8")])["id"])


def _comparisons(study: Study, *, after: int) -> Rows:
    number = models.FloatField()
    asked = ~Q(status=Comparison.Status.IDENTICAL)
    found = Comparison.objects.filter(study=study, pk__gt=after).order_by()
    found = found.annotate(
        numbered=at_turn(),
        counts=Case(When(purpose=Purpose.STUDY, then=True), default=False),
        given=Case(
            When(asked & Q(rating__isnull=False), then=F("rating")),
            default=Value(0),
            output_field=models.IntegerField(),
        ),
        why=Case(When(asked, then=F("reason")), default=Value(IDENTICAL)),
        difference=Case(
            When(asked, then=F("first_score") - F("second_score")),
            output_field=number,
        ),
    )
    fields = (
        "pk",
        "is_current",
        "counts",
        "numbered",
        "rater",
        "swapped",
        "points",
        "given",
        "why",
        "difference",
    )
    return _by_id(fetched(found.values_list(*fields), COMPARISON))


def fetched(queryset: QuerySet[Any, Any], dtype: list[tuple[str, str]]) -> Rows:
    """The rows of a query as an array, without a Python object for every value."""
    sql, parameters = queryset.query.sql_with_params()
    parts = [np.empty(0, dtype=dtype)]
    with connections[queryset.db].chunked_cursor() as cursor:
        cursor.execute(sql, parameters)
        while rows := cursor.fetchmany(AT_ONCE):
            parts.append(np.array(rows, dtype=dtype))
    return np.concatenate(parts)


def _by_id(rows: Rows) -> Rows:
    ids = rows["id"]
    return rows if (ids[1:] > ids[:-1]).all() else rows[np.argsort(ids, kind="stable")]


def _read_on(study: Study, old: Rows) -> Rows | None:
    """The kept comparisons with newer ones; None where they differ from the database."""
    last = int(old["id"][-1])
    new = _comparisons(study, after=last)
    newest = int(new["id"][-1]) if len(new) else last
    revising = Comparison.objects.filter(study=study, pk__gt=last, pk__lte=newest, revises__isnull=False)
    revised = np.array(list(revising.order_by().values_list("revises", flat=True)), dtype=np.int64)
    current = old["current"] & ~np.isin(old["id"], revised)
    if _facts(study, last) != (len(old), int(old["id"].sum()), int((~current).sum())):
        logger.info("The kept comparisons of study %s are out of date; reading all of them", study.slug)
        return None
    read = np.concatenate((old, new))
    read["current"][: len(old)] = current
    return read


def _facts(study: Study, last: int) -> tuple[int, int, int]:
    """Number of comparisons, sum of their ids, and number of revised ones: all found in indexes alone."""
    there = Comparison.objects.filter(study=study, pk__lte=last)
    found = there.aggregate(n=Count("pk"), ids=Sum(Cast("pk", models.BigIntegerField())))
    # SQLite would look for "NOT is_current" in every row.
    return found["n"], int(found["ids"] or 0), there.filter(is_current__in=[False]).count()


def _origin(study: Study, revision: int, last: int) -> str:
    """Tells rows apart that have the same ids in another database."""
    made = Comparison.objects.filter(pk=last, study=study).values_list("created_at", flat=True).first()
    return json.dumps([revision, study.created_at.isoformat(), made and made.isoformat(), COMPARISON])


def _load(study: Study, revision: int) -> Rows | None:
    """The kept comparisons, if any fit the study as it is."""
    arrays, origin = kept.load(study, KEPT) or ({}, "")
    rows = arrays.get("rows", NOTHING)
    return rows if len(rows) and origin == _origin(study, revision, int(rows["id"][-1])) else None


def _store(study: Study, revision: int, rows: Rows) -> None:
    kept.store(study, KEPT, {"rows": rows}, _origin(study, revision, int(rows["id"][-1])))
