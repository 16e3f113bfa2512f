"""The page of every kind of raters side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

from django.http import HttpRequest
from django.urls import reverse

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.pages.figure import MOST_SERIES
from leaderboard.pages.page import Panel, step
from leaderboard.pages.rater_kinds.choices import (
    FEW_KINDS,
    PEOPLE,
    AboutRaters,
    Reading,
    at_switches,
    check_raters,
    choices,
    listed,
    one_of,
)
from leaderboard.pages.rater_kinds.flags import flag_sentences
from leaderboard.pages.standings.sentences import ties_phrase
from leaderboard.pages.switches import Switch
from leaderboard.pages.wording import on_intervals, with_intervals
from leaderboard.raters.agreement.figure import kinds_map
from leaderboard.raters.agreement.table import (
    AGREES,
    COEFFICIENTS,
    agrees_table,
    between,
    kind_matrix,
    matrix_table,
    row_of,
    with_people,
    with_people_by_category,
)
from leaderboard.raters.bias.content import Length, Ratings
from leaderboard.raters.bias.table import shown_by_scale, told_apart
from leaderboard.raters.panels import (
    boards_panel,
    correlation_panel,
    position_panel,
    ratings_panel,
    scores_panel,
    without_bias,
)
from leaderboard.raters.table import LONGER, Kind, RaterFigure, kinds_table, summary
from leaderboard.raters.verdict import verdict
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import find_about_raters
from leaderboard.snapshots.method_names import METHOD_NAMES, STORED_METHODS
from leaderboard.snapshots.settings import Setting
from leaderboard.snapshots.stored import Stored


@dataclass(frozen=True, kw_only=True)
class View(Reading):
    chosen: tuple[str, ...]
    usual: tuple[str, ...]
    ties: str = "on"
    method: str = "elo"

    @classmethod
    def of(cls, request: HttpRequest, snapshot: Snapshot) -> "View":
        """Raises UnknownSettingError."""
        known = [entry["selector"] for entry in snapshot.counts["raters"]]
        usual = tuple([one for one in known if not one.startswith("group:")] or known)[:MOST_SERIES]
        wanted = request.GET.getlist("with")
        check_raters(wanted, known)
        method = one_of(request.GET, "method", STORED_METHODS, "elo")
        return cls(
            chosen=tuple(one for one in known if one in wanted) or usual,
            usual=usual,
            ties="on" if method == "ordinal" else one_of(request.GET, "ties", ("on", "off"), "on"),
            method=method,
            **cls.asked(request.GET, snapshot),
        )

    def parts(self) -> list[tuple[str, str]]:
        kinds = () if self.chosen == self.usual else self.chosen
        ties, method = "" if self.ties == "on" else self.ties, "" if self.method == "elo" else self.method
        return [*(("with", one) for one in kinds), *super().parts(), ("ties", ties), ("method", method)]

    @property
    def rare_words(self) -> str:
        ties = "ties off" if self.ties == "off" else ""
        method = "" if self.method == "elo" else METHOD_NAMES[self.method]
        return "; ".join(filter(None, (super().rare_words, ties, method)))

    @property
    def standings(self) -> Setting | None:
        """Of the standings by the chosen kinds; None with unusual ties, by a criterion or a turn."""
        if self.band or self.criterion or self.turn:
            return None
        return Setting("", ties=self.ties, category=self.category, method=self.method)


@dataclass(frozen=True)
class Line:
    kind: Kind
    address: str
    chosen: bool

    cells: Mapping[str, RaterFigure]
    """Numbers by column: on a phone a row is a card."""


@dataclass(frozen=True, kw_only=True)
class RatersPage(AboutRaters):
    view: View

    template: ClassVar[str] = "leaderboard/raters.html"
    tab: ClassVar[str] = "study-raters"

    @property
    def verdict(self) -> Sequence[str]:
        return verdict(self.kinds)

    @property
    def has_judges(self) -> bool:
        return any(entry["selector"].startswith("judge:") for entry in self.snapshot.counts["raters"])

    @property
    def columns(self) -> list[str]:
        return list(self.lines[0].cells)

    @cached_property
    def kinds(self) -> list[Kind]:
        entries = listed(self.snapshot, *self.view.chosen)
        return [kind(entry, self.stored, self.agreements, self.view.category) for entry in entries]

    @cached_property
    def lines(self) -> list[Line]:
        return [
            Line(
                each,
                reverse("study-rater", args=[self.study.slug, each.selector]) + self.view.shared,
                each in self.compared,
                {name: cell for name, cell in summary(each).items() if name != LONGER or not self.withheld},
            )
            for each in self.kinds
        ]

    @property
    def intervals(self) -> str:
        ends = [
            end
            for each in self.kinds
            for end in (
                (each.correlation or {}).get("pearson_low"),
                each.flips["low"] if each.flips else None,
                None if self.withheld else each.longer.get("longer_low"),
                *(one.position.get("share_first_low") for one in each.shown[:1]),
            )
        ]
        return on_intervals(f"Intervals are {self.level:g}%.", [{"low": end} for end in ends])

    @property
    def notices(self) -> list[str]:
        return flag_sentences(self.study, self.snapshot, turn=self.view.turn)

    @cached_property
    def compared(self) -> list[Kind]:
        return [each for each in self.kinds if each.selector in self.view.chosen]

    @property
    def dated(self) -> bool:
        """Whether the snapshot is older than the computing of position and agreement."""
        placed = any(one.position for each in self.kinds for one in each.shown if one.scored)
        return not self.pending and self.is_rated and not (self.agreements and placed)

    @property
    def switches(self) -> list[Switch]:
        return [*self.prompt_choices, *self.rated_choices, *self.category_choices]

    @property
    def rare_choices(self) -> list[Switch]:
        view, found = self.view, super().rare_choices
        if view.method != "ordinal":
            ties = [("on", "Count half"), ("off", "Off")]
            found.append(choices("ties", "Ties of leaderboards", ties, view.ties, view.query))
        methods = [(name, METHOD_NAMES[name]) for name in STORED_METHODS]
        return [*found, choices("method", "Method of leaderboards", methods, view.method, view.query)]

    @property
    def kept(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in self.view.parts() if name != "with" and value]

    def _panels(self) -> Iterator[Panel]:
        yield self.kinds_panel
        yield from self._compared_panels()

    @property
    def comparing(self) -> tuple[Panel, ...]:
        return self.panels[1:]

    @property
    def kinds_panel(self) -> Panel:
        return self.make_panel("kinds", "Raters", "One row for each.", kinds_table(self.kinds))

    def _compared_panels(self) -> Iterator[Panel]:
        yield from self._histograms()
        shown = [one for each in self.compared for one in told_apart(each.shown)]
        yield from position_panel(self, shown, self.level)
        yield from self._scores()
        yield from self._ranks()
        yield from self._correlation()
        yield from self._kappa()

    def _histograms(self) -> Iterator[Panel]:
        found = [(each.label, each.ratings) for each in self.compared if each.ratings]
        for points, shown in shown_by_scale(found).items():
            unrated = (
                " Replies without a rating have bars of their own."
                if any(each.unscored for each in shown)
                else ""
            )
            note = f"{unrated}{self._alone([one.label for one in shown])}"
            yield ratings_panel(self, points, shown, note)

    def _alone(self, labels: list[str]) -> str:
        """Whose figure it is, where it shows one of several kinds and so has no legend."""
        return f" Shown: only {labels[0]}." if len(labels) == 1 < len(self.compared) else ""

    def _scores(self) -> Iterator[Panel]:
        found = [(each.label, each.scores) for each in self.compared if each.scores]
        shown = [one for each in self.compared if each.scores for one in each.shown]
        unbiased = without_bias(shown, "Without position bias the picture is symmetric about 0.")
        alone = self._alone([label for label, _ in found])
        note = f"For judges that score each answer by itself. {unbiased}{alone}"
        yield from scores_panel(self, found, note)

    def _ranks(self) -> Iterator[Panel]:
        view = self.view
        read = [
            (each.label, self.stored.get("standings", each.selector, view.category, view.ties, view.method))
            for each in self.compared
        ]
        boards = [(label, content) for label, content in read if content]
        method = f"{METHOD_NAMES[view.method]}, {ties_phrase(view.method, {'ties': view.ties})}. "
        yield from boards_panel(self, "ranks", "Leaderboards by each", boards, self.level, method)

    def _correlation(self) -> Iterator[Panel]:
        read = [
            (each.label, self.stored.get("correlation", each.selector))
            for each in self.compared
            if each.selector != PEOPLE
        ]
        drawn = [(label, with_people_by_category(content)) for label, content in read if content]
        yield from correlation_panel(
            self,
            "Agreement with people by category",
            f"{COEFFICIENTS['pearson']} by category{with_intervals(self.level, [own for _, own in drawn])}.",
            drawn,
            self.stored.get("correlation", PEOPLE),
            agrees_table,
            AGREES["pearson"],
        )

    def _kappa(self) -> Iterator[Panel]:
        chosen = [(each.selector, each.label) for each in self.compared]
        values, pairs = kind_matrix(self.agreements, chosen, "kappa", self.view.category)
        if any(value is not None for row in values.values for value in row):
            yield self.make_panel(
                "kappa",
                "Kappa (weighted) of every two",
                "The same pairs rated by both: 1 is the same rating every time, 0 what chance gives.",
                matrix_table("Weighted kappa", self.agreements, chosen, "kappa", self.view.category),
                draw=lambda: kinds_map(values, pairs, "kappa"),
                height=step(len(chosen) * 2 + 6),
                width="matrix" if len(chosen) > FEW_KINDS else "",
            )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> RatersPage:
    snapshot = at_switches(request.GET, snapshot)
    view = View.of(request, snapshot)
    found = find_about_raters(snapshot, view.setting, view.standings)
    return RatersPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-raters", args=[study.slug]),
        query=view.query(),
        view=view,
        stored=found.stored,
        pending=found.pending,
    )


def kind(entry: Mapping[str, Any], stored: Stored, agreements: Mapping[str, Content], category: str) -> Kind:
    selector = entry["selector"]
    own = agreements.get(selector)
    return Kind(
        selector,
        entry["label"],
        entry["raters"],
        entry["comparisons"],
        entry["simulated"],
        cast("Ratings | None", stored.get("ratings", selector, category)),
        cast("Length | None", stored.get("length", selector, category)),
        row_of(between(agreements, selector, PEOPLE), category),
        with_people(stored.get("correlation", selector), category),
        row_of((own or {}).get("within"), category),
        entry.get("panel", False),
    )
