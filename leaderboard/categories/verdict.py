"""What a reader should see first in a category matrix: who leads where, and what differs. Pure."""

from typing import Final

from leaderboard.categories.table import CategoryMatrix, differs
from leaderboard.pages.wording import enumerated

MOST_NAMED: Final = 3


def verdict(matrix: CategoryMatrix) -> tuple[str, str] | None:
    """Who leads and what differs; None where nobody is ranked over all or no category is named."""
    first = {category: matrix.ordered(category)[0] for category in matrix.categories}
    best = first.pop("", None)
    return (_leaders(best, first), _differences(matrix)) if best and first else None


def _leaders(best: str, first: dict[str, str]) -> str:
    led: dict[str, list[str]] = {}
    for category, name in first.items():
        led.setdefault(name, []).append(category)
    own = len(led.pop(best, []))
    if not led:
        return f"{best} scores highest overall and in every category."
    where = f"and in {own} of {len(first)} rated categories, " if own else "but in no category: "
    others = [f"{name} in {enumerated(found)}" for name, found in led.items()]
    if len(others) > MOST_NAMED:
        others[MOST_NAMED:] = [f"{len(others) - MOST_NAMED} more elsewhere"]
    return f"{best} scores highest overall {where}{enumerated(others)}."


def _differences(matrix: CategoryMatrix) -> str:
    found = {
        (name, category): differs(matrix.standings[name, category], matrix.standings.get((name, "")))
        for name in matrix.contestants
        for category in matrix.categories
        if category and (name, category) in matrix.standings
    }
    clear = [place for place, way in found.items() if way]
    if len(clear) > MOST_NAMED:
        return f"{len(clear)} of {len(found)} scores in a category clearly differ from the overall score."
    said = [
        f"{name} is clearly {'better' if found[name, category] > 0 else 'worse'} in {category} than overall"
        for name, category in clear
    ]
    return (
        f"{enumerated(said)}." if said else "No score in a category clearly differs from the overall score."
    )
