"""A judge that does not exist: made-up opinions with known noise and position bias. Pure.

For the demo study only, labelled simulated wherever its answers show. It reads no text: it perceives the
difference of two stated strengths in Elo points, plus bias, plus an error. One answer alone is compared with
the mean of all strengths.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from judging.endpoints.client import NoReplyError, Reply, Request
from judging.protocols.conversation import Question
from judging.protocols.protocol import SIDES
from judging.protocols.rehearsal import NOTE, placed, verdict

MODEL: Final = "simulated"


@dataclass(frozen=True)
class Simulation:
    """In Elo points. noise: standard deviation; position_bias: added to the side shown second."""

    noise: float
    position_bias: float
    strengths: Mapping[str, float]

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "Simulation":
        """Checked options; raises ValueError saying which one is wrong."""
        unknown = sorted(set(options) - {"noise", "position_bias", "strengths"})
        if unknown:
            raise ValueError(f"unknown option {unknown[0]}, use noise, position_bias and strengths")
        strengths = options.get("strengths", {})
        if not isinstance(strengths, Mapping):
            raise ValueError("strengths must map slugs of models to numbers")
        numbers = {"noise": options.get("noise", 200), "position_bias": options.get("position_bias", 0)}
        for name, value in {**numbers, **strengths}.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e6:
                raise ValueError(f"{name} must be a number of Elo points")
        if numbers["noise"] < 0:
            raise ValueError("noise must not be negative")
        return cls(float(numbers["noise"]), float(numbers["position_bias"]), dict(strengths))


@dataclass(frozen=True)
class SimulatedClient:
    """Answers one question about two contestants, named by slug in the order of the assignment, or one.

    The same seed, order and sample give the same opinion, whatever the wording.
    """

    simulation: Simulation
    first: str
    second: str | None
    seed: int
    question: Question
    numbers: Sequence[int] = ()  # of the requirements that one reply is about

    def ask(self, request: Request) -> Reply:
        question = self.question
        strengths = [self._strength(slug) for slug in (self.first, self.second) if slug is not None]
        if question.scale is None or question.place is None:
            return Reply(NOTE, "stop", MODEL)
        if question.side or len(strengths) == 1:
            own = SIDES.index(question.side) if question.side else 0
            seen = strengths[own] - fmean(self.simulation.strengths.values())
        else:
            seen = strengths[1] - strengths[0]
            seen = (-seen if question.other_order else seen) + self.simulation.position_bias
        seen += self._rng().gauss(0, self.simulation.noise)
        share = 1 / (1 + 10 ** (-max(-4000.0, min(4000.0, seen)) / 400))
        words = verdict(share, question.scale)
        return Reply(placed(words, question.place, numbers=self.numbers), "stop", MODEL)

    def _rng(self) -> random.Random:
        """For the error of this opinion; about a pair in its own order it depends on the seed alone."""
        question = self.question
        if not (question.side or question.other_order or question.sample or self.second is None):
            return random.Random(self.seed)  # noqa: S311 - a simulation, no secret
        part = question.key if self.second is None else question.side
        seed = f"{self.seed}/{part}/{question.other_order}/{question.sample}"
        return random.Random(seed)  # noqa: S311

    def _strength(self, slug: str) -> float:
        if slug not in self.simulation.strengths:
            raise NoReplyError("configuration", f"no strength is stated for {slug}", retryable=False)
        return self.simulation.strengths[slug]
