from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from arena.management.command import ArenaCommand
from arena.process.worker import work


class Command(ArenaCommand):
    help = "Take tasks from the queues at BROKER_URL until it is stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--queues",
            default=",".join(settings.QUEUES),
            help="of which queues, separated by commas: %(default)s",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.EMBEDDED_WORKER:
            raise CommandError(
                f"The broker is in memory, so {settings.COMMAND} serve does this work. "
                "Set BROKER_URL to a Redis server to run workers."
            )
        queues = dict.fromkeys(name.strip() for name in options["queues"].split(","))
        if unknown := [name for name in queues if name not in settings.QUEUES]:
            raise CommandError(f'--queues names "{unknown[0]}"; the queues are {", ".join(settings.QUEUES)}.')
        work(queues)
