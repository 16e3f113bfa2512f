from typing import Any

from django.core.management.base import BaseCommand

from arena.process.prepare import renew_operator, sign_in_lines


class Command(BaseCommand):
    help = "Create the operator account, or give it a new password."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(sign_in_lines(renew_operator()))
