"""A prompt and two answers to it, as pages show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from django.utils.safestring import SafeString

from arena.models import Pair
from arena.rating.screen import Html, ShownPrompt, html_of, shown_prompt, texts_of
from leaderboard.pages.pairs import Side


@dataclass(frozen=True)
class ShownPair:
    pair: Pair
    html: Html = field(repr=False)

    @classmethod
    def of(cls, pair: Pair) -> ShownPair:
        return cls(pair, html_of(texts_of(pair.prompt), pair.first.turns, pair.second.turns))

    @property
    def prompt(self) -> ShownPrompt:
        return shown_prompt(self.pair.prompt, self.html)

    @property
    def sides(self) -> tuple[Side, Side]:
        return Side("A", self.pair.first), Side("B", self.pair.second)

    @cached_property
    def texts(self) -> list[tuple[Side, list[SafeString]]]:
        """Both sides with the HTML of their turns."""
        return [
            (side, [self.html.get(turn, SafeString()) for turn in side.completion.turns])
            for side in self.sides
        ]
