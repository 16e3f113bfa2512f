"""The page about a study's data."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse

from arena.models import Study
from leaderboard.data.figure import MOST_NAMES, coverage_bars, length_boxes, spread_bars
from leaderboard.data.left_out import left_out_by_reason
from leaderboard.data.table import (
    EVERYTHING,
    LENGTHS,
    TEXTS,
    Spread,
    TextLengths,
    all_lengths_table,
    coverage_table,
    left_out_table,
    length_words,
    lengths_table,
    requirement_kinds,
    requirement_numbers,
    sets_table,
    sets_title,
    spread_table,
    text_contestants_table,
    text_lengths,
    unscored_table,
)
from leaderboard.models import Snapshot
from leaderboard.pages.figure import MOST_SERIES
from leaderboard.pages.format import counted
from leaderboard.pages.page import Page, Panel, step
from leaderboard.pages.rater_kinds.choices import choices, ending, one_of
from leaderboard.pages.switches import Switch
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.settings import prompt_words
from leaderboard.snapshots.stored import Stored
from leaderboard.snapshots.visible_lengths import visible_lengths


@dataclass(frozen=True, kw_only=True)
class DataPage(Page):
    measure: str
    stored: Stored = field(repr=False)

    template: ClassVar[str] = "leaderboard/data.html"
    tab: ClassVar[str] = "study-data"

    @cached_property
    def content(self) -> Content | None:
        """What may be seen now; None in a snapshot from before texts were measured."""
        lengths = self.stored.get("data", "")
        return lengths and visible_lengths(self.study, lengths)

    @property
    def switches(self) -> list[Switch]:
        options = [(name, noun.capitalize()) for name, noun in LENGTHS.items()]
        return [choices("measure", "Length in", options, self.measure, _query)]

    @cached_property
    def lengths(self) -> list[TextLengths]:
        return text_lengths(self.content, self.measure) if self.content else []

    @property
    def totals(self) -> list[tuple[str, int, int]]:
        return [(TEXTS[one.what], one.count, one.unknown) for one in self.lengths if one.part == EVERYTHING]

    @property
    def people_answers(self) -> int:
        """Answers that people wrote beside the models; their lengths may be hidden, their number is not."""
        found = self.stored.get("data", "") or {}
        return sum(row["completions"] for row in found.get("contestants", ()) if row["kind"] == "people")

    @property
    def finding(self) -> str:
        """How much longer answers are than prompts, or prompts than answers."""
        medians = {one.what: one.median for one in self.lengths if one.part == EVERYTHING}
        prompt, answer = medians.get("prompt"), medians.get("completion")
        if not prompt or not answer:
            return ""
        names = ("Answers", "prompts") if answer >= prompt else ("Prompts", "answers")
        more, less = max(answer, prompt), min(answer, prompt)
        times = float(f"{more / less:.2g}")
        about = {1.0: "", 2.0: "twice "}.get(times, f"{times:,.{0 if times >= 10 else 1}f} times ")
        noun = LENGTHS[self.measure] if more != 1 else LENGTHS[self.measure].removesuffix("s")
        medians_said = f"(median {more:,.6g} {noun} against {less:,.6g})"
        return f"{names[0]} are about {about}as long as {names[1]} {medians_said}."

    @property
    def of_prompts(self) -> str:
        """The kind of prompts whose pairs and ratings are counted; empty without live ones."""
        kind = prompt_words(self.snapshot.counts.get("prompts_shown", ""))
        return f" of {kind}" if kind else ""

    @property
    def unknown(self) -> int:
        return sum(unknown for _, _, unknown in self.totals)

    @property
    def known(self) -> int:
        return sum(count for _, count, _ in self.totals)

    @property
    def shown(self) -> tuple[Panel, ...]:
        return tuple(panel for panel in self.panels if panel.slug != "all-lengths")

    @property
    def everything_csv(self) -> str:
        found = self.panel("all-lengths")
        return found.csv_url if found else ""

    def _panels(self) -> Iterator[Panel]:
        yield from self._measured_panels()
        if left_out := left_out_by_reason(self.study):
            yield self.make_panel(
                "left-out",
                "Rows of files that were left out",
                "Rows that could not be read, in imports that left them out. They count nowhere here.",
                left_out_table(left_out),
            )

    def _measured_panels(self) -> Iterator[Panel]:
        content = self.content
        if content is None:
            return
        yield from self._set_panels(content)
        if self.lengths:
            yield self._lengths_panel(content["tokenizer"])
            table = all_lengths_table(content)
            yield self.make_panel("all-lengths", "Lengths by every measure", "For a file.", table)
        if content["contestants"]:
            yield self.make_panel(
                "contestants",
                "Answers of each model",
                "Empty answers count as length 0. Unknown ones are not counted.",
                text_contestants_table(content),
            )
        yield from self._rating_panels(content)

    def _set_panels(self, content: Content) -> Iterator[Panel]:
        if "sets" not in content or not content["sets"][0]["prompts"]:
            return
        yield self.make_panel(
            "sets",
            sets_title(content),
            "Words per prompt are those between spaces, without material.",
            sets_table(content),
        )
        yield from self._spread_panel(
            "requirements",
            "Requirements per prompt",
            "A prompt without requirements has 0.",
            requirement_numbers(content),
        )
        yield from self._spread_panel(
            "kinds",
            "Kinds of requirements",
            "A requirement counts under each of its kinds.",
            requirement_kinds(content),
        )

    def _spread_panel(self, slug: str, title: str, note: str, spread: Spread) -> Iterator[Panel]:
        if spread.shares:
            draw = (lambda: spread_bars(spread)) if len(spread.names) <= MOST_NAMES else None
            yield self.make_panel(slug, title, note, spread_table(title, spread), draw=draw, height=15)

    def _lengths_panel(self, tokenizer: str) -> Panel:
        drawn = len({one.part for one in self.lengths if one.count})
        demonstrated = any(one.what == "demonstration" for one in self.lengths)
        return self.make_panel(
            "lengths",
            f"Length in {LENGTHS[self.measure]}",
            "Logarithmic scale. A box holds the middle half, its line is the median, its arms end at the "
            "shortest and the longest."
            + (" Demonstrations are answers and references by people." if demonstrated else "")
            + (f" Tokens are those of {tokenizer}." if self.measure == "tokens" else ""),
            lengths_table(self.lengths, length_words(self.measure, tokenizer)),
            draw=(lambda: length_boxes(self.measure, self.lengths)) if drawn else None,
            height=step(2.4 * drawn + 5),
        )

    def _rating_panels(self, content: Content) -> Iterator[Panel]:
        crowded = len(content["coverage"]) > MOST_SERIES
        if content["coverage"]:
            yield self.make_panel(
                "coverage",
                "How often pairs were rated",
                f"How many of the {counted(content['pairs'], 'pair')}{self.of_prompts} have 0, 1, 2 or more "
                "ratings."
                + (f" The figure shows the first {MOST_SERIES} raters, the table all." if crowded else ""),
                coverage_table(content),
                draw=lambda: coverage_bars(content),
                height=15,
            )
            yield self.make_panel(
                "unscored",
                "Pairs not rated",
                "By reason. They count in no score, not even as ties. Pairs of identical answers are "
                "skipped, or asked only as a test.",
                unscored_table(content),
            )


def _query(measure: str = "words") -> str:
    return ending([("measure", "" if measure == "words" else measure)])


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> DataPage:
    measure = one_of(request.GET, "measure", tuple(LENGTHS), "words")
    return DataPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-data", args=[study.slug]),
        query=_query(measure),
        measure=measure,
        stored=Stored.read(snapshot, Q(kind="data")),
    )
