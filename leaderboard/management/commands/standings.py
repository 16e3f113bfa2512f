from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from leaderboard.snapshots.reading import UnknownTextError, pair_style
from leaderboard.snapshots.settings import PROMPT_KINDS, WITHOUT
from leaderboard.stats.checks import StatsError
from leaderboard.stats.choices import RATER_EFFECTS
from leaderboard.stats.ranking import rank_ratings
from leaderboard.terminal.options import (
    add_method_options,
    choice,
    method_from,
    opinions_chosen,
    rendered,
    study_named,
)


class Command(ArenaCommand):
    help = "Rank the models of a study by its current ratings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument(
            "--raters",
            default="people",
            metavar="people|group:NAME|judge:SLUG",
            help="whose ratings count (default: people)",
        )
        parser.add_argument("--category", default="", metavar="NAME", help="only prompts of this category")
        parser.add_argument(
            "--prompts",
            default="",
            metavar="|".join(PROMPT_KINDS),
            help="only these prompts; live ones are typed by visitors (default: curated where there are any)",
        )
        parser.add_argument(
            "--visitors", default="", metavar=WITHOUT, help="leaves out visitors without an account"
        )
        add_method_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        method = method_from(options)
        study = study_named(options["study"])
        kind = options["prompts"] and choice(options, "prompts", PROMPT_KINDS)
        visitors = options["visitors"] and choice(options, "visitors", (WITHOUT,))
        chosen, about = opinions_chosen(study, options["raters"], options["category"], kind, visitors)
        players = chosen.present()
        try:
            adjusted = set(method.adjust) - {RATER_EFFECTS}
            ratings = players.ratings(pair_style(study).covariates(players) if adjusted else None)
            standings = rank_ratings(ratings, players.names, method)
        except (StatsError, UnknownTextError) as error:
            where = f" in {options['category']}" if options["category"] else ""
            raise CommandError(f"{study.slug}, {options['raters']}{where}: {error}.") from error
        self.stdout.write(rendered(standings, options, about))
