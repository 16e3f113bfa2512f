"""Exports of a study."""

import contextlib
import re
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC
from pathlib import Path
from typing import IO, Final

from django.utils import timezone

from arena.data import export
from arena.data.formats.catalogue import RECORD
from arena.files import output
from arena.files.writing import WRITERS, Row
from arena.models import Rater, Study
from leaderboard.files.interchange import OTHERS, VOTES, leaderboard_pieces, vote_file
from leaderboard.files.selection import ExportError, check_form, no_scores
from leaderboard.models import Snapshot
from leaderboard.pages.page import NotReadyError
from leaderboard.pages.rater_kinds.judge_facts import to_export
from leaderboard.pages.standings.table import STANDINGS
from leaderboard.snapshots.settings import UnknownSettingError, parse
from leaderboard.standings.page import Board
from leaderboard.trust import tags


def standings(study: Study, setting: dict[str, str]) -> list[Row]:
    """Raises ExportError, or NotReadyError where a worker computes them."""
    snapshot = Snapshot.objects.newest(study)
    if snapshot is None:
        raise ExportError(no_scores(study))
    try:
        chosen = parse(setting, snapshot.counts)
    except UnknownSettingError as error:
        raise ExportError(str(error)) from error
    board = Board.read(study, snapshot, chosen) if chosen else None
    if board is not None and board.pending is not None:
        raise NotReadyError(board.pending)
    if board is None or board.content is None:
        raise ExportError(
            f'The study "{study.slug}" has no ratings for this setting, so it has no leaderboard.'
        )
    return list(board.file_rows())


ALL: Final = "all"
WHAT: Final = (*export.TABLES, STANDINGS.name, tags.TABLE.name, *OTHERS)


def pieces(
    study: Study, what: str, form: str, setting: dict[str, str] | None = None, *, private: bool = False
) -> Iterator[bytes]:
    """The file of a table, read while it is taken. Raises ExportError before the first piece.

    ``setting`` chooses standings and votes, as in the address of a board. ``private``: with the texts of
    private prompts, for operators.
    """
    check_form(form)
    if what in VOTES:
        return vote_file(study, what, form, setting or {}, private=private).pieces
    if what in OTHERS:
        return leaderboard_pieces(study, form, setting or {})
    if what == STANDINGS.name:
        return WRITERS[form](STANDINGS, standings(study, setting or {}))
    if what == tags.TABLE.name:
        return WRITERS[form](tags.TABLE, tags.rows(study))
    rows = export.rows(study, what, private=private)
    return WRITERS[form](export.TABLES[what], _with_facts(study, rows) if what == "raters" else rows)


def _with_facts(study: Study, rows: Iterator[Row]) -> Iterator[Row]:
    """Raters with the facts of this arena's judges."""
    slugs = export.rater_slugs(study)
    own = {(Rater.Kind.JUDGE, slugs[rater]): told for rater, told in to_export(slugs).items()}
    return ({**row, **own.get((row["rater_kind"], row["rater"]), {})} for row in rows)


def names_people(study: Study, what: str) -> bool:
    """True for a file in which people have the names by which they sign in."""
    return what in (ALL, "raters", "comparisons", "scores", "answers") and export.names_accounts(study)


def note_on_old_texts(study: Study) -> str:
    old = export.about_old_texts(study)
    if not old:
        return ""
    comparisons = "1 rating is" if old == 1 else f"{old:,} ratings are"
    return f"{comparisons} about an answer that was changed later. An import takes the current answer."


def file_name(study: Study, what: str, ending: str) -> str:
    """A name such as ``demo-prompts-CC-BY-4.0-2025-01-31.csv``."""
    licence = re.sub(r"[^A-Za-z0-9.+]+", "-", study.licence).strip("-.")
    parts = (study.slug, what, licence, f"{timezone.now().astimezone(UTC):%Y-%m-%d}")
    return f"{'-'.join(part for part in parts if part)}.{ending}"


def note_on_private(study: Study) -> str:
    """What files leave out because a visitor typed it; empty for nothing."""
    said = export.on_private_prompts(study)
    if not said:
        return ""
    ratings = "1 rating is" if said == 1 else f"{said:,} ratings are"
    return f"{ratings} on private prompts. Their texts are left out."


def everything(study: Study, form: str, *, private: bool = False) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Every file by its path. Raises ExportError before the first."""
    check_form(form)
    # What names others comes first, so that all it names is there when their files are read.
    for what in reversed(export.TABLES):
        if export.count(study, what):
            yield f"{what}.{form}", pieces(study, what, form, private=private)
    with contextlib.suppress(ExportError):  # where nothing is ranked yet
        yield f"{RECORD}/{STANDINGS.name}.{form}", pieces(study, STANDINGS.name, form)
    if tags.counts(study):
        yield f"{RECORD}/{tags.TABLE.name}.{form}", pieces(study, tags.TABLE.name, form)


def save_everything(study: Study, form: str, folder: Path, *, private: bool = False) -> list[Path]:
    """Write every file. Raises ExportError and OSError."""
    check_form(form)
    (folder / RECORD).mkdir(parents=True, exist_ok=True)
    return save(everything(study, form, private=private), form, folder)


def save(files: Iterable[tuple[str, Iterable[bytes]]], form: str, folder: Path) -> list[Path]:
    """Write the files, removing those of an earlier export whose table is not among them. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in files:
        output.save(folder / name, content)
        written.append(folder / name)
    recorded = (f"{RECORD}/{name}.{form}" for name in (STANDINGS.name, tags.TABLE.name))
    for name in (*(f"{what}.{form}" for what in export.TABLES), *recorded):
        if folder / name not in written:
            (folder / name).unlink(missing_ok=True)
    return written


def zipped(study: Study, form: str, *, private: bool = False) -> IO[bytes]:
    """Every file in a temporary zip archive. Raises ExportError."""
    check_form(form)
    packed = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asked closes it
    pack(study, form, packed, private=private)
    packed.seek(0)
    return packed


def pack(study: Study, form: str, file: IO[bytes], *, private: bool = False) -> None:
    """Write every file into a zip archive. Raises ExportError."""
    with output.NewZip(file) as archive:
        for name, content in everything(study, form, private=private):
            with archive.open(name, "w", force_zip64=True) as member:
                for piece in content:
                    member.write(piece)
