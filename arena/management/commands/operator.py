from typing import Any

from arena.management.command import ArenaCommand
from arena.people.operator import renew_operator, sign_in_lines


class Command(ArenaCommand):
    help = "Create the operator account, or give it a new password."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(sign_in_lines(renew_operator()))
