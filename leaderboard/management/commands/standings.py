"""Rank the contestants of a study as it is now: ``manage.py standings STUDY``."""

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.management.method_options import add_method_options, method_from, rendered
from leaderboard.management.study_option import study_named

if TYPE_CHECKING:
    from arena.models import Study
    from leaderboard.games import Opinions
    from leaderboard.presentation import About


class Command(BaseCommand):
    help = "Ranks the contestants of a study from its comparisons as they are now."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument(
            "--raters",
            default="people",
            metavar="people|group:NAME|judge:SLUG",
            help="whose comparisons count (default: people)",
        )
        parser.add_argument("--category", default="", metavar="NAME", help="only prompts of this category")
        add_method_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from leaderboard.stats import StatsError, rank_ratings

        method = method_from(options)
        study = study_named(options["study"])
        chosen, about = _chosen(study, options["raters"], options["category"])
        players = chosen.present()
        try:
            standings = rank_ratings(players.ratings(), players.names, method)
        except StatsError as error:
            where = f" in {options['category']}" if options["category"] else ""
            raise CommandError(f"{study.slug}, {options['raters']}{where}: {error}.") from error
        self.stdout.write(rendered(standings, options, about))


def _chosen(study: "Study", raters: str, category: str) -> "tuple[Opinions, About]":
    """The comparisons asked for, and what they are; raise CommandError naming what does not exist."""
    from arena.models import Rater
    from arena.querysets import SelectorError
    from leaderboard.games import opinions
    from leaderboard.presentation import About

    try:
        ids = list(Rater.objects.selected(study, raters).values_list("pk", flat=True))
    except SelectorError as error:
        raise CommandError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    read = opinions(study)
    if category and category not in read.categories:
        named = ", ".join(name for name in read.categories if name)
        hint = f"there are: {named}" if named else "this study has none"
        raise CommandError(f'There is no category "{category}" in "{study.slug}"; {hint}.')
    choice = next((choice for choice in read.raters if choice.selector == raters), None)
    label, simulated = (choice.label, choice.simulated) if choice else (raters, False)
    return read.by(ids).about(category), About(study.slug, raters, label, category, simulated)
