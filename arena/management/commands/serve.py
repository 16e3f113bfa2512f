from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from arena.process.serve import ServerError, serve


class Command(ArenaCommand):
    help = "Start the arena on HOST and PORT, with a worker inside if the broker is memory://."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            serve()
        except ServerError as error:
            raise CommandError(str(error)) from error
