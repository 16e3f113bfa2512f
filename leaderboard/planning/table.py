"""A plan as a table of gaps and raters."""

from typing import Final

from leaderboard.pages.table import DataTable
from leaderboard.snapshots.canonical import Content

_MEASURED: Final = " (measured)"


def needs_table(content: Content) -> DataTable:
    """How many more prompts each gap takes, by raters of every pair."""
    return DataTable.of(
        "More prompts you need, by the gap and the raters of every pair",
        (
            {
                "Gap": f"{gap['gap']:.3g} points{_MEASURED if gap['measured'] else ''}",
                **{
                    f"{need['raters']} rater{'' if need['raters'] == 1 else 's'}": need["more"]
                    for need in gap["needs"]
                },
            }
            for gap in content["gaps"]
        ),
    )
