from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.process.serve import ServerError, serve


class Command(BaseCommand):
    help = "Serve the arena on HOST and PORT; with a broker in memory the Celery worker runs inside."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            serve()
        except ServerError as error:
            raise CommandError(str(error)) from error
