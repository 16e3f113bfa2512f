"""The order in which a study's pairs are offered: round-robin tournaments, spread over the prompts. Pure."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from math import gcd


class Schedule:
    """Turns of pairs, from 0 to 1, such that the pairs before any turn are balanced.

    Of every category, contestant and prompt about the same share of its pairs comes before a turn. In a round
    each contestant is in one match; match after match goes to the next prompt, until each prompt had each.
    Where texts are missing, turns stay empty.
    """

    def __init__(self, prompts: Mapping[int, str], contestants: Sequence[int], more: int = 0) -> None:
        """Prompts by their ids, with their categories; ``more``: texts without a contestant in a prompt."""
        rng = random.Random(f"{sorted(prompts)} {sorted(contestants)}")  # noqa: S311 - fairness, not secrecy
        self._prompt = {prompt: number for number, prompt in enumerate(_spread(prompts, rng))}
        places = rng.sample(range(len(contestants) + more), len(contestants) + more)
        self.slot = dict(zip(contestants, places, strict=False))
        self.slots_without = places[len(contestants) :]
        rounds = max(1, len(places) - 1 + len(places) % 2)
        self._stays = len(places) - 1 if len(places) % 2 == 0 else None
        self._matches = max(1, len(places) // 2)  # of a round
        self._round = rng.sample(range(rounds), rounds)
        self._first = [rng.randrange(self._matches) for _ in range(rounds)]

    def turn(self, prompt: int, one: int, other: int) -> float:
        """The turn of a pair, given by its prompt and the slots of its texts."""
        match, of_prompt = self._match(*sorted((one, other))), self._prompt[prompt]
        matches, prompts = self._matches * len(self._round), len(self._prompt)
        common = gcd(matches, prompts)
        # At step s of lap k, match s meets prompt s + k, each counted from the start when all are through.
        # A lap ends when both start together.
        lap = (of_prompt - match) % common
        inverse = pow(matches // common, -1, prompts // common)
        step = match + matches * ((of_prompt - lap - match) // common * inverse % (prompts // common))
        return (lap * (matches * prompts // common) + step) / (matches * prompts)

    def _match(self, low: int, high: int) -> int:
        """The number of a match in the circle method: an odd slot out stays, or waits; the others turn."""
        rounds = len(self._round)
        if high == self._stays:
            number, place = low, 0
        else:
            number = (low + high) * ((rounds + 1) // 2) % rounds
            place = min((low - number) % rounds, (number - low) % rounds) - (self._stays is None)
        place = (place + self._first[number]) % self._matches
        return self._round[number] * self._matches + place


def _spread(prompts: Mapping[int, str], rng: random.Random) -> list[int]:
    """The prompts in random order, those of each category evenly among all."""
    sizes, seen = Counter(prompts.values()), Counter[str]()
    places = []
    for prompt in rng.sample(sorted(prompts), len(prompts)):
        category = prompts[prompt]
        places.append(((seen[category] + rng.random()) / sizes[category], prompt))
        seen[category] += 1
    return [prompt for _, prompt in sorted(places)]
