"""Makes releases of a study, and corrects what can be corrected of one."""

import hashlib
import io
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from arena.audit.recording import Kind, record
from arena.models import Study
from arena.pages.permissions import Visitor
from leaderboard.files.bundle.archive import JUDGES, BundleError, Reader
from leaderboard.files.bundle.making import make
from leaderboard.models import Refresh, Release, ReleaseBundle, Snapshot
from leaderboard.models.querysets import data_mark
from leaderboard.pages.cards import holds_simulated
from leaderboard.pages.format import counted
from leaderboard.pages.rater_kinds.flags import flag_sentences
from leaderboard.refreshing.services import is_current
from leaderboard.releases.fields import Fields, FieldsError, read_all, read_changelog, read_doi
from leaderboard.releases.provenance import by_origin
from leaderboard.snapshots.freshness import behind, request_refresh


class ReleaseError(Exception):
    """There is nothing that could be released; the message is for the operator."""


@dataclass(frozen=True)
class Outcome:
    """The release, and whether this call made it."""

    release: Release
    made: bool


def release(study: Study, fields: Fields, by: Visitor = None) -> Outcome:
    """Freeze the newest snapshot; the same fields once more give the same release.

    Packs outside any transaction. Raises FieldsError for a version that is taken, or ReleaseError.
    """
    known = _known(study, fields)
    if known:
        return Outcome(known, made=False)
    _check_newest(study)
    file = io.BytesIO()
    try:
        snapshot = make(study, file)
    except BundleError as error:
        raise ReleaseError(str(error)) from error
    made = Release(
        study=study,
        snapshot=snapshot,
        provenance=by_origin(study, snapshot),
        judges=Reader(file).json(JUDGES)["judges"],
        flags=flag_sentences(study, snapshot),
        sha256=hashlib.sha256(file.getbuffer()).hexdigest(),
        size=file.getbuffer().nbytes,
        **fields.stored(),
    )
    return _stored(made, fields, file.getvalue(), by)


@transaction.atomic
def _stored(made: Release, fields: Fields, bundle: bytes, by: Visitor) -> Outcome:
    Refresh.of(made.study_id)
    # Under this lock snapshots are published and removed; so of two calls the second sees the first one's.
    Refresh.objects.select_for_update().get(study=made.study_id)
    study = Study.objects.get(pk=made.study_id)
    known = _known(study, fields)
    if known:
        return Outcome(known, made=False)
    snapshot = Snapshot.objects.filter(pk=made.snapshot_id).first()
    if snapshot is None or study.revision != snapshot.revision:
        raise ReleaseError("The study changed while the release was made; nothing was stored. Try again.")
    newest = study.releases.order_by("-number").first()
    made.number = newest.number + 1 if newest else 1
    made.name, made.slug = study.name, study.slug
    made.simulated = study.simulated or holds_simulated(snapshot)
    made.save()
    ReleaseBundle.objects.create(release=made, content=bundle)
    _note(made, by, "made.")
    return Outcome(made, made=True)


def _known(study: Study, fields: Fields) -> Release | None:
    """The release of this version, if it is the one asked for. Raises FieldsError for another."""
    found: Release | None = study.releases.filter(version=fields.version).first()
    if found and {name: getattr(found, name) for name in fields.stored()} != fields.stored():
        raise FieldsError(
            {"version": f"Release {found.number} of this study is version {found.version}; choose another."}
        )
    return found


def _check_newest(study: Study) -> None:
    """Raise ReleaseError unless the newest snapshot is of the study as it is."""
    snapshot = Snapshot.objects.newest(study)
    if snapshot and snapshot.data == data_mark(study) and is_current(snapshot):
        return
    request_refresh(study.pk)
    if snapshot is None:
        why = "There are no scores to release yet."
    elif not is_current(snapshot):
        why = f"The scores are by method version {snapshot.methodology}, from before an update."
    else:
        added = behind(study, snapshot)
        came = f"{counted(added, 'rating')} came in" if added > 0 else "something else in the study changed"
        why = f"The scores are older than the data: {came} since."
    raise ReleaseError(
        f"{why} New ones are being computed; try again in a moment. On the command line: {settings.COMMAND} "
        f"refresh {study.slug}. If ratings keep coming, pause the study first."
    )


@transaction.atomic
def correct(number: int, study: Study, doi: str, changelog: str, by: Visitor) -> bool:
    """Store DOI and changelog of a release, each change on record; False if nothing changed.

    Raises FieldsError.
    """
    wanted = read_all({"doi": (read_doi, doi), "changelog": (read_changelog, changelog)})
    locked = Release.objects.select_for_update(of=("self",), no_key=True)
    stored = locked.get(study=study, number=number)
    changed = {name: text for name, text in wanted.items() if getattr(stored, name) != text}
    if not changed:
        return False
    Release.objects.filter(pk=stored.pk).update(**changed, corrected_at=timezone.now())
    for name, text in changed.items():
        label = {"doi": "DOI", "changelog": "changelog"}[name]
        before = getattr(stored, name)
        _note(stored, by, f"{label}: {text or 'none'}\nBefore: {before or 'none'}")
    return True


def _note(about: Release, by: Visitor, what: str) -> None:
    record(Kind.RELEASE, by, f"Release {about.number}, version {about.version}, {what}", study=about.study)
