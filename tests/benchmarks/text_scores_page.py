"""What the page of text scores costs: python -m tests.benchmarks.text_scores_page

Simulated judges score every answer of 20 models, in a database in memory. The refresh computes the usual
figures, and again copies them; a category is computed on demand. Seconds are processor time of this process.
"""

import argparse
import random
import time

from tests.benchmarks.rater_quality_pages import asked, set_up_in_memory

MODELS, JUDGES = 20, 5


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=int, default=100_000)
    chosen = parser.parse_args()
    set_up_in_memory()
    from django.test import Client
    from django.test.utils import setup_test_environment

    from leaderboard.refreshing.computing import compute_next
    from leaderboard.refreshing.services import refresh

    setup_test_environment()
    small, study = (scored_study(scores) for scores in (1000, chosen.scores))
    refresh(small)
    print(f"{chosen.scores:,} scores by {JUDGES} judges of the answers of {MODELS} models, SQLite")
    for name in ("refresh", "refresh again"):
        started = time.process_time()
        refresh(study)
        print(f"{name:<14} {time.process_time() - started:6.2f} s")
    client, page = Client(), f"/studies/{study.slug}/scores/"
    asked(client, f"/studies/{small.slug}/scores/")  # loads modules
    for name, address in (
        ("first", page),
        ("again", page),
        ("another judge", f"{page}?raters=judge:{study.slug}-1"),
    ):
        print(f"{name:<14} {asked(client, address):6.2f} s")
    client.get(f"{page}?category=topic 1")
    started = time.process_time()
    assert compute_next(study.pk)
    print(f"{'a category':<14} {time.process_time() - started:6.2f} s, in a worker")


def scored_study(scores):
    from arena.models import Completion, Prompt, Rater, Score
    from tests import factories as make

    rng = random.Random(1)
    study = make.make_study(visibility="public", tasks=["score"], simulated=True)
    field = [make.make_contestant(study=study) for _ in range(MODELS)]
    prompts = Prompt.objects.bulk_create(
        Prompt(study=study, external_id=str(number), category=f"topic {number % 8}", turns=["Do it."])
        for number in range(scores // MODELS // JUDGES)
    )
    texts = Completion.objects.bulk_create(
        Completion(prompt=prompt, contestant=each, turns=["Text."], digest=f"{prompt.pk}-{each.pk}")
        for prompt in prompts
        for each in field
    )
    judges = [
        make.make_rater(kind=Rater.Kind.JUDGE, slug=f"{study.slug}-{number}") for number in range(JUDGES)
    ]
    Score.objects.bulk_create(
        (
            Score(
                study=study,
                completion=text,
                rater=judge,
                lowest=1,
                highest=10,
                value=min(10, max(1, round(rng.gauss(4 + number % MODELS / 5, 2)))),
                status="scored",
                source="api",
            )
            for judge in judges
            for number, text in enumerate(texts)
        ),
        batch_size=5000,
    )
    return study


if __name__ == "__main__":
    main()
