"""The methodology as a page."""

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from arena.texts import markdown

_FOR_DEVELOPERS: Final = "From a notebook"
"""The section of the document that the page leaves out."""

_GROUPS: Final = {
    "Ratings and games": "Scores",
    "Intervals": "Intervals and ranks",
    "Agreement between raters": "Raters and answers",
    "Human-anchored ranking": "Further analyses and checks",
}
"""What the sections are grouped under, by the first section of each group."""


@require_safe
def methodology(request: HttpRequest) -> HttpResponse:
    return render(request, "leaderboard/methodology.html", _methodology())


@cache
def _methodology() -> dict[str, Any]:
    """The document as sections, read once: it changes with an upgrade alone."""
    packed, written = Path(__file__).with_suffix(".md"), settings.BASE_DIR / "docs" / "methodology.md"
    first, *sections = (packed if packed.exists() else written).read_text().split("\n## ")
    guide, *details = [_section(each) for each in sections if not each.startswith(_FOR_DEVELOPERS)]
    groups: dict[str, list[tuple[str, SafeString]]] = {}
    group = ""
    for section in details:
        group = _GROUPS.get(section[0], group)
        groups.setdefault(group, []).append(section)
    return {"title": first.removeprefix("# ").strip(), "guide": guide, "groups": groups}


def _section(text: str) -> tuple[str, SafeString]:
    heading, _, body = text.partition("\n")
    # Other documents are not on this site.
    body = re.sub(r"\[([^]]*)\]\([^)#:]+\.md[^)]*\)", r"\1", body)
    return heading, mark_safe(markdown.render_document(body))  # noqa: S308 - sanitised
