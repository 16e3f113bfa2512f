from typing import Any

from arena.management.command import ArenaCommand
from arena.process.serve import serve


class Command(ArenaCommand):
    help = "Start the arena on HOST and PORT, with a worker inside if the broker is memory://."

    def handle(self, *args: Any, **options: Any) -> None:
        serve()
