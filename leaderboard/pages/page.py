"""A public page of a study, and its panels: figures with their tables."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from django.utils.text import slugify

from arena.models import Study
from arena.rating import publication
from leaderboard.models import Snapshot
from leaderboard.pages.cards import holds_simulated
from leaderboard.pages.figure import Figure, axis_on_top, painted
from leaderboard.pages.table import DataTable
from leaderboard.snapshots.on_demand import Pending

MOST_INLINE: Final = 20
"""A wider matrix has its table on a page of its own."""

MOST_ROWS: Final = 50
"""A longer table has a page of its own."""

DOWNLOADS_WAIT: Final = "Ratings and answers can be downloaded when rating ends, so that raters stay blind."

TALLEST: Final = 40
"""A higher figure shows its first rows, and the others on demand."""


@dataclass(frozen=True)
class Panel:
    """A figure with its table; ``height`` and ``width`` are steps of the stylesheet.

    ``page`` is its page's path, ``query`` the setting. ``apart``: the table is not on the page.
    ``raters`` are those of the study, ``whose`` is the one whose numbers the page shows. ``counted`` names
    the prompts, votes and turns that it counts, where a study has several kinds.
    """

    slug: str
    title: str
    note: str
    make_table: Callable[[], DataTable]
    draw: Callable[[], Figure] | None = None
    height: int = 0
    width: str = ""
    page: str = ""
    query: str = ""
    apart: bool = False
    raters: Sequence[str] = ()
    whose: str = ""
    counted: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Of its files, after that of the study."""
        return "-".join([self.slug, *map(slugify, self.counted)])

    @cached_property
    def table(self) -> DataTable:
        return self.make_table()

    @property
    def has_figure(self) -> bool:
        """Whether it is drawn. Templates would call ``draw``."""
        return self.draw is not None

    @property
    def csv_url(self) -> str:
        return f"{self.page}tables/{self.slug}.csv{self.query}"

    @property
    def table_url(self) -> str:
        return f"{self.page}tables/{self.slug}/{self.query}"

    @property
    def figure_url(self) -> str:
        return f"{self.page}figures/{self.slug}.json{self.query}"

    @property
    def inline(self) -> bool:
        if self.apart:
            return False
        return len(self.table.columns) <= MOST_INLINE + 1 and len(self.table.rows) <= MOST_ROWS

    @property
    def folds(self) -> bool:
        return self.has_figure and self.height > TALLEST

    @property
    def figure(self) -> Figure | None:
        if self.draw is None:
            return None
        figure = painted(self.draw(), self.raters, self.whose)
        return axis_on_top(figure) if self.folds else figure


class NoNumbersError(LookupError):
    """There is nothing to show yet; the message is for the reader."""

    def __init__(self, message: str = "This study has no scores yet.") -> None:
        super().__init__(message)


def numbers_of(study: Study) -> Snapshot:
    """The newest snapshot with all tables. Raises NoNumbersError."""
    return existing(Snapshot.objects.newest(study))


def existing(snapshot: Snapshot | None) -> Snapshot:
    """Raises NoNumbersError where it is None."""
    if snapshot is None:
        raise NoNumbersError
    return snapshot


class NoRatingsError(NoNumbersError):
    """No rating counts yet, which is said of a study whose ratings wait to count, too."""

    def __init__(self, study: Study) -> None:
        super().__init__(publication.no_people_yet(study, "rating") or "There are no ratings to show yet.")


class ElsewhereError(NoNumbersError):
    """What this page would show is at another address."""

    def __init__(self, address: str) -> None:
        super().__init__("Another page of this study has its numbers.")
        self.address = address


class NotReadyError(NoNumbersError):
    def __init__(self, pending: Pending) -> None:
        super().__init__(pending.sentence)
        self.pending = pending

    @property
    def status(self) -> int:
        """HTTP status: 202 while they are on their way, else 503."""
        return 202 if self.pending.is_coming else 503


@dataclass(frozen=True)
class Page:
    """One public page of a study at one snapshot.

    ``address`` is its path, ``query`` the setting it shows. Subclasses name template and tab (a name of
    leaderboard.urls) and yield figures from ``_panels``. A page whose numbers are ``pending`` must not be
    cached.
    """

    study: Study
    snapshot: Snapshot
    address: str
    query: str = ""
    pending: Pending | None = None

    template: ClassVar[str]
    tab: ClassVar[str]

    @property
    def setting_words(self) -> str:
        """The setting in words, for a page that waits."""
        return ""

    @property
    def counted_words(self) -> list[str]:
        """Which prompts, votes and turns its numbers count, where a study has several kinds."""
        return []

    @property
    def state_url(self) -> str:
        """The address that a page polls while it waits."""
        state = self.pending.state if self.pending else ""
        return f"{self.address}computing/{self.query}{'&' if self.query else '?'}shown={state}"

    @property
    def whose(self) -> str:
        """The label of the rater whose numbers the page shows; empty where it shows several."""
        return ""

    @property
    def simulated(self) -> bool:
        return self.study.simulated or holds_simulated(self.snapshot)

    @cached_property
    def panels(self) -> tuple[Panel, ...]:
        return () if self.pending else tuple(self._panels())

    def _panels(self) -> Iterable[Panel]:
        return ()

    def make_panel(
        self, slug: str, title: str, note: str, table: DataTable | Callable[[], DataTable], **more: Any
    ) -> Panel:
        make = table if callable(table) else lambda: table
        raters = [choice["label"] for choice in self.snapshot.counts.get("raters", ())]
        more |= {"page": self.address, "query": self.query, "raters": raters, "whose": self.whose}
        more["counted"] = self.counted_words
        return Panel(slug, title, note, make, **more)

    def panel(self, slug: str) -> Panel | None:
        return next((panel for panel in self.panels if panel.slug == slug), None)


def step(rows: float) -> int:
    """The height of so many rows, in steps of the stylesheet: 5, 10, ... 100."""
    return min(100, max(10, 5 * -(-int(rows) // 5)))
