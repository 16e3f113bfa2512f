"""Small studies made by hand, for the tests of the leaderboard."""

from collections import Counter
from contextlib import contextmanager

import pytest

from arena.models import Completion, Contestant, Pair, Prompt, Rater, Study
from leaderboard.refreshing import services
from tests import factories


@contextmanager
def few_rounds(number):
    """Snapshots with a bootstrap of so few rounds, for tests that are not about rounds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "ROUNDS", number)
        yield


class HandMade:
    """A public study with named contestants; ``rate`` adds one comparison at a time."""

    def __init__(self, *names, categories=("coding",), **overrides):
        self.study: Study = factories.make_study(**{"visibility": "public", **overrides})
        self.contestants: dict[str, Contestant] = {
            name: factories.make_contestant(study=self.study, name=name) for name in names
        }
        self.prompts: list[Prompt] = [
            factories.make_prompt(study=self.study, category=category) for category in categories
        ]
        self.person: Rater = factories.make_rater(name="Ada")
        self._completions: dict[tuple[str, int], Completion] = {}
        self._shown: dict[tuple[str, str, int], tuple[Pair, bool]] = {}
        self._repeats = Counter[tuple[int, int, bool]]()

    def change(self, **columns):
        """Store other settings of the study."""
        for name, value in columns.items():
            setattr(self.study, name, value)
        self.study.save()

    def judge(self, slug, **overrides):
        return factories.make_rater(kind="judge", slug=slug, name=slug.upper(), **overrides)

    def completion(self, name, prompt):
        if (name, prompt.pk) not in self._completions:
            about = {"prompt": prompt, "contestant": self.contestants[name]}
            found = Completion.objects.filter(**about).first()
            self._completions[name, prompt.pk] = found or factories.make_completion(
                **about, turns=[f"Answer of {name}"]
            )
        return self._completions[name, prompt.pk]

    def pair(self, one, other, prompt=0):
        about = self.prompts[prompt]
        first, second = sorted((self.completion(name, about) for name in (one, other)), key=lambda c: c.pk)
        found = Pair.objects.filter(first=first, second=second).first()
        return found or factories.make_pair(prompt=about, first=first, second=second)

    def rate(self, shown_first, shown_second, rating, **overrides):
        """A comparison of two contestants as they were shown; ``rating`` None needs a ``reason``."""
        place = shown_first, shown_second, overrides.pop("prompt", 0)
        if place not in self._shown:
            pair = self.pair(*place)
            self._shown[place] = pair, pair.second.contestant_id == self.contestants[shown_first].pk
        pair, swapped = self._shown[place]
        rater = overrides.pop("rater", self.person)
        given = {"pair": pair, "rater": rater, "swapped": swapped, "rating": rating}
        given["repeat"] = self._repeats[rater.pk, pair.pk, swapped]
        self._repeats[rater.pk, pair.pk, swapped] += 1
        return factories.make_comparison(**{**given, **overrides})


def standing(name, rating, **more):
    """A row of stored standings."""
    defaults = {
        "rank": 1,
        "contestant": name,
        "kind": "model",
        "rating": rating,
        "low": rating - 10,
        "high": rating + 20,
        "games": 40,
        "wins": 20,
        "losses": 10,
        "ties": 10,
        "component": 0,
    }
    return {**defaults, **more}


def standings(*rows):
    return {"standings": list(rows), "parameters": {"interval": 95.0}}
