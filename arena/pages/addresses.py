"""Rules for the addresses of studies."""

from typing import Final

from django.urls import Resolver404, resolve, reverse

from arena.models import Study

RESERVED: Final = "This address is reserved. Choose another."
BEGINNING: Final = "Begin the address with a letter or a digit."  # or a command takes it for an option
OTHER_STUDY: Final = "Another study has this address."


def is_reserved(slug: str) -> bool:
    """Return True if a page about no study has the address of the study's page."""
    address = reverse("operate-study", args=[slug.lower()])
    try:
        return resolve(address).url_name != "operate-study"
    except Resolver404:
        return True


def why_not(slug: str, study: Study | None = None) -> str:
    """Say why the study, or a new one, cannot have this address; "" if it can."""
    if study and study.slug == slug:
        return ""
    if not slug[0].isalnum():
        return BEGINNING
    if is_reserved(slug):
        return RESERVED
    found = Study.objects.filter(slug__iexact=slug)
    others = found.exclude(pk=study.pk) if study and study.pk else found
    return OTHER_STUDY if others.exists() else ""
