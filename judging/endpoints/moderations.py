"""Replies of OpenAI-compatible /moderations endpoints. Pure."""

from typing import Final

FLAGGED: Final = "flagged"  # stands for the categories of an endpoint that names none
LONGEST_NAME: Final = 40
MOST: Final = 10


def categories(body: object) -> list[str]:
    """The categories in which a text is flagged, none if it is not; raises ValueError."""
    results = body.get("results") if isinstance(body, dict) else None
    if not isinstance(results, list) or not results:
        raise ValueError("it has no results")
    found: list[str] = []
    for result in results:
        if not isinstance(result, dict) or not isinstance(result.get(FLAGGED), bool):
            raise ValueError("a result does not say whether the text is flagged")
        found += _named(result.get("categories")) or [FLAGGED] if result[FLAGGED] else []
    return list(dict.fromkeys(found))[:MOST]


def _named(marked: object) -> list[str]:
    if not isinstance(marked, dict):
        return []
    return [str(name)[:LONGEST_NAME] for name, is_marked in marked.items() if is_marked is True]
