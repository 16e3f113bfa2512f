"""Reading of scores of single answers, shared by formats. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from arena.data.formats.records import CompletionRecord, Item, Place, PromptRecord, RaterRecord

NO_SCORE: Final = -1
"""In files of others: no score could be read."""


def on_scale(value: Any, lowest: float, highest: float) -> dict[str, Any]:
    """The score that a program read from a judge's reply, or why there is none, with its scale."""
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, bool) or number == NO_SCORE or number != number:
        number, reason = None, "unparsable"
    elif lowest <= number <= highest:
        reason = ""
    else:
        number, reason = None, "out_of_range"
    return {"score": number, "reason": reason, "lowest": lowest, "highest": highest}


class Mentioned:
    """Makes what rows name in passing, each once, with unknown texts."""

    def __init__(self) -> None:
        self._known: set[tuple[str, ...]] = set()

    def records(self, prompt: str, subset: str, contestant: str, place: Place) -> Iterator[Item]:
        about: dict[str, Any] = {"subset": subset, "turns": (), "implied": True, "place": place}
        if self._is_new(subset, prompt):
            yield PromptRecord(id=prompt, **about)
        if contestant and self._is_new(subset, prompt, contestant):
            yield CompletionRecord(prompt=prompt, contestant=contestant, **about)

    def judge(self, model: str, place: Place) -> Iterator[Item]:
        """The judge named after its model."""
        if self._is_new(model):
            yield RaterRecord(slug=model, kind="judge", facts={"model": model}, implied=True, place=place)

    def _is_new(self, *names: str) -> bool:
        is_new = names not in self._known
        self._known.add(names)
        return is_new
