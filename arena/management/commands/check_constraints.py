import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError

from arena.constraints.checking import ConstraintError, holds, parse, shown
from arena.data.formats.files import BrokenFileError, InputFile
from arena.data.formats.records import Place, Problem, counted
from arena.data.formats.values import json_type
from arena.management.command import ArenaCommand

SHOWN: Final = 20


class Command(ArenaCommand):
    help = (
        "Check texts against constraints. Reads JSON Lines of id, text and constraint, and prints id and "
        "holds: true, false, or null if the text does not decide it. docs/constraints.md lists the kinds."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="JSON Lines, also with .gz")

    def handle(self, *args: Any, **options: Any) -> None:
        lines: list[str] = []
        problems: list[Problem] = []
        for found in _checked(options["file"]):
            if isinstance(found, Problem):
                problems.append(found)
            else:
                lines.append(json.dumps(found))
        for problem in problems[:SHOWN]:
            self.stderr.write(str(problem))
        if len(problems) > SHOWN:
            self.stderr.write(f"and {len(problems) - SHOWN:,} more")
        if problems:
            raise CommandError(f"{counted(len(problems), 'errors')}; nothing was checked.")
        self.stdout.writelines(line + "\n" for line in lines)


def _checked(path: Path) -> Iterator[dict[str, Any] | Problem]:
    try:
        if not path.is_file():
            reason = "not a file that can be read" if path.exists() else "no such file"
            raise BrokenFileError(Problem(Place(str(path)), "", reason))
        file = InputFile(path)
        for row in file.json_objects():
            yield row if isinstance(row, Problem) else _line(file, *row)
    except BrokenFileError as error:
        yield error.problem
    except (OSError, ValueError):  # the path is too long, or holds a NUL
        yield Problem(Place(shown(str(path))), "", "no file can have this name")


def _line(file: InputFile, line: int, row: dict[str, Any]) -> dict[str, Any] | Problem:
    own_id, text = row.get("id"), row.get("text")
    if isinstance(own_id, bool) or not isinstance(own_id, str | int):
        return file.problem(line, _expected("a text or a whole number", row, "id"), "id")
    if not isinstance(text, str):
        return file.problem(line, _expected("a text", row, "text"), "text")
    try:
        constraint = parse(row.get("constraint"))
    except ConstraintError as error:
        return file.problem(line, error.reason, error.field)
    return {"id": own_id, "holds": holds(text, constraint)}


def _expected(what: str, row: dict[str, Any], name: str) -> str:
    return f"expected {what}, found {json_type(row[name])}" if name in row else "missing"
