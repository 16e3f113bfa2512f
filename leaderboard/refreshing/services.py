"""Makes snapshots: one computation of a study at a time, and the newest data win."""

import logging
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.models import Study
from arena.rating import publication
from leaderboard.answers.asked import FEATURES
from leaderboard.answers.beside_pairs import ranked
from leaderboard.answers.stored.features import feature_tables
from leaderboard.answers.stored.texts import by_elo, text_opinions
from leaderboard.head_to_head.stopping import follow, rule_of
from leaderboard.models import Refresh, Snapshot, SnapshotSlice
from leaderboard.models.querysets import data_mark, newest_texts, tail, tails, texts_mark
from leaderboard.pages.rater_kinds.families import kin_of
from leaderboard.raters.agreement.two import single_people
from leaderboard.raters.bias.measures import own_family
from leaderboard.refreshing import tables
from leaderboard.snapshots import columns
from leaderboard.snapshots import comparison_store as stored
from leaderboard.snapshots.canonical import FORM, Table
from leaderboard.snapshots.copying import Payloads
from leaderboard.snapshots.counts import counts
from leaderboard.snapshots.declarations import THREADS
from leaderboard.snapshots.freshness import RETRY_FAILED_AFTER, request_refresh
from leaderboard.snapshots.holding import holds_standings, is_large
from leaderboard.snapshots.methods import method_at
from leaderboard.snapshots.reading import NO_IDS, Opinions, opinions, waiting
from leaderboard.snapshots.settings import BOTH, SEALED, WITHOUT, TrustSetting, parse
from leaderboard.snapshots.study_lock import DeletedError, held, still_there
from leaderboard.snapshots.text_sizes import texts
from leaderboard.standings.content import board_tables
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.ranking_method import METHODOLOGY, Method
from leaderboard.trust.confidence import confidence_table
from leaderboard.trust.content import known_table, labelled
from leaderboard.trust.reading import subsets

logger = logging.getLogger(__name__)


KEPT_IN_FULL: Final = 3
KEPT_DAYS: Final = 30
ATTEMPTS: Final = 3
"""How often a snapshot is computed whose ratings are changed meanwhile."""

PARTS_AT_ONCE: Final = 16
"""Raters x categories that take no more than a few seconds: with more, the leaderboard opens first."""


@dataclass(frozen=True)
class Outcome:
    """The published snapshot, and whether this call made it."""

    snapshot: Snapshot
    made: bool


def refresh(study: Study, *, anew: bool = False) -> Outcome:
    """Compute a study's snapshot and publish it, unless one of newer data appeared meanwhile.

    Computes outside any transaction. Tables with unchanged inputs are copied, unless ``anew``. Raises
    BusyError where another process holds the study, DeletedError where it is gone; any other failure is
    stored and raised.
    """
    with still_there(study.pk, study.slug):
        Refresh.of(study.pk)
    with held(study.pk, study.slug):
        Refresh.objects.filter(study=study).update(wanted_at=None)
        try:
            with still_there(study.pk, study.slug):
                outcome = _make(study, anew)
                follow(study, outcome.snapshot.counts.get("stopping"))
            Refresh.objects.filter(study=study).update(error="", failed_at=None)
            return outcome
        except DeletedError:
            raise
        except Exception as error:
            logger.exception("The snapshot of study %s could not be computed", study.slug)
            message = f"{type(error).__name__}: {error}"[:1000]
            Refresh.objects.filter(study=study).update(error=message, failed_at=timezone.now())
            raise


def refresh_if_stale(study: Study) -> Outcome | None:
    newest = Snapshot.objects.newest(study)
    if newest is not None and is_current(newest) and not _moves(study, newest):
        Refresh.objects.filter(study=study).update(wanted_at=None)
        return None
    return refresh(study)


def _moves(study: Study, newest: Snapshot) -> bool:
    """Whether the next snapshot would count anything else. What waits for more does not.

    A comparison is missed whose transaction ended after that of the MAY_COME_LATE-th one after it.
    """
    if _made_from(newest) != tail(study) or newest.texts != texts_mark(study):
        return True
    holds = publication.holds_back(study)
    return holds != newest.holds_back or (holds and bool(publication.due(study)))


def _make(study: Study, anew: bool) -> Outcome:
    """Compute and publish; again where a rating that was to be counted is changed meanwhile."""
    for _ in range(ATTEMPTS - 1):
        with suppress(publication.ReopenedError):
            return _made(study, anew)
    return _made(study, anew)


def _made(study: Study, anew: bool) -> Outcome:
    return _publish(*_compute(study, anew))


def _compute(study: Study, anew: bool) -> tuple[Snapshot, list[Table], publication.Due, bytes]:
    """The next snapshot, its tables, the answers that it is the first to count and the index of its
    comparisons. Of these nothing is stored.
    """
    started = time.perf_counter()
    method = Method(rounds=ROUNDS, threads=THREADS)
    known = {} if anew else SnapshotSlice.objects.known(study)
    holds = publication.holds_back(study)
    due, wait = publication.divided(study, _seen(study)) if holds else ({}, None)
    every = opinions(study, without=waiting(study, due) if holds else NO_IDS)
    read = every.at()
    with tables.Making(read, method, known) as making:
        marks = texts_mark(study, due)
        about_texts = text_opinions(study, marks, publication.held_back() if holds else None, due)
        about_features = feature_tables(study, read, about_texts.rows, known)
        right = labelled(study, read)
        revision, comparisons, last = read.mark
        snapshot = Snapshot(
            study=study,
            revision=revision,
            comparisons=comparisons,
            last_comparison=last,
            methodology=METHODOLOGY,
            seed=method.seed,
            parameters={name: getattr(method, name) for name in ("rounds", "interval", "resample")}
            | {name: getattr(method.elo, name) for name in ("k", "scale", "base", "init")},
            counts=_counts(study, every, read, method)
            | {
                "labelled": right is not None,
                "subsets": subsets(study),
                "waiting": wait,
                "texts": marks,
                **about_texts.counts(),
                FEATURES: about_features and about_features.counts(),
                "people": [] if holds else [each.selector for each in single_people(study, read)],
            },
            seconds=0.0,
        )
        due = _open(snapshot, read, method, known, started, due)
        index = making.pool.submit(stored.packing(study, every.rows, every.people))
        made = list(
            making.tables(texts(study, every.usual_prompts), right, partial(holds_standings, snapshot.counts))
        )
        packed = index.result()
    if right is not None and not study.is_closed:
        made.append(known_table(right, read, TrustSetting("", sealed=SEALED), method))
    made += about_texts.tables(known, ranked(snapshot, by_elo(made)))
    made += about_features.tables() if about_features else ()
    confident = confidence_table(study, right, read, method.interval)
    made += [confident] if confident else []
    snapshot.seconds = round(time.perf_counter() - started, 3)
    return snapshot, made, due, packed


@dataclass(frozen=True, eq=False)
class _Marked:
    """Comparisons of a study by what their rows do not say, read once for all that is counted of them."""

    criteria: Mapping[str, columns.Rows]
    at_random: npt.NDArray[np.int64]
    expected: npt.NDArray[np.int64]
    neither: npt.NDArray[np.int64]

    @classmethod
    def of(cls, study: Study) -> Self:
        criteria, expected = columns.criteria(study), columns.expected(study)["id"]
        return cls(criteria, columns.at_random(study), expected, columns.neither(study))

    def counts(self, read: Opinions) -> dict[str, Any]:
        """What readers choose from; and of how many neither answer is acceptable, if there are any."""
        criteria = {name: read.by_criterion(rows) for name, rows in self.criteria.items()}
        neither = _neither(read, self.neither)
        return {
            **counts(read, criteria),
            "at_random": _by_raters(read, self.at_random),
            "expected": _by_raters(read, self.expected),
            **({"neither": neither} if neither else {}),
        }


def _counts(study: Study, every: Opinions, read: Opinions, method: Method) -> dict[str, Any]:
    """What a snapshot says of the comparisons beside its tables, which are of ``read``."""
    marked = _Marked.of(study)
    found = marked.counts(read) | {
        "form": FORM,
        "large": is_large(len(read.raters), len(read.categories), len(read)),
        "own_family": own_families(study, read, method.interval),
        "stopping": rule_of(study, read, method),
        "tail": read.tail,
    }
    return found | _apart(every, marked)


def _neither(read: Opinions, ids: npt.NDArray[np.int64]) -> dict[str, Any]:
    """By kind of raters how many of their comparisons accept neither answer, in all and by model."""
    chosen = read.among_ids(ids)
    kinds = {choice.selector: (chosen.by(choice.ids), read.by(choice.ids)) for choice in read.raters}
    return {
        selector: {"neither": len(some), "of": len(every), "models": _by_model(some, every)}
        for selector, (some, every) in kinds.items()
        if len(some)
    }


def _by_model(some: Opinions, every: Opinions) -> dict[str, list[int]]:
    """By model, in how many of its comparisons neither answer was accepted, and how many it has."""
    sizes = [
        np.bincount(sides[sides >= 0], minlength=len(read.names))
        for read in (some, every)
        for sides in [np.concatenate([read.rows["first"], read.rows["second"]])]
    ]
    return {name: [int(n), int(of)] for name, n, of in zip(every.names, *sizes, strict=True) if of}


_NONE: Final[dict[str, Any]] = {"neither": {}, "turns": []}
"""Counts that are left out where there are none."""


def _apart(every: Opinions, marked: _Marked) -> dict[str, Any]:
    """In a study with live prompts, the counts at each of the settings that tell prompts and votes apart."""
    if every.apart is None:
        return {}
    kinds, found = every.apart.kinds, {}
    for value in ("", *kinds[1:], *([BOTH] if len(kinds) > 1 else [])):
        for visitors in ("", WITHOUT):
            shown = every.at(value, visitors)
            anonymous = shown.by(every.apart.visitors)
            more = {"prompts_shown": value or kinds[0], "anonymous": _anonymous(anonymous)}
            unknown = {"own_family": None} if value or visitors else {}
            # What there is none of must not be read from the usual setting.
            found[f"{value}|{visitors}"] = _NONE | marked.counts(shown) | more | unknown
    return {"prompt_kinds": kinds, "apart": found, **found["|"]}


def _anonymous(votes: Opinions) -> dict[str, int]:
    """How many ratings are by how many raters without an account; empty for none."""
    raters = len(np.unique(votes.rows["rater"]))
    return {"ratings": int(votes.scored.sum()), "raters": raters} if len(votes) else {}


def _seen(study: Study) -> datetime | None:
    """When everything was last counted that was there, and stays counted though the study now holds back."""
    newest = Snapshot.objects.newest(study)
    return None if newest is None or newest.holds_back else newest.created_at


def _open(
    snapshot: Snapshot,
    read: Opinions,
    method: Method,
    known: Payloads,
    started: float,
    due: publication.Due,
) -> publication.Due:
    """Publish what the leaderboard of a large study opens with; ``known`` grows by its tables.

    Returns the answers that the snapshot itself is still the first to count. Raises ReopenedError.
    """
    setting, newest = parse({}, snapshot.known), Snapshot.objects.opened(snapshot.study)
    if setting is None or len(read.raters) * (1 + len(read.categories)) <= PARTS_AT_ONCE:
        return due
    if newest is not None and newest.data >= snapshot.data and is_current(newest):
        return due  # the same or more is open
    made = list(board_tables(read, setting, method_at(setting, method), known))
    if not all(table.kind in SnapshotSlice.Kind.values for table in made):
        return due
    opening = copy(snapshot)
    opening.is_opening, opening.seconds = True, round(time.perf_counter() - started, 3)
    return {} if _publish(opening, made, due).made else due


def _by_raters(read: Opinions, ids: npt.NDArray[np.int64]) -> dict[str, int]:
    """How many of the comparisons with these ids each kind of raters has, where any."""
    chosen = read.among_ids(ids)
    found = {choice.selector: len(chosen.by(choice.ids)) for choice in read.raters}
    return {selector: number for selector, number in found.items() if number}


@transaction.atomic
def _publish(
    snapshot: Snapshot, made: Iterable[Table], due: publication.Due, index: bytes | None = None
) -> Outcome:
    """Store the snapshot, a whole one with the ``index``. Raises ReopenedError."""
    study = snapshot.study
    Refresh.objects.select_for_update().get(study=study)
    newest = Snapshot.objects.opened(study)
    if newest and newest.data > snapshot.data and snapshot.data != data_mark(study):
        return Outcome(newest, made=False)
    snapshot.save()
    publication.publish(due, snapshot.pk)
    slices = (SnapshotSlice(snapshot=snapshot, **vars(table)) for table in made)
    SnapshotSlice.objects.bulk_create(slices, batch_size=200)
    if index is not None:
        stored.store(study, index)
    _prune(snapshot)
    return Outcome(snapshot, made=True)


def _prune(snapshot: Snapshot) -> None:
    """Keep this, the newest with all tables and released ones; of others each day's last for a month."""
    cutoff = timezone.now() - timedelta(days=KEPT_DAYS)
    own = Snapshot.objects.complete().filter(study=snapshot.study)
    rows = list(own.order_by("-pk").values_list("pk", "created_at"))
    kept, days = {snapshot.pk, *(pk for pk, _ in rows[:KEPT_IN_FULL])}, set()
    for pk, created in rows:
        if created >= cutoff and created.date() not in days:
            days.add(created.date())
            kept.add(pk)
    Snapshot.objects.filter(study=snapshot.study, releases=None).exclude(pk__in=kept).delete()


def stale() -> list[int]:
    """Ids of studies whose data or methods changed, as far as ``_moves`` tells."""
    newest = Snapshot.objects.newest_of(Study.objects.all())
    made_from = {pk: _made_from(snapshot) for pk, snapshot in newest.items() if is_current(snapshot)}
    changed = [pk for pk, tail in tails().items() if made_from.get(pk) != tail]
    texts = {pk: tuple(last for _, last in newest[pk].texts) for pk in made_from}
    others = newest_texts().items()
    changed += [pk for pk, end in others if pk in texts and texts[pk] != end and pk not in changed]
    # Where ratings wait, only a closer look tells.
    waits = {pk for pk in made_from if newest[pk].holds_back}
    wait = Study.objects.in_bulk([pk for pk in changed if pk in waits])
    return [pk for pk in changed if pk not in wait or _moves(wait[pk], newest[pk])]


def _made_from(snapshot: Snapshot) -> tuple[int, int, int | None]:
    """What ``tail`` said then."""
    return snapshot.revision, snapshot.last_comparison, snapshot.counts.get("tail")


def is_current(snapshot: Snapshot) -> bool:
    """Whether it was made by the methods of this version and has the form of its tables."""
    return snapshot.methodology == METHODOLOGY and snapshot.counts.get("form") == FORM


def sweep() -> int:
    """Ask for a refresh of every stale study; returns how many.

    Ratings ask for refreshes themselves, so this finds only lost ones.
    """
    now = timezone.now()
    waiting = Q(failed_at__gt=now - RETRY_FAILED_AFTER) | Q(running_until__gt=now)
    left_alone = set(Refresh.objects.filter(waiting).values_list("study", flat=True))
    return sum(request_refresh(study_id) for study_id in stale() if study_id not in left_alone)


def abandon_runs() -> None:
    """Free every study, when the only process starts."""
    Refresh.objects.update(running_until=None, wanted_at=None)


def own_families(study: Study, read: Opinions, level: float) -> dict[str, Any]:
    """How much better judges rate their relatives among the contestants than others do."""
    judges = {each.selector: each for each in read.raters if each.selector.startswith("judge:")}
    kin = kin_of(study, {selector: each.label for selector, each in judges.items()}) if judges else {}
    found = {
        selector: own_family(read, judges[selector], names.everyone, level)
        for selector, names in kin.items()
        if names.everyone
    }
    return {selector: measured for selector, measured in found.items() if measured}
