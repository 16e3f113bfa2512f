"""Studies in which simulated judges with known bias rated the same pairs."""

from arena.models import Comparison, Completion, Contestant, Pair, Prompt
from judging.endpoints.simulated import Simulation
from tests import factories
from tests.judging.simulating import simulated_rating

STRENGTHS = {"a": -120.0, "b": 0.0, "c": 120.0}


def make_field(prompts=20, **overrides):
    """A public study of three contestants, every pair of every prompt; half the prompts in each category."""
    study = factories.make_study(**{"visibility": "public", **overrides})
    for slug in STRENGTHS:
        factories.make_contestant(study=study, slug=slug, name=slug.upper())
    asked = Prompt.objects.bulk_create(
        Prompt(study=study, external_id=f"p{i}", category="code" if i % 2 else "talk", turns=[f"Ask {i}"])
        for i in range(prompts)
    )
    field = list(Contestant.objects.filter(study=study).order_by("slug"))
    texts = Completion.objects.bulk_create(
        Completion(
            prompt=prompt,
            contestant=each,
            turns=[f"{each.slug} {prompt.external_id}"],
            digest=f"{study.pk}{prompt.external_id}{each.slug}".rjust(64, "0"),
        )
        for prompt in asked
        for each in field
    )
    Pair.objects.bulk_create(
        Pair(prompt=prompt, first=texts[3 * i + one], second=texts[3 * i + other])
        for i, prompt in enumerate(asked)
        for one, other in ((0, 1), (0, 2), (1, 2))
    )
    return study


def rate(study, rater, bias=0, noise=200, *, orders=(False, True), repeats=1, seed=0, points=8, **overrides):
    """Answers of the simulated judge with this bias on every pair, asked in these orders so often."""
    simulation = Simulation.from_options({"noise": noise, "position_bias": bias, "strengths": STRENGTHS})
    pairs = Pair.objects.filter(prompt__study=study).select_related("first__contestant", "second__contestant")
    rows = []
    for pair in pairs.order_by("pk"):
        for swapped in orders:
            for repeat in range(repeats):
                shown = [pair.first.contestant, pair.second.contestant]
                first, second = (each.slug for each in (reversed(shown) if swapped else shown) if each)
                seeded = seed * 100_003 + len(rows)
                rating = simulated_rating(simulation, first, second, points, seeded)
                given = {"rating": rating, "points": points, "repeat": repeat, **overrides}
                rows.append(imported(study=study, pair=pair, rater=rater, swapped=swapped, **given))
    return Comparison.objects.bulk_create(rows)


def imported(**given):
    """A comparison to be stored with many others."""
    return Comparison(**{"status": "scored", "source": Comparison.Source.IMPORT, **given})


def make_judge_rater(slug, **overrides):
    return factories.make_rater(**{"kind": "judge", "slug": slug, "name": slug.upper(), **overrides})
