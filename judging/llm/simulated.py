"""A judge that does not exist: made-up opinions with known noise and position bias. Pure.

For the demo study only, and labelled simulated wherever its answers show. It reads no text: it perceives the
difference of two stated strengths in Elo points (400 points are odds of 10 to 1), plus bias, plus an error.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from judging.llm.client import NoReplyError, Reply, Request

MODEL: Final = "simulated"


@dataclass(frozen=True)
class Simulation:
    """How the simulated judge errs, in Elo points.

    noise: standard deviation of its error in one comparison; position_bias: added to the side shown second;
    strengths: the strength of each contestant, by slug.
    """

    noise: float
    position_bias: float
    strengths: Mapping[str, float]

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "Simulation":
        """Checked options; raises ValueError saying which one is wrong."""
        unknown = sorted(set(options) - {"noise", "position_bias", "strengths"})
        if unknown:
            raise ValueError(f"unknown option {unknown[0]}; there are noise, position_bias and strengths")
        strengths = options.get("strengths", {})
        if not isinstance(strengths, Mapping):
            raise ValueError("strengths must map contestant slugs to numbers")
        numbers = {"noise": options.get("noise", 200), "position_bias": options.get("position_bias", 0)}
        for name, value in {**numbers, **strengths}.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e6:
                raise ValueError(f"{name} must be a number of Elo points")
        if numbers["noise"] < 0:
            raise ValueError("noise must not be negative")
        return cls(float(numbers["noise"]), float(numbers["position_bias"]), dict(strengths))


@dataclass(frozen=True)
class SimulatedClient:
    """Answers about two contestants, named by slug in presentation order; the same seed, the same answer."""

    simulation: Simulation
    first: str
    second: str
    points: int
    seed: int

    def ask(self, request: Request) -> Reply:
        """See judging.llm.client.Client."""
        rng = random.Random(self.seed)  # noqa: S311 - a simulation, no secret
        seen = self._strength(self.second) - self._strength(self.first) + self.simulation.position_bias
        seen += rng.gauss(0, self.simulation.noise)
        share = 1 / (1 + 10 ** (-max(-4000.0, min(4000.0, seen)) / 400))
        rating = min(self.points, 1 + int(share * self.points))
        return Reply(f"{rating}\nSimulated reply: no model was asked.", "stop", MODEL)

    def _strength(self, slug: str) -> float:
        if slug not in self.simulation.strengths:
            raise NoReplyError("configuration", f"no strength is stated for {slug}", retryable=False)
        return self.simulation.strengths[slug]
