"""The frozen standings of a release, as its snapshot stores them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q

from leaderboard.models import Release
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.method_names import method_beside
from leaderboard.snapshots.settings import Setting
from leaderboard.snapshots.stored import Stored

USUAL: Final = Setting("")
"""The setting a board first shows, apart from its raters."""


@dataclass(frozen=True)
class Board:
    """Standings by one kind of raters at the usual setting; ``beside`` are those by the other method."""

    selector: str
    label: str
    content: Content
    beside: Content | None


def boards(release: Release) -> list[Board]:
    """People's board, then each judge's, as far as they have a game."""
    # No level is asked for: tables hold the intervals of their time, whatever later versions read.
    methods = (USUAL.method, method_beside(USUAL.method))
    wanted = Q(kind="standings", category=USUAL.category, ties=USUAL.ties, method__in=methods)
    stored = Stored.read(release.snapshot, wanted)
    found = []
    for choice in release.snapshot.counts["raters"]:
        selector = choice["selector"]
        content, beside = (
            stored.get("standings", selector, USUAL.category, USUAL.ties, method) for method in methods
        )
        if content and not selector.startswith("group:"):
            found.append(Board(selector, choice["label"], content, beside))
    return found


def parameters(release: Release) -> Mapping[str, Any]:
    """What the method was told, by name, for one kind of raters as for all."""
    snapshot = release.snapshot
    return {"methodology": snapshot.methodology, "seed": snapshot.seed, **snapshot.parameters}
