from argparse import ArgumentParser
from typing import Any

from arena.management.options import SettingUpCommand, add_options, body_from
from arena.studies import services
from arena.studies.api import NewStudyIn, SetUpOut


class Command(SettingUpCommand):
    help = "Create a study with its settings, as a draft."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="its name")
        add_options(parser, NewStudyIn, without=("name",))
        super().add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = services.create_with(body_from(NewStudyIn, options), None)
        self.told(SetUpOut.of(study), f"{study.slug}: created as a draft.", options)
