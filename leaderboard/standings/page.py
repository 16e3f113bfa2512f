"""The board of a study: the stored tables of one snapshot at one setting of the switches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse

from arena.models import Contestant, Study
from arena.rating.publication import in_groups, no_people_yet
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.pages.cards import comparisons, not_rated
from leaderboard.pages.columns import TableQuery
from leaderboard.pages.figure import MOST_NUMBERS, MOST_ON_A_PHONE
from leaderboard.pages.format import counted
from leaderboard.pages.page import (
    MOST_INLINE,
    MOST_ROWS,
    ElsewhereError,
    NoNumbersError,
    NotReadyError,
    Panel,
    existing,
    step,
)
from leaderboard.pages.rater_kinds.flags import Flag, preference_sentence, snapshot_flags
from leaderboard.pages.setting_page import SettingPage
from leaderboard.pages.shell import Published, not_ready, published
from leaderboard.pages.standings.figure import above_map, count_map, has_intervals, intervals, win_rate_map
from leaderboard.pages.standings.rows import NO_TEXTS, USUAL, About, Entry, OfTexts, StandingsView
from leaderboard.pages.standings.sentences import (
    all_ratings,
    control_sentences,
    drawn,
    expected_sentence,
    few_units,
    findings,
    interval_line,
    intervals_shown,
    leading_group,
    leading_sentence,
    marked_sentence,
    not_used_words,
    raters_differ,
    ties_phrase,
)
from leaderboard.pages.standings.table import (
    WILSON_CAUTION,
    RankTable,
    Row,
    above,
    beside_table,
    comparable,
    control_table,
    count_matrix,
    differences,
    effects_table,
    expected_table,
    file_rows,
    moves,
    rank_table,
    raters_table,
    side_sentence,
    standing_rows,
    standings_table,
    win_rates,
    win_rates_table,
)
from leaderboard.pages.switches import Option, Switch
from leaderboard.pages.table import DataTable, Matrix
from leaderboard.pages.tabs import OF_TEXTS, landing
from leaderboard.pages.wording import on_intervals
from leaderboard.raters.agreement.trust import of_snapshot
from leaderboard.raters.agreement.verdict import Verdict
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import Found, find
from leaderboard.snapshots.method_names import METHOD_NAMES, STORED_METHODS, method_beside
from leaderboard.snapshots.on_demand import Pending
from leaderboard.snapshots.settings import (
    BESIDE,
    DECLARED,
    OF_PLANS,
    RANDOM,
    WITHOUT,
    Scope,
    Setting,
    UnknownSettingError,
    adjusted_words,
)
from leaderboard.snapshots.stored import Stored
from leaderboard.standings import sentences
from leaderboard.stats.choices import PROMPTS_AND_RATERS


@dataclass(frozen=True)
class Other:
    """Standings beside the board's that differ in one thing.

    ``slug``, ``title`` and ``note`` are of the table of both, ``own`` and ``name`` head their columns.
    ``changes`` completes "2 models change places".
    """

    slug: str
    changes: str
    own: str
    name: str
    title: str
    note: str
    content: Content = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Board(SettingPage):
    asked: TableQuery = field(default_factory=TableQuery)
    stored: Stored = field(repr=False)

    template: ClassVar[str] = "leaderboard/study.html"
    tab: ClassVar[str] = "study"

    @classmethod
    def newest(cls, study: Study, wanted: Mapping[str, str]) -> Board:
        """Raises UnknownSettingError or NoNumbersError."""
        snapshot = existing(Snapshot.objects.opened(study))
        return cls.read(study, snapshot, cls.setting_for(wanted, snapshot))

    @classmethod
    def read(cls, study: Study, snapshot: Snapshot, setting: Setting) -> Board:
        """The board from the snapshot's tables, or from those computed on demand.

        While a snapshot holds only what the board opens with, other settings are of the newest complete one.
        """
        if snapshot.is_opening and setting.computed != cls.setting_for({}, snapshot):
            complete = Snapshot.objects.newest(study)
            if complete and any(each["selector"] == setting.raters for each in complete.counts["raters"]):
                return cls.read(study, complete, setting)
            found = Found(Stored({}), Pending("running"))
        else:
            found = find(snapshot, setting, Scope.BOARD)
        return cls(
            study=study,
            snapshot=snapshot,
            address=study.get_absolute_url(),
            query=setting.query(),
            setting=setting,
            stored=found.stored,
            pending=found.pending,
        )

    def standings_of(self, **changes: str) -> Content | None:
        """The standings with some switches changed; None without a game."""
        return self._at("standings", replace(self.setting, **changes))

    def without(self, name: str) -> Content | None:
        """The standings without a switch of BESIDE; None where it is not set."""
        return self._at(BESIDE[name], self.setting)

    @property
    def matrices(self) -> Content | None:
        setting = self.setting
        return self.stored.get("matrices", setting.raters, setting.category, setting.ties)

    def _at(self, kind: str, place: Setting) -> Content | None:
        return self.stored.get(kind, place.raters, place.category, place.ties, place.method)

    @cached_property
    def content(self) -> Content | None:
        """The standings; None without a game."""
        return self.standings_of()

    @cached_property
    def flags(self) -> list[Flag]:
        """What must be said of the judge whose ranking this is; empty for people and groups."""
        chosen = self.setting.raters
        found = snapshot_flags(self.study, self.snapshot, chosen, turn=self.setting.turn)
        return found.get(chosen, [])

    def standings(self) -> dict[str, Any]:
        """The standings with their method and snapshot, as JSON values.

        Raises NoNumbersError, which may be a NotReadyError.
        """
        if self.pending is not None:
            raise NotReadyError(self.pending)
        if self.content is None:
            raise NoNumbersError(self.nothing or "No rating counts at this setting.")
        return {
            "study": self.study.slug,
            "created_at": self.snapshot.created_at,
            "watermark": self.snapshot.watermark,
            "simulated": self.simulated,
            "raters": self.setting.raters,
            "category": self.setting.category or None,
            "criterion": self.setting.criterion or None,
            "turn": int(self.setting.turn) if self.setting.turn else None,
            "contestants": self.setting.contestants or None,
            "adjust": self.setting.adjust or None,
            "pairs": self.setting.pairs or None,
            "ratings": self.setting.ratings or None,
            **self.shown_apart,
            **self.content,
            **({"control": self.control} if self.control else {}),
            **({"expected": self.expected} if self.expected else {}),
            "without": {
                name: differences(self.content, other) for name in BESIDE if (other := self.without(name))
            },
            "flags": [asdict(flag) for flag in self.flags],
            "leading": self.leading,
            "notes": [self.in_groups] if self.in_groups else [],
        }

    @property
    def shown_apart(self) -> dict[str, Any]:
        """Which prompts and votes are counted; empty in a study without live prompts."""
        counts = self.snapshot.counts
        if "prompts_shown" not in counts:
            return {}
        left_out = {"visitors": WITHOUT} if self.setting.visitors else {}
        return {"prompts": counts["prompts_shown"], **left_out}

    def file_rows(self) -> Iterator[Mapping[str, Any]]:
        about = {
            "study": self.study.slug,
            "raters": self.setting.raters,
            "category": self.setting.category or None,
            "criterion": self.setting.criterion or None,
            "turn": int(self.setting.turn) if self.setting.turn else None,
            **{"prompts": None, "visitors": None, **self.shown_apart},
            "simulated": self.simulated,
            "snapshot_at": self.snapshot.created_at,
            "watermark": self.snapshot.watermark,
        }
        return file_rows(self.content, about) if self.content else iter(())

    @cached_property
    def leading(self) -> str:
        """Who is first, and from whom it cannot be told apart."""
        return leading_sentence(self.content) if self.content else ""

    @cached_property
    def on_judges(self) -> Verdict:
        """Whether judges can be trusted, as of the snapshot; nothing before their tables are computed."""
        setting, categories = self.setting, self.snapshot.counts["categories"]
        others = setting.prompts or setting.visitors or setting.criterion or setting.turn
        if self.snapshot.is_opening or others:
            return Verdict()  # the snapshot's tables are of other ratings
        category = setting.category if setting.category in categories else ""
        method = setting.method if setting.method in STORED_METHODS else type(setting).method
        ties = "on" if method == "ordinal" else setting.ties
        return of_snapshot(self.snapshot, category, method=method, ties=ties, computed=self.stored.payloads)

    @property
    def own_families(self) -> list[str]:
        """What was found of each judge whose own family may be ranked."""
        counts = self.snapshot.counts
        labels = {choice["selector"]: choice["label"] for choice in counts["raters"]}
        found = (counts.get("own_family") or {}).items()
        return [preference_sentence(labels[judge], measured) for judge, measured in found if measured]

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.content["parameters"] if self.content else {}

    @property
    def adjusted_for(self) -> str:
        """What of answers the scores allow for; empty for nothing."""
        return adjusted_words(self.setting.adjust) if self.setting.adjust else ""

    @property
    def line_meaning(self) -> str:
        """What the lines of the table show; empty without intervals."""
        if not self.interval_line:
            return ""
        drawn = {"games": "ratings", "raters": "raters"}.get(self.parameters["resample"], "prompts")
        others = f"{drawn} and raters" if "raters_drawn" in self.parameters else drawn
        return f"The line shows where the score would usually fall with other {others}."

    @property
    def interval_line(self) -> str:
        """What the intervals are and rest on; empty without numbers."""
        return intervals_shown(self.content) if self.content else ""

    @property
    def drawn(self) -> str:
        """What the shares of being first are counted in."""
        return drawn(self.parameters)

    @property
    def ties_phrase(self) -> str:
        return ties_phrase(self.setting.method, self.parameters) if self.content else ""

    @property
    def size(self) -> str:
        by_kind = (self.by_people, self.by_judges, self.by_panels)
        size = sentences.size(self.snapshot.counts, *by_kind, self.not_rated)
        return f"All turns: {size}" if self.setting.turn else size

    @property
    def neither(self) -> str:
        """In how many ratings neither answer was acceptable; empty for none, and where only some count."""
        setting, counts = self.setting, self.snapshot.counts
        found = counts.get("neither", {}).get(setting.raters)
        narrowed = setting.category or setting.criterion or setting.turn
        return sentences.neither(found) if found and not narrowed else ""

    @property
    def method_sentence(self) -> str:
        return sentences.method(self.setting, self.parameters, self.adjusted_for)

    @property
    def resampling(self) -> str:
        """What each resample draws, or what the intervals take as independent."""
        return sentences.resampling(self.parameters)

    @property
    def ties_sentence(self) -> str:
        return sentences.ties(self.setting)

    @property
    def findings(self) -> list[str]:
        told = [expected_sentence(self.expected)] if self.expected else []
        return [*filter(None, told), *findings(self.content or {}, self.parameters.get("interval"))]

    @property
    def nothing(self) -> str:
        """Why the comparisons at the setting cannot be ranked, or empty."""
        found = self.stored.get("nothing", self.setting.raters)
        return f"{found['reason'][:1].upper()}{found['reason'][1:]}." if found else ""

    @property
    def not_used(self) -> list[str]:
        """Which opinions of these raters no score counts, and why."""
        return not_used_words(self.content) if self.content else []

    @property
    def all_ratings(self) -> int:
        return all_ratings(self.content) if self.content else 0

    @property
    def method_name(self) -> str:
        return METHOD_NAMES[self.setting.method]

    @property
    def other_method(self) -> str:
        return method_beside(self.setting.method)

    @property
    def other_method_name(self) -> str:
        return METHOD_NAMES[self.other_method]

    @property
    def by_people(self) -> int:
        return comparisons(self.snapshot, "people")

    @property
    def in_groups(self) -> str:
        return in_groups(self.study) if self.by_people else no_people_yet(self.study)

    @property
    def by_judges(self) -> int:
        return comparisons(self.snapshot, "judge")

    @property
    def not_rated(self) -> int:
        return not_rated(self.snapshot)

    @property
    def by_panels(self) -> int:
        return comparisons(self.snapshot, "panel")

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """The switches; their links keep search and order."""
        return tuple(
            replace(switch, options=tuple(map(self._kept, switch.options))) for switch in super().switches
        )

    @property
    def for_other_raters(self) -> str:
        """The address with intervals that hold for other raters too."""
        return self.address + self.asked.query(self.setting.query(resample=PROMPTS_AND_RATERS))

    @property
    def by_bradley_terry(self) -> str:
        return self.address + self.asked.query(self.setting.query(method="bradley-terry"))

    @cached_property
    def control(self) -> Content | None:
        """How pairs drawn at random rank beside all pairs; None where all are shown."""
        return self.stored.get("control", self.setting.raters) if self.setting.pairs else None

    @property
    def control_sentences(self) -> list[str]:
        return list(control_sentences(self.control)) if self.control else []

    @cached_property
    def expected(self) -> Content | None:
        """How expected ratings correlate with people's; None where they are not ranked by."""
        return self.stored.get("expected", self.setting.raters) if self.setting.ratings else None

    @property
    def random_pairs(self) -> Mapping[str, Any]:
        """How many comparisons are on pairs drawn at random; empty where there is no such control."""
        counts = self.snapshot.known
        offered = {choice.value: choice for choice in DECLARED["pairs"].choices(self.setting, counts)}
        if not offered:
            return {}
        drawn, every = (offered[value].comparisons or 0 for value in (RANDOM, ""))
        query = "" if self.setting.pairs else self.setting.query(pairs=RANDOM)
        return {"drawn": drawn, "every": every, "percent": round(100 * drawn / every), "query": query}

    @property
    def who_is_above(self) -> str:
        """The address with the probabilities of being above; empty where they are shown."""
        return "" if self.setting.pairwise else f"{self.setting.query(pairwise='on')}#above"

    @property
    def plan_query(self) -> str:
        """The end of the address of the planner with the same comparisons."""
        return Setting(**{name: getattr(self.setting, name) for name in OF_PLANS}).query()

    def _kept(self, option: Option) -> Option:
        return replace(option, query=self.asked.query(option.query))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        if self.content is None:
            return ()
        return standing_rows(self.content, self.standings_of(method=self.other_method))

    @cached_property
    def order(self) -> tuple[str, ...]:
        return tuple(row.contestant for row in self.rows)

    @property
    def warnings(self) -> list[str]:
        """Those below the table; the head of the page has the others."""
        told = self.content["warnings"] if self.content else ()
        return [warning for warning in told if not (few_units(warning) or raters_differ(warning))]

    @property
    def few(self) -> str:
        """The warning that intervals come from few prompts or raters, or empty."""
        return next(filter(few_units, self.content["warnings"]), "") if self.content else ""

    @property
    def raters_differ(self) -> str:
        """The warning that other raters would matter, or empty."""
        return next(filter(raters_differ, self.content["warnings"]), "") if self.content else ""

    @cached_property
    def other(self) -> Other | None:
        """What stands beside in the table: the ranking without a switch, or under the other tie rule."""
        return next((found for found in others(self) if found.slug != "with-people"), None)

    @property
    def moved_by_other(self) -> int:
        """How many contestants have another place there."""
        return sum(places != 0 for places in self._moves_from(self._beside).values())

    @property
    def _beside(self) -> Content | None:
        return self.other.content if self.other else None

    @cached_property
    def overall(self) -> Content | None:
        """The snapshot's standings over all categories; None unless the setting differs in its category
        alone.
        """
        # With another tie band and the like, ranks would differ for other reasons too.
        setting = self.setting
        others = (
            setting.band,
            setting.contestants,
            setting.criterion,
            setting.turn,
            setting.adjust,
            setting.pairs,
            setting.ratings,
            setting.prompts,
            setting.visitors,
        )
        if not setting.category or any(others):
            return None
        found = SnapshotSlice.objects.filter(
            snapshot=self.snapshot,
            kind="standings",
            raters=setting.raters,
            ties=setting.ties,
            method=setting.method,
            category="",
        ).first()
        return found.content if found else None

    def _moves_from(self, other: Content | None) -> dict[str, int]:
        """How many places each contestant stands higher here than in other standings."""
        return moves(comparable(self.content), comparable(other))

    @cached_property
    def view(self) -> StandingsView:
        return StandingsView(
            self._entries(),
            self.asked,
            self.query,
            other=self.other.name if self.other else "",
            other_method=self.other_method_name,
            of_texts=self._of_texts[0],
            intervals=bool(self.interval_line),
        )

    def _entries(self) -> list[Entry]:
        about, moved = abouts(self.study), self._moves_from(self.overall)
        beside = self._beside
        other = {row["contestant"]: row for row in beside["standings"]} if beside else {}
        moved_back = self._moves_from(beside)
        met, scores = (each.figures for each in self._of_texts[0])
        entries = []
        for row in self.rows:
            there, places = other.get(row.contestant, {}), moved_back.get(row.contestant)
            entries.append(
                Entry(
                    row,
                    about.get(row.contestant, About()),
                    moved.get(row.contestant),
                    there.get("rank"),
                    there.get("rating"),
                    None if places is None else -places,
                    row.contestant in self._leading,
                    met.get(row.contestant),
                    scores.get(row.contestant),
                )
            )
        return entries

    @cached_property
    def _of_texts(self) -> tuple[tuple[OfTexts, ...], Pending | None]:
        """Requirements met and mean text scores, where the table has all columns and counts all ratings."""
        setting, counts = self.setting, self.snapshot.counts
        some = setting.turn or setting.prompts or setting.visitors
        if some or not self.asked.columns or not any(counts.get(kind) for kind in OF_TEXTS.values()):
            return NO_TEXTS, None
        from leaderboard.standings.of_texts import of_texts  # loads NumPy and SciPy

        return of_texts(self.study, self.snapshot, setting.raters, setting.category)

    def waiting_for_texts(self) -> Board:
        """The board, which waits for all of its columns."""
        return self if self.pending else replace(self, pending=self._of_texts[1])

    @property
    def marked(self) -> str:
        """What the bar in the table marks; empty where it marks none."""
        return marked_sentence(self.content) if self.content else ""

    @cached_property
    def _leading(self) -> Collection[str]:
        return leading_group(self.content) if self.content and self.marked else ()

    @property
    def csv_url(self) -> str:
        return f"{self.address}tables/standings.csv{self.query}"

    @property
    def json_url(self) -> str:
        return reverse("standings-json", args=[self.study.slug]) + self.query

    @property
    def rated(self) -> str:
        """How much of the study these raters rated; empty for all of it, and without people’s answers."""
        setting = self.setting
        models, prompts = (int(self.snapshot.counts[what]) for what in ("contestants", "prompts"))
        own = self.parameters.get("clusters") if self.parameters.get("resample") == "prompts" else None
        narrowed = any((setting.category, setting.criterion, setting.turn, setting.pairs, setting.ratings))
        some = own is not None and own < prompts and not narrowed
        if setting.contestants or (len(self.rows) == models and not some):
            return ""
        on = f" on {own} of {counted(prompts, 'prompt')}" if some else ""
        rest = " The other models are not listed." if len(self.rows) < models else ""
        here = " at this setting" if narrowed else ""
        return f"{self.raters['label']} rated {len(self.rows)} of {models} models{on}{here}.{rest}"

    @cached_property
    def panels(self) -> tuple[Panel, ...]:
        return tuple(panels(self))

    @property
    def open_panels(self) -> list[Panel]:
        return [panel for panel in self.panels if panel.slug not in FOLDED]

    @property
    def folded_panels(self) -> list[Panel]:
        return [panel for panel in self.panels if panel.slug in FOLDED]

    @cached_property
    def side_by_side(self) -> RankTable | None:
        """Ranks by each kind of raters, where there is more than one."""
        boards = self.by_raters()
        return rank_table(self.order, boards) if len(boards) > 1 else None

    @cached_property
    def equal_games(self) -> int:
        """How many games every two contestants have, if all have as many; else 0."""
        found = (
            {games for place, row in enumerate(self.matrices["games"]) for games in row[place + 1 :]}
            if self.matrices
            else set()
        )
        return int(found.pop()) if len(found) == 1 else 0

    def by_raters(self) -> list[tuple[str, Content]]:
        """Labels and standings of people, each judge and a chosen group; those chosen first."""
        found = []
        for choice in self.snapshot.counts["raters"]:
            selector, content = choice["selector"], self.standings_of(raters=choice["selector"])
            if content and (selector == self.setting.raters or not selector.startswith("group:")):
                found.append((selector != self.setting.raters, choice["label"], content))
        return [(label, content) for _, label, content in sorted(found, key=lambda entry: entry[0])]


def others(board: Board) -> Iterator[Other]:
    """What stands beside the board's standings."""
    everyone, unadjusted = board.without("contestants"), board.without("adjust")
    if everyone:
        yield Other(
            "with-people",
            "if people’s answers count",
            "Models only",
            "Everyone",
            "With and without people’s answers",
            "The same ratings among models only, and with the answers of people.",
            everyone,
        )
    if unadjusted:
        for_what = board.adjusted_for
        yield Other(
            "adjusted",
            f"if {for_what} is left as it is",
            "Adjusted",
            "Not adjusted",
            f"With and without control of {for_what}",
            f"The same ratings as if answers were equal in {for_what}, and as they are.",
            unadjusted,
        )
    every = board.without("pairs")
    if every:
        yield Other(
            "all-pairs",
            "if all pairs count",
            "Random pairs",
            "All pairs",
            "Random pairs and all pairs",
            "The ratings of random pairs, a control of how others were chosen, and the ratings of all pairs.",
            every,
        )
    given = board.without("ratings")
    if given:
        yield Other(
            "as-given",
            "if ratings count as given",
            "Expected",
            "As given",
            "Expected ratings and ratings as given",
            "The same ratings as a judge’s probabilities expect them, as shares of a win, and as given.",
            given,
        )
    rules = [("Ties half", "on"), ("Ties off", "off")]
    own, (name, ties) = rules if board.setting.ties == "on" else rules[::-1]
    under = board.standings_of(ties=ties)
    if under:
        yield Other(
            "ties",
            "if ties count half" if ties == "on" else "if ties do not count",
            own[0],
            name,
            "With and without ties",
            "The same ratings with ties counted half and with ties off.",
            under,
        )


def abouts(study: Study) -> dict[str, About]:
    """What is known of contestants beside their numbers, by name."""
    page = reverse("study-contestant", args=[study.slug, "slug"]).removesuffix("slug/")
    columns = ("name", "slug", "organisation", "licence", "benchmarks")
    return {
        one.name: About(one.organisation, one.licence, f"{page}{one.slug}/", one.benchmarks)
        for one in Contestant.objects.filter(study=study).only(*columns)
    }


FOLDED: Final = ("games", "tie-counts", "ties")
"""Panels that few readers ask for; the page keeps them in *Details*."""


def panels(board: Board) -> Iterator[Panel]:
    if board.content is not None:
        yield _standings(board)
        yield from _side_by_side(board)
        yield from _effects(board)
        yield from _control(board)
        yield from _expected(board)
        yield from (_beside(board, other) for other in others(board) if other.slug != "ties")
        yield from _above(board)
        yield from _matrices(board)
        yield from (_beside(board, other) for other in others(board) if other.slug == "ties")


def _standings(board: Board) -> Panel:
    boards = board.by_raters()
    has_lines = has_intervals(boards)
    return board.make_panel(
        "standings",
        "Scores and intervals" if has_lines else "Scores",
        f"Dots are scores. Lines are the {interval_line(board.parameters)}."
        if has_lines
        else "Without intervals.",
        lambda: standings_table(board.rows, board.setting.method, board.parameters),
        draw=lambda: intervals(board.order, boards),
        height=step(len(board.order) * max(1, 0.4 * len(boards)) + 3 + len(boards)),
        apart=len(board.order) > MOST_ROWS,
    )


def _side_by_side(board: Board) -> Iterator[Panel]:
    if board.side_by_side:
        yield board.make_panel(
            "raters",
            "Ranks by people and judges",
            side_sentence(board.side_by_side),
            lambda: raters_table(board.order, board.by_raters()),
        )


def _beside(board: Board, other: Other) -> Panel:
    def table() -> DataTable:
        own = (other.own, board.content or {})
        return beside_table(board.order, own, (other.name, other.content), other.title)

    return board.make_panel(other.slug, other.title, f"{other.note} {_ends(board)}", table)


def _control(board: Board) -> Iterator[Panel]:
    control = board.control
    if control:
        yield board.make_panel(
            "control",
            "How random pairs change each score",
            "Bradley-Terry scores from random pairs minus those from all pairs, with "
            f"{control['level']:g}% intervals.",
            lambda: control_table(control),
        )


def _expected(board: Board) -> Iterator[Panel]:
    found = board.expected
    if found:
        yield board.make_panel(
            "expected",
            "Correlation with the mean of people",
            "How expected ratings and ratings as given correlate with people’s mean ratings, over pairs that "
            f"people rated too. {found['level']:g}% intervals from resampled prompts.",
            lambda: expected_table(found),
        )


def _effects(board: Board) -> Iterator[Panel]:
    content = board.content
    if content and content.get("effects"):
        yield board.make_panel(
            "effects",
            "What length and style are worth",
            "What one standard deviation more is worth to an answer, against an equally good one. "
            f"{_ends(board)}",
            lambda: effects_table(content),
        )


def _ends(board: Board) -> str:
    words = f"Low and high are the ends of the {board.parameters['interval']:g}% interval."
    return on_intervals(words, board.content)


def _matrices(board: Board) -> Iterator[Panel]:
    content = board.matrices
    if content is None:
        return
    level, size = float(board.setting.level), _size(board)

    def counts(what: str) -> Matrix:
        return count_matrix(content, what, board.order)

    def rates() -> Matrix:
        return win_rates(content, board.order)

    yield board.make_panel(
        "win-rates",
        "Win share against each other",
        "Read across a row: how often the row’s model wins against the column’s model. A tie "
        f"counts half. The table adds {level:g}% intervals (Wilson). {WILSON_CAUTION}",
        lambda: win_rates_table(rates(), counts("games"), level),
        draw=lambda: win_rate_map(rates(), counts("games")),
        **size,
    )
    equal = board.equal_games
    yield board.make_panel(
        "games",
        "Ratings of each two models",
        f"{'The' if len(board.order) == 2 else 'Every'} two models have {counted(equal, 'rating')}."
        if equal
        else "Read across a row: the ratings of the two models.",
        lambda: counts("games").table("Ratings"),
        draw=None if equal else lambda: count_map(counts("games"), counts("games"), "games"),
        **size,
    )
    if board.setting.ties == "on":
        yield board.make_panel(
            "tie-counts",
            "Ties of each two models",
            "Read across a row: how many ratings of the two models are ties.",
            lambda: counts("ties").table("Ties"),
            draw=lambda: count_map(counts("ties"), counts("games"), "ties"),
            **size,
        )


def _above(board: Board) -> Iterator[Panel]:
    found = above(board.content, board.order) if board.content else None
    if found:
        yield board.make_panel(
            "above",
            "Who is above whom",
            "Read across a row: the probability that the row’s model is better than the column’s, counted "
            f"in {board.parameters['rounds']:,} {board.drawn}. Equal scores count half.",
            found.table("Probability of being above"),
            draw=lambda: above_map(found),
            **_size(board),
        )


def _size(board: Board) -> dict[str, Any]:
    """Of the figure and the table of a matrix."""
    contestants = len(board.order)
    return {
        "height": step(contestants + 6),
        "width": _width(contestants),
        "apart": contestants > MOST_INLINE,
    }


def _width(contestants: int) -> str:
    """The width at which the cells of a matrix can be read."""
    if contestants > MOST_INLINE:
        return "wide"
    if contestants > MOST_NUMBERS:
        return "large"
    return "matrix" if contestants > MOST_ON_A_PHONE else ""


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> Board:
    if (tab := landing(study, snapshot)) != Board.tab:
        raise ElsewhereError(reverse(tab, args=[study.slug]))
    board = Board.read(study, snapshot, Board.setting_for(request.GET, snapshot))
    return replace(board, asked=TableQuery.of(request.GET, USUAL)).waiting_for_texts()


@published
def standings_json(request: HttpRequest, now: Published) -> HttpResponse:
    try:
        return JsonResponse(Board.newest(now.study, request.GET).standings())
    except NotReadyError as error:
        return not_ready(error)
    except (UnknownSettingError, NoNumbersError) as error:
        raise Http404(str(error)) from error
