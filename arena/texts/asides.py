"""What stands in a conversation beside what user and model say: system messages, tools, images. Pure.

An aside is a mapping with the turn that it stands before, from 1, its kind, its text and, for a tool, a name.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

TITLES: Final[Mapping[str, str]] = {
    "system": "System message",
    "call": "Tool call",
    "tool": "Tool result",
    "image": "Image (not shown)",
    "part": "Another part (not shown)",
    "said": "Said before a tool was called",
}
"""Labels of the kinds of asides."""


NAME: Final = "asides"
"""Their name in files, among the further fields of a prompt or an answer."""


def read(given: Any, turns: int) -> list[dict[str, Any]] | None:
    """The asides that a file gives beside so many turns; None if it is something else."""
    if not isinstance(given, list | tuple):
        return None
    if not all(_is_aside(each) and 1 <= each["turn"] <= turns for each in given):
        return None
    return [{name: each[name] for name in ("turn", "kind", "text", "name") if name in each} for each in given]


def _is_aside(given: Any) -> bool:
    return (
        isinstance(given, dict)
        and given.get("kind") in TITLES
        and type(given.get("turn")) is int
        and all(isinstance(given.get(name, ""), str) for name in ("text", "name"))
        and "text" in given
    )


def title(aside: Mapping[str, Any]) -> str:
    """Return the label of an aside, with the name of its tool."""
    name = f": {aside['name']}" if aside.get("name") else ""
    return TITLES[aside["kind"]] + name


def with_asides(turns: Sequence[str], asides: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """Return the turns as texts for models, each below what stands before it."""
    if not asides:
        return turns
    before = [
        [f"[{title(each)}]\n{each['text']}" for each in asides if each["turn"] == number]
        for number in range(1, len(turns) + 1)
    ]
    return ["\n\n".join([*some, turn]) for some, turn in zip(before, turns, strict=True)]
