from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from leaderboard.snapshots.reading import opinions
from leaderboard.snapshots.settings import LABELS, PEOPLE
from leaderboard.stats.checks import ParameterError, check_level
from leaderboard.stats.choices import CLASS
from leaderboard.stats.gold import Rule
from leaderboard.terminal.options import FORMATS, add_bootstrap_options, choice, names, number, study_named
from leaderboard.trust.content import trust
from leaderboard.trust.reading import Gold, NothingToJudgeError
from leaderboard.trust.report import as_json, as_text
from leaderboard.trust.trial import Asked, Known


class Command(ArenaCommand):
    help = "Show how often judges are right on the pairs of a study whose right answer is known."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument("--judges", default="", metavar="A,B,...", help="slugs of judges (default: all)")
        parser.add_argument(
            "--base", default="", metavar="SLUG", help="compare the judges with this one, and its protocol"
        )
        parser.add_argument(
            "--gold",
            default=LABELS,
            metavar="labels|people|group:NAME",
            help="right answers: gold labels, or the majority of people (default: labels)",
        )
        parser.add_argument(
            "--least", default="2", metavar="N", help="people that a majority needs (default: 2)"
        )
        parser.add_argument(
            "--unscored",
            default="exclude",
            metavar="exclude|wrong|random|tie",
            help="replies without a rating: left out, wrong, a random side, or a tie (default: exclude)",
        )
        parser.add_argument(
            "--ties",
            default="half",
            metavar="half|tie|class",
            help="half: a tie is half right beside a side; tie: it is wrong; class: also, it is right where "
            "most people say tie (default: half)",
        )
        parser.add_argument(
            "--as-published", metavar="llmbar", help="count as these tables do, instead of the last two"
        )
        parser.add_argument(
            "--without", default="", metavar="A,B,...", help="subsets that are no part of averages"
        )
        parser.add_argument("--matrix", action="store_true", help="add the matrix of models and protocols")
        add_bootstrap_options(parser)
        parser.add_argument("--format", default="table", metavar="table|json", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        form = choice(options, "format", FORMATS)
        asked = _asked(options)
        study = study_named(options["study"])
        read = opinions(study).at()
        try:
            found = trust(Known.of(study, read, asked.gold), read, asked)
        except NothingToJudgeError as error:
            raise CommandError(f"{study.slug}: {error}.") from error
        except ParameterError as error:
            raise CommandError(f"--{error}.") from error
        self.stdout.write(as_json(found) if form == "json" else as_text(found))


def _asked(options: dict[str, Any]) -> Asked:
    gold, least = str(options["gold"]), number(options, "least", int)
    if gold not in (LABELS, PEOPLE) and not gold.startswith("group:"):
        raise CommandError(f"--gold is {gold!r}; choose labels, people or group:NAME.")
    if least < 1:
        raise CommandError(f"--least is {least}; a majority needs at least 1.")
    try:
        rule = Rule(
            options["unscored"], options["ties"], options["as_published"], number(options, "seed", int)
        )
        level = check_level(number(options, "interval", float))
    except ParameterError as error:
        raise CommandError(f"--{str(error).replace('as_published', 'as-published')}.") from error
    return Asked(
        judges=tuple(names(options["judges"])),
        base=options["base"],
        gold=Gold(gold, least, ties=options["ties"] == CLASS),
        rule=rule,
        matrix=options["matrix"],
        level=level,
        rounds=number(options, "rounds", int),
        without=tuple(names(options["without"])),
    )
