"""Slugs that nothing else has."""

from collections.abc import Container
from itertools import chain, count


def free_slug(base: str, taken: Container[str], short: str = "") -> str:
    """``base``, or ``short`` (the base if empty) with the first number from 2 that makes it new."""
    numbered = (f"{short or base}-{number}" for number in count(2))
    return next(slug for slug in chain([base], numbered) if slug not in taken)
