"""A closed study with a board, and releases of it."""

from django.utils import timezone

from leaderboard.refreshing import services as snapshots
from leaderboard.releases import services
from leaderboard.releases.fields import Fields
from tests.leaderboard.rows import HandMade


def make_board(**overrides):
    """Rated by a person and a judge, closed, and refreshed."""
    usual = {"slug": "made", "name": "Made", "categories": ("coding", "coding")}
    made = HandMade("Alpha", "Beta", "Gamma", **{**usual, **overrides})
    made.strict = made.judge("strict")
    for number, rating in enumerate((1, 2, 7)):
        made.rate("Alpha", "Beta", rating, prompt=number % 2)
        made.rate("Beta", "Gamma", rating, prompt=number % 2)
        made.rate("Alpha", "Gamma", rating, rater=made.strict)
    made.change(closed_at=timezone.now())
    snapshots.refresh(made.study)
    return made


def fields(version="1.0", **overrides):
    given = {
        "version": version,
        "authors": ["Ada Lovelace"],
        "licence": "",
        "doi": "",
        "changelog": "",
        **overrides,
    }
    return Fields.read(**given)


def release(made, version="1.0", **overrides):
    return services.release(made.study, fields(version, **overrides)).release
