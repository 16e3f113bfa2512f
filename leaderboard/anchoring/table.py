"""A ranking anchored on people as a table, and as boards for a figure."""

from collections.abc import Sequence
from typing import Final

from leaderboard.pages.columns import Column, bare, ends_of
from leaderboard.pages.format import counted
from leaderboard.pages.table import DataTable
from leaderboard.pages.wording import enumerated, paragraph
from leaderboard.snapshots.canonical import Content

ESTIMATES: Final = {"": "Anchored", "human": "People alone", "judge": "Judge alone"}
"""Labels of the estimates in files, by their key in a row; the anchored one is the row itself."""

_DRAWN: Final = {"": "Both", "human": "Only people", "judge": "Only the judge"}

HARDLY: Final = 0.1
"""A judge that makes people's pairs count like less than this share more hardly helps."""

_MOST_NAMED: Final = 4


_BIAS: Final = "Judge’s bias"


def anchored_table(content: Content) -> DataTable:
    """A row for each contestant, by rank."""
    groups = len({row["component"] for row in content["standings"]} - {None}) > 1
    group = Column[Content]("Group", lambda row: None if row["component"] is None else row["component"] + 1)
    columns: list[Column[Content]] = [
        Column("Contestant", "contestant", label="Model"),
        *([group] if groups else []),
        Column("Rank", "rank"),
        Column("Rank (UB)", "rank_ub", label="Best rank by intervals"),
        *(_estimate(f"{key}.rating" if key else "rating", label) for key, label in ESTIMATES.items()),
        _estimate("bias.rating", _BIAS),
        Column("Effective votes", "effective_votes", label="Effective ratings"),
    ]
    caption = f"People as the anchor of {', '.join(content['judges'])}"
    return DataTable.of(caption, columns, content["standings"])


def _estimate(path: str, over: str) -> Column[Content]:
    ends = ends_of(f"{over}:")
    return Column(f"{over}: rating", bare(path), label="score", over=over, ends=ends)


def boards(content: Content) -> list[tuple[str, Content]]:
    """Label and standings of each estimate."""
    parameters = {"interval": content["parameters"]["interval"]}
    return [
        (
            label,
            {
                "parameters": parameters,
                "standings": [
                    {"contestant": row["contestant"], **(row[key] if key else row)}
                    for row in content["standings"]
                ],
            },
        )
        for key, label in _DRAWN.items()
    ]


def leader(content: Content) -> str:
    """What the judge is worth, who leads, and from whom it cannot be told apart."""
    ranked = sorted(
        (row for row in content["standings"] if row["rating"] is not None and not row["component"]),
        key=lambda row: row["rank"],
    )
    if not ranked:
        return ""
    first = [row["contestant"] for row in ranked if row["rank"] == 1]
    close = [name for name in content["beside_the_leader"] if name not in first]
    apart = f", but cannot be told apart from {enumerated(_some(close))}" if close else ""
    leads = f"{enumerated(_some(first))} {'leads' if len(first) == 1 else 'share the first place'}{apart}"
    return paragraph([*_worth(content), leads], content["simulated"])


def gain_may_be_chance(content: Content) -> bool:
    """Whether the judge seems to save people pairs, but not by more than a judge without a clue might."""
    gained, low = (content["effective_votes"] or 0.0) - content["counts"]["human_pairs"], "power_low"
    return gained >= 1 and not (content["parameters"].get(low) or 0.0) > 0.0


def _worth(content: Content) -> Sequence[str]:
    pairs, worth = content["counts"]["human_pairs"], content["effective_votes"]
    if worth is None or worth < pairs + 1:
        return ("the judge does not help: its ratings make people’s ranking no more certain",)
    counts = "counts" if pairs == 1 else "count"
    count = f"the {counted(pairs, 'pair')} that people rated {counts} like {worth:,.0f}"
    if gain_may_be_chance(content):
        return (f"the judge does not help, as far as these ratings show: that {count} with it may be chance",)
    if worth < (1 + HARDLY) * pairs:
        return (f"the judge hardly helps: with it, {count}",)
    return (f"with the judge, {count}",)


def _some(names: Sequence[str]) -> Sequence[str]:
    return (
        names
        if len(names) <= _MOST_NAMED
        else [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more"]
    )
