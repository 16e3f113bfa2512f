"""How raters agree."""

from collections.abc import Iterable

from leaderboard.tables.parts import Content, DataTable


def correlation_table(judges: Iterable[tuple[str, Content]]) -> DataTable:
    """Pearson's r, Spearman's rho and Kendall's tau of each judge with people, by category, with n."""
    rows = [
        (
            label,
            "All" if row["category"] is None else row["category"],
            row["n"],
            *(row[name] for name in ("pearson", "spearman", "kendall")),
            row["reason"] or "",
        )
        for label, content in judges
        for row in content["rows"]
    ]
    columns = ("Judge", "Category", "Pairs (n)", "Pearson r", "Spearman rho", "Kendall tau", "Note")
    return DataTable("Correlation with people", columns, tuple(rows))
