"""Panels that pages about raters share."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from leaderboard.pages.figure import MOST_SERIES
from leaderboard.pages.page import Page, Panel, step
from leaderboard.pages.standings.figure import intervals
from leaderboard.pages.standings.table import raters_table
from leaderboard.pages.table import DataTable
from leaderboard.pages.wording import with_intervals
from leaderboard.raters.agreement.figure import correlations
from leaderboard.raters.agreement.table import correlated, without_pools
from leaderboard.raters.bias.figure import histogram, position_dots, score_differences
from leaderboard.raters.bias.table import Shown, position_table, ratings_table, scores_table
from leaderboard.snapshots.canonical import Content
from leaderboard.stats.bias_results import ScoreDifferences

OTHER_PEOPLE = "People with each other"


def ratings_panel(page: Page, points: int, shown: Sequence[Shown], note: str = "") -> Panel:
    return page.make_panel(
        f"ratings-{points}",
        f"Ratings as shown, scale of {points} points",
        f"How often each rating was given; 1 favours the answer shown first. "
        f"{without_bias(shown, 'Without position bias the picture is symmetric.')}{note}",
        ratings_table(points, shown),
        draw=lambda: histogram(points, shown),
        height=step(15 if len(shown) <= MOST_SERIES else len(shown) * 1.5 + 5),
    )


def without_bias(shown: Iterable[Shown], picture: str) -> str:
    """Return what no bias looks like, or that pairs came in one order, so that nothing shows it."""
    if any(one.one_order for one in shown):
        return "Where nearly all pairs came in one order, it may show the models and not a bias."
    return picture


def position_panel(page: Page, shown: Sequence[Shown], level: float) -> Iterator[Panel]:
    found = [one for one in shown if one.scored]
    if found:
        yield page.make_panel(
            "position",
            "How often raters prefer the answer shown first",
            f"Among ratings that take a side{with_intervals(level, [one.position for one in found])}. "
            f"{without_bias(found, 'The dashed line is 50%: no bias.')}",
            position_table(found),
            draw=lambda: position_dots(found),
            height=step(len(found) * 1.5 + 5),
        )


def scores_panel(page: Page, found: Sequence[tuple[str, ScoreDifferences]], note: str) -> Iterator[Panel]:
    if found:
        yield page.make_panel(
            "scores",
            "First minus second score",
            note,
            scores_table(found),
            draw=lambda: score_differences(found),
            height=15,
        )


def boards_panel(
    page: Page, slug: str, title: str, boards: Sequence[tuple[str, Content]], level: float, method: str = ""
) -> Iterator[Panel]:
    """Standings side by side, in the order of the first; ``method`` begins the note."""
    if not boards:
        return
    label, first = boards[0]
    order = [row["contestant"] for row in first["standings"] if row["rating"] is not None]
    yield page.make_panel(
        slug,
        title,
        f"{method}Dots are scores{with_intervals(level, [board for _, board in boards])}, in the order of "
        f"{label}.",
        raters_table(order, boards),
        draw=lambda: intervals(order, boards),
        height=step(len(order) * max(1, 0.4 * len(boards)) + 5),
    )


def correlation_panel(
    page: Page,
    title: str,
    note: str,
    judges: Sequence[tuple[str, Content]],
    ceiling: Content | None,
    table: Callable[[Iterable[tuple[str, Content]]], DataTable],
    measure: str,
) -> Iterator[Panel]:
    """Pearson's r of judges with people, called ``measure`` and written into a ``table``.

    ``ceiling`` is that of people with the other people.
    """
    if not judges:
        return
    own = [correlated(label, without_pools(content), "pearson") for label, content in judges]
    people = correlated(OTHER_PEOPLE, without_pools(ceiling), "pearson") if ceiling else []
    known = any(row.found.value is not None for row in people)
    yield page.make_panel(
        "correlation",
        title,
        f"{note}{' The vertical line shows how people agree with each other.' if known else ''}",
        table([*judges, *([(OTHER_PEOPLE, ceiling)] if ceiling else [])]),
        draw=lambda: correlations(own, people, measure),
        height=step(len(own[0]) * (1 + 0.6 * len(own)) + 5),
    )
