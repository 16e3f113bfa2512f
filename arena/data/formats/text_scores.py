"""What formats with scores of single answers share. Pure."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from arena.data.formats.records import CompletionRecord, Item, Place, PromptRecord, RaterRecord

NO_SCORE: Final = -1
"""In files of others: no score could be read."""


class Scored(NamedTuple):
    score: float | None
    reason: str = ""


def on_scale(value: Any, lowest: float, highest: float) -> Scored:
    """The score that a program read from a judge's reply, or why there is none."""
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, bool) or number == NO_SCORE or number != number:
        return Scored(None, "unparsable")
    return Scored(number) if lowest <= number <= highest else Scored(None, "out_of_range")


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
