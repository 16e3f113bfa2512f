from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from leaderboard.raters.agreement.report import as_json, as_text, report
from leaderboard.snapshots.settings import UnknownSettingError
from leaderboard.stats.checks import ParameterError
from leaderboard.stats.ranking_method import Method
from leaderboard.terminal.options import add_bootstrap_options, choice, number, study_named


class Command(ArenaCommand):
    help = "Show how raters of a study agree: correlations, kappa and alpha, of all or of two."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        who = "people, judge:SLUG, group:NAME or a person's pseudonym"
        parser.add_argument("--raters", metavar="WHO", help=f"compare only two; {who}")
        parser.add_argument(
            "--against",
            metavar="WHO",
            help="the second of the two (default: people); the same as --raters compares its members",
        )
        parser.add_argument("--category", default="", metavar="NAME", help="only prompts of this category")
        parser.add_argument(
            "--criterion", default="", metavar="NAME", help="ratings by this criterion (default: overall)"
        )
        parser.add_argument(
            "--ties",
            default="on",
            metavar="on|off",
            help="off: 4 of 8 prefers the first and 5 the second, and the middle of 3 or 5 points is left "
            "out (default: on)",
        )
        parser.add_argument(
            "--tie-band", default="", metavar="LOW-HIGH", help="ratings that count as ties, such as 3-6 of 8"
        )
        parser.add_argument(
            "--unmirrored",
            action="store_true",
            help="add kappa and alpha with each pair entered once, as in published values; the JSON always "
            "has them",
        )
        add_bootstrap_options(parser)
        parser.add_argument("--format", default="text", metavar="text|json", help="default: text")

    def handle(self, *args: Any, **options: Any) -> None:
        form = choice(options, "format", ("text", "json"))
        if options["against"] and not options["raters"]:
            raise CommandError("--against needs --raters.")
        if choice(options, "ties", ("on", "off")) == "off" and options["tie_band"]:
            raise CommandError(f"--tie-band is {options['tie_band']}, but ties are off.")
        study = study_named(options["study"])
        asked = {name: name for name in ("category", "criterion", "ties")}
        asked |= {"band": "tie_band", "level": "interval"}
        wanted = {name: str(options[option]) for name, option in asked.items()}
        if options["raters"]:
            wanted["raters"] = f"{options['raters']},{options['against'] or 'people'}"
        try:
            method = Method(rounds=number(options, "rounds", int), seed=number(options, "seed", int))
            found = report(study, wanted, method)
        except ParameterError as error:
            raise CommandError(f"--{error}.") from error
        except UnknownSettingError as error:
            raise CommandError(f"{study.slug}: {error}") from error
        text = as_json(found) if form == "json" else as_text(found, unmirrored=options["unmirrored"])
        self.stdout.write(text)
