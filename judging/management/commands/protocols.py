"""The catalogue of protocols: ``manage.py protocols [NAME]``."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.customization import file_name
from judging.protocols.description import described, in_full, listing, markdown
from judging.protocols.protocol import Protocol, UnknownProtocolError
from judging.protocols.published import RUN, shared_wording


class Command(ArenaCommand):
    help = "List the protocols for judges, or show one with its texts."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", metavar="NAME", help="show this protocol in full")
        parser.add_argument("--json", action="store_true", help="as JSON")
        parser.add_argument("--markdown", action="store_true", help="all as Markdown, for docs/protocols.md")
        parser.add_argument(
            "--against",
            metavar="FILE",
            help="compare the texts of NAME with a file of prompts that others published",
        )
        parser.add_argument("--write", metavar="FOLDER", help="write the texts of NAME into a folder")

    def handle(self, *args: Any, **options: Any) -> None:
        name, folder, against = options["name"], options["write"], options["against"]
        if folder and not name:
            raise CommandError("Name the protocol whose texts to write: protocols NAME --write FOLDER.")
        if against and not name:
            raise CommandError("Name the protocol to compare: protocols NAME --against FILE.")
        if options["markdown"] and name:
            raise CommandError("--markdown writes all protocols. Leave NAME out.")
        every, one = PROTOCOLS.values(), _named(name) if name else None
        if options["markdown"]:
            self.stdout.write(markdown(every), ending="")
        elif one and against:
            self.stdout.write("\n".join(_compared(one, Path(against))))
        elif one and folder:
            self.stdout.write("\n".join(map(str, _write(one, Path(folder)))))
        elif options["json"]:
            facts = {**described(one), "texts": dict(one.texts)} if one else list(map(described, every))
            self.stdout.write(json.dumps(facts, indent=2, ensure_ascii=False))
        else:
            self.stdout.write(in_full(one) if one else listing(every))


def _named(name: str) -> Protocol:
    try:
        return PROTOCOLS.named(name)
    except UnknownProtocolError as error:
        raise CommandError(str(error)) from error


def _compared(protocol: Protocol, path: Path) -> Iterator[str]:
    """A line for each text: how much of the file's wording it shares."""
    try:
        file = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read as a text in UTF-8.") from error
    yield f"Runs of {RUN} words of {path.name} ({len(file.split()):,} words) that each text has, too"
    for name, text in protocol.texts.items():
        yield f"{name:<24} {len(text.split()):>6,} words  {100 * shared_wording(file, text):5.1f}%"


def _write(protocol: Protocol, folder: Path) -> list[Path]:
    """Write each text to a file named as the judge's form takes it; nothing is overwritten."""
    files = {folder / file_name(name): text for name, text in protocol.texts.items()}
    try:
        there = [path for path in files if path.exists()]
        if there:
            raise CommandError(f"{there[0]} already exists. Choose another folder.")
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from error
    return list(files)
