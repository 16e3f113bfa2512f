import os
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import DatabaseError

from arena.process.checks import SETTINGS
from arena.texts.visible import visible


class Output(OutputWrapper):
    """Writes nothing that a terminal obeys: texts hold what files, models and people say."""

    def write(  # type: ignore[override]
        self, msg: str = "", style_func: Callable[[str], str] | None = None, ending: str | None = None
    ) -> None:
        try:
            super().write(visible(msg), style_func, ending)
        except OSError as error:
            raise self._refusal(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> CommandError:
        with suppress(OSError):  # what is left of the output would fail again when the process ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
        return CommandError(f"The output cannot be written ({error.strerror or error}).")

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line, ending="")


class ArenaCommand(BaseCommand):
    """What every command of the arena is."""

    requires_system_checks = [SETTINGS]  # Django's are for those who develop, and load every page
    makes_studies = False
    refusals: tuple[type[Exception], ...] = ()
    """Errors whose message is all that has to be said, as of a CommandError."""

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: Any) -> None:
        super().__init__(stdout, stderr, **options)
        self.stdout, self.stderr = Output(stdout or sys.stdout), Output(stderr or sys.stderr)
        self.stderr.style_func = self.style.ERROR

    def execute(self, *args: Any, **options: Any) -> str | None:
        for name in ("stdout", "stderr"):
            if options.get(name):
                options[name] = Output(options[name])
        try:
            try:
                return super().execute(*args, **options)
            except self.refusals as error:
                raise CommandError(str(error)) from error
            finally:
                self.stdout.flush()
        except CommandError as error:
            _end_what_reads(error)
            raise
        except Exception as error:
            # Whatever reads on about a study that is gone may raise anything.
            slug = options.get("study")
            if slug and not self.makes_studies and _is_gone(slug):
                raise CommandError(f'The study "{slug}" was deleted meanwhile.') from error
            raise


def _is_gone(slug: str) -> bool:
    from arena.models import Study  # some commands need no database

    with suppress(DatabaseError):
        return not Study.objects.filter(slug=slug).exists()
    return False


def _end_what_reads(error: BaseException | None) -> None:
    """End the iterators over rows that an error keeps alive, before their connection is closed."""
    while error:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
