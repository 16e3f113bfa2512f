import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError

from arena.data.formats import table
from arena.data.formats.catalogue import CATALOGUE, UnknownFormatError
from arena.data.formats.files import About
from arena.data.formats.ours import take_facts
from arena.data.formats.reading import Fields
from arena.data.formats.records import NOWHERE, Place, counted
from arena.data.formats.table import KINDS, ColumnMapping, MappingError, parse_mapping
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import InvalidStudyError, import_files
from arena.management.command import ArenaCommand

SHOWN_NOTES: Final = 10

REPORT_EVERY: Final = 10_000  # records between lines of progress if the output is no terminal


class Command(ArenaCommand):
    help = "Import prompts, models, answers and ratings into a study. After an error nothing is imported."
    makes_studies = True
    refusals = (InvalidStudyError, UnknownFormatError, MappingError)
    _next_report = REPORT_EVERY

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="slug of the study, which is created if it does not exist")
        parser.add_argument(
            "paths", nargs="+", type=Path, metavar="PATH", help="a file, a folder or a zip archive"
        )
        for name, metavar, meaning in (
            ("format", "NAME", f"one of {', '.join(CATALOGUE)} (default: detected)"),
            ("sheet", "NAME", "sheet of a workbook (default: the first with a table)"),
            (
                *("header", "ROW"),
                "row with the names of columns, two such as 1-2, or 0 for none (default: detected)",
            ),
            ("subset", "NAME", "put all prompts into this subset"),
            ("contestant", "NAME", "the model that wrote the answers of infobench"),
        ):
            parser.add_argument(f"--{name}", default="", metavar=metavar, help=meaning)
        judged = parser.add_argument_group("a judge's replies, of formats that do not name the judge")
        judged.add_argument(
            "--judge", "--answers-by", default="", metavar="SLUG", help="the judge's short name"
        )
        for name, meaning in (
            ("model", "its model"),
            ("protocol", "how it was asked"),
            ("source", "where its ratings come from"),
            ("prices", 'JSON, such as {"currency": "USD", "thousand_pairs": 12.5}'),
            ("seconds", "how many seconds a rating takes"),
        ):
            judged.add_argument(f"--{name}", default="", metavar=name.upper(), help=meaning)
        several: dict[str, Any] = {"action": "append", "default": []}
        meaning = "whether a rater is a person or a judge, where no file says it; repeat for several"
        parser.add_argument("--rater", metavar="NAME=KIND", help=meaning, **several)
        columns = parser.add_argument_group("any spreadsheet (--format table)")
        columns.add_argument("--kind", default="", help=f"what a row is: {', '.join(KINDS)}")
        for name, metavar, meaning in (
            (
                *("map", "FIELD=COLUMN"),
                "the field in a column, from docs/data-formats.md; repeat for several; each column of text "
                "is a model, each column of winner or rating a rater",
            ),
            ("set", "FIELD=VALUE", "a value for every row; repeat for several"),
            (
                *("value", "VALUE=MEANING"),
                "what a value of winner, rating or gold means, such as 0=tie; repeat for several",
            ),
        ):
            columns.add_argument(f"--{name}", metavar=metavar, help=meaning, **several)
        parser.add_argument(
            "--leave-out-rows",
            action="store_true",
            help="import the other rows where some cannot be read; the study's page of data counts them",
        )
        parser.add_argument("--dry-run", action="store_true", help="only check the files")

    def handle(self, *args: Any, **options: Any) -> None:
        report = import_files(
            options["study"],
            options["paths"],
            format_name=options["format"],
            mapping=_mapping(options),
            sheet=options["sheet"],
            header=options["header"],
            about=_about(options),
            leave_out_rows=options["leave_out_rows"],
            dry_run=options["dry_run"],
            progress=self._progress,
        )
        self._end_progress()
        self._tell(report)

    def _tell(self, report: ImportReport) -> None:
        """Print the report. Raises CommandError with the errors."""
        if not report.ok:
            self._refuse(report)
        self._table(report)
        self._warn(report)

    def _progress(self, records: int, place: Place, share: float) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"{share:.0%}, {records:,} records, {place}", _over_the_last, ending="")
        elif records >= self._next_report:
            self._next_report = records + REPORT_EVERY
            self.stderr.write(f"{share:.0%}, {records:,} records, {place}")

    def _end_progress(self) -> None:
        if sys.stderr.isatty():
            self.stderr.write("", _over_the_last, ending="")

    def _refuse(self, report: ImportReport) -> None:
        for group in report.groups.values():
            self.stderr.write(str(group))
        if report.ungrouped:
            self.stderr.write(f"and {report.ungrouped:,} more")
        way_out = " --leave-out-rows imports the other rows." if report.may_leave_out else ""
        raise CommandError(f"{counted(report.error_count, 'errors')}; nothing was imported.{way_out}")

    def _table(self, report: ImportReport) -> None:
        made = " (new)" if report.creates_study else ""
        if not report.written:
            nothing = "nothing would be added" if report.dry_run else "nothing was added"
            self.stdout.write(f"The study {report.study} already has all of this; {nothing}.")
        elif report.dry_run:
            self.stdout.write(
                f"Dry run, nothing was changed. An import into {report.study}{made} would give:"
            )
        else:
            self.stdout.write(f"Imported into the study {report.study}{made}:")
        self.stdout.write(f"{'':14}" + "".join(f"{column:>14}" for column in report.counted.columns))
        for name, numbers in report.counted.rows:
            self.stdout.write(f"{name:14}" + "".join(f"{number:>14,}" for number in numbers))

    def _warn(self, report: ImportReport) -> None:
        for one in (*report.left_out, *report.unused, *report.notes[:SHOWN_NOTES]):
            self.stdout.write(f"Note: {one}")
        if report.note_count > SHOWN_NOTES:
            self.stdout.write(f"and {report.note_count - SHOWN_NOTES:,} more notes")
        self._warn_of_naming(report)
        if report.missing.count:
            self.stdout.write(f"Note: {report.missing.told}.")

    def _warn_of_naming(self, report: ImportReport) -> None:
        naming = report.self_naming
        if naming.count:
            first = naming.examples[0]
            name = "1 answer names" if naming.count == 1 else f"{naming.count:,} answers name"
            others = f" ({naming.others:,} of them another's)" if naming.others else ""
            self.stdout.write(f"Note: {name} a model or maker as the author{others}.")
            where = f"{first.contestant} to prompt {first.prompt} ({first.place})"
            self.stdout.write(
                f'The first is "{first.phrase}" by {where}. Choose under Names in answers what to show.'
            )


def _over_the_last(line: str) -> str:
    """The line in place of the one that a terminal shows."""
    return f"\r\033[K{line}"


def _about(options: dict[str, Any]) -> About:
    given = {name: options[name] for name in ("model", "protocol", "source", "prices", "seconds")}
    fields = Fields(given, NOWHERE, cells=True)
    facts = take_facts(fields)
    if fields.problems:
        raise CommandError("\n".join(f"--{one.field}: {one.reason}" for one in fields.problems))
    return About(options["subset"], options["judge"], facts, options["contestant"], _raters(options["rater"]))


def _raters(given: list[str]) -> dict[str, str]:
    """Kinds of raters by name."""
    found = {name: kind for name, _, kind in (text.rpartition("=") for text in given)}
    for name, kind in found.items():
        if not name or kind not in ("person", "judge"):
            raise CommandError(f'--rater: "{name}={kind}" is not of the form NAME=person or NAME=judge')
    return found


def _mapping(options: dict[str, Any]) -> ColumnMapping | None:
    given = [options[name] for name in ("kind", "map", "set", "value")]
    if options["format"] == table.NAME:
        return parse_mapping(*given)
    if any(given):
        raise MappingError("--kind, --map, --set and --value need --format table")
    return None
