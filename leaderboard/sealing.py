"""What stays out of the tables of a study while people still rate, because it helps to tell who wrote a text.

Raters see texts without names. Who knows how long the answers of each contestant are, or whose are empty, can
guess the names from the texts alone; lengths of demonstrations tell those of people.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from arena.models import Study

Content = Mapping[str, Any]


def unsealed(study: Study, lengths: Content) -> Content:
    """The lengths of a study's texts, as far as everybody may see them now: all of them once it is closed."""
    if study.is_closed:
        return lengths
    telling = _telling(lengths["contestants"])
    groups = [
        {**group, "texts": [row for row in group["texts"] if row["what"] not in telling]}
        for group in lengths["groups"]
    ]
    return {**lengths, "groups": groups, "contestants": []}


def _telling(contestants: Iterable[Content]) -> set[str]:
    """The kinds of texts among which are those of people to be compared, or those of a single model."""
    kinds = [row["kind"] for row in contestants if row["completions"]]
    found = {"demonstration"} if "people" in kinds else set()
    return found | ({"completion"} if kinds.count("model") == 1 else set())
