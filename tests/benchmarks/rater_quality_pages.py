"""What the pages about rating quality cost: python -m tests.benchmarks.rater_quality_pages

Makes a study of simulated raters in a database of its own, in memory, and asks for each page twice: the first
time computes, the second finds the figures kept. Seconds are CPU time of this process, so that other work on
the machine does not count; what is imported at the first request of a process is imported before.
"""

import argparse
import os
import random
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=100_000)
    parser.add_argument("--raters", type=int, default=500)
    parser.add_argument("--pairs", type=int, default=20_000)
    chosen = parser.parse_args()
    set_up_in_memory()
    _measure(chosen.comparisons, chosen.raters, chosen.pairs)


def set_up_in_memory():
    """Django with an empty database of its own."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django
    from django.core.management import call_command

    django.setup()
    from django.conf import settings
    from django.db import connection

    connection.close()
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = ":memory:"
    call_command("migrate", verbosity=0)


def _measure(comparisons, raters, pairs):
    from django.test import Client
    from django.test.utils import setup_test_environment

    from tests import factories as make

    setup_test_environment()
    study, rater = simulated_study(comparisons, raters, pairs)
    operator, member = Client(), Client()
    operator.force_login(make.make_user(is_staff=True))
    member.force_login(rater.user)
    print(f"{comparisons:,} comparisons by {raters:,} simulated raters on {pairs:,} pairs, SQLite")
    base = f"/operate/{study.slug}"
    asked(operator, f"/operate/{make.make_study().slug}/raters/")
    for name, client, address in (
        ("raters", operator, f"{base}/raters/"),
        ("one rater", operator, f"{base}/raters/{rater.pk}/"),
        ("disagreements", operator, f"{base}/disagreements/"),
        ("my report", member, f"/rate/{study.slug}/report/"),
    ):
        times = [asked(client, address) for _ in range(2)]
        print(f"{name:<14} {times[0]:6.2f} s, then {times[1]:6.2f} s")


def asked(client, address):
    """Processor time of a page, in seconds."""
    began = time.process_time()
    response = client.get(address)
    assert response.status_code == 200, response.status_code
    return time.process_time() - began


def simulated_study(comparisons, raters, pairs):
    """A study and one of its raters; opinions are drawn at random about a quality of each pair."""
    from arena.models import Comparison, Completion, Membership, Pair, Prompt, Rater
    from tests import factories as make

    rng = random.Random(1)
    study = make.make_study(simulated=True)
    field = [make.make_contestant(study=study) for _ in range(6)]
    prompts = Prompt.objects.bulk_create(
        Prompt(study=study, external_id=str(number), category=f"topic {number % 8}", turns=[f"Do {number}."])
        for number in range(-(-pairs // 15))
    )
    texts = Completion.objects.bulk_create(
        Completion(prompt=prompt, contestant=each, turns=["Text."], digest=f"{prompt.pk}-{each.pk}")
        for prompt in prompts
        for each in field
    )
    made = Pair.objects.bulk_create(
        Pair(prompt=prompts[place], first=texts[6 * place + one], second=texts[6 * place + two])
        for place in range(len(prompts))
        for one in range(6)
        for two in range(one + 1, 6)
    )[:pairs]
    people = Rater.objects.bulk_create(
        Rater(kind="person", slug=f"simulated-{n}", name=f"Simulated {n}", simulated=True)
        for n in range(raters)
    )
    Membership.objects.bulk_create(Membership(study=study, rater=rater) for rater in people)
    people[0].user = make.make_user()
    people[0].save()
    lean = [rng.gauss(4.5, 1.5) for _ in made]
    rows = []
    for number in range(comparisons):
        place, swapped = number % len(made), rng.random() < 0.5
        straight = min(8, max(1, round(rng.gauss(lean[place], 1.5))))
        rater = people[(number // len(made) * 101 + place) % raters]
        rows.append(
            Comparison(
                study=study,
                pair=made[place],
                rater=rater,
                swapped=swapped,
                points=8,
                rating=9 - straight if swapped else straight,
                status="scored",
                seconds=rng.uniform(5, 90),
                source="web",
            )
        )
    Comparison.objects.bulk_create(rows, batch_size=5000)
    return study, people[0]


if __name__ == "__main__":
    main()
