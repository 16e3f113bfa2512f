"""Hides lengths that would help raters to tell who wrote a text, while people still rate.

Who knows how long each contestant's answers are can guess the names. Sums tell single lengths by subtraction:
so do parts of a study, snapshots from before a contestant was added, and how lengths go with ratings beside
who won against whom.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from arena.models import Study
from leaderboard.snapshots.stored import Place

Content = Mapping[str, Any]

OF_LENGTHS: Final = "length"
"""The kind of the tables of how lengths go with ratings."""

WITHHELD: Final = (
    "Whether longer answers win is shown when rating ends. Beside the leaderboard it would help raters guess "
    "who wrote an answer."
)

_COMPLETION: Final = "completion"
_DEMONSTRATION: Final = "demonstration"


def shows(study: Study, kind: str) -> bool:
    """Whether everybody may see tables of this kind now."""
    return kind != OF_LENGTHS or study.is_closed


def shown(study: Study, payloads: Mapping[Place, str]) -> dict[Place, str]:
    """The tables that everybody may see now."""
    return {place: payload for place, payload in payloads.items() if shows(study, place[0])}


def visible_lengths(study: Study, lengths: Content, *, past: bool = False) -> Content:
    """The lengths of texts that everybody may see now.

    ``past``: they are of a snapshot that is no longer the newest.
    """
    if study.is_closed:
        return lengths
    whole, *parts = lengths["groups"]
    hidden = _revealing(lengths["contestants"])
    if past or _of_one_model(*_answered(whole)):
        hidden |= {_COMPLETION}
    found = [(whole, hidden)]
    for kind in ("category", "subset"):
        own = [part for part in parts if part[kind] is not None]
        also = {_COMPLETION} if _any_of_one_model(whole, own) else set()
        found += [(part, hidden | also) for part in own]
    groups = [
        {**group, "texts": [row for row in group["texts"] if row["what"] not in out]} for group, out in found
    ]
    return {**lengths, "groups": groups, "contestants": []}


def _revealing(contestants: Iterable[Content]) -> set[str]:
    """Kinds of texts among which are those of people as contestants, or of a single model."""
    kinds = [row["kind"] for row in contestants if row["completions"]]
    found = {_DEMONSTRATION} if "people" in kinds else set()
    return found | ({_COMPLETION} if kinds.count("model") == 1 else set())


def _any_of_one_model(whole: Content, parts: Sequence[Content]) -> bool:
    answered = [_answered(part) for part in parts]
    prompts, completions = _answered(whole)
    rest = prompts - sum(each for each, _ in answered), completions - sum(each for _, each in answered)
    return any(_of_one_model(*each) for each in (*answered, rest))


def _answered(group: Content) -> tuple[int, int]:
    known = next((row["count"] for row in group["texts"] if row["what"] == _COMPLETION), 0)
    return group["prompts"], known


def _of_one_model(prompts: int, completions: int) -> bool:
    """Whether all completions may be of one model, which answers a prompt once."""
    return 0 < completions <= prompts
