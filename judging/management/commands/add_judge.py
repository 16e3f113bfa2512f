from argparse import ArgumentParser
from typing import Any

from arena.management.options import SettingUpCommand, add_options, body_from
from judging.judges.services import JudgeError
from judging.runs.judges_api import JudgeIn, form_of, told


class Command(SettingUpCommand):
    help = "Configure a new judge. Nothing is asked yet."
    refusals = (JudgeError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="its name on leaderboards")
        add_options(parser, JudgeIn, without=("name",))
        super().add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        judge = form_of(body_from(JudgeIn, options)).keep(None)
        self.told(told(judge), f"{judge.slug}: added.", options)
