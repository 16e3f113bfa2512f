"""Speed of refreshing a study's snapshot and of the pages made from it; run by ``make bench``."""

import time
from contextlib import contextmanager

import pytest
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment, teardown_test_environment

from arena.demo.load import load_demo, open_demo
from arena.models import Comparison, Study
from leaderboard.refreshing import services
from leaderboard.snapshots.reading import opinions
from tests.benchmarks.refresh_cost import PAGES, costs, milliseconds

SIZES = (10_000, 100_000, 1_000_000)


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


@contextmanager
def as_served():
    """Without what tests note down of every template, which is a tenth of a page's time."""
    teardown_test_environment()
    try:
        yield
    finally:
        setup_test_environment()


def one_more_vote(study):
    """Add a copy of the study's last comparison by a person, as a repeat."""
    vote = Comparison.objects.filter(study=study, rater__kind="person").latest("pk")
    Comparison.objects.create(
        **{
            field.attname: getattr(vote, field.attname)
            for field in Comparison._meta.concrete_fields
            if field.name not in ("id", "assignment", "external_id", "revises", "repeat")
        },
        repeat=30_000,
    )


def measure(study):
    """Print the times of one study; every refresh must publish what it read."""
    Study.objects.filter(pk=study.pk).update(visibility="public")
    reading = seconds(lambda: opinions(study))
    first = seconds(lambda: services.refresh(study, anew=True))
    one_more_vote(study)
    after_a_vote = seconds(lambda: services.refresh(study))
    snapshot = services.refresh(study).snapshot
    assert snapshot.counts["comparisons"] == Comparison.objects.current().filter(study=study).count()
    with as_served():
        client, address = Client(HTTP_HOST="127.0.0.1"), f"/studies/{study.slug}/"
        response = client.get(address)
        assert response.status_code == 200
        page = milliseconds(lambda: client.get(address))
    print(
        f"\n{study.slug}: {snapshot.counts['comparisons']:,} comparisons, {snapshot.slices.count()} tables: "
        f"reading {reading:.2f} s, full refresh {first:.1f} s, after one more vote {after_a_vote:.1f} s, "
        f"page {page:.0f} ms (median of {PAGES}, {len(response.content) / 1000:.0f} kB)"
    )


@pytest.mark.django_db(transaction=True)
def test_refresh_demo():
    measure(load_demo(open_demo()).study)


@pytest.mark.django_db(transaction=True)
def test_refresh_llmfao(reference_data):
    call_command("import_data", "llmfao", str(reference_data / "llmfao"), verbosity=0)
    measure(Study.objects.get(slug="llmfao"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_refresh_generated(database, size):
    """One alone: ``-k "1000000 and sqlite"``. The seconds of the processors are in brackets."""
    found = costs(database, size)
    steps = {
        "first": "with all texts measured",
        "full": "everything anew",
        "unchanged": "nothing new",
        "people": "after 1,000 ratings by people",
        "everybody": "after 1,000 by everybody",
    }
    times = "; ".join(
        f"{words} {found[f'{name}_s']} s ({found[f'{name}_processor_s']})" for name, words in steps.items()
    )
    print(
        f"\n{database}, {found['comparisons']:,} comparisons, {found['tables']} tables: {times}; "
        f"peak {found['peak_mb']} MB ({found['before_mb']} before); page {found['page_ms']} ms, "
        f"{found['page_kb']} kB; not modified {found['not_modified_ms']} ms"
    )
    assert found["peak_mb"] < 1500
