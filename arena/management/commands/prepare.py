from typing import Any

from django.core.checks import Tags
from django.db import DEFAULT_DB_ALIAS

from arena.management.command import ArenaCommand
from arena.people.operator import how_to_sign_in
from arena.process.prepare import prepare


class Command(ArenaCommand):
    help = (
        "Create or update tables and static files. An empty arena also gets the demo studies and an operator."
    )
    requires_system_checks: list[str] = []  # serve, which comes next, makes those that need no database

    def handle(self, *args: Any, **options: Any) -> None:
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
        prepare(self.stdout.write)
        self.stdout.write(how_to_sign_in())
