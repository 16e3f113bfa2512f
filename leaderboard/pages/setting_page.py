"""A page that shows its numbers at a setting of the switches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Final

from django.db.models import Q

from arena.models import Comparison, Rater
from arena.models.querysets import SelectorError
from leaderboard.models import Snapshot
from leaderboard.pages.figure import series_look
from leaderboard.pages.format import counted
from leaderboard.pages.page import NoRatingsError, Page
from leaderboard.pages.standings.sentences import ratings_given
from leaderboard.pages.switches import Switch, switches
from leaderboard.snapshots.prompt_kinds import counted_at
from leaderboard.snapshots.settings import (
    EXPECTED_RATINGS,
    RANDOM_PAIRS,
    Setting,
    adjusted_words,
    choice_of,
    counted_words,
    left_out,
    method_words,
    parse,
    shown_words,
    turn_words,
    used,
    words,
)

EVERY_SWITCH: Final = tuple(each.name for each in fields(Setting))
OF_ALL_CATEGORIES: Final = tuple(name for name in EVERY_SWITCH if name not in ("category", "pairwise"))
"""Switches of a page that shows every category."""


@dataclass(frozen=True, kw_only=True)
class SettingPage(Page):
    """A page at a setting; ``takes`` names the switches that mean something on it."""

    setting: Setting

    takes: ClassVar[Sequence[str]] = EVERY_SWITCH

    def __post_init__(self) -> None:
        # So that whatever the page counts is counted of what its table shows.
        object.__setattr__(self, "snapshot", counted_at(self.snapshot, self.setting))

    @classmethod
    def setting_for(cls, wanted: Mapping[str, str], snapshot: Snapshot) -> Setting:
        """The setting an address asks for.

        Raises UnknownSettingError for a value the study does not have, NoNumbersError without raters.
        """
        found = parse({name: wanted[name] for name in cls.takes if name in wanted}, snapshot.known)
        if found is None:
            raise NoRatingsError(snapshot.study)
        return found

    @property
    def raters(self) -> Mapping[str, Any]:
        return choice_of(self.snapshot.counts, self.setting.raters)

    @property
    def whose(self) -> str:
        return str(self.raters["label"])

    @property
    def colour(self) -> str:
        """The colour of ``raters`` on every figure."""
        return series_look(self.snapshot.counts["raters"].index(self.raters))[0]

    @property
    def given(self) -> int:
        """How many ratings ``raters`` gave."""
        return ratings_given(self.raters)

    @cached_property
    def switches(self) -> Sequence[Switch]:
        found = switches(self.setting, self.snapshot.known)
        return [switch for switch in found if switch.field in self.takes]

    @property
    def rare_switches(self) -> list[Switch]:
        return [switch for switch in self.switches if switch.group == "more"]

    @cached_property
    def method_words(self) -> str:
        """What *Settings* are set to, in words."""
        return ", ".join(method_words(self.setting))

    @property
    def filters(self) -> str:
        """What the switches are set to, in words."""
        main = (option for switch in self.switches if switch.group == "main" for option in switch.options)
        chosen = (option.label for option in main if option.chosen)
        return ", ".join((*chosen, self.method_words)).replace("All categories", "all categories")

    @property
    def setting_words(self) -> str:
        return words(self.setting, self.snapshot.counts)

    @property
    def counted_words(self) -> list[str]:
        return counted_words(self.setting, self.snapshot.counts)

    @property
    def about_words(self) -> str:
        without = left_out(self.setting.category, self.snapshot.counts["categories"])
        category = f"all categories but {without}" if without else self.setting.category
        criterion = f"rating of {self.setting.criterion}" if self.setting.criterion else ""
        models = "models only" if self.setting.contestants else ""
        adjusted = f"adjusted for {adjusted_words(self.setting.adjust)}" if self.setting.adjust else ""
        pairs = RANDOM_PAIRS if self.setting.pairs else ""
        expected = EXPECTED_RATINGS if self.setting.ratings else ""
        which = shown_words(self.setting, self.snapshot.counts)
        said = (category, *which, criterion, turn_words(self.setting.turn), models, expected, pairs, adjusted)
        return ", ".join(filter(None, said))

    @property
    def no_games(self) -> str:
        """Why the chosen raters have no game at the setting."""
        label, about = self.raters["label"], f" ({self.about_words})" if self.about_words else ""
        counted_here = used(self.snapshot.counts, self.setting.raters, self.setting.criterion)
        given = ratings_given(counted_here)
        if given and not self._compared_contestants():
            return f"{label} gave {counted(given, 'rating')}, but the answers have no model to rank"
        side = " and takes a side" if self.setting.ties == "off" else ""
        return f"No rating by {label}{about} compares two ranked models{side}"

    def _compared_contestants(self) -> bool:
        """Whether a completion that the chosen raters rated has a contestant, retired or not."""
        try:
            raters = Rater.objects.selected(self.study, self.setting.raters)
        except SelectorError:  # of a group that was emptied since the snapshot
            return True
        known = Q(pair__first__contestant__isnull=False) | Q(pair__second__contestant__isnull=False)
        rated = Comparison.objects.filter(known, study=self.study, rater__in=raters, rating__isnull=False)
        return rated.exists()
