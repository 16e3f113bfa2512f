"""Names of methods and of what a ranking is adjusted for, and which a snapshot holds. Pure."""

from typing import Final

METHOD_NAMES: Final = {
    "elo": "Elo",
    "bradley-terry": "Bradley-Terry",
    "davidson": "Davidson",
    "ordinal": "Ordinal",
    "elo-study": "Elo as in the study",
}
STORED_METHODS: Final = tuple(name for name in METHOD_NAMES if name != "elo-study")
"""Those every snapshot holds; a worker computes the other when somebody asks."""
STYLE_NAMES: Final = {"length": "length", "markdown": "Markdown"}
"""Words for what a ranking is adjusted for."""
FEWEST_PROMPTS: Final = 30
"""With fewer, a page says how many."""


def method_beside(method: str) -> str:
    return "elo" if method == "bradley-terry" else "bradley-terry"
