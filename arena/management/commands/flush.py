from typing import Any

from django.core.management.commands import flush

from arena.models import invariants


class Command(flush.Command):
    """Django's, which could not delete the rows of tables that only grow."""

    def handle(self, **options: Any) -> None:
        with invariants.deletable(options["database"]):
            super().handle(**options)
