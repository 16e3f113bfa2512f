from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.options import SettingUpCommand, add_options, body_from
from arena.models import Study
from judging.judges.services import JudgeError
from judging.writing.models_api import ModelIn, form_of, told


class Command(SettingUpCommand):
    help = "Say at which endpoint a model of a study is asked; it is added if its name is new."
    refusals = (JudgeError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="slug of the study")
        parser.add_argument("name", help="name of the model in the study")
        add_options(parser, ModelIn, without=("name",))
        super().add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise CommandError(f'Unknown study "{options["study"]}".')
        contestant = form_of(study, body_from(ModelIn, options)).keep(None).contestant
        self.told(told(contestant), f"{contestant.slug}: can be asked.", options)
