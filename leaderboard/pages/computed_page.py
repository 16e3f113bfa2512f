"""A page at a setting whose numbers no snapshot holds."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.pages.page import NoNumbersError, NotReadyError, numbers_of
from leaderboard.pages.setting_page import SettingPage
from leaderboard.snapshots.canonical import Content


@dataclass(frozen=True, kw_only=True)
class Computed:
    """``content`` is None until it is computed; its key ``nothing`` says why there is nothing to show."""

    content: Content | None

    @property
    def nothing(self) -> str:
        """Why there is nothing to show, or empty."""
        reason: str = (self.content or {}).get("nothing", "")
        return f"{reason[:1].upper()}{reason[1:]}." if reason else ""

    @property
    def found(self) -> Content | None:
        """The content; None while it is computed and where there is nothing to show."""
        return None if self.nothing else self.content


@dataclass(frozen=True, kw_only=True)
class ComputedPage(Computed, SettingPage):
    """A page at one setting, which the API answers too."""

    @classmethod
    @abstractmethod
    def read(cls, study: Study, snapshot: Snapshot, wanted: Mapping[str, str]) -> Self:
        """The page an address asks for. Raises UnknownSettingError or NoNumbersError."""

    @classmethod
    def newest(cls, study: Study, wanted: Mapping[str, str]) -> Self:
        """The page of the newest snapshot. Raises UnknownSettingError or NoNumbersError."""
        return cls.read(study, numbers_of(study), wanted)

    def answer(self) -> dict[str, Any]:
        """The content as JSON values, with what it is of. Raises NoNumbersError, or NotReadyError."""
        if self.pending is not None:
            raise NotReadyError(self.pending)
        if self.found is None:
            raise NoNumbersError(self.nothing)
        return {
            "study": self.study.slug,
            "created_at": self.snapshot.created_at,
            "watermark": self.snapshot.watermark,
            "simulated": self.simulated,
            "raters": self.setting.raters,
            "criterion": self.setting.criterion or None,
            "ties": self.setting.ties,
            "category": self.setting.category or None,
            **self.found,
        }
