"""Simulated votes for the demo studies, from stated strengths and biases. Pure and deterministic.

All in Elo points. A rater perceives the second completion's quality (its contestant's strength plus a
deviation) minus the first's, plus a position bias and an error; judges perceive a part of the difference
only. Deviations and errors together spread like the Elo model's errors, so that ratings reproduce the
strengths.
"""

import random
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations, cycle
from statistics import fmean
from typing import Final

SEED: Final = 2025

POINTS: Final = 8

STRENGTHS: Final[Mapping[str, int]] = {
    "Lapwing 34B": 1180,
    "Human demonstrations": 1110,
    "Redshank 13B": 1050,
    "Dunnock 7B": 920,
    "Turnstone 3B": 740,
}
"""True strengths; the mean is 1000."""

AGREEMENT: Final[Mapping[str, float]] = {
    "generation": 1.0,
    "brainstorm": 1.0,
    "question answering": 0.7,
    "summarisation": 0.7,
    "commonsense": 0.6,
    "coding": 0.35,
}
"""Share of a difference in quality that judges perceive, by category; people perceive all."""

TEXT_DEVIATION: Final = 140.0  # standard deviation of quality about strength
ERROR: Final = 220.0  # standard deviation of a rater's error
BANDS: Final = (-550.0, -300.0, -100.0, 0.0, 100.0, 300.0, 550.0)
"""Bounds between ratings; about one vote in five is a 4 or 5."""

PEOPLE_PER_PAIR: Final = 2
UNSCORED_SHARE: Final = 0.02  # share of judges' replies without a rating: half "0", half empty
START: Final = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)

JUDGES_START: Final = START + timedelta(days=7)


@dataclass(frozen=True)
class SimulatedRater:
    """A rater; ``bias`` is added to the second side.

    ``both_orders``: rates every pair once in each order. ``gives_scores``: the higher score wins.
    """

    name: str
    slug: str
    is_judge: bool
    bias: int
    both_orders: bool = False
    gives_scores: bool = False
    gives_rationale: bool = False


RATERS: Final = (
    SimulatedRater("Simulated rater 1", "simulated-rater-1", False, 0),
    SimulatedRater("Simulated rater 2", "simulated-rater-2", False, -60),
    SimulatedRater("Simulated rater 3", "simulated-rater-3", False, 40),
    SimulatedRater("Simulated rater 4", "simulated-rater-4", False, 0),
    SimulatedRater("Simulated judge A", "simulated-judge-a", True, -180, both_orders=True),
    SimulatedRater("Simulated judge B", "simulated-judge-b", True, 90),
    SimulatedRater(
        "Simulated judge A, warned of bias", "simulated-judge-a-debias", True, -60, both_orders=True
    ),
    SimulatedRater(
        "Simulated judge A, two scores",
        "simulated-judge-a-scores",
        True,
        -80,
        both_orders=True,
        gives_scores=True,
    ),
)

CLOSED_RATERS: Final = (
    *RATERS[:3],
    SimulatedRater(
        "Simulated judge C", "simulated-judge-c", True, -120, both_orders=True, gives_rationale=True
    ),
)
"""Those of the closed demo study."""

SCORED_POINTS: Final = 3  # the first score is higher, both are equal, the second is higher
SCORES: Final = (1, 10)  # lowest and highest score
SCORE_STEP: Final = 90.0  # quality per score; a strength of 1000 is a 5.5


@dataclass(frozen=True)
class Written:
    """How good a completion is, and what a judge with rationales says of it."""

    quality: float
    note: str


@dataclass(frozen=True)
class Showing:
    """Two completions of one prompt in the order shown to a rater."""

    prompt: str
    first: str
    second: str
    rater: SimulatedRater


@dataclass(frozen=True)
class Vote:
    """A simulated answer: ``rating`` is 1..points, None if a judge gave none."""

    showing: Showing
    rating: int | None
    raw_reply: str
    seconds: float
    created_at: datetime
    scores: tuple[int, int] | None = None
    rationale: str = ""

    @property
    def points(self) -> int:
        return SCORED_POINTS if self.showing.rater.gives_scores else POINTS

    @property
    def reason(self) -> str:
        if self.rating is not None:
            return ""
        return "out_of_range" if self.raw_reply else "empty"


def simulate(categories: Mapping[str, str], seed: int = SEED) -> list[Vote]:
    """Votes on every pair of contestants for every prompt, by time.

    ``categories`` maps prompt id to a key of AGREEMENT. The same arguments give the same votes.
    """
    rng = random.Random(seed)  # noqa: S311 - a simulation, no secret
    quality = _qualities(list(categories), rng)
    agreement = {prompt: AGREEMENT[category] for prompt, category in categories.items()}
    return _votes(list(STRENGTHS), RATERS, quality, agreement, {}, rng)


def simulate_written(
    written: Mapping[tuple[str, str], Written], raters: Sequence[SimulatedRater] = CLOSED_RATERS
) -> list[Vote]:
    """Votes by time on completions of stated quality, by prompt and contestant; judges perceive all of it."""
    quality = {key: each.quality for key, each in written.items()}
    notes = {key: each.note for key, each in written.items()}
    contestants = list(dict.fromkeys(contestant for _, contestant in written))
    agreement = {prompt: 1.0 for prompt, _ in written}
    rng = random.Random(SEED)  # noqa: S311 - a simulation, no secret
    return _votes(contestants, raters, quality, agreement, notes, rng)


def _votes(
    contestants: Sequence[str],
    raters: Sequence[SimulatedRater],
    quality: Mapping[tuple[str, str], float],
    agreement: Mapping[str, float],
    notes: Mapping[tuple[str, str], str],
    rng: random.Random,
) -> list[Vote]:
    clocks = {rater: JUDGES_START if rater.is_judge else START for rater in raters}
    votes = []
    for showing in _showings(list(agreement), contestants, raters, rng):
        rater, prompt = showing.rater, showing.prompt
        shown = (quality[prompt, showing.first], quality[prompt, showing.second])
        scores = _scores(rater, shown, agreement[prompt], rng) if rater.gives_scores else None
        if scores is None:
            rating, raw_reply = _answer(rater, shown[1] - shown[0], agreement[prompt], rng)
        else:
            rating = 1 if scores[0] > scores[1] else 2 if scores[0] == scores[1] else 3
            raw_reply = f"{scores[0]} {scores[1]}\n{NO_MODEL}"
        rationale = ""
        if rater.gives_rationale and rating is not None:
            first, second = notes[prompt, showing.first], notes[prompt, showing.second]
            rationale = _RATIONALE.format(first=first, second=second)
        seconds = _seconds(rater, rng)
        clocks[rater] += timedelta(seconds=seconds)
        votes.append(Vote(showing, rating, raw_reply, seconds, clocks[rater], scores, rationale))
    return sorted(votes, key=lambda vote: vote.created_at)


def _qualities(prompts: list[str], rng: random.Random) -> dict[tuple[str, str], float]:
    """The quality of each completion; centred, so that a contestant's mean is its strength."""
    quality = {}
    for contestant, strength in STRENGTHS.items():
        deviations = [rng.gauss(0, TEXT_DEVIATION) for _ in prompts]
        mean = fmean(deviations)
        for prompt, deviation in zip(prompts, deviations, strict=True):
            quality[prompt, contestant] = strength + deviation - mean
    return quality


def _showings(
    prompts: Sequence[str],
    contestants: Sequence[str],
    raters: Sequence[SimulatedRater],
    rng: random.Random,
) -> Iterator[Showing]:
    """Who is shown what: two people see opposite orders, a judge sees half the pairs swapped."""
    people = [rater for rater in raters if not rater.is_judge]
    judges = [rater for rater in raters if rater.is_judge]
    pairs = [(prompt, *pair) for prompt in prompts for pair in combinations(contestants, 2)]
    rng.shuffle(pairs)
    for (prompt, a, b), chosen in zip(pairs, cycle(combinations(people, PEOPLE_PER_PAIR))):
        orders = rng.sample([(a, b), (b, a)], len(chosen))
        yield from (Showing(prompt, *order, rater) for rater, order in zip(chosen, orders, strict=True))
    again = []
    for judge in judges:
        swaps = [number % 2 == 1 for number in range(len(pairs))]
        rng.shuffle(swaps)
        for (prompt, a, b), swapped in zip(pairs, swaps, strict=True):
            first, second = (b, a) if swapped else (a, b)
            yield Showing(prompt, first, second, judge)
            if judge.both_orders:
                again.append(Showing(prompt, second, first, judge))
    yield from again


def _answer(
    rater: SimulatedRater, difference: float, agreement: float, rng: random.Random
) -> tuple[int | None, str]:
    """The rating (None if a judge gave none) and a judge's raw reply."""
    seen = difference * agreement if rater.is_judge else difference
    rating = 1 + bisect(BANDS, seen + rater.bias + rng.gauss(0, ERROR))
    if not rater.is_judge:
        return rating, ""
    if rng.random() < UNSCORED_SHARE:
        return None, rng.choice(["0", ""])
    return rating, f"{rating}\n{NO_MODEL}"


def _scores(
    rater: SimulatedRater, shown: tuple[float, float], agreement: float, rng: random.Random
) -> tuple[int, int]:
    """Both scores, whose difference has the error of one rating."""
    favoured = (-rater.bias / 2, rater.bias / 2)
    seen = (
        agreement * (quality - 1000) + favour + rng.gauss(0, ERROR / 2**0.5)
        for quality, favour in zip(shown, favoured, strict=True)
    )
    first, second = map(score, seen)
    return first, second


def score(points: float) -> int:
    """The score of an answer that is seen to be so many points better than the average."""
    lowest, highest = SCORES
    return min(max(round((lowest + highest) / 2 + points / SCORE_STEP), lowest), highest)


def _seconds(rater: SimulatedRater, rng: random.Random) -> float:
    return round(rng.lognormvariate(1.0, 0.3) if rater.is_judge else rng.lognormvariate(3.5, 0.5), 1)


NO_MODEL: Final = "Simulated reply: no model was asked."
_RATIONALE: Final = "The first answer {first}. The second {second}. (Simulated: no model was asked.)"


def method_note() -> str:
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
    return f"{abs(bias)} points for the answer shown {'second' if bias > 0 else 'first'}"


_NOTE: Final = """\
# How the ratings were simulated

The simulated raters do not read the texts. Their ratings are drawn from the strengths below, in Elo points \
(400 points are odds of 10 to 1).

| Model | True strength |
|---|---|
{strengths}

A single answer is better or worse than the strength of its model by {deviation:.0f} points (standard \
deviation), the same for all raters. Each pair is rated by {people} simulated people and by every simulated \
judge; those of judge A rate it in both orders. The judge with two scores gives each answer 1 to 10, and the \
higher score wins. Each rating carries an error of {error:.0f} points (standard deviation) and the rater's \
position bias:

| Rater | Position bias |
|---|---|
{biases}

People see the whole difference in quality. The judges see a share of it, which depends on the category:

| Category | Share seen by the judges |
|---|---|
{shares}

In about {unscored:.0%} of the replies a judge gives no rating. \
The seed is {seed}.
"""
