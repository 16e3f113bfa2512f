import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from judging.judges.services import JudgeError
from leaderboard.adversarial.filtering import Keep, take_out, told
from leaderboard.adversarial.making import Candidates, study_named, wanted
from leaderboard.terminal.options import names

FIELDS = {name: field for kind in (Keep, Candidates) for name, field in kind.model_fields.items()}


class Command(ArenaCommand):
    help = (
        "Make pairs that mislead judges: with --source and --ways candidates, with --source alone a study of "
        "the candidates that judges get wrong. Tells as JSON what is known of the study."
    )
    makes_studies = True
    refusals = (JudgeError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study to make, or to tell of")
        for name, field in FIELDS.items():
            if name != "study":
                parser.add_argument(f"--{name}", metavar=name.upper(), help=field.description)
        parser.add_argument("--take-out", action="store_true", help="take out the pairs that people refused")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {name: options[name] for name in FIELDS if options[name] is not None}
        for name in {"ways", "judges"} & given.keys():
            given[name] = names(given[name])
        try:
            if "vectors" in given:
                given["vectors"] = json.loads(Path(given["vectors"]).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise CommandError(f"--vectors: {given['vectors']} is no JSON file that can be read.") from error
        if "source" in given:
            (wanted(Candidates, given) if "ways" in given else wanted(Keep, given)).make()
        elif options["take_out"]:
            take_out(study_named(options["study"]))
        found = told(study_named(options["study"]), () if "source" in given else given.get("judges", ()))
        self.stdout.write(json.dumps(found, ensure_ascii=False, indent=2))
