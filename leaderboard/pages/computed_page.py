"""Pages whose numbers the API answers, too, and those at a setting that no snapshot holds."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from arena.models import Study
from leaderboard.pages.page import NoNumbersError, NotReadyError, Page, numbers_of
from leaderboard.pages.setting_page import SettingPage
from leaderboard.snapshots.canonical import Content


@dataclass(frozen=True, kw_only=True)
class AnsweredPage(Page):
    """``found`` is None until it is computed, and where there is ``nothing`` to show, which says why."""

    @property
    @abstractmethod
    def found(self) -> Content | None: ...

    @property
    @abstractmethod
    def nothing(self) -> str: ...

    @classmethod
    def read(cls, *given: Any, **more: Any) -> Self:
        """The page of a study and a snapshot that an address asks for.

        Raises UnknownSettingError or NoNumbersError.
        """
        raise NotImplementedError

    @classmethod
    def newest(cls, study: Study, wanted: Mapping[str, str], **more: Any) -> Self:
        """The page of the newest snapshot. Raises as ``read``, and NoNumbersError."""
        return cls.read(study, numbers_of(study), wanted, **more)

    def answer(self) -> dict[str, Any]:
        """The content as JSON values. Raises NoNumbersError, or NotReadyError."""
        if self.pending is not None:
            raise NotReadyError(self.pending)
        if self.found is None:
            raise NoNumbersError(self.nothing)
        return dict(self.found)


@dataclass(frozen=True, kw_only=True)
class Computed(AnsweredPage):
    """``content`` is None until it is computed; its key ``nothing`` says why there is nothing to show."""

    content: Content | None

    @property
    def nothing(self) -> str:
        reason: str = (self.content or {}).get("nothing", "")
        return f"{reason[:1].upper()}{reason[1:]}." if reason else ""

    @property
    def found(self) -> Content | None:
        return None if self.nothing else self.content


@dataclass(frozen=True, kw_only=True)
class ComputedPage(Computed, SettingPage):
    """A page at one setting."""

    def answer(self) -> dict[str, Any]:
        """The content with what it is of."""
        return {
            "study": self.study.slug,
            "created_at": self.snapshot.created_at,
            "watermark": self.snapshot.watermark,
            "simulated": self.simulated,
            "raters": self.setting.raters,
            "criterion": self.setting.criterion or None,
            "ties": self.setting.ties,
            "category": self.setting.category or None,
            **super().answer(),
        }
