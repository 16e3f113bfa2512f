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
