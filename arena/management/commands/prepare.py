from typing import Any

from django.core.management.base import BaseCommand

from arena.process.prepare import prepare


class Command(BaseCommand):
    help = (
        "Create or update tables and static files. An empty arena also gets the demo studies and an operator."
    )
    requires_system_checks: list[str] = []  # serve, which comes next, makes them

    def handle(self, *args: Any, **options: Any) -> None:
        prepare(self.stdout.write)
