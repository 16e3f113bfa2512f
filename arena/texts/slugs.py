"""Slugs that nothing else has."""

from collections.abc import Container
from itertools import chain, count

from django.utils.text import slugify


def slug_from(name: str, instead: str, longest: int = 110) -> str:
    """Return the name as a slug of at most so many characters; ``instead`` if nothing of it can be in one."""
    return slugify(name)[:longest].strip("-_") or instead


def free_slug(base: str, taken: Container[str], short: str = "") -> str:
    """``base``, or ``short`` (the base if empty) with the first number from 2 that makes it new."""
    numbered = (f"{short or base}-{number}" for number in count(2))
    return next(slug for slug in chain([base], numbered) if slug not in taken)
