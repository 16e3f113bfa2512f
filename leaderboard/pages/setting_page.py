"""A page that shows its numbers at a setting of the switches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from leaderboard.models import Snapshot
from leaderboard.pages.page import NoNumbersError, Page
from leaderboard.pages.switches import Switch, switches
from leaderboard.snapshots.settings import Setting, choice_of, left_out, parse, words

EVERY_SWITCH = tuple(each.name for each in fields(Setting))


@dataclass(frozen=True, kw_only=True)
class SettingPage(Page):
    """A page at a setting; ``takes`` names the switches that mean something on it."""

    setting: Setting

    takes: ClassVar[Sequence[str]] = EVERY_SWITCH

    @classmethod
    def setting_for(cls, wanted: Mapping[str, str], snapshot: Snapshot) -> Setting:
        """The setting an address asks for.

        Raises UnknownSettingError for a value the study does not have, NoNumbersError without raters.
        """
        found = parse({name: wanted[name] for name in cls.takes if name in wanted}, snapshot.counts)
        if found is None:
            raise NoNumbersError("Nobody has rated yet.")
        return found

    @property
    def raters(self) -> Mapping[str, Any]:
        return choice_of(self.snapshot.counts, self.setting.raters)

    @property
    def switches(self) -> Sequence[Switch]:
        found = switches(self.setting, self.snapshot.counts)
        return [switch for switch in found if switch.field in self.takes]

    @property
    def rare_switches(self) -> list[Switch]:
        return [switch for switch in self.switches if switch.group == "more"]

    @property
    def rare_changed(self) -> str:
        return ", ".join(switch.label.lower() for switch in self.rare_switches if switch.changed)

    @property
    def setting_words(self) -> str:
        return words(self.setting, self.snapshot.counts)

    @property
    def about_words(self) -> str:
        without = left_out(self.setting.category, self.snapshot.counts["categories"])
        category = f"all categories but {without}" if without else self.setting.category
        return ", ".join(filter(None, (category, "models only" if self.setting.contestants else "")))
