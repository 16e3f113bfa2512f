"""A judge that does not exist: made-up opinions with known noise and position bias. Pure.

For the demo study only, and labelled simulated wherever its answers show. It reads no text: it perceives the
difference of two stated strengths in Elo points (400 points are odds of 10 to 1), plus bias, plus an error.
One answer alone is compared with the mean of all stated strengths, and has no position.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from judging.endpoints.client import NoReplyError, Reply, Request
from judging.protocols.answer_scales import GRADES, AnswerScale, answer_scale
from judging.protocols.protocol import SIDES, About
from judging.protocols.replies import Place
from judging.protocols.runner import Question

MODEL: Final = "simulated"

NOTE: Final = "Simulated reply: no model was asked."
"""Stands in every reply that has room for it."""


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
    """Answers one question about two contestants, named by slug in the order of the assignment.

    The same seed, order and sample give the same opinion, whatever the wording: a protocol of several steps
    about the pair hears it several times, and another one where the order is changed. Without a question it
    is asked for a rating of so many points on the first line.
    """

    simulation: Simulation
    first: str
    second: str
    points: int
    seed: int
    question: Question | None = None

    def ask(self, request: Request) -> Reply:
        """See judging.endpoints.client.Client."""
        strengths = self._strength(self.first), self._strength(self.second)
        question = self.question or rating_question(self.points)
        if question.scale is None or question.place is None:
            return Reply(NOTE, "stop", MODEL)
        if question.side:
            seen = strengths[SIDES.index(question.side)] - fmean(self.simulation.strengths.values())
        else:
            seen = strengths[1] - strengths[0]
            seen = (-seen if question.other_order else seen) + self.simulation.position_bias
        seen += self._rng(question).gauss(0, self.simulation.noise)
        share = 1 / (1 + 10 ** (-max(-4000.0, min(4000.0, seen)) / 400))
        return Reply(placed(verdict(share, question.scale), question.place), "stop", MODEL)

    def _rng(self, question: Question) -> random.Random:
        """Of the error of this opinion; about a pair in its own order it depends on the seed alone."""
        if not (question.side or question.other_order or question.sample):
            return random.Random(self.seed)  # noqa: S311 - a simulation, no secret
        seed = f"{self.seed}/{question.side}/{question.other_order}/{question.sample}"
        return random.Random(seed)  # noqa: S311

    def _strength(self, slug: str) -> float:
        if slug not in self.simulation.strengths:
            raise NoReplyError("configuration", f"no strength is stated for {slug}", retryable=False)
        return self.simulation.strengths[slug]


def rating_question(points: int) -> Question:
    """The plainest question about a pair: one rating, on the first line."""
    return Question("rate", [], About.PAIR, scale=answer_scale("likert", points), place=Place.FIRST_LINE)


def verdict(share: float, scale: AnswerScale) -> str:
    """How a share of the belief is worded: in the second answer, or in the one answer that is scored.

    Two scores differ by one of the differences there are, each of the same width; the better answer has the
    highest score.
    """
    if scale.form == "score":
        return str(scale.lowest + step_of(share, scale.highest - scale.lowest + 1))
    if scale.form == "scores":
        widest = scale.highest - scale.lowest
        ahead = step_of(share, 2 * widest + 1) - widest
        return f"{scale.highest - max(0, ahead)} {scale.highest + min(0, ahead)}"
    step = step_of(share, scale.points)
    return {"likert": str(step + 1), "binary": f"Answer {'AB'[step % 2]}", "grades": GRADES[step % 5]}[
        scale.form
    ]


def step_of(share: float, steps: int) -> int:
    """Which of so many equal steps a share falls on, from 0."""
    return min(steps - 1, int(share * steps))


def placed(words: str, place: Place, note: str = NOTE) -> str:
    """A reply with the verdict in its place; a reply of one line has no room for a note."""
    return {
        Place.FIRST_LINE: f"{words}\n{note}",
        Place.ONLY_LINE: words,
        Place.LAST_LINE: f"{note}\n{words}",
        Place.FIELD: f"{note}\nVerdict: {words}",
    }[place]
