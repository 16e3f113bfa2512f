"""Options of commands. A bad value is one sentence and exit code 1."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from django.core.management.base import CommandError

from arena.models import Rater, Study
from arena.models.querysets import SelectorError
from leaderboard.snapshots.reading import Opinions, opinions
from leaderboard.snapshots.settings import CURATED, DECLARED, LIVE
from leaderboard.stats.checks import ParameterError, StatsError
from leaderboard.stats.choices import INTERVALS, RATER_EFFECTS
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.ranking import Standings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.verdicts import TieBand
from leaderboard.terminal.standings_text import About, standings_json, standings_table
from leaderboard.terminal.votes import VoteFileError, Votes, read_votes

FORMATS: Final = ("table", "json")


def add_method_options(parser: ArgumentParser) -> None:
    """Declare all options as text, so that ``method_from`` words what is wrong."""
    method, ties = DECLARED["method"], DECLARED["ties"]
    parser.add_argument(
        "--method", default=method.usual, metavar="|".join(method.values), help=f"default: {method.usual}"
    )
    parser.add_argument(
        "--ties",
        default=ties.usual,
        metavar="|".join(ties.values),
        help="on: ties count half; off: 4 of 8 prefers the first and 5 the second, and the middle of 3 or 5 "
        "points is left out and counted (default: on)",
    )
    parser.add_argument(
        "--tie-band",
        metavar="LOW-HIGH",
        help="ratings that count as ties, such as 3-6 of 8 (default: 4-5 of 8, the middle of 3 and 5)",
    )
    parser.add_argument(
        "--intervals",
        metavar="bootstrap|sandwich",
        help="sandwich: Student's t with the robust covariance; better for few prompts, not for elo-study "
        "(default: bootstrap, but sandwich with --adjust raters, which is faster)",
    )
    parser.add_argument(
        "--adjust",
        default="",
        metavar="NAME,...",
        help="with ordinal, adjust for: length and markdown (a study's answers); any NAME with columns "
        "NAME_a and NAME_b (a file); raters (how much each rater favours the first answer)",
    )
    parser.add_argument(
        "--pairwise",
        action="store_true",
        help="add to the JSON the probability that each model is better than each other",
    )
    parser.add_argument(
        "--no-bootstrap",
        action="store_true",
        help="no intervals; elo-study then takes the ratings once, in their order, and the other methods "
        "give the same scores as with intervals",
    )
    add_sampling_options(parser)


def add_sampling_options(parser: ArgumentParser) -> None:
    """Declare the options that mean something for all methods of ranking."""
    k = f"{Method().elo.k:g}"
    parser.add_argument("--k", default=k, metavar="K", help=f"points one rating can move (default: {k})")
    add_bootstrap_options(parser)
    parser.add_argument(
        "--resample",
        default=DECLARED["resample"].usual,
        metavar="games|prompts|raters|prompts-and-raters",
        help="what a resample draws; games are single ratings; prompts-and-raters: both, for raters who rate "
        "many prompts (default: prompts, or games if no prompt is known)",
    )
    parser.add_argument("--format", default="table", metavar="table|json", help="default: table")


def add_bootstrap_options(parser: ArgumentParser) -> None:
    """Declare rounds, seed and level."""
    usual = Method()
    for name, default, meaning in (
        ("--rounds", usual.rounds, "resamples of the bootstrap"),
        ("--seed", usual.seed, "seed of the bootstrap"),
    ):
        parser.add_argument(name, default=str(default), metavar="N", help=f"{meaning} (default: {default})")
    parser.add_argument(
        "--interval",
        default=DECLARED["level"].usual,
        metavar="PERCENT",
        help="level of the intervals (default: 95)",
    )


def method_from(options: dict[str, Any]) -> Method:
    choice(options, "format", FORMATS)
    try:
        method = Method(
            rounds=number(options, "rounds", int),
            interval=number(options, "interval", float),
            seed=number(options, "seed", int),
            elo=EloParameters(k=number(options, "k", float)),
            resample=choice(options, "resample", DECLARED["resample"].values),
            tie_band=TieBand.parse(str(options["tie_band"])) if options.get("tie_band") is not None else None,
        )
        return replace(method, **_own(options)) if "method" in options else method
    except ParameterError as error:
        raise CommandError(f"--{error}.") from error


def _own(options: dict[str, Any]) -> dict[str, Any]:
    adjust = tuple(names(options["adjust"]))
    if options["intervals"] is None:
        options = options | {"intervals": "sandwich" if RATER_EFFECTS in adjust else "bootstrap"}
    found = {
        "name": choice(options, "method", DECLARED["method"].values),
        "ties": choice(options, "ties", DECLARED["ties"].values) == "on",
        "intervals": choice(options, "intervals", INTERVALS),
        "adjust": adjust,
        "pairwise": options["pairwise"],
    }
    return found | ({"rounds": None} if options["no_bootstrap"] else {})


def names(listed: Any) -> list[str]:
    # Python 3.11 gives an empty list for --name=--
    return [name.strip() for name in str(listed).split(",") if name.strip()]


def choice(options: dict[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    value = str(options[name])
    if value not in allowed:
        raise CommandError(f"--{name} is {value!r}; choose one of {', '.join(allowed)}.")
    return value


def rendered(standings: Standings, options: dict[str, Any], about: About | None = None) -> str:
    render = standings_json if options["format"] == "json" else standings_table
    return render(standings, about)


def number(options: dict[str, Any], name: str, kind: type[int] | type[float]) -> Any:
    """The option's value, None where it was not given. Raises CommandError where it is no number."""
    if options[name] is None:
        return None
    try:
        return kind(str(options[name]))
    except ValueError as error:
        wanted = "a whole number" if kind is int else "a number"
        raise CommandError(f"{flag(name)} is {options[name]!r}; it must be {wanted}.") from error


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_file_options(parser: ArgumentParser) -> None:
    """Declare which part of a file is read, as imports do."""
    parser.add_argument(
        "--sheet", default="", metavar="NAME", help="sheet of a workbook (default: the first with a table)"
    )
    parser.add_argument(
        "--header", default="", metavar="ROW", help="row with the names of columns, or two, such as 1-2"
    )


def votes_in(options: dict[str, Any], note: Callable[[str], object], adjust: Sequence[str] = ()) -> Votes:
    """The votes of the file in the options; ``note`` takes how it was read, where there was a choice."""
    try:
        votes = read_votes(options["file"], adjust=adjust, sheet=options["sheet"], header=options["header"])
    except VoteFileError as error:
        raise CommandError(f"{error}.") from error
    for text in votes.notes:
        note(f"Note: {text}.")
    return votes


@contextmanager
def failures(where: str) -> Iterator[None]:
    """Turns a StatsError into a CommandError that begins with ``where``."""
    try:
        yield
    except StatsError as error:
        raise CommandError(f"{where}: {error}.") from error


def study_named(slug: str) -> Study:
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)[:20])
        hint = f"The studies are: {known}" if known else "No study exists yet"
        raise CommandError(f'No study is named "{slug}". {hint}.')
    return study


def opinions_chosen(
    study: Study, raters: str, category: str, prompts: str = "", visitors: str = ""
) -> tuple[Opinions, About]:
    try:
        ids = list(Rater.objects.selected(study, raters).values_list("pk", flat=True))
    except SelectorError as error:
        known = ", ".join(choice.selector for choice in opinions(study).at().raters)
        hint = f" The raters are: {known}." if known else ""
        raise CommandError(f"{str(error)[0].upper()}{str(error)[1:]}.{hint}") from error
    every = opinions(study)
    if prompts in (CURATED, LIVE) and prompts not in (every.apart.kinds if every.apart else (CURATED,)):
        raise CommandError(f'Study "{study.slug}" has no ratings of {prompts} prompts.')
    read = every.at(prompts, visitors)
    if category and category not in read.categories:
        named = ", ".join(name for name in read.categories if name)
        hint = f"Its categories are: {named}" if named else "It has none"
        raise CommandError(f'Study "{study.slug}" has no category "{category}". {hint}.')
    choice = next((choice for choice in read.raters if choice.selector == raters), None)
    label, simulated = (choice.label, choice.simulated) if choice else (raters, False)
    chosen = read.by(ids).about(category)
    which = (prompts or every.usual_prompts, visitors) if every.apart else ()
    return chosen, About(study.slug, raters, label, category, simulated, chosen.not_used, *which)
