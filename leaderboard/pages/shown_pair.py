"""A prompt and two answers to it, as pages show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from arena.models import Pair
from arena.rating.shown import Answer, Block, Html, ShownPrompt, conversation, html_of, texts_of
from leaderboard.pages.pairs import Side


@dataclass(frozen=True)
class ShownPair:
    pair: Pair
    html: Html = field(repr=False)

    @classmethod
    def of(cls, pair: Pair) -> ShownPair:
        return cls(pair, html_of(texts_of(pair.prompt), pair.first.turns, pair.second.turns))

    @cached_property
    def _conversation(self) -> tuple[ShownPrompt, list[list[Block]]]:
        both = (self.pair.first, self.pair.second)
        return conversation(self.pair.prompt, [Answer(one.turns, one.asides) for one in both], self.html)

    @property
    def prompt(self) -> ShownPrompt:
        return self._conversation[0]

    @property
    def sides(self) -> tuple[Side, Side]:
        return Side("A", self.pair.first), Side("B", self.pair.second)

    @cached_property
    def texts(self) -> list[tuple[Side, list[Block]]]:
        """Both sides with what was said in each."""
        return list(zip(self.sides, self._conversation[1], strict=True))
