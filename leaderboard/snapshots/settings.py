"""The settings that pages, the API and commands take, and how addresses write them. Pure.

To add one, give ``Setting`` a field and SETTINGS an entry: addresses, switches and the API follow. What it
changes in the numbers stands in the room that shows it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlencode

from leaderboard.snapshots.method_names import METHOD_NAMES, STORED_METHODS, STYLE_NAMES
from leaderboard.stats import choices
from leaderboard.stats.choices import RESAMPLE, SHARING


class Scope(StrEnum):
    """The tables of one page; the value is its address behind the study's."""

    BOARD = ""
    """One category: standings of all raters, matrices of the chosen ones."""

    CATEGORIES = "categories/"
    """Standings of the chosen raters over all categories and in each."""

    RATERS = "raters/"
    """How all kinds of raters lean in every category, and how they agree."""

    JUDGES = "judges/"
    """Several kinds of raters on the same pairs; the setting names them, separated by commas."""

    TWO = "agreement/two/"
    """Two raters, which the setting names separated by a comma, in one category."""

    ANCHORED = "anchored/"
    """People's ranking made more certain by the judge that the setting names as its raters."""

    PLAN = "plan/"
    """How many more prompts would tell two contestants apart; the setting is a PlanSetting."""

    HEAD_TO_HEAD = "compare/"
    """Two contestants against each other; a PairSetting names them."""

    TRUST = "trust/"
    """How often judges are right; the setting is a TrustSetting."""

    REQUIREMENTS = "requirements/"
    """Which requirements each model meets; the setting is of leaderboard.answers.requirements."""

    SCORES = "scores/"
    """How raters score the answers of each model; the setting is of leaderboard.answers.scores."""

    FEATURES = "features/"
    """Features of answers held against opinions; the setting is of leaderboard.answers.features."""

    @property
    def has_every_category(self) -> bool:
        return self in (Scope.CATEGORIES, Scope.RATERS, Scope.JUDGES)

    @property
    def has_levels(self) -> bool:
        """Whether tables of the usual level serve the other ones of LEVELS."""
        return self in (Scope.BOARD, Scope.CATEGORIES)


ALL_CATEGORIES: Final = "All"

LEVELS: Final = tuple(f"{level:g}" for level in choices.LEVELS)
"""Percent. Snapshots store intervals of these levels."""

LOWEST_LEVEL: Final = 50.0
OF_PLANS: Final = ("raters", "criterion", "ties", "category", "band", "level")
"""The switches that a plan takes."""

OF_TRUST: Final[Mapping[str, tuple[str, ...]]] = {
    name.removeprefix("as_"): tuple(each or "" for each in values) for name, values in choices.RULES.items()
}
"""How judges are held against right answers, the usual rule first."""

CURATED, LIVE, BOTH = "curated", "live", "both"
"""Values of ``prompts``: of the operators, typed by visitors in battles, or all."""

PROMPT_KINDS: Final = (CURATED, LIVE, BOTH)

WITHOUT: Final = "without"
"""Value of ``visitors`` that leaves out those who have no account."""

LABELS: Final = "labels"
PEOPLE: Final = "people"
"""Sources of right answers, beside groups of people."""

SEALED: Final = "sealed"
"""Method of the table of right answers that everybody may see while people rate."""

FEWEST_SEALED: Final = 10
"""Pairs of the smallest subset that everybody may see of while people rate."""

CONFIDENCE: Final = "confidence"
"""Method of the table of what judges' own probabilities say, held against right answers."""

EXPECTED: Final = "expected"
"""Value of ``ratings``."""

RANDOM: Final = "random"
"""Value of ``pairs``."""

MODELS: Final = "models"
"""Value of ``contestants`` that leaves out human demonstrations."""

ADJUSTED: Final[Mapping[str, tuple[str, ...]]] = {
    "": (),
    "length": ("length",),
    "length-and-markdown": ("length", "markdown"),
}
"""Values of ``adjust``, and the covariates of the ordinal model that each names."""

BESIDE: Final[Mapping[str, str]] = {
    "contestants": "everyone",
    "adjust": "unadjusted",
    "pairs": "all-pairs",
    "ratings": "as-given",
}
"""Switches whose standings stand beside those without them, and the kind of the latter."""

_LEVEL: Final = re.compile(r"[0-9]{2}(\.[0-9])?", re.ASCII)
_SHOWN: Final = 100

Counts = Mapping[str, Any]
"""Of a snapshot: raters, scales, categories, criteria; and ``closed``, whether nobody rates any more."""


MOST_LISTED: Final = 12
"""Values that are listed; of more, one is picked."""


class UnknownSettingError(ValueError):
    """The address asks for something this board does not have; the message is for the reader.

    ``name``, ``value`` and ``known`` are the switch, what was asked for, and the values it has.
    """

    def __init__(self, message: str, name: str = "", value: str = "", known: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name, self.value, self.known = name, value, known


@dataclass(frozen=True)
class Setting:
    """A value for every switch, in canonical form: equal settings show the same numbers.

    ``category`` is empty for all together, a name, or -NAME for all but that one. ``band`` is LOW-HIGH, the
    ratings that count as ties, or empty for the usual ones. ``level`` is in percent; ``resample`` is what a
    bootstrap round draws as a whole. ``raters`` is empty on pages about all of them, ``criterion`` for the
    overall rating. ``prompts`` is empty for the usual kind: curated where there are any with ratings.
    """

    raters: str
    ties: str = "on"
    category: str = ""
    method: str = "elo"
    band: str = ""
    level: str = "95"
    contestants: str = ""
    resample: str = "prompts"
    adjust: str = ""
    pairwise: str = ""
    pairs: str = ""
    ratings: str = ""
    criterion: str = ""
    turn: str = ""  # empty for all that is rated of conversations, 0 for whole ones
    prompts: str = ""
    visitors: str = ""

    def query(self, **changes: str) -> str:
        """The query string with some switches changed.

        Raters are always named, because the default changes as people rate.
        """
        return "?" + urlencode((replace(self, **changes) if changes else self).settled().parts())

    def settled(self) -> "Setting":
        """The setting without what has no effect, such as a tie band where ties are off.

        Only the ordinal model adjusts, and only some methods take expected ratings, which know no ties.
        """
        method = "ordinal" if self.adjust else self.method
        ratings = self.ratings if method in SHARING and not self.criterion else ""
        ties = "on" if method == "ordinal" or ratings else self.ties
        band = "" if method == "ordinal" or ties == "off" or ratings else self.band
        if (method, ties, band, ratings) == (self.method, self.ties, self.band, self.ratings):
            return self  # nearly always, and of each of dozens of links on a page
        return replace(self, method=method, ties=ties, band=band, ratings=ratings)

    def parts(self) -> dict[str, str]:
        """The raters, and every switch that is not as usual."""
        # asdict would copy every value, which takes ten times as long.
        return {name: value for name, value in vars(self).items() if value != getattr(type(self), name, "")}

    def is_stored(self, categories: Sequence[str]) -> bool:
        """Whether every snapshot holds this setting."""
        usual = all(getattr(self, each.field) == each.usual for each in SETTINGS if each.is_computed)
        return (
            usual
            and self.method in STORED_METHODS
            and self.level in LEVELS
            and left_out(self.category, categories) is None
        )

    @property
    def computed(self) -> "Setting":
        """The setting whose tables show this one: one usual level serves them all."""
        return replace(self, level=_USUAL["level"]) if self.level in LEVELS else self


@dataclass(frozen=True)
class PairSetting(Setting):
    """A setting about two contestants, by their names in addresses."""

    contestant: str = ""
    against: str = ""


@dataclass(frozen=True)
class TrustSetting(Setting):
    """How to hold judges against right answers, as leaderboard.trust.trial.Asked says.

    ``base`` is the slug of a judge, ``sealed`` is SEALED for what everybody may see while people rate.
    ``without`` names the subsets, with commas between them, that are no part of averages.
    """

    ties: str = "half"
    unscored: str = "exclude"
    base: str = ""
    gold: str = LABELS
    published: str = ""
    without: str = ""
    sealed: str = ""

    def is_stored(self, categories: Sequence[str]) -> bool:
        return self in (TrustSetting(""), TrustSetting("", sealed=SEALED))


_USUAL: Final[Mapping[str, str]] = {
    each.name: str(each.default) for each in fields(Setting) if each.name != "raters"
}


def left_out(category: str, categories: Sequence[str]) -> str | None:
    """The category left out of all, if any."""
    name = category.removeprefix("-")
    return name if category not in categories and category != name and name in categories else None


@dataclass(frozen=True)
class Choice:
    value: str
    text: str
    comparisons: int | None = None


@dataclass(frozen=True)
class Declaration:
    """A row of choices on a board; fewer than two ``choices`` make no row.

    A value is one of ``values``, or what ``read`` makes of the value asked for, the setting so far and the
    counts. ``longest`` and ``help`` describe the API's parameter, ``meaning`` explains the choices to
    readers, ``is_rare`` puts the row under *Settings*, and ``is_computed`` says that snapshots hold only the
    usual value.
    """

    field: str
    label: str
    choices: Callable[[Setting, Counts], Sequence[Choice]]
    _: KW_ONLY
    name: str = ""
    values: tuple[str, ...] = ()
    read: Callable[[str, Setting, Counts], str] | None = None
    longest: int = 0
    help: str = ""
    meaning: str = ""
    is_rare: bool = False
    is_computed: bool = False

    @property
    def usual(self) -> str:
        return _USUAL.get(self.field, "")


def _raters(setting: Setting, counts: Counts) -> list[Choice]:
    # A group of the very raters that another choice has is offered only while it is chosen.
    offered = [
        each for each in counts["raters"] if each["same_as"] is None or each["selector"] == setting.raters
    ]
    given = (_given(replace(setting, raters=each["selector"]), counts) for each in offered)
    return [Choice(each["selector"], each["label"], n) for each, n in zip(offered, given, strict=True)]


def _given(setting: Setting, counts: Counts) -> int:
    """Comparisons of the setting's raters by its criterion and at its turn."""
    own = used(counts, setting.raters, setting.criterion)
    return int(own.get("by_turn", {}).get(setting.turn, 0) if setting.turn else own.get("comparisons", 0))


def _read_raters(value: str, setting: Setting, counts: Counts) -> str:
    known = [choice["selector"] for choice in counts["raters"]]
    return one_of("raters", value or known[0], known)


def criteria(setting: Setting, counts: Counts) -> list[Choice]:
    """The overall rating and each criterion; none without criteria."""
    names = ("", *counts.get("criteria", ()))
    given = {name: _given(replace(setting, criterion=name), counts) for name in names}
    return [Choice(name, name or "Overall", n) for name, n in given.items()] if len(names) > 1 else []


def _read_criterion(value: str, setting: Setting, counts: Counts) -> str:
    return one_of("criterion", value, ("", *counts.get("criteria", ())))


def turns(setting: Setting, counts: Counts) -> list[Choice]:
    """All that is rated of conversations, and each turn; none where there is only one."""
    names = counts.get("turns", ())
    if len(names) < 2:
        return []
    given = used(counts, setting.raters, setting.criterion) if setting.raters else {}
    behind = given.get("by_turn", {})
    some = [Choice(name, turn_words(name).capitalize(), behind.get(name)) for name in names]
    return [Choice("", "All turns", given.get("comparisons")), *some]


def turn_words(turn: str) -> str:
    return {"": "", "0": "whole conversations"}.get(turn, f"turn {turn}")


def _read_turn(value: str, setting: Setting, counts: Counts) -> str:
    return one_of("turn", value, ("", *counts.get("turns", ())))


def _contestants(setting: Setting, counts: Counts) -> list[Choice]:
    return [Choice("", "Everyone"), Choice(MODELS, "Models only")] if people_play(counts) else []


def _read_contestants(value: str, setting: Setting, counts: Counts) -> str:
    found = one_of("contestants", value, ("", MODELS))
    return found if people_play(counts) else ""


def _ties(setting: Setting, counts: Counts) -> list[Choice]:
    return (
        []
        if setting.method == "ordinal" or setting.ratings
        else [Choice("on", "Count half"), Choice("off", "Off")]
    )


def _categories(setting: Setting, counts: Counts) -> list[Choice]:
    behind = _by_category(setting, counts)
    named = [Choice(name, name, behind.get(name)) for name in counts["categories"]]
    return [Choice("", "All categories", behind[""]), *named]


def _all_but(setting: Setting, counts: Counts) -> list[Choice]:
    behind, names = _by_category(setting, counts), counts["categories"]
    without = [name for name in names if f"-{name}" not in names]
    left = {name: behind[""] - behind[name] for name in without if name in behind}
    return [Choice("", "None"), *(Choice(f"-{name}", name, left.get(name)) for name in without)]


def _by_category(setting: Setting, counts: Counts) -> Mapping[str, int]:
    """Comparisons of the chosen raters, of all categories under ""; at a turn of these alone."""
    named = {} if setting.turn else used(counts, setting.raters, setting.criterion).get("by_category", {})
    return {"": _given(setting, counts), **named}


def _read_category(value: str, setting: Setting, counts: Counts) -> str:
    names = counts["categories"]
    return one_of("category", value, ("", *names), [f"-{name}" for name in names])


def _bands(setting: Setting, counts: Counts) -> list[Choice]:
    points = scales(counts, setting.raters)
    ties = setting.settled().ties == "on" and setting.method != "ordinal" and not setting.ratings
    acts = ties and len(points) == 1
    known = bands(points[0]) if acts else []
    return [Choice("" if number == 0 else band, band.replace("-", "–")) for number, band in enumerate(known)]


def _read_band(value: str, setting: Setting, counts: Counts) -> str:
    points = scales(counts, setting.raters)
    if value and len(points) > 1:
        named = " and ".join(str(size) for size in points)
        raise UnknownSettingError(
            f"These raters used scales of {named} points. A band of ties needs one scale."
        )
    return _band_of(value, points)


def _adjustments(setting: Setting, counts: Counts) -> list[Choice]:
    names = ("None", "Length", "Length and Markdown")
    return list(map(Choice, ADJUSTED, names)) if counts.get("closed") else []


def _read_adjust(value: str, setting: Setting, counts: Counts) -> str:
    found = one_of("adjust", value, tuple(ADJUSTED))
    if found and not counts.get("closed"):
        raise UnknownSettingError(
            "Style control opens when the study closes. Until then it would tell raters how long a model’s "
            "answers are."
        )
    return found


def _ratings(setting: Setting, counts: Counts) -> list[Choice]:
    known, every = counts.get("expected", {}).get(setting.raters, 0), choice_of(counts, setting.raters)
    offered = known and setting.method in SHARING and not setting.criterion
    both = [Choice("", "As given", every["comparisons"]), Choice(EXPECTED, "Expected", known)]
    return both if offered else []


def _read_ratings(value: str, setting: Setting, counts: Counts) -> str:
    found = one_of("ratings", value, ("", EXPECTED))
    if found and not counts.get("expected", {}).get(setting.raters):
        raise UnknownSettingError(
            "These raters have no expected ratings. Only judges with log-probabilities have them."
        )
    return found


def _pairs(setting: Setting, counts: Counts) -> list[Choice]:
    drawn, every = counts.get("at_random", {}).get(setting.raters, 0), choice_of(counts, setting.raters)
    both = [Choice("", "All", every["comparisons"]), Choice(RANDOM, "Random", drawn)]
    return both if 0 < drawn < every["comparisons"] else []


def _read_pairs(value: str, setting: Setting, counts: Counts) -> str:
    found = one_of("pairs", value, ("", RANDOM))
    if found and not _pairs(setting, counts):
        raise UnknownSettingError("These raters have no random pairs.")
    return found


def counts_at(counts: Counts, prompts: str, visitors: str) -> Counts:
    """The counts of what is shown at these switches."""
    return {**counts, **counts.get("apart", {}).get(f"{prompts}|{visitors}", {})}


def _prompts(setting: Setting, counts: Counts) -> list[Choice]:
    kinds = counts.get("prompt_kinds", ())
    values = {"": kinds[0], kinds[1]: kinds[1], BOTH: BOTH} if len(kinds) > 1 else {}
    return [
        Choice(value, kind.capitalize(), counts_at(counts, value, setting.visitors)["comparisons"])
        for value, kind in values.items()
    ]


def _read_prompts(value: str, setting: Setting, counts: Counts) -> str:
    found, kinds = one_of("prompts", value, ("", *PROMPT_KINDS)), counts.get("prompt_kinds", (CURATED,))
    if found in (CURATED, LIVE) and found not in kinds:
        raise UnknownSettingError(f"This study has no ratings of {found} prompts.")
    return "" if found == kinds[0] or len(kinds) < 2 else found


def _visitors(setting: Setting, counts: Counts) -> list[Choice]:
    shown = [counts_at(counts, setting.prompts, value) for value in ("", WITHOUT)]
    if not shown[0].get("anonymous"):
        return []
    return list(map(Choice, ("", WITHOUT), ("Counted", "Left out"), [each["comparisons"] for each in shown]))


def _read_visitors(value: str, setting: Setting, counts: Counts) -> str:
    found = one_of("visitors", value, ("", WITHOUT))
    return found if counts_at(counts, setting.prompts, "").get("anonymous") else ""


def prompt_words(kind: str) -> str:
    words = {CURATED: "curated prompts", LIVE: "live prompts", BOTH: "curated and live prompts"}
    return words.get(kind, "")


def shown_words(setting: Setting, counts: Counts) -> list[str]:
    """Which prompts and votes are counted; empty in a study without live prompts."""
    which = prompt_words(counts.get("prompts_shown", "")), visitor_words(setting.visitors)
    return [each for each in which if each]


def counted_words(setting: Setting, counts: Counts) -> list[str]:
    """Which prompts, votes and turns are counted; empty where a study has only one kind of each."""
    turn = turn_words(setting.turn)
    return [*shown_words(setting, counts), *([turn] if turn else [])]


def _drawn(resample: str) -> str:
    return "ratings" if resample == "games" else resample.replace("-", " ")


def level_choices(level: str) -> list[Choice]:
    return [Choice(each, f"{each}%") for each in sorted({*LEVELS[1:], level}, key=float)]


SETTINGS: Final = (
    Declaration(
        "prompts",
        "Prompts",
        _prompts,
        read=_read_prompts,
        longest=7,
        help="curated, live (typed by visitors in battles) or both; left out: curated where there are any.",
        is_computed=True,
    ),
    Declaration(
        "visitors",
        "Ratings without an account",
        _visitors,
        read=_read_visitors,
        longest=7,
        help="without: leaves out ratings by visitors without an account.",
        is_computed=True,
    ),
    Declaration(
        "raters", "Raters", _raters, read=_read_raters, longest=200, help="people, judge:SLUG or group:NAME."
    ),
    Declaration(
        "criterion",
        "Rating of",
        criteria,
        read=_read_criterion,
        longest=100,
        help="Name of a criterion; left out: the overall rating.",
        is_computed=True,
        is_rare=True,
    ),
    Declaration(
        "contestants",
        "Compare",
        _contestants,
        read=_read_contestants,
        longest=20,
        help="models: without people.",
        is_computed=True,
        is_rare=True,
        meaning="Models only leaves out answers that people wrote.",
    ),
    Declaration(
        "ties",
        "Ties",
        _ties,
        values=("on", "off"),
        longest=3,
        help="on: a tie counts half; off: 4 and 5 of 8 take sides, the middle of 3 and 5 is left out.",
        is_rare=True,
        meaning="The middle of a scale counts half for each side. Off: 4 of 8 counts for the first, 5 for "
        "the second, and the middle of 3 or 5 is left out.",
    ),
    Declaration(
        "category",
        "Category",
        _categories,
        read=_read_category,
        longest=200,
        help="Left out: all categories together; -NAME: all but that one.",
    ),
    Declaration(
        "turn",
        "Turn",
        turns,
        read=_read_turn,
        longest=5,
        help="Of conversations: the number of a turn, from 1, or 0 for those rated as a whole.",
        is_computed=True,
    ),
    Declaration(
        "method",
        "Method",
        lambda *_: [Choice(*each) for each in METHOD_NAMES.items()],
        values=tuple(METHOD_NAMES),
        longest=20,
        help="elo, bradley-terry, davidson, ordinal or elo-study.",
        is_rare=True,
        meaning=(
            "Elo: the average over random orders of the ratings. Bradley-Terry: the best fit to wins, good "
            "where ratings are few. Davidson: models ties as well. Ordinal: uses every step of the scale. "
            "Elo as in the study: one run of Elo for each resample."
        ),
    ),
    Declaration(
        "band",
        "Ratings that are ties",
        _bands,
        read=_read_band,
        longest=7,
        help="Ratings that are ties, LOW-HIGH, such as 3-6.",
        is_rare=True,
        is_computed=True,
        meaning="The wider the range, the more ratings count as ties.",
    ),
    Declaration("category", "Leave out", _all_but, name="all-but", is_rare=True, meaning="One category."),
    Declaration(
        "level",
        "Intervals",
        lambda setting, _: level_choices(setting.level),
        read=lambda value, *_: level_of(value),
        longest=5,
        help="Of the intervals, in percent; 95.",
        is_rare=True,
        meaning="A higher level makes wider intervals.",
    ),
    Declaration(
        "resample",
        "Resample",
        lambda *_: [Choice(value, _drawn(value).capitalize()) for value in RESAMPLE],
        values=RESAMPLE,
        longest=20,
        help="prompts, games, raters or prompts-and-raters.",
        is_rare=True,
        is_computed=True,
        meaning="Prompts: intervals for other prompts. Prompts and raters: also for other raters.",
    ),
    Declaration(
        "adjust",
        "Style control",
        _adjustments,
        read=_read_adjust,
        longest=20,
        help="length or length-and-markdown: the ordinal model, as if all were equal in it. Closed studies.",
        is_rare=True,
        is_computed=True,
        meaning="Scores as if all answers were equally long, or equally long and formatted.",
    ),
    Declaration(
        "pairwise",
        "Who is above whom",
        lambda *_: [Choice("", "Not shown"), Choice("on", "Shown")],
        values=("", "on"),
        longest=2,
        help="on: how likely each contestant is above each other.",
        is_rare=True,
        is_computed=True,
        meaning="A table of how likely each model is better than each other.",
    ),
    Declaration(
        "pairs",
        "Pairs",
        _pairs,
        read=_read_pairs,
        longest=6,
        help="random: those alone that were drawn at random, as a control of how others were chosen.",
        is_rare=True,
        is_computed=True,
        meaning="Random pairs were drawn as a control of how others were chosen.",
    ),
    Declaration(
        "ratings",
        "Ratings",
        _ratings,
        read=_read_ratings,
        longest=8,
        help="expected: those that judges expect by their log-probabilities; by elo or bradley-terry.",
        is_rare=True,
        is_computed=True,
        meaning="Expected ratings use the probabilities a judge gave to each rating.",
    ),
)

DECLARED: Final[Mapping[str, Declaration]] = {
    name: next(each for each in SETTINGS if each.field == name) for name in ("raters", *_USUAL)
}


def parse(wanted: Mapping[str, str], counts: Counts) -> Setting | None:
    """The setting an address asks for; None where nobody has rated. Raises UnknownSettingError."""
    found = Setting("")
    for each in SETTINGS:
        if each.field == "raters":  # those before choose what is counted
            counts = counts_at(counts, found.prompts, found.visitors)
            if not counts["raters"]:
                return None
        value = wanted.get(each.field) or each.usual
        if each.values:
            found = replace(found, **{each.field: one_of(each.field, value, each.values)})
        elif each.read is not None:
            found = replace(found, **{each.field: each.read(value, found, counts)})
    return found.settled()


def words(setting: Setting, counts: Counts) -> str:
    counts = counts_at(counts, setting.prompts, setting.visitors)
    without = left_out(setting.category, counts["categories"])
    category = f"all categories but {without}" if without else setting.category or "all categories"
    which = shown_words(setting, counts)
    return ", ".join(
        [choice_of(counts, setting.raters)["label"], category, *which, *method_words(setting, every=True)]
    )


def visitor_words(visitors: str) -> str:
    return "without anonymous ratings" if visitors else ""


def method_words(setting: Setting, *, every: bool = False) -> list[str]:
    """The method and ties, and what else is not as usual; ``every`` says the level in any case."""
    said = [METHOD_NAMES[setting.method]]
    if setting.criterion:
        said.insert(0, f"rating of {setting.criterion}")
    if setting.turn:
        said.append(turn_words(setting.turn))
    if setting.method != "ordinal" and not setting.ratings:
        said.append(
            "ties off"
            if setting.ties == "off"
            else "ties modelled"
            if setting.method == "davidson"
            else "ties half"
        )
    if setting.band:
        said.append(f"ratings {setting.band.replace('-', '–')} are ties")
    if setting.contestants:
        said.append("models only")
    if setting.ratings:
        said.append(EXPECTED_RATINGS)
    if setting.pairs:
        said.append(RANDOM_PAIRS)
    if setting.adjust:
        said.append(f"adjusted for {adjusted_words(setting.adjust)}")
    if setting.resample != _USUAL["resample"]:
        said.append(f"resampled {_drawn(setting.resample)}")
    if every or setting.level != _USUAL["level"]:
        said.append(f"{setting.level}% intervals")
    if setting.pairwise:
        said.append("who is above whom")
    return said


RANDOM_PAIRS: Final = "random pairs"
EXPECTED_RATINGS: Final = "expected ratings"


def offered(setting: Setting, counts: Counts) -> Setting:
    """The setting without what other raters had alone."""
    counts = counts_at(counts, setting.prompts, setting.visitors)
    fields = [each for each in SETTINGS if each.field in ("band", "pairs", "ratings")]
    lost = {
        each.field: each.usual
        for each in fields
        if getattr(setting, each.field) not in [choice.value for choice in each.choices(setting, counts)]
    }
    return replace(setting, **lost)


def adjusted_words(adjust: str) -> str:
    return " and ".join(STYLE_NAMES[name] for name in ADJUSTED[adjust])


def parse_for_all(wanted: Mapping[str, str], counts: Counts) -> Setting:
    """The setting of a page about all raters: prompts, visitors, ties, level, criterion and turn.

    Raises UnknownSettingError.
    """
    prompts = _read_prompts(wanted.get("prompts") or "", Setting(""), counts)
    visitors = _read_visitors(wanted.get("visitors") or "", Setting("", prompts=prompts), counts)
    counts = counts_at(counts, prompts, visitors)
    sizes = sorted({size for choice in counts["raters"] for size in scales(counts, choice["selector"])})
    level = level_of(wanted.get("level") or _USUAL["level"])
    criterion = _read_criterion(wanted.get("criterion") or "", Setting(""), counts)
    turn = _read_turn(wanted.get("turn") or "", Setting(""), counts)
    band = _band_of(wanted.get("band") or "", sizes)
    shown = {"prompts": prompts, "visitors": visitors}
    return Setting("", band=band, level=level, criterion=criterion, turn=turn, **shown)


def parse_for_trust(wanted: Mapping[str, str], counts: Counts) -> TrustSetting:
    """How to hold judges against right answers. Raises UnknownSettingError."""
    given = {name: one_of(name, wanted.get(name) or known[0], known) for name, known in OF_TRUST.items()}
    sealed = wanted.get("sealed", "")
    gold = gold_sources(counts, sealed=bool(sealed))
    if sealed and (wanted.get("gold") or LABELS) != LABELS:
        said = "While people rate, only labels say which answer is right."
        raise UnknownSettingError(said, "gold", wanted["gold"][:_SHOWN], (LABELS,))
    return TrustSetting(
        "",
        **given,
        base=one_of("base", wanted.get("base", "").removeprefix("judge:"), ("", *judges_of(counts))),
        gold=one_of("gold", wanted.get("gold") or gold[0], gold),
        level=level_of(wanted.get("level") or _USUAL["level"]),
        without=_without(wanted.get("without", ""), subsets_of(counts, sealed=bool(sealed))),
        sealed=sealed,
    )


def _without(value: str, known: Sequence[str]) -> str:
    """Subsets in the order of the study, each once."""
    named = {one_of("without", each, known) for each in subsets_in(value)}
    return ",".join(each for each in known if each in named)


def subsets_in(value: str) -> tuple[str, ...]:
    return tuple(filter(None, (name.strip() for name in value.split(","))))


def subsets_of(counts: Counts, *, sealed: bool) -> list[str]:
    """The subsets that can be left out of averages; while people rate, the large ones."""
    found: Mapping[str, int] = counts.get("subsets", {})
    return [
        name for name, pairs in found.items() if "," not in name and (pairs >= FEWEST_SEALED or not sealed)
    ]


def judges_of(counts: Counts) -> dict[str, str]:
    """The names of judges by slug."""
    kinds = {each["selector"].partition(":")[::2]: each["label"] for each in counts["raters"]}
    return {slug: label for (kind, slug), label in kinds.items() if kind == "judge"}


def gold_sources(counts: Counts, *, sealed: bool) -> list[str]:
    """Where right answers can come from, the usual one first: labels, or who rated.

    While people rate, labels alone; after that, people alone where no pair has a label.
    """
    others = [] if sealed else [each["selector"] for each in counts["raters"]]
    people = [each for each in others if each == PEOPLE or each.startswith("group:")]
    without = counts.get("closed") and not counts.get("labelled") and has_majorities(counts)
    return people if without else [LABELS, *people]


def has_majorities(counts: Counts) -> bool:
    """Whether the side most people take can be held against judges."""
    several = any(each["selector"] == PEOPLE and each["raters"] > 1 for each in counts["raters"])
    return several and bool(judges_of(counts))


def people_of(counts: Counts) -> list[str]:
    """The people who can be chosen one by one."""
    return list(counts.get("people", ()))


def scales(counts: Counts, raters: str) -> list[int]:
    return list(choice_of(counts, raters).get("points", [8]))


def choice_of(counts: Counts, raters: str) -> Mapping[str, Any]:
    return next(choice for choice in counts["raters"] if choice["selector"] == raters)


def used(counts: Counts, raters: str, criterion: str = "") -> Mapping[str, Any]:
    """Numbers of comparisons by the raters, with a rating by the criterion; {} where there is none."""
    choice = choice_of(counts, raters)
    found: Mapping[str, Any] = choice["by_criterion"].get(criterion, {}) if criterion else choice
    return found


def people_play(counts: Counts) -> bool:
    """Whether people are compared beside models."""
    kinds = counts.get("kinds", {})
    return bool(kinds.get("people") and kinds.get("model"))


def bands(points: int) -> list[str]:
    """Every tie band of a scale, the usual one first."""
    return [f"{low}-{points + 1 - low}" for low in range((points + 1) // 2, 1, -1)]


def one_of(name: str, value: str, known: Sequence[str], more: Sequence[str] = ()) -> str:
    """The value, if it is known; ``more`` are values that the message need not list."""
    if value not in known and value not in more:
        raise _unknown(name, value, known)
    return value


def there(known: Sequence[str]) -> str:
    """The first of the values that there are, and how many more."""
    names = [entry for entry in known if entry]
    more = [f"{len(names) - MOST_LISTED:,} more"] * (len(names) > MOST_LISTED)
    return ", ".join((*names[:MOST_LISTED], *more)) or "none"


def _unknown(name: str, value: str, known: Sequence[str]) -> UnknownSettingError:
    values = tuple(entry for entry in known if entry)
    return UnknownSettingError(
        f'This leaderboard has no {name} "{value[:_SHOWN]}". It has: {there(known)}.',
        name,
        value[:_SHOWN],
        values,
    )


def _band_of(value: str, points: Sequence[int]) -> str:
    """The band, empty for the usual one."""
    known = [band for size in points for band in bands(size)]
    if value and value not in known:
        why = "A band of ties is centred on the scale and leaves at least one rating on either side."
        raise UnknownSettingError(f"{_unknown('band', value, known)} {why}")
    return "" if value in [band for size in points for band in bands(size)[:1]] else value


def level_of(value: str) -> str:
    if not _LEVEL.fullmatch(value) or float(value) < LOWEST_LEVEL:
        more = f"and any other from {LOWEST_LEVEL:g} to 99.9 with one decimal"
        raise _unknown("level", value, (*LEVELS, more))
    return f"{float(value):g}"
