"""Models that do not exist, for battles of the demo study: made-up answers that say so. Pure.

They read no prompt. An answer says how good it stands for, drawn about the stated strength of its model, so
that people can rate it; nothing in it tells the model. The same prompt gets the same answer from each.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from judging.endpoints.client import NoReplyError, Reply, Request
from judging.endpoints.simulated import MODEL

AT_ONCE: Final = 0.1  # seconds between two pieces
NOISE: Final = 200.0  # standard deviation of an answer's quality, in Elo points
QUALITIES: Final = ("very poor", "poor", "fair", "good", "very good", "excellent")
STEP: Final = 150.0  # Elo points from one quality to the next; 0 points are between the middle two

FILLING: Final = (
    "No model has read your prompt.",
    "This sentence only fills the space that a real answer would take.",
    "It comes word by word, as from a model that is being asked.",
    "Some answers are longer than others, and some come faster.",
    "Rate it by the quality that is stated above.",
    "Only the demo study has answers like this one.",
    "Operators let people battle between real models in studies of their own.",
    "Nothing here was written by a language model.",
)


@dataclass(frozen=True)
class SimulatedAuthor:
    """Streams the answer of a simulated model.

    ``options``: its strength in Elo points, the characters of its usual answer, and how many come a second.
    """

    options: Mapping[str, Any]

    def ask(self, request: Request) -> Reply:
        text = self._text(request)
        asked = sum(len(message["content"]) for message in request.messages)
        return Reply(text, "stop", MODEL, "", asked // 4 + 1, len(text) // 4 + 1)

    def stream(self, request: Request, take: Callable[[str], None], hung: float) -> Reply:
        reply = self.ask(request)
        for piece in _pieces(reply.text, max(1, int(self._number("speed", 120.0) * AT_ONCE))):
            time.sleep(AT_ONCE)
            take(piece)
        return reply

    def _text(self, request: Request) -> str:
        rng = random.Random(f"{dict(self.options)}/{request.messages[-1]['content']}")  # noqa: S311
        points = rng.gauss(self._number("strength", 0.0), NOISE)
        number = round(points / STEP + (len(QUALITIES) - 1) / 2)
        quality = QUALITIES[min(max(number, 0), len(QUALITIES) - 1)]
        wanted = self._number("length", 600.0) * rng.uniform(0.6, 1.4)
        text = f"This is a simulated answer. It stands for one of **{quality}** quality.\n\n"
        while len(text) < wanted:
            text += f"{rng.choice(FILLING)} "
        return text.strip()

    def _number(self, name: str, usual: float) -> float:
        value = self.options.get(name, usual)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise NoReplyError("configuration", f"{name} must be a number", retryable=False)
        return float(value)


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
