"""What the page of a battle shows, and its script is told. Nothing here tells who writes before the vote."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Final

from django.utils.safestring import SafeString, mark_safe

from arena.models import Rater, Study
from arena.rating.screen import QUESTION, Row
from arena.rules import scales
from arena.texts import markdown
from judging.battles import showing, starting, voting
from judging.battles.showing import Side, Turn
from judging.battles.voting import Told
from judging.models import Battle, BattleCall, BattleRules

State = Battle.State
Void = Battle.Void

WHY_VOID: Final[Mapping[str, str]] = {
    Void.PROMPT: "Your prompt was not let through. Change it, or ask something else.",
    Void.FLAGGED: "An answer was not let through, so there is nothing to rate.",
    Void.FAILED: "A model gave no answer, so there is nothing to rate. Your prompt is kept below.",
    Void.CUT: "An answer was cut off, so there is nothing to rate. Your prompt is kept below.",
    Void.HUNG: "An answer stopped coming, so there is nothing to rate. Your prompt is kept below.",
    Void.NAMED: "An answer told who wrote it, so there is nothing to rate. Your prompt is kept below.",
    Void.BUDGET: "What battles may cost is used up for now. Come back tomorrow, after 00:00 UTC.",
    Void.LEFT: "You left this battle without rating. Your prompt is kept below.",
    Void.REMOVED: "This battle was removed: its texts and its rating are gone.",
}
"""What a battle without a vote says: never which side it was."""

SHOWN_WHEN_VOID: Final = frozenset({Void.CUT, Void.HUNG, Void.LEFT, Void.BUDGET})
"""Of these, what was seen stays."""

_BOUNDARY: Final = re.compile(r"\n[ \t]*\n+(?=\S)")
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


def blocks(text: str) -> list[str]:
    """Divide a Markdown text where its blocks end, so that what has been shown is not formatted again.

    Blank lines within code, and before an indented line, are in the middle of one.
    """
    fences = [place for span in _fenced(text) for place in span]  # of which every second one closes
    cuts = [found.end() for found in _BOUNDARY.finditer(text)]
    kept = [cut for cut in cuts if bisect_left(fences, cut) % 2 == 0]
    return [text[start:end] for start, end in pairwise([0, *kept, len(text)]) if text[start:end].strip()]


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Yield where blocks of code begin and end; the last may have no end yet."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]):
            yield opened.start(), fence.end()
            opened = None
    if opened:
        yield opened.start(), len(text) + 1


@lru_cache(maxsize=4096)
def _html(text: str) -> SafeString:
    return mark_safe(markdown.render(text))  # noqa: S308 - sanitised


def html_of(text: str) -> list[SafeString]:
    """Return a text as safe HTML, block by block."""
    return [_html(block) for block in blocks(text)]


@dataclass(frozen=True)
class Chip:
    """A reason that a study offers, as said of one answer or not."""

    text: str
    is_chosen: bool


@dataclass(frozen=True)
class Column:
    """An answer on the page. told: who wrote it, after the vote alone."""

    letter: str
    earlier: list[tuple[int, list[SafeString], list[SafeString]]]
    blocks: list[SafeString]
    is_complete: bool
    told: Told | None
    chips: list[Chip]


@dataclass(frozen=True)
class Shown:
    """A battle as its visitor sees it now."""

    battle: Battle
    rules: BattleRules

    @cached_property
    def turns(self) -> list[Turn]:
        return showing.turns(self.battle)

    @property
    def newest(self) -> Turn:
        return self.turns[-1]

    @property
    def stage(self) -> str:
        """Return the state as far as it shows: answers are ready once all of both can be seen."""
        is_held = self.battle.state == State.READY and not self.newest.is_complete
        return State.ANSWERING if is_held else self.battle.state

    @property
    def is_going(self) -> bool:
        return self.stage in (State.WAITING, State.ANSWERING)

    @property
    def is_voted(self) -> bool:
        return self.battle.state == State.VOTED

    @property
    def is_told(self) -> bool:
        return self.is_voted and self.battle.told_at is not None

    @property
    def is_void(self) -> bool:
        return self.battle.state == State.VOID

    @property
    def can_vote(self) -> bool:
        is_open = self.battle.state in (State.ANSWERING, State.READY)
        return is_open and self.newest.can_be_voted_on

    @property
    def is_answered(self) -> bool:
        return self.stage == State.READY

    @property
    def can_go_on(self) -> bool:
        is_ready = self.is_answered or self.is_voted
        return is_ready and showing.may_go_on(self.battle, self.rules)

    @property
    def may_go_on_later(self) -> bool:
        """Return True if a further question can be asked once both have answered."""
        is_own = self.rules.thread == BattleRules.Thread.OWN
        return is_own and self.battle.turn < self.rules.most_turns

    @property
    def words(self) -> str:
        """Return how far the battle is, as a sentence."""
        if self.is_void:
            return WHY_VOID[self.battle.void]
        if self.is_voted:
            return "You have rated them."
        if self.is_answered:
            return "Both have answered. Which is better?"
        if self.can_vote:
            return "Both are answering. You can rate now."
        if self.battle.state == State.WAITING and (place := starting.position(self.battle)) > 1:
            return f"In the queue: place {place}."
        return "Two models are answering."

    @property
    def scale(self) -> SafeString:
        return Row("rating", QUESTION, self.battle.study.points).html

    @property
    def prompt(self) -> list[SafeString]:
        return html_of(self.newest.said)

    @property
    def shows_texts(self) -> bool:
        return not self.is_void or self.battle.void in SHOWN_WHEN_VOID

    @cached_property
    def columns(self) -> list[Column]:
        told = voting.reveal(self.battle, self.newest) if self.is_told else (None, None)
        said = (self.battle.first_reasons, self.battle.second_reasons)
        return [self._column(side, told[side], said[side]) for side in BattleCall.Side]

    def _column(self, side: int, told: Told | None, said: list[str]) -> Column:
        earlier = [
            (each.number, html_of(each.said), html_of(each.sides[side].text)) for each in self.turns[:-1]
        ]
        newest, reasons = self.newest.sides[side], map(str, self.battle.study.reasons)
        chips = [Chip(text, text in said) for text in reasons]
        letter = BattleCall.Side(side).label
        return Column(letter, earlier, html_of(newest.text), newest.is_complete, told, chips)

    @property
    def outcome(self) -> str:
        """Return how a battle ended, in words."""
        return self.verdict if self.is_voted else "Ended without a rating."

    @property
    def verdict(self) -> str:
        """Return what was voted, in words."""
        comparison = self.battle.comparison
        if comparison is None:
            return ""
        neither = "neither is acceptable" if comparison.neither else ""
        better = scales.CAPTIONS[comparison.points][comparison.rating - 1] if comparison.rating else ""
        return f"You rated: {', and '.join(filter(None, (better, neither)))}."

    def told(self, held: tuple[int, int]) -> dict[str, Any]:
        """Return what the script of the page is told; ``held``: blocks of A and B that it has already."""
        can = {"vote": self.can_vote, "stop": self.is_going, "more": self.can_go_on}
        sides = self.newest.sides if self.shows_texts else (Side(), Side())
        return {
            "state": self.stage,
            "turn": self.battle.turn,
            "words": self.words,
            "sides": [_news(side, first) for side, first in zip(sides, held, strict=True)],
            "can": [name for name, is_so in can.items() if is_so],
        }


def _news(side: Side, held: int) -> dict[str, Any]:
    """Return what is new of a side; the last block that the page holds may have grown."""
    found = html_of(side.text)
    first = max(0, min(held - 1, len(found)))
    return {"from": first, "blocks": found[first:], "complete": side.is_complete}


MOST_EARLIER: Final = 10


def earlier(rules: BattleRules, rater: Rater | None) -> list[Shown]:
    """Return the visitor's own battles that have ended, the last ones first."""
    ended = Battle.objects.filter(study=rules.study, rater=rater, state__in=[State.VOTED, State.VOID])
    rows = ended.exclude(void=Void.REMOVED).select_related("study", "comparison").order_by("-pk")
    return [Shown(battle, rules) for battle in rows[:MOST_EARLIER]]


def newest(study: Study, rater: Rater) -> Battle | None:
    """Return the battle that a visitor has open, or the last one that ended."""
    rows = Battle.objects.filter(study=study, rater=rater).order_by("-pk")
    found = rows.select_related("study__battle_rules", "comparison", "first", "second", "rater").first()
    return None if found and found.void == Void.REMOVED else found
