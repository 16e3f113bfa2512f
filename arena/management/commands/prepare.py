from typing import Any

from django.core.management.base import BaseCommand

from arena.process.prepare import prepare


class Command(BaseCommand):
    help = (
        "Make or update the tables and static files; load the demo study and an operator into an empty arena."
    )
    requires_system_checks: list[str] = []  # serve, which comes next, makes them

    def handle(self, *args: Any, **options: Any) -> None:
        prepare(self.stdout.write)
