"""What is asked of opinions about single answers. Pure."""

from dataclasses import asdict, dataclass
from typing import Any, Final

FEWEST: Final = 10
"""Until a study closes, numbers of fewer opinions than this stay hidden."""


class NoOpinionsError(ValueError):
    """Nobody said anything about what was asked for; the message is a sentence for the reader."""


@dataclass(frozen=True)
class AskedOfTexts:
    """Whose opinions, and about which prompts; what is empty means all.

    ``sealed``: without what is hidden until the study closes.
    """

    raters: str
    subset: str = ""
    category: str = ""
    sealed: bool = False

    def parts(self) -> list[tuple[str, str]]:
        """Names and values in an address; those that are usual are empty."""
        return [(name, value) for name, value in asdict(self).items() if name != "sealed"]

    def parameters(self) -> dict[str, Any]:
        return {name: value or None for name, value in asdict(self).items() if name != "sealed"}
