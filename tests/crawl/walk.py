"""Following the links of an arena until every view was seen with each of its parameters."""

from collections.abc import Callable, Iterable
from functools import cache
from urllib.parse import parse_qsl, urljoin, urlsplit

from django.urls import ResolverMatch, resolve

Facet = tuple[object, ...]


def facets(address: str) -> set[Facet]:
    """The view of an address for its study, and that view with each of its parameters, which are Django's in
    the admin. Raises Resolver404.
    """
    parts = urlsplit(address)
    found = _view(parts.path)
    itself = (found.view_name or found.route, found.kwargs.get("slug"))
    parameters = [] if found.namespace == "admin" else parse_qsl(parts.query)
    return {itself, *((*itself, name) for name, _ in parameters)}


@cache
def _view(path: str) -> ResolverMatch:
    return resolve(path)


def walk(
    starts: Iterable[str],
    look: Callable[[str], Iterable[str]],
    facets: Callable[[str], set[Facet]] = facets,
) -> set[Facet]:
    """Look at an address for every facet that can be reached; ``look`` returns the links of a page."""
    waiting, known, seen = list(starts), set(starts), set[Facet]()
    while waiting:
        address = waiting.pop(0)
        found = facets(address)
        if found <= seen:
            continue
        seen |= found
        for link in look(address):
            inside = _inside(address, link)
            if inside and inside not in known:
                known.add(inside)
                waiting.append(inside)
    return seen


def _inside(page: str, link: str) -> str:
    """A link as an address of this site without its fragment; empty where it leads elsewhere."""
    parts = urlsplit(urljoin(page, link))
    if parts.scheme or parts.netloc or parts.path.startswith("/static/"):
        return ""
    return parts._replace(fragment="").geturl()
