"""The public page of a study: stored tables of one snapshot put together for one setting of the switches."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from django.urls import reverse

from arena.models import Study
from leaderboard import charts, tables
from leaderboard.cards import comparisons
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.page import MOST_INLINE, NoNumbersError, Page, Panel, step
from leaderboard.presentation import METHOD_NAMES, drawn, findings, interval_line, ties_phrase
from leaderboard.setting import Setting, Switch, parse, switches
from leaderboard.tables import Content, DataTable, Row


@dataclass(frozen=True, kw_only=True)
class Board(Page):
    """Everything one setting of the switches shows. Contents are read once, when the board is made."""

    setting: Setting
    contents: Mapping[tuple[str, str, str, str], Content] = field(repr=False)

    template: ClassVar[str] = "leaderboard/study.html"
    tab: ClassVar[str] = "study"

    @classmethod
    def newest(cls, study: Study, wanted: Mapping[str, str]) -> "Board":
        """The newest board of a study for the switches an address asks for.

        Raises UnknownSettingError, or NoNumbersError.
        """
        snapshot = Snapshot.objects.newest(study)
        setting = parse(wanted, snapshot.counts) if snapshot else None
        if snapshot is None or setting is None:
            raise NoNumbersError("This study has no numbers yet.")
        return cls.read(study, snapshot, setting)

    @classmethod
    def read(cls, study: Study, snapshot: Snapshot, setting: Setting) -> "Board":
        """The board from the snapshot's tables, in one query."""
        rows = SnapshotSlice.objects.filter(snapshot=snapshot).for_board(
            setting.raters, setting.ties, setting.category, setting.method
        )
        contents = {(row.kind, row.raters, row.ties, row.method): row.content for row in rows}
        return cls(
            study=study,
            snapshot=snapshot,
            address=study.get_absolute_url(),
            query=setting.query(),
            setting=setting,
            contents=contents,
        )

    def _standings(self, **changes: str) -> Content | None:
        place = {**vars(self.setting), **changes}
        return self.contents.get(("standings", place["raters"], place["ties"], place["method"]))

    @cached_property
    def content(self) -> Content | None:
        """The standings of this setting; None where it has no games."""
        return self._standings()

    def standings(self) -> dict[str, Any]:
        """The standings with the method and the snapshot they belong to, as JSON values.

        Raises NoNumbersError.
        """
        if self.content is None:
            raise NoNumbersError("There are no games for this setting.")
        return {
            "study": self.study.slug,
            "created_at": self.snapshot.created_at,
            "watermark": self.snapshot.watermark,
            "simulated": self.simulated,
            "raters": self.setting.raters,
            "category": self.setting.category or None,
            **self.content,
        }

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.content["parameters"] if self.content else {}

    @property
    def interval_line(self) -> str:
        """What the intervals are and what they rest on; empty without numbers."""
        return interval_line(self.parameters) if self.content else ""

    @property
    def drawn(self) -> str:
        """What the shares of being first are counted in."""
        return drawn(self.parameters)

    @property
    def ties_phrase(self) -> str:
        """What the method makes of ties here."""
        return ties_phrase(self.setting.method, self.parameters) if self.content else ""

    @property
    def findings(self) -> list[str]:
        """What the method found beside the ratings, in sentences."""
        return list(findings(self.content or {}))

    @property
    def method_name(self) -> str:
        return METHOD_NAMES[self.setting.method]

    @property
    def other_method(self) -> str:
        return tables.beside(self.setting.method)

    @property
    def other_method_name(self) -> str:
        return METHOD_NAMES[self.other_method]

    @property
    def raters(self) -> Mapping[str, Any]:
        """The entry of the chosen raters in the snapshot's counts."""
        listed: list[dict[str, Any]] = self.snapshot.counts["raters"]
        return next(choice for choice in listed if choice["selector"] == self.setting.raters)

    @property
    def by_people(self) -> int:
        """Comparisons by people."""
        return comparisons(self.snapshot, "people")

    @property
    def by_judges(self) -> int:
        """Comparisons by judges."""
        return comparisons(self.snapshot, "judge")

    @property
    def switches(self) -> tuple[Switch, ...]:
        return switches(self.setting, self.snapshot.counts)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        if self.content is None:
            return ()
        return tables.standing_rows(self.content, self._standings(method=self.other_method))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The contestants in the order of the standings: the same in every figure."""
        return tuple(row.contestant for row in self.rows)

    @property
    def warnings(self) -> list[str]:
        """What the statistics say must stand beside these numbers."""
        return list(self.content["warnings"]) if self.content else []

    @property
    def order_depends_on_ties(self) -> bool:
        on, off = self._standings(ties="on"), self._standings(ties="off")
        return bool(on and off and not tables.same_order(on, off))

    @property
    def csv_url(self) -> str:
        return f"{self.address}tables/standings.csv{self.query}"

    @property
    def json_url(self) -> str:
        return reverse("standings-json", args=[self.study.slug]) + self.query

    @property
    def without_games(self) -> int:
        """Contestants of the study that have no game in this setting."""
        return int(self.snapshot.counts["contestants"]) - len(self.rows)

    @cached_property
    def panels(self) -> tuple[Panel, ...]:
        """The tables and figures of the page, in its order."""
        return tuple(self._panels())

    def _panel(self, slug: str, title: str, note: str, table: DataTable, **more: Any) -> Panel:
        return Panel(slug, title, note, table, page=self.address, query=self.query, **more)

    def _panels(self) -> Iterator[Panel]:
        if self.content is not None:
            yield self._standings_panel(self.content)
            yield from self._side_by_side()
            yield from self._matrix_panels()
        yield from self._rating_panels()
        yield from self._correlation_panel()

    def _boards(self) -> list[tuple[str, Content]]:
        """Standings of people and each judge, and of a chosen group; the chosen raters first."""
        found = []
        for choice in self.snapshot.counts["raters"]:
            selector, content = choice["selector"], self._standings(raters=choice["selector"])
            if content and (selector == self.setting.raters or not selector.startswith("group:")):
                found.append((selector != self.setting.raters, choice["label"], content))
        return [(label, content) for _, label, content in sorted(found, key=lambda entry: entry[0])]

    def _standings_panel(self, content: Content) -> Panel:
        boards = self._boards()
        return self._panel(
            "standings",
            "Ratings and intervals",
            f"Dots are ratings, bars the {self.interval_line}. All kinds of raters share one axis.",
            tables.standings_table(self.rows, self.setting.method, self.parameters),
            draw=lambda: charts.intervals(self.order, boards),
            height=step(len(self.order) * (1 if len(boards) < 3 else 1.25) + 3),
        )

    def _side_by_side(self) -> Iterator[Panel]:
        boards = self._boards()
        if len(boards) > 1:
            yield self._panel(
                "raters",
                "People and judges side by side",
                "Rank and rating of each contestant by each kind of rater, at the same setting.",
                tables.raters_table(self.order, boards),
            )
        on, off = self._standings(ties="on"), self._standings(ties="off")
        if on and off:
            yield self._panel(
                "ties",
                "With and without ties",
                "The same comparisons with ties counted half and with ties off.",
                tables.ties_table(self.order, on, off),
            )

    def _matrix_panels(self) -> Iterator[Panel]:
        content = self.contents.get(("matrices", self.setting.raters, self.setting.ties, ""))
        if content is None:
            return
        games = tables.count_matrix(content, "games", self.order)
        rates = tables.win_rates(content, self.order)
        size = {
            "height": step(len(self.order) + 6),
            "width": "wide" if len(self.order) > MOST_INLINE else "matrix",
        }
        yield self._panel(
            "win-rates",
            "Win rates",
            "Read across a row: the share of points the contestant of the row won against that of the "
            "column, a tie counting half.",
            rates.table("Win rates"),
            draw=lambda: charts.win_rate_map(rates, games),
            **size,
        )
        noun = "ties"
        ties = tables.count_matrix(content, noun, self.order)
        if self.setting.ties == "on":
            yield self._panel(
                "tie-counts",
                "Ties",
                "Read across a row: how many games of the two contestants were ties.",
                ties.table("Ties"),
                draw=lambda: charts.count_map(ties, games, noun),
                **size,
            )
        yield self._panel(
            "games",
            "Games",
            "Read across a row: how many games the two contestants played.",
            games.table("Games"),
            draw=lambda: charts.count_map(games, games, "games"),
            **size,
        )

    def _rating_panels(self) -> Iterator[Panel]:
        """A histogram for each scale in use, the chosen raters and everybody who is not in a group."""
        shown = []
        for choice in self.snapshot.counts["raters"]:
            selector = choice["selector"]
            content = self.contents.get(("ratings", selector, "", ""))
            if content and (selector == self.setting.raters or not selector.startswith("group:")):
                shown.append((choice["label"], content))
        for points, by_raters in tables.shown_by_scale(shown).items():
            yield self._rating_panel(points, by_raters)

    def _rating_panel(self, points: int, by_raters: list[tables.Shown]) -> Panel:
        return self._panel(
            f"ratings-{points}",
            f"Ratings as shown, scale of {points} points",
            "How often each rating was given, in the order in which the two completions were shown. "
            "Raters without position bias give a symmetric picture. Unscored replies have bars of their own.",
            tables.ratings_table(points, by_raters),
            draw=lambda: charts.histogram(points, by_raters),
            height=15,
        )

    def _correlation_panel(self) -> Iterator[Panel]:
        labels = {choice["selector"]: choice["label"] for choice in self.snapshot.counts["raters"]}
        found = [
            (labels[raters], content)
            for (kind, raters, _, _), content in sorted(self.contents.items())
            if kind == "correlation"
        ]
        if found:
            yield self._panel(
                "correlation",
                "Correlation of judges with people",
                "Over the pairs both rated, each entered in both orientations, so that naming one contestant "
                "the first cannot change the result. n counts pairs.",
                tables.correlation_table(found),
            )
