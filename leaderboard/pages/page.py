"""A public page of a study, and the panels it is put together from: figures with their tables."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.pages.cards import holds_simulated
from leaderboard.pages.figure import Figure
from leaderboard.pages.switches import Switch
from leaderboard.pages.table import DataTable
from leaderboard.snapshots.on_demand import Failed, Waiting

MOST_INLINE: Final = 20
"""A matrix of more contestants has its table on a page of its own: it would be most of the page."""

MOST_ROWS: Final = 50
"""So has a table of more rows that stands behind a figure, closed until somebody wants it."""


@dataclass(frozen=True)
class Panel:
    """One figure with its table. ``height`` and ``width`` are steps of the stylesheet.

    ``page`` is the path of the page it stands on and ``query`` the setting it shows, as in addresses.
    ``apart`` says beforehand that the table is no part of the page, which then need not make it.
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

    @cached_property
    def table(self) -> DataTable:
        """The numbers of the figure."""
        return self.make_table()

    @property
    def element(self) -> str:
        """The id of the figure's place."""
        return f"figure-{self.slug}"

    @property
    def has_figure(self) -> bool:
        """Whether it is drawn, too. Templates ask this: they would call ``draw``."""
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
        """Whether the table is small enough to stand on the page itself."""
        if self.apart:
            return False
        return len(self.table.columns) <= MOST_INLINE + 1 and len(self.table.rows) <= MOST_ROWS

    @property
    def figure(self) -> Figure | None:
        """The Plotly figure, or None for a table without one."""
        return self.draw() if self.draw else None


class NoNumbersError(LookupError):
    """There is nothing to show yet; the message is a sentence for the reader."""


class NotReadyError(NoNumbersError):
    """The numbers are to be computed first; ``pending`` says how far that is."""

    def __init__(self, pending: Waiting | Failed) -> None:
        super().__init__(pending.sentence)
        self.pending = pending

    @property
    def status(self) -> int:
        """For programs: 202 while it is on its way, 503 where it is not."""
        return 202 if self.pending.is_coming else 503


class Switched:
    """What a page with switches offers to their template; the rarely used ones are folded away."""

    @property
    def switches(self) -> Sequence[Switch]:
        """Every switch of the page."""
        return ()

    @property
    def rare_switches(self) -> list[Switch]:
        """The switches that most people leave alone."""
        return [switch for switch in self.switches if switch.group == "more"]

    @property
    def rare_changed(self) -> str:
        """Which of them are not as usual."""
        return ", ".join(switch.label.lower() for switch in self.rare_switches if switch.changed)


@dataclass(frozen=True)
class Page:
    """One public page of a study, made from one snapshot.

    ``address`` is its path, ``query`` the setting it shows. A page module subclasses it, names its template
    and its tab (a name of leaderboard.urls), and puts its figures into ``panels``. ``pending`` says why
    numbers of it are not there yet; such a page is not to be kept.
    """

    study: Study
    snapshot: Snapshot
    address: str
    query: str = ""
    pending: Waiting | Failed | None = None

    template: ClassVar[str]
    tab: ClassVar[str]

    @property
    def setting_words(self) -> str:
        """What is shown, in words, for a page that waits for its numbers."""
        return ""

    @property
    def state_url(self) -> str:
        """Where a page that waits asks whether something happened since it was made."""
        state = self.pending.state if self.pending else ""
        return f"{self.address}computing/{self.query}{'&' if self.query else '?'}shown={state}"

    @property
    def simulated(self) -> bool:
        """Whether any votes shown were made up by a program."""
        return self.study.simulated or holds_simulated(self.snapshot)

    @cached_property
    def panels(self) -> tuple[Panel, ...]:
        """The figures and tables of the page, in its order; none while it waits for its numbers."""
        return () if self.pending else tuple(self._panels())

    def _panels(self) -> Iterable[Panel]:
        """What ``panels`` holds; a page without any leaves it as it is."""
        return ()

    def make_panel(
        self, slug: str, title: str, note: str, table: DataTable | Callable[[], DataTable], **more: Any
    ) -> Panel:
        """A panel that stands on this page, at the setting it shows; a table may be made on reading."""
        make = table if callable(table) else lambda: table
        return Panel(slug, title, note, make, page=self.address, query=self.query, **more)

    def panel(self, slug: str) -> Panel | None:
        """One of them by its name in addresses."""
        return next((panel for panel in self.panels if panel.slug == slug), None)


def step(rows: float) -> int:
    """The height for so many rows, as one of the steps the stylesheet has: 5, 10, ... 100."""
    return min(100, max(10, 5 * -(-int(rows) // 5)))
