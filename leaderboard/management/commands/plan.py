from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from typing import Any, Final

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from leaderboard.stats.planning import Plan, plan_from_assumptions, plan_from_data
from leaderboard.stats.ratings import Ratings
from leaderboard.terminal.options import (
    FORMATS,
    add_file_options,
    choice,
    failures,
    flag,
    number,
    opinions_chosen,
    study_named,
    votes_in,
)
from leaderboard.terminal.plan_text import plan_json, plan_table

_ASSUMPTIONS: Final = {
    "tie_share": "share of ties (default: 0.2)",
    "rater_correlation": "correlation of two raters' ratings of the same two answers (default: 0.25)",
    "prompt_sd": "instead of the correlation: standard deviation of a model's score over prompts, in points",
    "contestants": "number of models, compared in all pairs on every prompt (default: 2)",
}
_NAMES_SHOWN: Final = 20


class Command(ArenaCommand):
    help = "Estimate how many more prompts and raters you need to tell two models apart or to show a gap."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", metavar="FILE", help="a file of ratings, as for rank")
        add_file_options(parser)
        parser.add_argument("--study", metavar="STUDY", help="slug of a study, instead of a file")
        parser.add_argument(
            "--raters",
            metavar="people|group:NAME|judge:SLUG",
            help="with --study: whose ratings count (default: people)",
        )
        parser.add_argument("--between", nargs=2, metavar=("A", "B"), help="the two models to tell apart")
        parser.add_argument("--gap", metavar="POINTS", help="the gap to show (default: the measured one)")
        parser.add_argument(
            "--raters-per-prompt", metavar="N", help="number of raters of every new pair of answers"
        )
        parser.add_argument("--level", default="95", metavar="PERCENT", help="of the interval (default: 95)")
        parser.add_argument(
            "--power", default="80", metavar="PERCENT", help="chance of telling them apart (default: 80)"
        )
        parser.add_argument(
            "--ties", default="on", metavar="on|off", help="on: ties count half (default: on)"
        )
        for name, text in _ASSUMPTIONS.items():
            parser.add_argument(flag(name), metavar="N", help=f"without data: {text}")
        parser.add_argument("--format", default="table", metavar="table|json", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        choice(options, "format", FORMATS)
        choice(options, "ties", ("on", "off"))
        if options["file"] and options["study"]:
            raise CommandError("Give either a file of ratings or --study.")
        if options["file"]:
            plan, names = _from_file(options, self.stderr.write)
        elif options["study"]:
            plan, names = _from_study(options)
        else:
            plan, names = _from_assumptions(options), ()
        render = plan_json if options["format"] == "json" else plan_table
        self.stdout.write(render(plan, names))


def _from_file(options: dict[str, Any], note: Callable[[str], object]) -> tuple[Plan, Sequence[str]]:
    if options["raters"]:
        raise CommandError("--raters needs --study.")
    votes = votes_in(options, note)
    return _from_ratings(votes.ratings(), votes.names, options, options["file"]), votes.names


def _from_study(options: dict[str, Any]) -> tuple[Plan, Sequence[str]]:
    study, raters = study_named(options["study"]), options["raters"] or "people"
    players = opinions_chosen(study, raters, "")[0].present()
    return _from_ratings(players.ratings(), players.names, options, f"{study.slug}, {raters}"), players.names


def _from_ratings(ratings: Ratings, names: Sequence[str], options: dict[str, Any], where: str) -> Plan:
    for name in _ASSUMPTIONS:
        if options[name] is not None:
            raise CommandError(f"{flag(name)} works only without data. With data it is measured.")
    between = None
    if not names:
        raise CommandError(f"{where}: a plan needs ratings, and these are none.")
    if options["between"]:
        first, second = (_number_of(name, names) for name in options["between"])
        between = first, second
    elif options["gap"] is None:
        raise CommandError("Give --between A B or --gap POINTS.")
    with failures(where):
        return plan_from_data(
            ratings,
            between=between,
            gap=number(options, "gap", float),
            raters=number(options, "raters_per_prompt", int),
            ties=options["ties"] == "on",
            **_aim(options),
        )


def _from_assumptions(options: dict[str, Any]) -> Plan:
    for name in ("between", "raters"):
        if options[name]:
            raise CommandError(f"{flag(name)} needs data. Give a file of ratings or --study.")
    if options["ties"] == "off":
        raise CommandError("--ties needs data. Without data use --tie-share 0.")
    gap = number(options, "gap", float)
    if gap is None:
        raise CommandError("A plan without data needs --gap POINTS.")
    given = {
        "raters": number(options, "raters_per_prompt", int),
        "ties": number(options, "tie_share", float),
        "correlation": number(options, "rater_correlation", float),
        "prompt_sd": number(options, "prompt_sd", float),
        "contestants": number(options, "contestants", int),
    }
    known: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with failures("No plan"):
        return plan_from_assumptions(gap, **known, **_aim(options))


def _aim(options: dict[str, Any]) -> dict[str, Any]:
    return {name: number(options, name, float) for name in ("level", "power")}


def _number_of(name: str, names: Sequence[str]) -> int:
    if name not in names:
        there = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
        raise CommandError(f"The data has no model {name!r}. It has: {there}.")
    return names.index(name)
