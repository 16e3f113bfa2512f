"""The arena's own, with the addresses beside this file."""

from arena.settings import *  # noqa: F403

ROOT_URLCONF = "tests.benchmarks.bare.urls"
