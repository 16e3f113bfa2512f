"""Simulated votes for the demo study, from stated strengths and stated biases. Pure and deterministic.

Everything is in Elo points (400 points are odds of 10 to 1). Each completion has a quality: its contestant's
strength plus a deviation of its own that all raters see. A rater perceives the second completion's quality
minus the first's, plus the rater's position bias and a random error, and answers with the rating in whose
band the sum falls. Strengths, quality deviations and errors of people together spread like the errors of the
Elo model, so that strengths come back as ratings. Judges perceive part of the difference only, less in some
categories. The simulated raters do not read the texts.
"""

import random
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations, cycle
from statistics import fmean
from typing import Final

SEED: Final = 2025
"""Seed of every random choice made here."""

POINTS: Final = 8
"""Points of the scale the simulated raters use."""

STRENGTHS: Final[Mapping[str, int]] = {
    "Lapwing 34B": 1180,
    "Human demonstrations": 1110,
    "Redshank 13B": 1050,
    "Dunnock 7B": 920,
    "Turnstone 3B": 740,
}
"""True strength of each contestant; the mean is 1000."""

AGREEMENT: Final[Mapping[str, float]] = {
    "generation": 1.0,
    "brainstorm": 1.0,
    "question answering": 0.7,
    "summarisation": 0.7,
    "commonsense": 0.6,
    "coding": 0.35,
}
"""Share of the difference in quality that a simulated judge perceives, by category; people perceive all."""

TEXT_DEVIATION: Final = 140.0
"""Standard deviation of a completion's quality about its contestant's strength."""

ERROR: Final = 220.0
"""Standard deviation of a rater's error in one comparison."""

BANDS: Final = (-550.0, -300.0, -100.0, 0.0, 100.0, 300.0, 550.0)
"""Where one rating ends and the next begins; about one vote in five falls into 4 or 5."""

PEOPLE_PER_PAIR: Final = 2
UNSCORED_SHARE: Final = 0.02
"""Share of a judge's replies that hold no rating: half of them "0", half empty."""

START: Final = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
"""When the simulated people begin."""

JUDGES_START: Final = START + timedelta(days=7)
"""When the simulated judges begin."""


@dataclass(frozen=True)
class SimulatedRater:
    """A rater that does not exist. ``bias`` is added to the side shown second; negative favours the first."""

    name: str
    slug: str
    is_judge: bool
    bias: int


RATERS: Final = (
    SimulatedRater("Simulated rater 1", "simulated-rater-1", False, 0),
    SimulatedRater("Simulated rater 2", "simulated-rater-2", False, -60),
    SimulatedRater("Simulated rater 3", "simulated-rater-3", False, 40),
    SimulatedRater("Simulated rater 4", "simulated-rater-4", False, 0),
    SimulatedRater("Simulated judge A", "simulated-judge-a", True, -180),
    SimulatedRater("Simulated judge B", "simulated-judge-b", True, 90),
)
"""Everyone who votes, with the position bias they were given."""


@dataclass(frozen=True)
class Showing:
    """Two contestants' completions of one prompt, shown to a rater in this order."""

    prompt: str
    first: str
    second: str
    rater: SimulatedRater


@dataclass(frozen=True)
class Vote:
    """One simulated answer. rating is 1..POINTS, None where a judge gave none.

    raw_reply is what a judge replied, empty for people.
    """

    showing: Showing
    rating: int | None
    raw_reply: str
    seconds: float
    created_at: datetime

    @property
    def reason(self) -> str:
        """Why there is no rating: "empty" or "out_of_range"; empty where there is one."""
        if self.rating is not None:
            return ""
        return "out_of_range" if self.raw_reply else "empty"


def simulate(categories: Mapping[str, str], seed: int = SEED) -> list[Vote]:
    """Votes on every pair of contestants for every prompt, in the order in which they were given.

    ``categories`` maps prompt id to category; each must be a key of AGREEMENT. Each pair is rated by
    PEOPLE_PER_PAIR people and once by every judge, in balanced presentation orders. The same arguments
    give the same votes.
    """
    rng = random.Random(seed)  # noqa: S311 - a simulation, no secret
    quality = _qualities(list(categories), rng)
    clocks = {rater: JUDGES_START if rater.is_judge else START for rater in RATERS}
    votes = []
    for showing in _showings(list(categories), rng):
        difference = quality[showing.prompt, showing.second] - quality[showing.prompt, showing.first]
        rating, raw_reply = _answer(showing.rater, difference, AGREEMENT[categories[showing.prompt]], rng)
        seconds = _seconds(showing.rater, rng)
        clocks[showing.rater] += timedelta(seconds=seconds)
        votes.append(Vote(showing, rating, raw_reply, seconds, clocks[showing.rater]))
    return sorted(votes, key=lambda vote: vote.created_at)


def _qualities(prompts: list[str], rng: random.Random) -> dict[tuple[str, str], float]:
    """The quality of each completion. A contestant's deviations are centred, so its strength is its mean."""
    quality = {}
    for contestant, strength in STRENGTHS.items():
        deviations = [rng.gauss(0, TEXT_DEVIATION) for _ in prompts]
        mean = fmean(deviations)
        for prompt, deviation in zip(prompts, deviations, strict=True):
            quality[prompt, contestant] = strength + deviation - mean
    return quality


def _showings(prompts: list[str], rng: random.Random) -> Iterator[Showing]:
    """Who is shown what: two people on one pair see opposite orders, a judge sees half the pairs swapped."""
    people = [rater for rater in RATERS if not rater.is_judge]
    judges = [rater for rater in RATERS if rater.is_judge]
    pairs = [(prompt, *pair) for prompt in prompts for pair in combinations(STRENGTHS, 2)]
    rng.shuffle(pairs)
    for (prompt, a, b), panel in zip(pairs, cycle(combinations(people, PEOPLE_PER_PAIR))):
        orders = rng.sample([(a, b), (b, a)], len(panel))
        yield from (Showing(prompt, *order, rater) for rater, order in zip(panel, orders, strict=True))
    for judge in judges:
        swaps = [number % 2 == 1 for number in range(len(pairs))]
        rng.shuffle(swaps)
        for (prompt, a, b), swapped in zip(pairs, swaps, strict=True):
            yield Showing(prompt, *((b, a) if swapped else (a, b)), judge)


def _answer(
    rater: SimulatedRater, difference: float, agreement: float, rng: random.Random
) -> tuple[int | None, str]:
    """The rating, None where a judge gave none, and a judge's raw reply."""
    seen = difference * agreement if rater.is_judge else difference
    rating = 1 + bisect(BANDS, seen + rater.bias + rng.gauss(0, ERROR))
    if not rater.is_judge:
        return rating, ""
    if rng.random() < UNSCORED_SHARE:
        return None, rng.choice(["0", ""])
    return rating, f"{rating}\nSimulated reply: no model was asked."


def _seconds(rater: SimulatedRater, rng: random.Random) -> float:
    """How long the rater took: people about half a minute, judges a few seconds."""
    return round(rng.lognormvariate(1.0, 0.3) if rater.is_judge else rng.lognormvariate(3.5, 0.5), 1)


def method_note() -> str:
    """How the votes were made, as Markdown for the study's page."""
    strengths = "\n".join(f"| {name} | {strength} |" for name, strength in STRENGTHS.items())
    biases = "\n".join(f"| {rater.name} | {_bias_in_words(rater.bias)} |" for rater in RATERS)
    shares = "\n".join(f"| {category} | {share:.0%} |" for category, share in AGREEMENT.items())
    return _NOTE.format(
        strengths=strengths,
        biases=biases,
        shares=shares,
        deviation=TEXT_DEVIATION,
        error=ERROR,
        unscored=UNSCORED_SHARE,
        people=PEOPLE_PER_PAIR,
        seed=SEED,
    )


def _bias_in_words(bias: int) -> str:
    if not bias:
        return "none"
    return f"{abs(bias)} points for the completion shown {'second' if bias > 0 else 'first'}"


_NOTE: Final = """\
# How the votes were simulated

The simulated raters do not read the texts. Their votes are drawn from the strengths below, in Elo points \
(400 points are odds of 10 to 1).

| Contestant | True strength |
|---|---|
{strengths}

A single completion is better or worse than its contestant's strength by {deviation:.0f} points (standard \
deviation), the same for all raters. Each pair is rated by {people} simulated people and by both simulated \
judges. Each rating carries an error of {error:.0f} points (standard deviation) and the rater's position bias:

| Rater | Position bias |
|---|---|
{biases}

People see the whole difference in quality. The judges see a share of it, which depends on the category:

| Category | Share seen by the judges |
|---|---|
{shares}

About {unscored:.0%} of the judges' replies hold no rating and stay unscored. The seed is {seed}.
"""
