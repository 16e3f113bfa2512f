import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from arena.audit.recording import Kind, record
from arena.files import output
from arena.files.writing import WRITERS
from arena.management.command import ArenaCommand
from arena.models import Study
from leaderboard.files import exports, interchange, selection
from leaderboard.files.gold import LEAST, gold_study
from leaderboard.pages.page import NotReadyError
from leaderboard.refreshing.computing import compute_next
from leaderboard.terminal.options import choice, study_named


class Command(ArenaCommand):
    help = "Write the data of a study as files that import_data can read, or its leaderboard."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument("--what", required=True, metavar="WHAT", help=" | ".join(_WHAT))
        parser.add_argument(
            "--format",
            metavar="FORMAT",
            help=f"{' | '.join(WRITERS)}, for leaderboard also json (default: PATH's ending, or jsonl)",
        )
        parser.add_argument(
            "--out",
            default="",
            metavar="PATH",
            help="a file (.gz: compressed); with --what all a folder or .zip, with gold a folder (default: "
            "standard output)",
        )
        ranked = "for standings and leaderboard"
        voted = "standings, leaderboard, arena, preferences, evalica and gold"
        parser.add_argument(
            "--raters",
            metavar="people|group:NAME|judge:SLUG|all",
            help=f"for {voted}; 'all' only for arena, preferences and evalica",
        )
        parser.add_argument("--ties", metavar="on|off", help=f"for {voted}, and consensus")
        parser.add_argument(
            "--category", metavar="NAME", help="for standings, arena, preferences, evalica, consensus, gold"
        )
        parser.add_argument(
            "--least", type=int, metavar="N", help="for gold: pairs that N or more people rated (default: 2)"
        )
        parser.add_argument(
            "--prompts",
            metavar="curated|live|both",
            help="for standings, arena, preferences, evalica, consensus",
        )
        parser.add_argument("--method", metavar="elo|bradley-terry|davidson|ordinal", help=ranked)
        parser.add_argument(
            "--private", action="store_true", help="with the texts of prompts that visitors typed"
        )
        parser.add_argument(
            "--conversational",
            action="store_true",
            default=None,
            help="for preferences: answers as lists of messages",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        what, self._private = choice(options, "what", _WHAT), options["private"]
        forms, several = interchange.OTHERS.get(what, tuple(WRITERS)), what in (exports.ALL, GOLD)
        form = None if options["format"] is None else choice(options, "format", forms)
        setting = _setting(what, options)
        study = study_named(options["study"])
        try:
            out = Path(options["out"] or "/dev/stdout")
            form = (form or forms[0]) if several else output.form_of(out, forms, form)
            private = " --private" if self._private else ""
            record(Kind.EXPORTED, None, f"With --what {what} --format {form}{private}.", study=study)
            if what == exports.ALL:
                self._save_all(study, form, options["out"])
            elif what == GOLD:
                self._save_gold(study, form, setting, options["out"])
            elif what in interchange.VOTES:
                self._write_votes(study, what, form, setting, options["out"])
            else:
                pieces = _ready(
                    study, lambda: exports.pieces(study, what, form, setting, private=self._private)
                )
                self._write(pieces, form, options["out"])
        except (selection.ExportError, output.EndingError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(output.refusal(Path(options["out"] or "standard output"), error)) from error
        if what in ("comparisons", exports.ALL) and (note := exports.note_on_old_texts(study)):
            self.stderr.write(f"Note: {note}")
        told = ("prompts", "completions", "comparisons", "scores", exports.ALL)
        if what in told and not self._private and (note := exports.note_on_private(study)):
            self.stderr.write(f"Note: {note} Include them with --private.")
        if exports.names_people(study, what):
            self.stderr.write("Note: raters have the names by which they sign in.")

    def _write_votes(self, study: Study, what: str, form: str, setting: dict[str, Any], out: str) -> None:
        found = interchange.vote_file(study, what, form, setting, private=self._private)
        self._write(found.pieces, form, out)
        self.stderr.write(
            f"{found.rows:,} row{'' if found.rows == 1 else 's'}, raters: {found.wanted.raters}."
        )
        for reason, number in sorted((+found.left_out).items()):
            self.stderr.write(f"Left out: {number:,} {reason}.")
        if out and not output.streams(Path(out)):
            output.save(Path(out).with_name(f"{Path(out).name}.note.json"), [found.note()])

    def _save_all(self, study: Study, form: str, out: str) -> None:
        if not out:
            raise CommandError("--what all writes several files. Name a folder or a .zip with --out.")
        if out.lower().endswith(".zip"):
            with output.opened(Path(out)) as file:
                exports.pack(study, form, file, private=self._private)
            self.stdout.write(out)
            return
        for path in exports.save_everything(study, form, output.folder(Path(out)), private=self._private):
            self.stdout.write(str(path))

    def _save_gold(self, study: Study, form: str, setting: dict[str, Any], out: str) -> None:
        if not out:
            raise CommandError("--what gold writes several files. Name a folder with --out.")
        files, left_out = gold_study(study, form, setting, setting.pop("least", LEAST))
        for path in exports.save(files.items(), form, output.folder(Path(out))):
            self.stdout.write(str(path))
        for reason, number in sorted((+left_out).items()):
            self.stderr.write(f"Left out: {number:,} {reason}.")

    def _write(self, pieces: Iterator[bytes], form: str, out: str) -> None:
        if not out:
            self._print(pieces, form)
            return
        output.save(Path(out), pieces)

    def _print(self, pieces: Iterator[bytes], form: str) -> None:
        if form == "parquet" and self.stdout.isatty():
            raise CommandError("A terminal cannot show Parquet. Name a file with --out.")
        try:
            for piece in pieces:
                self.stdout.buffer.write(piece)  # type: ignore[attr-defined]
            self.stdout.flush()
        except BrokenPipeError:
            # Whoever was reading has enough: ``export ... | head``. Nothing more can be written at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ready(study: Study, make: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """What ``make`` gives, after computing here what the snapshot does not hold."""
    while True:
        try:
            return make()
        except NotReadyError as error:
            if error.pending.state not in ("wanted", "running"):
                raise CommandError(str(error)) from error
            if not compute_next(study.pk):
                time.sleep(1)  # another process computes it


GOLD = "gold"
_WHAT = (*exports.WHAT, GOLD, exports.ALL)
_SWITCHES = {
    "standings": ("raters", "ties", "category", "prompts", "method"),
    "leaderboard": ("raters", "ties", "method"),
    "arena": ("raters", "ties", "category", "prompts"),
    "evalica": ("raters", "ties", "category", "prompts"),
    "preferences": ("raters", "ties", "category", "prompts", "conversational"),
    "consensus": ("ties", "category", "prompts"),
    GOLD: ("raters", "ties", "category", "least"),
}


def _setting(what: str, options: dict[str, Any]) -> dict[str, Any]:
    names = dict.fromkeys(name for switches in _SWITCHES.values() for name in switches)
    given = {name: options[name] for name in names if options[name] is not None}
    for name in given:
        if name not in _SWITCHES.get(what, ()):
            meant = ", ".join(other for other, switches in _SWITCHES.items() if name in switches)
            raise CommandError(f"--{name} works only with --what {meant}.")
    return given
