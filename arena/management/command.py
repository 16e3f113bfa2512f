import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from django.core.management.base import BaseCommand, OutputWrapper

from arena.process.checks import SETTINGS
from arena.texts.visible import visible


class Output(OutputWrapper):
    """Writes nothing that a terminal obeys: texts hold what files, models and people say."""

    def write(  # type: ignore[override]
        self, msg: str = "", style_func: Callable[[str], str] | None = None, ending: str | None = None
    ) -> None:
        super().write(visible(msg), style_func, ending)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line, ending="")


class ArenaCommand(BaseCommand):
    """What every command of the arena is."""

    requires_system_checks = [SETTINGS]  # Django's are for those who develop, and load every page

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: Any) -> None:
        super().__init__(stdout, stderr, **options)
        self.stdout, self.stderr = Output(stdout or sys.stdout), Output(stderr or sys.stderr)
        self.stderr.style_func = self.style.ERROR

    def execute(self, *args: Any, **options: Any) -> str | None:
        for name in ("stdout", "stderr"):
            if options.get(name):
                options[name] = Output(options[name])
        return super().execute(*args, **options)
