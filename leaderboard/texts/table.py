"""Models by opinions about their single answers, in words and tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from leaderboard.pages.table import Cell, DataTable
from leaderboard.pages.wording import counted, enumerated, number_range, signed
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.presentation import FEWEST_PROMPTS

MOST_NAMED: Final = 4


def lead(contestants: Sequence[Content], figure: str) -> tuple[Content | None, list[str]]:
    """The first model with a ``figure``, and the others it cannot be told apart from."""
    known = [each for each in contestants if each[figure] is not None]
    if not known:
        return None, []
    first, *others = known
    letters = set(first["group"] or "")
    return first, [each["contestant"] for each in others if letters & set(each["group"] or "")]


def alike(names: Sequence[str], models: int) -> Iterator[str]:
    """Whether the first of ``models`` can be told apart from the others."""
    if len(names) > MOST_NAMED:
        yield f"It cannot be told apart from {len(names)} other models."
    elif names:
        yield f"It cannot be told apart from {enumerated(names)}."
    elif models > 1:
        yield "Its lead is more than noise."


def few_prompts(prompts: int) -> Iterator[str]:
    """What a ranking over so few prompts must say."""
    if 0 < prompts < FEWEST_PROMPTS:
        yield f"Only {counted(prompts, 'prompt')}: the order may change with others."


def correlation(found: Content) -> str:
    """Spearman's correlation of an OrderAgreement that has one, with its interval."""
    ends = number_range(found["spearman_low"], found["spearman_high"])
    return f"{signed(found['spearman'])}{f' ({ends})' if ends else ''}"


def order_sentence(what: str, other: str, found: Content) -> str:
    """Whether ``what`` and ``other`` order models alike, by an OrderAgreement."""
    spearman, low, high = (found[f"spearman{end}"] for end in ("", "_low", "_high"))
    if spearman is None:
        return f"All models are equal in one of them, so {what} and {other} have no correlation."
    unsure = low is not None and low <= 0 <= high
    verdict = (
        "They may have nothing in common."
        if unsure
        else "They put models in the same order."
        if spearman == 1
        else "They put models in much the same order."
        if spearman >= _MUCH
        else "Their orders of models differ."
    )
    over = counted(found["n"], "model")
    return f"Spearman’s correlation of {what} and {other} is {correlation(found)} over {over}. {verdict}"


_MUCH: Final = 0.8


def beside_table(
    title: str, own: Mapping[str, Cell], scores: Mapping[str, float], name: str, other: str
) -> DataTable:
    rows = [{"Model": model, name: own[model], other: round(score, 2)} for model, score in scores.items()]
    return DataTable.of(title, rows)
