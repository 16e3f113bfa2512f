"""How a page about raters reads their answers: which category, what is a tie, how sure intervals are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from leaderboard.models import Snapshot
from leaderboard.pages.page import Page
from leaderboard.rater_kinds.kinds import Choices, choices, ending, one_of
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.settings import DECLARED, Setting, bands, level_choices, parse_for_all, scales
from leaderboard.snapshots.stored import Stored

USUAL_LEVEL: Final = Setting("").level


@dataclass(frozen=True, kw_only=True)
class Reading:
    """``band`` holds the ratings that are ties, if not the usual ones; ``level`` is in percent."""

    category: str = ""
    band: str = ""
    level: str = USUAL_LEVEL

    @staticmethod
    def asked(wanted: Mapping[str, str], snapshot: Snapshot) -> dict[str, str]:
        """These fields as an address asks for them. Raises UnknownSettingError."""
        setting = parse_for_all(wanted, snapshot.counts)
        category = one_of(wanted, "category", snapshot.counts["categories"], "")
        return {"category": category, "band": setting.band, "level": setting.level}

    @property
    def setting(self) -> Setting:
        """The setting whose tables show this, of all raters at once."""
        return Setting("", category=self.category, band=self.band, level=self.level)

    def parts(self) -> list[tuple[str, str]]:
        """What of an address is not as usual; empty texts are left out later."""
        level = "" if self.level == USUAL_LEVEL else self.level
        return [("category", self.category), ("band", self.band), ("level", level)]

    def query(self, **changes: Any) -> str:
        """The end of an address with some of it changed; what is usual is left out."""
        return ending(replace(self, **changes).parts())

    @property
    def shared(self) -> str:
        """The end of an address of another page about raters that reads answers in the same way."""
        return ending(Reading.parts(self))

    @property
    def rare_words(self) -> str:
        """What of the rarely used is not as usual."""
        level = "" if self.level == USUAL_LEVEL else f"intervals of {self.level} %"
        return "; ".join(filter(None, (self.ties_words, level)))

    @property
    def ties_words(self) -> str:
        """Which ratings are ties, where these are not the usual ones."""
        if not self.band:
            return ""
        low, high = self.band.split("-")
        return f"ratings {self.band} of {int(low) + int(high) - 1} are ties"

    @property
    def words(self) -> str:
        """The whole in words, for a page that waits."""
        return "; ".join(filter(None, (self.category or "All categories", self.rare_words)))

    def rare(self, snapshot: Snapshot, query: Callable[..., str]) -> list[Choices]:
        """The rows of choices that most people leave alone."""
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
    """A band as people say it, with its scale where there are several: "4-5 of 8", "2 of 3"."""
    low, high = band.split("-")
    return (low if low == high else band) + (f" of {points}" if scales > 1 else "")


@dataclass(frozen=True, kw_only=True)
class AboutRaters(Page):
    """A page about raters, made of the tables of Scope.RATERS."""

    view: Reading
    stored: Stored = field(repr=False)

    @cached_property
    def agreements(self) -> Mapping[str, Content]:
        """How each kind of raters agrees with others and within itself, by its selector."""
        return dict(self.stored.all("agreement"))

    @property
    def level(self) -> float:
        """Of the intervals, in percent."""
        return float(self.view.level)

    @property
    def rare_choices(self) -> list[Choices]:
        """What is a tie, and the level of intervals: rows that most people leave alone."""
        return self.view.rare(self.snapshot, self.view.query)

    @property
    def setting_words(self) -> str:
        return self.view.words
