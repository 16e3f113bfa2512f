"""What pages about raters share: the kinds of raters, and the category, ties and level asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from leaderboard.models import Snapshot
from leaderboard.pages.figure import MOST_ON_A_PHONE
from leaderboard.pages.page import NoRatingsError, Page
from leaderboard.pages.standings.sentences import ratings_given
from leaderboard.pages.switches import Option, Switch
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.prompt_kinds import counted_at
from leaderboard.snapshots.settings import (
    ALL_CATEGORIES,
    DECLARED,
    Setting,
    UnknownSettingError,
    bands,
    counted_words,
    level_choices,
    parse_for_all,
    prompt_words,
    scales,
    there,
    turn_words,
    turns,
    visitor_words,
)
from leaderboard.snapshots.stored import Stored
from leaderboard.snapshots.visible_lengths import OF_LENGTHS, WITHHELD, shows

PEOPLE: Final = "people"

FEW_KINDS: Final = MOST_ON_A_PHONE
"""A matrix of more kinds of raters is wider than a phone and scrolls there."""


def choices(name: str, label: str, values: Sequence[tuple[str, str]], now: str, query: Any) -> Switch:
    """A switch; ``query`` makes the end of an address with one value changed."""
    options = (
        Option(text, query(**{name: value}) or "?", value == now, value=value) for value, text in values
    )
    others = parse_qsl(query(**{name: ""}).removeprefix("?"))
    return Switch(name, label, tuple(options), field=name, kept=tuple(others))


def ending(values: Sequence[tuple[str, str]]) -> str:
    """The end of an address, without what is empty."""
    given = urlencode([(name, value) for name, value in values if value])
    return f"?{given}" if given else ""


def one_of(wanted: Mapping[str, str], name: str, known: Sequence[str], default: str) -> str:
    """Raises UnknownSettingError."""
    value = wanted.get(name) or default
    if value not in (*known, default):
        raise UnknownSettingError(f'This page has no {name} "{value[:100]}". It has: {there(known)}.')
    return value


def check_raters(wanted: Iterable[str], known: Sequence[str]) -> None:
    """Raises UnknownSettingError for the first that is not known."""
    for selector in wanted:
        if selector not in known:
            raise UnknownSettingError(f'This study has no raters "{selector[:100]}". It has: {there(known)}.')


def listed(snapshot: Snapshot, *also: str) -> list[dict[str, Any]]:
    """The entries of the snapshot's raters; a group of the very raters of another only if in ``also``."""
    raters: list[dict[str, Any]] = snapshot.counts["raters"]
    return [each for each in raters if each.get("same_as") is None or each["selector"] in also]


def labels(snapshot: Snapshot) -> dict[str, str]:
    return {each["selector"]: each["label"] for each in snapshot.counts["raters"]}


def at_switches(wanted: Mapping[str, str], snapshot: Snapshot) -> Snapshot:
    """The snapshot with the counts of the prompts and votes asked for.

    Raises UnknownSettingError, and NoRatingsError where there are no ratings of these.
    """
    setting = parse_for_all(wanted, snapshot.counts) if snapshot.counts["raters"] else Setting("")
    found = counted_at(snapshot, setting)
    if not found.counts["raters"]:
        raise NoRatingsError(snapshot.study)
    return found


USUAL_LEVEL: Final = Setting("").level


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What an address asks of a page about raters; ``band`` is empty for the usual ties."""

    category: str = ""
    band: str = ""
    level: str = USUAL_LEVEL
    criterion: str = ""
    turn: str = ""
    prompts: str = ""
    visitors: str = ""

    @staticmethod
    def asked(wanted: Mapping[str, str], snapshot: Snapshot) -> dict[str, str]:
        """Those of a snapshot ``at_switches``. Raises UnknownSettingError."""
        setting = parse_for_all(wanted, snapshot.counts)
        category = one_of(wanted, "category", snapshot.counts["categories"], "")
        names = ("band", "level", "criterion", "turn", "prompts", "visitors")
        return {"category": category, **{name: getattr(setting, name) for name in names}}

    @property
    def setting(self) -> Setting:
        names = ("category", "band", "level", "criterion", "turn", "prompts", "visitors")
        return Setting("", **{name: getattr(self, name) for name in names})

    def parts(self) -> list[tuple[str, str]]:
        """Empty texts stand for what is usual."""
        level = "" if self.level == USUAL_LEVEL else self.level
        return [
            ("category", self.category),
            ("band", self.band),
            ("level", level),
            ("criterion", self.criterion),
            ("turn", self.turn),
            ("prompts", self.prompts),
            ("visitors", self.visitors),
        ]

    def query(self, **changes: Any) -> str:
        return ending(replace(self, **changes).parts())

    @property
    def shared(self) -> str:
        """The end of the address of another page about raters."""
        return ending(Reading.parts(self))

    @property
    def rare_words(self) -> str:
        level = "" if self.level == USUAL_LEVEL else f"{self.level}% intervals"
        return "; ".join(filter(None, (self.ties_words, level)))

    @property
    def ties_words(self) -> str:
        """Which ratings are ties; empty for the usual ones."""
        if not self.band:
            return ""
        low, high = self.band.split("-")
        return f"ratings {self.band} of {int(low) + int(high) - 1} are ties"

    @property
    def words(self) -> str:
        rated = f"rating of {self.criterion}" if self.criterion else ""
        shown = (prompt_words(self.prompts), visitor_words(self.visitors))
        said = (self.category or "All categories", *shown, rated, turn_words(self.turn), self.rare_words)
        return "; ".join(filter(None, said))

    def rare(self, snapshot: Snapshot, query: Callable[..., str]) -> list[Switch]:
        counts = snapshot.counts
        used = {size for each in counts["raters"] for size in scales(counts, each["selector"])}
        known = {size: bands(size) for size in sorted(used, reverse=True)}
        usual = ", ".join(_on_scale(own[0], size, len(known)) for size, own in known.items() if own)
        others = [(band, band) for own in known.values() for band in own[1:]]
        level, band = DECLARED["level"], DECLARED["band"]
        levels = [(each.value, each.text) for each in level_choices(self.level)]
        found = [choices(level.field, level.label, levels, self.level, query)]
        if others:
            found.insert(0, choices(band.field, band.label, [("", usual), *others], self.band, query))
        return found


def _on_scale(band: str, points: int, scales: int) -> str:
    """As "4-5 of 8" where there are several scales, else "4-5"."""
    low, high = band.split("-")
    return (low if low == high else band) + (f" of {points}" if scales > 1 else "")


@dataclass(frozen=True, kw_only=True)
class AboutRaters(Page):
    """A page about raters, made of the tables of Scope.RATERS; its snapshot is one ``at_switches``."""

    view: Reading
    stored: Stored = field(repr=False)

    @cached_property
    def agreements(self) -> Mapping[str, Content]:
        """Agreement tables by selector."""
        return dict(self.stored.all("agreement"))

    @property
    def is_rated(self) -> bool:
        """True where somebody gave a rating: of those who gave none there is nothing to compute."""
        return any(map(ratings_given, self.snapshot.counts["raters"]))

    @property
    def withheld(self) -> str:
        """Why nothing is said of lengths; empty where it is."""
        return "" if shows(self.study, OF_LENGTHS) else WITHHELD

    @property
    def level(self) -> float:
        """Of the intervals, in percent."""
        return float(self.view.level)

    @property
    def category_choices(self) -> list[Switch]:
        named = [(name, name) for name in self.snapshot.counts["categories"]]
        values = [("", ALL_CATEGORIES), *named]
        return [choices("category", "Category", values, self.view.category, self.view.query)] if named else []

    @property
    def prompt_choices(self) -> list[Switch]:
        """Which prompts and ratings are counted; none in a study without live prompts."""
        setting, counts, query = self.view.setting, self.snapshot.counts, self.view.query
        found = []
        for declared in (DECLARED["prompts"], DECLARED["visitors"]):
            values = [(each.value, each.text) for each in declared.choices(setting, counts)]
            now = getattr(self.view, declared.field)
            found += [choices(declared.field, declared.label, values, now, query)] if values else []
        return found

    @property
    def rated_choices(self) -> list[Switch]:
        """By what is rated: the criterion, and the turn of conversations."""
        names = self.snapshot.counts.get("criteria")
        rated = [("", "Overall"), *((name, name) for name in names)] if names else []
        by_turn = [(each.value, each.text) for each in turns(Setting(""), self.snapshot.counts)]
        return [
            choices(name, DECLARED[name].label, values, getattr(self.view, name), self.view.query)
            for name, values in (("criterion", rated), ("turn", by_turn))
            if values
        ]

    @property
    def rare_choices(self) -> list[Switch]:
        return self.view.rare(self.snapshot, self.view.query)

    @property
    def setting_words(self) -> str:
        return self.view.words

    @property
    def counted_words(self) -> list[str]:
        return counted_words(self.view.setting, self.snapshot.counts)
