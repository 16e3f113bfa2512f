"""A whole leaderboard in the shape of Chatbot Arena's files: category, then contestant."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from arena.files.writing import Table, Type
from arena.models import Study
from leaderboard.files.selection import ExportError, no_scores
from leaderboard.models import Snapshot
from leaderboard.pages.page import NotReadyError
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.method_names import STORED_METHODS
from leaderboard.snapshots.settings import Scope, Setting, UnknownSettingError, parse

FULL: Final = "full"

LEADERBOARD: Final = Table(
    "leaderboard",
    {
        **dict.fromkeys(("category", "contestant"), Type.TEXT),
        **dict.fromkeys(("rating", "rating_q025", "rating_q975"), Type.NUMBER),
        **dict.fromkeys(("n", "rank", "rank_ub"), Type.INTEGER),
        **dict.fromkeys(("method", "ties_mode", "raters", "rater_kind", "prompts", "methodology"), Type.TEXT),
        "simulated": Type.FLAG,
    },
    complete=True,
)


def leaderboard(study: Study, asked: Mapping[str, str]) -> tuple[Snapshot, dict[str, dict[str, Any]]]:
    """The newest snapshot, and its entries by category and contestant.

    ``asked`` holds raters, ties and method as in the address of a board. Raises ExportError, or
    NotReadyError where a worker computes them.
    """
    snapshot = Snapshot.objects.newest(study)
    try:
        chosen = parse(asked, snapshot.counts) if snapshot else None
    except UnknownSettingError as error:
        raise ExportError(str(error)) from error
    if snapshot is None or chosen is None:
        raise ExportError(no_scores(study))
    chosen = replace(chosen, category="")
    if not chosen.is_stored(snapshot.counts["categories"]) or chosen.level != "95":
        raise ExportError(
            "A whole leaderboard is published with the usual tie band, 95% intervals and prompts, "
            f"by one of the methods {', '.join(STORED_METHODS)}."
        )
    found = find(snapshot, chosen, Scope.CATEGORIES)
    if found.pending is not None:
        raise NotReadyError(found.pending)
    contents = {place[2]: json.loads(found.stored.payloads[place]) for place in sorted(found.stored.payloads)}
    if not contents:
        raise ExportError(f'The study "{study.slug}" has no ratings for this setting.')
    listed = snapshot.counts["raters"]
    simulated = study.simulated or any(one["simulated"] for one in listed if one["selector"] == chosen.raters)
    shown = snapshot.counts.get("prompts_shown")
    kind = {"prompts": shown} if shown else {}
    return snapshot, {
        key_of(category, contents): {
            row["contestant"]: _entry(row, content, chosen) | kind | {"simulated": simulated}
            for row in content["standings"]
            if row["rating"] is not None
        }
        for category, content in contents.items()
    }


def key_of(category: str, known: Mapping[str, Any]) -> str:
    """The name of a category in the file; longer where it would be FULL."""
    if not category:
        return FULL
    key = category
    while key == FULL or (key != category and key in known):
        key += " (category)"
    return key


def text(found: Mapping[str, Any]) -> Iterator[bytes]:
    yield b"{"
    for number, (category, entries) in enumerate(found.items()):
        body = json.dumps(entries, ensure_ascii=False, indent=1, allow_nan=False)
        yield f"{',' if number else ''}\n{json.dumps(category, ensure_ascii=False)}: {body}".encode()
    yield b"\n}\n"


def _entry(row: Mapping[str, Any], content: Mapping[str, Any], setting: Setting) -> dict[str, Any]:
    quantiles = row.get("quantiles") or {}
    kind, _, _ = setting.raters.partition(":")
    return {
        "rating": row["rating"],
        "rating_q025": quantiles.get("2.5"),
        "rating_q975": quantiles.get("97.5"),
        "n": row["games"],
        "rank": row["rank"],
        "rank_ub": row.get("rank_ub"),
        "method": content["method"],
        "ties_mode": content["parameters"]["ties"],
        "raters": setting.raters,
        "rater_kind": kind,
        "methodology": content["parameters"]["methodology"],
    }
