"""Models by opinions about their single answers, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from leaderboard.pages.claim import FEWEST_ALIKE
from leaderboard.pages.columns import Column
from leaderboard.pages.format import counted
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import COEFFICIENT, Estimate
from leaderboard.pages.wording import enumerated, number_word, verb
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.method_names import FEWEST_PROMPTS

MOST_NAMED: Final = 4


@dataclass(frozen=True)
class Lead:
    """Who is first by a figure among the models that are compared, in the order of the table.

    ``first`` are equals, and ``others`` are behind them. ``alike``: those of the others that one of the
    first cannot be told apart from, or None where no test was possible. ``are_all``: the table has no other.
    """

    first: tuple[Content, ...]
    others: tuple[Content, ...]
    alike: tuple[str, ...] | None
    marked: tuple[str, ...]
    """The first of all, and what cannot be told apart from it; empty if it stands alone."""
    are_all: bool
    among: str
    """Which models these are, where the table has others or hides some."""

    @property
    def who(self) -> str:
        """The subject of a sentence."""
        number = len(self.first)
        if self.are_all and number > 1:
            return "Both models here" if number == 2 else f"All {number_word(number)} models here"
        return some_models([each["contestant"] for each in self.first])

    def does(self, word: str) -> str:
        return verb(word, len(self.first))

    def sentences(self) -> Iterator[str]:
        """Whether they can be told apart from the others."""
        their = "its" if len(self.first) == 1 else "their"
        if self.alike:
            one = "It" if len(self.first) == 1 else "At least one of them"
            yield f"{one} cannot be told apart from {some_models(self.alike, 'other models')}."
        elif self.others and (self.alike is None or self._prompts < FEWEST_ALIKE):
            yield f"So few prompts cannot tell whether {their} lead is more than noise."
        elif self.others:
            yield f"{their.capitalize()} lead is more than noise."

    @property
    def _prompts(self) -> int:
        """What the model with the fewest has; snapshots of old do not know of requirements."""
        return min(int(each.get("prompts", FEWEST_ALIKE)) for each in (*self.first, *self.others))


def lead(contestants: Sequence[Content], figure: str) -> Lead | None:
    """None where no model has the figure."""
    known = [each for each in contestants if each[figure] is not None]
    if not known:
        return None
    compared = [each for each in known if each.get("component") == known[0].get("component")]
    first = [each for each in compared if each["rank"] == compared[0]["rank"]]
    others = [each for each in compared if each not in first]
    groups = _groups(compared)
    letters = [groups[each["contestant"]] for each in first]
    alike = [each["contestant"] for each in others if groups[each["contestant"]] & set().union(*letters)]
    marked = [each["contestant"] for each in compared if groups[each["contestant"]] & letters[0]]
    return Lead(
        tuple(first),
        tuple(others),
        tuple(alike) if all(letters) else None,
        tuple(marked) if len(marked) > 1 else (),
        len(first) == len(contestants),
        " of the models compared"
        if len(compared) < len(known)
        else ""
        if first[0]["rank"] in (1, None)
        else " of the models shown",
    )


def _groups(rows: Sequence[Content]) -> dict[str, set[str]]:
    """The letters of each model; beyond z, where names of two letters begin with aa, they are spaced."""
    written = {str(each["contestant"]): str(each["group"] or "") for each in rows}
    spaced = any(" " in own or len({*own}) < len(own) for own in written.values())
    return {name: set(own.split() if spaced else own) for name, own in written.items()}


def some_models(names: Sequence[str], noun: str = "models") -> str:
    """Their names, or of many how many they are."""
    return enumerated(names) if len(names) <= MOST_NAMED else f"{len(names)} {noun}"


def few_prompts(prompts: int, models: int) -> Iterator[str]:
    """What numbers over so few prompts must say."""
    if 0 < prompts < FEWEST_PROMPTS:
        what = "another order" if models > 1 else "other numbers"
        yield f"Only {counted(prompts, 'prompt')}: others may give {what}."


def strength(found: Estimate, word: str) -> str:
    """What ends a sentence about a correlation: its ``word``, if its interval leaves out 0."""
    if found.low is None or found.high is None:
        return "."
    return f": {word}." if found.side() else ", which may be chance."


def correlation(found: Content) -> str:
    """Spearman's correlation of an OrderAgreement that has one, with its interval."""
    return COEFFICIENT.told(Estimate.of(found, "spearman"))


def order_sentence(what: str, other: str, found: Content) -> str:
    """Whether ``what`` and ``other`` order models alike, by an OrderAgreement."""
    if found["spearman"] is None:
        both = f"{what[:1].upper()}{what[1:]} and {other}"
        return f"{both} have no correlation, because all models are equal in one of them."
    over = counted(found["n"], "model")
    said = f"Spearman’s correlation of {what} and {other} is {correlation(found)} over {over}."
    return f"{said} {_verdict(*Estimate.of(found, 'spearman'))}".strip()


_MUCH: Final = 0.8


def _verdict(spearman: float | None, low: float | None, high: float | None) -> str:
    """What the interval allows to say of two orders; nothing without one."""
    if low is None or high is None:
        return ""
    if low <= 0 <= high:
        return "Whether their orders of models have anything in common cannot be told."
    if high < 0:
        return f"Their orders of models {'are' if spearman == -1 else 'tend to be'} opposite."
    if spearman == 1:
        return "They put models in the same order."
    if low >= _MUCH:
        return "They put models in much the same order."
    differ = ", but they differ" if high < _MUCH else ""
    return f"Their orders of models have something in common{differ}."


FROM_PAIRS: Final = Column[Sequence[Any]](
    "Score from pairs", lambda each: round(each[2], 2), label="Elo score"
)


def beside_table(
    title: str,
    models: Sequence[Sequence[Any]],
    own: Column[Sequence[Any]],
    other: Column[Sequence[Any]] = FROM_PAIRS,
) -> DataTable:
    """A model's name and two figures of it."""
    return DataTable.of(title, (Column[Sequence[Any]]("Model", itemgetter(0)), own, other), models)
