"""What a reader should see first in a category matrix: who leads where, and what differs. Pure."""

from collections.abc import Iterator
from typing import Final

from leaderboard.categories.table import CategoryMatrix, differs
from leaderboard.pages.wording import enumerated

MOST_NAMED: Final = 3


def verdict(matrix: CategoryMatrix) -> str:
    """Empty where nobody is ranked over all categories, or no category is named."""
    return " ".join(_sentences(matrix))


def _sentences(matrix: CategoryMatrix) -> Iterator[str]:
    leaders = {category: matrix.ordered(category)[0] for category in matrix.categories}
    best = leaders.pop("", None)
    if best is None or not leaders:
        return
    led: dict[str, list[str]] = {}
    for category, name in leaders.items():
        led.setdefault(name, []).append(category)
    own = led.pop(best, [])
    if not led:
        yield f"{best} leads overall and in {'all' if len(own) > 1 else 'the'} {_categories(len(own))}."
    else:
        where = f"and in {len(own)} of {_categories(len(leaders))}" if own else "but in no single category"
        others = [f"{name} leads in {enumerated(found)}" for name, found in led.items()]
        more = [f"{len(others) - MOST_NAMED} more lead elsewhere"] * (len(others) > MOST_NAMED)
        yield f"{best} leads overall {where}; {enumerated([*others[:MOST_NAMED], *more])}."
    clear = [words for way, words in ((1, "better"), (-1, "worse")) for words in _clear(matrix, way, words)]
    if clear:
        more = [f"{len(clear) - MOST_NAMED} more differ"] * (len(clear) > MOST_NAMED)
        yield f"Clearly different from overall: {'; '.join([*clear[:MOST_NAMED], *more])}."
    else:
        yield "No score in a category clearly differs from the overall score."


def _categories(number: int) -> str:
    return "only category" if number == 1 else f"{number} categories"


def _clear(matrix: CategoryMatrix, way: int, words: str) -> Iterator[str]:
    """The contestants that differ this way, with the categories in which they do."""
    for name in matrix.contestants:
        overall = matrix.standings.get((name, ""))
        where = [
            category
            for category in matrix.categories
            if category and (row := matrix.standings.get((name, category))) and differs(row, overall) == way
        ]
        if where:
            yield f"{name} is {words} in {enumerated(where)}"
