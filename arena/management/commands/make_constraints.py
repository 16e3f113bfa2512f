from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError

from arena.constraints.checking import KINDS, shown
from arena.constraints.making import Material, made, twins
from arena.data import export
from arena.data.formats.catalogue import gather
from arena.data.formats.records import Item
from arena.data.importing.import_report import is_slug
from arena.data.importing.imports import import_records
from arena.management.commands import import_data
from arena.models import Study

MOST: Final = 100_000


class Command(import_data.Command):
    help = (
        "Make gold pairs whose right answer a program verified, or with --negate twins of gold pairs with "
        "the label reversed. The same command again adds nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="slug of the study, which is created if it does not exist")
        parser.add_argument(
            "--from",
            dest="source",
            metavar="STUDY2|FILE",
            help="where prompts and answers come from; sums need none",
        )
        parser.add_argument("--kinds", metavar="KIND,...", help=f"any of {', '.join(KINDS)}")
        parser.add_argument("--n", metavar="N", help="pairs of each kind; of sums in each base, 9 and 10")
        parser.add_argument("--seed", metavar="N", help="what is drawn depends on it (default: 0)")
        parser.add_argument(
            "--negate",
            action="store_true",
            help="repeat every gold pair with one sentence before the prompt that reverses the label",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be made")

    def handle(self, *args: Any, **options: Any) -> None:
        self._tell(import_records(options["study"], _items(options), dry_run=options["dry_run"]))


def _items(options: dict[str, Any]) -> Iterator[Item]:
    given = [name for name in ("kinds", "n", "seed") if options[name] is not None]
    if options["negate"]:
        if given:
            raise CommandError(f"--{given[0]} means nothing with --negate, which repeats every gold pair.")
        return twins(_material(options["source"], "--negate"))
    for name in ("kinds", "n"):
        if options[name] is None:
            raise CommandError(f"--{name} is missing. Give --kinds and --n, or --negate.")
    kinds = list(dict.fromkeys(name.strip() for name in options["kinds"].split(",") if name.strip()))
    if not kinds or (unknown := [kind for kind in kinds if kind not in KINDS]):
        found = f'"{shown(unknown[0])}" is no kind' if kinds else "--kinds names none"
        raise CommandError(f"{found}. Choose from {', '.join(KINDS)}.")
    n, seed = _number(options["n"], "--n", 1, MOST), _number(options["seed"] or "0", "--seed", 0, 2**63 - 1)
    needy = next((kind for kind in kinds if kind != "sum"), None)
    return made(_material(options["source"], f"--kinds {needy}" if needy else ""), kinds, n, seed)


def _number(text: object, name: str, least: int, most: int) -> int:
    try:
        number = int(str(text))
    except ValueError:
        raise CommandError(f'{name} is "{shown(str(text))}"; it must be a whole number.') from None
    if not least <= number <= most:
        raise CommandError(f"{name} is {shown(str(number))}; it must be between {least:,} and {most:,}.")
    return number


def _material(source: str | None, needed_by: str) -> Material:
    """The texts of a study, or else of a file or folder that can be imported."""
    if source is None:
        if needed_by:
            raise CommandError(f"{needed_by} needs --from: a study or a file with prompts and answers.")
        return Material.of("", ())
    study = Study.objects.filter(slug=source).first() if is_slug(source) else None
    if study:
        return Material.of(f"study {source}", export.records(study))
    try:
        is_there = source != "" and Path(source).exists()
    except (OSError, ValueError):  # too long, or with a NUL
        is_there = False
    if not is_there:
        raise CommandError(f'--from is "{shown(source)}", but no study and no file has this name.')
    return Material.of(source, gather([Path(source)]).items())
