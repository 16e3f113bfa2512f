"""A study of any size, made from a seed: what the refresh and the pages are measured on.

Every prompt has five of the contestants, and all ten pairs of their answers; people rate each pair twice and
each of three judges rates it once in either order: 80 comparisons for each prompt. A hundredth of the judges'
replies is unscored, and one in two hundred ratings by people was revised.

Run with: python -m tests.benchmarks.generated_study COMPARISONS, with DATABASE_URL naming a scratch database.
"""

import sys
from itertools import combinations, islice
from typing import Final

import numpy as np

CONTESTANTS: Final = 20
CATEGORIES: Final = ("brainstorming", "closed-qa", "coding", "extraction", "rewriting", "summarising")
PEOPLE: Final = 40
JUDGES: Final = ("strict", "kind", "scorer")
OF_A_PROMPT: Final = 5
COMPARISONS_OF_A_PAIR: Final = 2 + 2 * len(JUDGES)
COMPARISONS_OF_A_PROMPT: Final = COMPARISONS_OF_A_PAIR * OF_A_PROMPT * (OF_A_PROMPT - 1) // 2
POINTS: Final = 8
AT_ONCE: Final = 5000
WORDS: Final = ("rain", "roof", "river", "stone", "letter", "window", "garden", "number", "answer", "morning")


class Maker:
    """Makes the rows of one study; ``rng`` is the only source of chance."""

    def __init__(self, study, contestants, people, judges, seed):
        self.study, self.contestants, self.people, self.judges = study, contestants, people, judges
        self.rng = np.random.default_rng(seed)
        self.skill = np.linspace(-1.0, 1.0, CONTESTANTS)
        self.taste = np.random.default_rng(1).normal(0.0, 0.3, (len(CATEGORIES), CONTESTANTS))

    @classmethod
    def new(cls, name, seed=0):
        """The maker of a study that has contestants and raters, and no prompts."""
        from arena.models import Contestant, Rater, Study

        study = Study.objects.create(slug=name, name=name, visibility="public", points=POINTS)
        contestants = Contestant.objects.bulk_create(
            Contestant(
                study=study,
                slug=f"contestant-{number}",
                name=f"Contestant {number}" if number else "Human demonstrations",
                kind="model" if number else "people",
            )
            for number in range(CONTESTANTS)
        )
        own = {"study": study, "simulated": True}
        people = Rater.objects.bulk_create(
            Rater(kind="person", name=f"Person {n}", slug=f"person-{n}", **own) for n in range(PEOPLE)
        )
        judges = Rater.objects.bulk_create(
            Rater(kind="judge", name=f"Judge {slug}", slug=slug, **own) for slug in JUDGES
        )
        return cls(study, contestants, people, judges, seed)

    @classmethod
    def of(cls, study):
        """The maker that adds to a study which another one began."""
        from arena.models import Contestant, Rater

        raters = list(Rater.objects.filter(study=study).order_by("pk"))
        people, judges = ([each for each in raters if each.kind == kind] for kind in ("person", "judge"))
        contestants = list(Contestant.objects.filter(study=study).order_by("pk"))
        return cls(study, contestants, people, judges, seed=study.comparisons.count())

    def grow(self, comparisons):
        """Add prompts with so many comparisons altogether, rounded up to whole prompts."""
        prompts = -(-comparisons // COMPARISONS_OF_A_PROMPT)
        for start in range(0, prompts, 250):
            self._some_prompts(min(250, prompts - start))

    def repeat(self, comparisons):
        """Add so many ratings by people, once more on pairs drawn from all of the study."""
        from arena.models import Comparison, Pair

        ids = list(Pair.objects.filter(prompt__study=self.study).order_by("pk").values_list("pk", flat=True))
        drawn = set(self.rng.choice(ids, comparisons, replace=False).tolist())
        related = ("prompt", "first__contestant", "second__contestant")
        rows = []
        for pair in Pair.objects.filter(pk__in=drawn).select_related(*related).order_by("pk"):
            rater = self.people[int(self.rng.integers(PEOPLE))]
            row = self._comparison(pair, rater, bool(self.rng.integers(2)), self._ahead(pair))
            row.repeat = 1
            rows.append(row)
        Comparison.objects.bulk_create(rows)

    def _ahead(self, pair):
        """How much better the pair's first completion is."""
        number = {contestant.pk: place for place, contestant in enumerate(self.contestants)}
        strength = self.skill + self.taste[CATEGORIES.index(pair.prompt.category)]
        first, second = (strength[number[side.contestant_id]] for side in (pair.first, pair.second))
        return float(first - second)

    def _some_prompts(self, count):
        from arena.models import Comparison, Completion, Pair, Prompt

        before = Prompt.objects.filter(study=self.study).count()
        prompts = Prompt.objects.bulk_create(
            Prompt(
                study=self.study,
                external_id=f"prompt-{number}",
                category=CATEGORIES[number % len(CATEGORIES)],
                turns=[self._text(30)],
            )
            for number in range(before, before + count)
        )
        completions = Completion.objects.bulk_create(
            (
                Completion(
                    prompt=prompt,
                    contestant=self.contestants[number],
                    turns=[self._text(int(self.rng.integers(100, 400)))],
                    digest=self.rng.bytes(32).hex(),
                )
                for prompt in prompts
                for number in sorted(self.rng.permutation(CONTESTANTS)[:OF_A_PROMPT].tolist())
            ),
            batch_size=500,
        )
        pairs = Pair.objects.bulk_create(
            (
                Pair(prompt=first.prompt, first=first, second=second)
                for start in range(0, len(completions), OF_A_PROMPT)
                for first, second in combinations(completions[start : start + OF_A_PROMPT], 2)
            ),
            batch_size=AT_ONCE,
        )
        rows = self._comparisons(pairs)
        while some := list(islice(rows, AT_ONCE)):
            Comparison.objects.bulk_create(some, batch_size=AT_ONCE)

    def _text(self, words):
        return " ".join(WORDS[i] for i in self.rng.integers(len(WORDS), size=words).tolist())

    def _comparisons(self, pairs):
        for pair in pairs:
            ahead = self._ahead(pair)
            people = [self.people[i] for i in self.rng.permutation(PEOPLE)[:2].tolist()]
            for rater in people:
                swapped = bool(self.rng.integers(2))
                if self.rng.random() < 0.005:
                    earlier = self._comparison(pair, rater, swapped, ahead)
                    earlier.is_current = False
                    yield earlier
                yield self._comparison(pair, rater, swapped, ahead)
            for rater in self.judges:
                for swapped in (False, True):
                    yield self._comparison(pair, rater, swapped, ahead)

    def _comparison(self, pair, rater, swapped, ahead):
        from arena.models import Comparison

        judge = rater.kind == "judge"
        shown = -ahead if swapped else ahead
        felt = shown + (0.2 if judge else 0.05) + float(self.rng.normal(0.0, 1.0))
        unscored = judge and self.rng.random() < 0.01
        scores = (round(5 + felt, 1), 5.0) if rater.slug == "scorer" and not unscored else (None, None)
        return Comparison(
            study=self.study,
            pair=pair,
            rater=rater,
            swapped=swapped,
            points=POINTS,
            status="unscored" if unscored else "scored",
            rating=None if unscored else int(np.clip(np.round(4.5 - 1.5 * felt), 1, POINTS)),
            reason="unparsable" if unscored else "",
            first_score=scores[0],
            second_score=scores[1],
            raw_reply="I prefer one of them because of its clearer words." if judge else "",
            rationale="It says more of what was asked for, and says it better." if judge else "",
            source="import",
        )


def make(comparisons, name=""):
    """A new study with so many comparisons; its maker can add more."""
    made = Maker.new(name or f"generated-{comparisons}")
    made.grow(comparisons)
    return made


def main():
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    make(int(sys.argv[1]))


if __name__ == "__main__":
    main()
