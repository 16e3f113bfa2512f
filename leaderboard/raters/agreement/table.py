"""Tables of how raters agree."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from leaderboard.pages.claim import Claim, claim, strength
from leaderboard.pages.columns import BLANK, Column
from leaderboard.pages.format import counted, number_range, percent, percent_range, share_points, signed
from leaderboard.pages.guessed import guessed, guessed_rows
from leaderboard.pages.table import DataTable, Matrix
from leaderboard.pages.units import COEFFICIENT, Cell, Estimate, percent_cell
from leaderboard.pages.wording import FEWEST_PAIRS, agreement_word, enumerated, verb
from leaderboard.raters.bias.table import equals
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.settings import ALL_CATEGORIES

COEFFICIENTS: Final = {"pearson": "Pearson r", "spearman": "Spearman rho", "kendall": "Kendall tau"}
AGREES: Final = {
    "pearson": "Agrees with people (r)",
    "spearman": "Agrees with people (rho)",
    "kendall": "Agrees with people (tau)",
}
"""Names of the one number for agreement with people that all pages show (``with_people``)."""
PEARSON_WITH_MEAN: Final = "Pearson r with the mean of people"
_ALL_BUT: Final = "All but "
_LEVEL: Final = 0.05
UNMIRRORED: Final = "Unmirrored values enter each pair once, as imported, to compare with published ones."

Agreements = Mapping[str, Content]


def category_names(rows: Sequence[Content]) -> list[str]:
    """What each row is about; every name is unique."""
    found: list[str] = []
    for row, left_out in zip(rows, all_but(rows), strict=True):
        category = row["category"] or ""
        reserved = category == ALL_CATEGORIES or category.startswith(_ALL_BUT)
        if left_out is not None:
            found.append(f"{_ALL_BUT}{left_out}")
        else:
            found.append(f"{category} (category)" if reserved else category or ALL_CATEGORIES)
    return found


def all_but(rows: Sequence[Content]) -> list[str | None]:
    """The category that each row leaves out; None for a row about one category or about all.

    Tables of old snapshots write it with a minus in front, after the row about that category; other
    categories may begin with a minus too.
    """
    named: set[str] = set()
    found: list[str | None] = []
    for row in rows:
        category = row["category"] or ""
        left_out = category[1:] if category.startswith("-") and category[1:] in named else None
        found.append(row.get("all_but", left_out))
        named.add(category)
    return found


def same_category(row: Content, category: str) -> bool:
    """Whether a row is about this category; the empty one means all together."""
    return row.get("all_but") is None and (row.get("category") or "") == category


@dataclass(frozen=True)
class Correlated:
    """A coefficient of one kind of raters with people, over ``n`` pairs; ``reason`` says why ``value`` is
    None.
    """

    label: str
    category: str
    n: int
    value: float | None
    low: float | None
    high: float | None
    reason: str


def correlated(label: str, content: Content, coefficient: str) -> list[Correlated]:
    return [
        Correlated(
            label,
            category,
            row["n"],
            row[coefficient],
            row.get(f"{coefficient}_low"),
            row.get(f"{coefficient}_high"),
            row["reason"] or "",
        )
        for row, category in _named(content)
    ]


def _named(content: Content) -> Iterable[tuple[Content, str]]:
    return zip(content["rows"], category_names(content["rows"]), strict=True)


def without_pools(content: Content) -> Content:
    """A table of correlations without the rows about all categories but one."""
    rows = content["rows"]
    kept = [row for row, left_out in zip(rows, all_but(rows), strict=True) if left_out is None]
    return {**content, "rows": kept}


def correlation_table(kinds: Iterable[tuple[str, Content]]) -> DataTable:
    """Correlations with the mean of all people."""
    words = {key: f"{name} with the mean of people" for key, name in COEFFICIENTS.items()}
    return _correlations("Correlation with the mean of people", kinds, words)


def agrees_table(kinds: Iterable[tuple[str, Content]]) -> DataTable:
    """The rows of ``with_people_by_category``, in the columns of ``correlation_table``."""
    return _correlations("Agreement with people", kinds, AGREES)


def _correlations(caption: str, kinds: Iterable[tuple[str, Content]], labels: Mapping[str, str]) -> DataTable:
    columns: list[Column[tuple[str, Content, str]]] = [
        Column("Raters", lambda each: each[0]),
        Column("Category", lambda each: each[2]),
        Column("Pairs (n)", lambda each: each[1]["n"], label="Pairs"),
        Column("Prompts", lambda each: each[1].get("prompts")),
        *(_coefficient(name, labels[name]) for name in COEFFICIENTS),
        Column("Note", lambda each: each[1]["reason"] or ""),
    ]
    found = ((label, *each) for label, content in kinds for each in _named(content))
    return DataTable.of(caption, columns, found)


def _coefficient(name: str, label: str) -> Column[tuple[str, Content, str]]:
    return Column(
        COEFFICIENTS[name], lambda each: Estimate.of(each[1], name), COEFFICIENT, label=label, ends=BLANK
    )


def beside_people_table(judges: Iterable[tuple[str, Sequence[Content]]], coefficient: str) -> DataTable:
    """Correlations with the other people, of a judge in the place of each person and of the person."""
    name = COEFFICIENTS[coefficient]
    words = {f"{name}: {who}": f"{AGREES[coefficient]}: {who}" for who in ("judge", "people")}
    return guessed(
        "In a person's place",
        (
            {
                "Raters": label,
                "Category": category,
                "Pairs (n)": row["n"],
                "People": row["raters"],
                **_with_ends(row, coefficient, f"{name}: judge"),
                **_with_ends(row, f"{coefficient}_people", f"{name}: people"),
                "Difference": row[f"{coefficient}_difference"],
                "Low": row[f"{coefficient}_difference_low"],
                "High": row[f"{coefficient}_difference_high"],
                "Note": row["reason"] or "",
            }
            for label, rows in judges
            for row, category in _named({"rows": rows})
        ),
        words | {"Difference": "Difference from people"},
    )


def stand_in_table(judges: Iterable[tuple[str, Content]]) -> DataTable:
    """The alternative annotator test of each judge."""
    return guessed(
        "Alternative annotator test",
        (
            {
                "Raters": label,
                "People tested": len(found["people"]),
                "People with too few pairs": found["too_few"],
                "Won": sum(each["won"] for each in found["people"]),
                "Winning rate": found["winning_rate"],
                "Advantage": found["advantage"],
                "Passes": {True: "yes", False: "no", None: ""}[found["passes"]],
                "Note": found["reason"] or "",
            }
            for label, found in judges
        ),
    )


def stand_in_sentence(label: str, content: Content, coefficient: str, level: float) -> str:
    """Whether a judge may stand in for a person, and how it correlates with the others in that place."""
    found = content["stand_in"]
    beside = _beside_people(content["ceiling"][0], coefficient, level)
    if found["passes"] is None:
        return f"{label} cannot be tested: {found['reason']}.{beside}"
    won, people = sum(each["won"] for each in found["people"]), len(found["people"])
    # Where people rate by lot, so may a judge.
    shown = claim(content["ceiling"][0]) is Claim.AGREES
    doubt = "" if shown or not found["passes"] else " But nothing shows that it agrees with people."
    return (
        f"{label} {'passes' if found['passes'] else 'does not pass'} the test: it does well enough in the "
        f"place of {won} of {people} people, and needs half.{doubt}{beside}"
    )


def _beside_people(row: Content, coefficient: str, level: float) -> str:
    own, people = row[coefficient], row[f"{coefficient}_people"]
    if own is None or people is None:
        return ""
    apart = f"{coefficient}_difference"
    low, high = row[f"{apart}_low"], row[f"{apart}_high"]
    certain = low is not None and not low <= 0 <= high
    return (
        f" Its {COEFFICIENTS[coefficient]} with the others is {signed(own)}, a person’s {signed(people)}. "
        f"The difference of {signed(row[apart])}{_interval(row, apart, level)} "
        f"{'is more than chance explains' if certain else 'may be chance'}."
    )


def with_people_by_category(correlation: Content) -> Content:
    """Rows as of ``with_people`` for every category."""
    placed = {
        (row["category"], row.get("all_but")): row
        for row in correlation.get("ceiling", ())
        if row["pearson_difference"] is not None
    }
    return {"rows": [placed.get((row["category"], row.get("all_but")), row) for row in correlation["rows"]]}


def between(agreements: Agreements, one: str, other: str) -> Content | None:
    """An entry of ``others`` about two kinds of raters; None where there is none. Only one may hold it."""
    return _entry(agreements.get(one), other) or _entry(agreements.get(other), one)


def _entry(content: Content | None, other: str) -> Content | None:
    return next((each for each in (content or {}).get("others", ()) if each["raters"] == other), None)


def row_of(entry: Content | None, category: str, part: str = "rows") -> Content | None:
    return next((row for row in (entry or {}).get(part, ()) if same_category(row, category)), None)


def with_people(correlation: Content | None, category: str = "") -> Content | None:
    """The row of the one number for agreement with people that all pages show.

    Of a judge in a person's place, or with all people where no two rated the same pairs. Of people, with each
    other.
    """
    placed = row_of(correlation, category, "ceiling")
    known = placed and placed["pearson_difference"] is not None
    return placed if known else row_of(correlation, category)


def kappa_table(entries: Iterable[tuple[str, str, Content]]) -> DataTable:
    """Kappa by category, from two labels and the entry of ``between``."""
    return guessed(
        "Cohen's kappa, quadratic weights",
        (
            {
                "Raters": one,
                "Category": category,
                "Ratings compared (n)": row["n"],
                "Pairs": row.get("pairs"),
                "Weighted kappa": row["kappa"],
                "Low": row.get("kappa_low"),
                "High": row.get("kappa_high"),
                "Strength": strength(row, "kappa"),
                **_with_ends(row, "kappa_verdict", "Kappa of verdicts"),
                **_with_ends(row, "exact", "Same verdict %", percent_cell),
                "Unmirrored: weighted kappa": row.get("kappa_unmirrored"),
                "Unmirrored: kappa of verdicts": row.get("kappa_verdict_unmirrored"),
                "With": other,
                "Note": _note(row, row.get("pairs", row["n"])),
            }
            for one, other, entry in entries
            for row, category in _named(entry)
        ),
    )


def within_table(kinds: Iterable[tuple[str, Content]]) -> DataTable:
    """Krippendorff's alpha and Fleiss' kappa of each kind of raters.

    An empty label, for a single kind, gives no column of labels.
    """
    return guessed(
        "Agreement among raters of one kind",
        (
            ({"Raters": label} if label else {})
            | {
                "Category": category,
                "Members": row["raters"],
                "Pairs (2+ ratings)": row["pairs"],
                "Ratings": row["ratings"],
                "Alpha": row["alpha"],
                "Alpha low": row.get("alpha_low"),
                "Alpha high": row.get("alpha_high"),
                "Strength": strength(row, "alpha"),
                **_with_ends(row, "alpha_verdict", "Alpha of verdicts"),
                "Fleiss' kappa": row.get("fleiss"),
                "Fleiss low": row.get("fleiss_low"),
                "Fleiss high": row.get("fleiss_high"),
                "Pairs for Fleiss": row.get("fleiss_pairs"),
                "Unmirrored: alpha": row.get("alpha_unmirrored"),
                "Unmirrored: alpha of verdicts": row.get("alpha_verdict_unmirrored"),
                "Unmirrored: Fleiss' kappa": row.get("fleiss_unmirrored"),
                "Note": _note(row, row["pairs"]),
            }
            for label, content in kinds
            for row, category in _named(content["within"])
        ),
    )


def _with_ends(
    row: Content, name: str, column: str, cell: Callable[[float | None], Cell] = lambda value: value
) -> dict[str, Cell]:
    """A number and the ends of its interval as columns."""
    return {
        f"{column}{end.replace('_', ' ')}": cell(row.get(f"{name}{end}")) for end in ("", "_low", "_high")
    }


def _note(row: Content, pairs: int) -> str:
    if row.get("reason"):
        return str(row["reason"])
    return f"fewer than {FEWEST_PAIRS} pairs" if pairs < FEWEST_PAIRS else ""


def kind_matrix(
    agreements: Agreements, kinds: Sequence[tuple[str, str]], what: str, category: str = ""
) -> tuple[Matrix, Matrix]:
    """A statistic of every two kinds of raters, and the number of pairs behind it.

    ``kinds`` are selectors and labels. None on the diagonal and where undefined or unknown.
    """
    found = [
        [None if one == two else row_of(between(agreements, one, two), category) for two, _ in kinds]
        for one, _ in kinds
    ]
    names = tuple(label for _, label in kinds)
    values = tuple(tuple(row.get(what) if row else None for row in line) for line in found)
    pairs = tuple(tuple(row.get("pairs", row["n"]) if row else None for row in line) for line in found)
    return Matrix(names, values), Matrix(names, pairs)


def matrix_table(
    caption: str, agreements: Agreements, kinds: Sequence[tuple[str, str]], what: str, category: str = ""
) -> DataTable:
    """One row for every two kinds of raters, as of ``kind_matrix`` and with intervals."""
    columns = [kind_matrix(agreements, kinds, f"{what}{end}", category) for end in ("", "_low", "_high")]
    pairs = columns[0][1].values
    rows = tuple(
        (kinds[i][1], kinds[j][1], *(values.values[i][j] for values, _ in columns), pairs[i][j])
        for i, j in combinations(range(len(kinds)), 2)
        if pairs[i][j] is not None
    )
    return guessed_rows(caption, ("Raters", "With", caption, "Low", "High", "Pairs (n)"), rows)


def confusion_table(one: str, other: str, confusion: Content) -> DataTable:
    columns = (f"{one} \\ {other}", *(f"{other} {point}" for point in range(1, confusion["points_b"] + 1)))
    rows = [(f"{one} {point}", *counts) for point, counts in enumerate(confusion["counts"], start=1)]
    return guessed_rows(f"Ratings of {one} (rows) against {other} (columns)", columns, tuple(rows))


def scatter_table(one: str, other: str, points: Sequence[Sequence[float]]) -> DataTable:
    rows = tuple((x, y, int(n)) for x, y, n in points)
    return guessed_rows(f"Mean preference of {one} and of {other}", (one, other, "Pairs (n)"), rows)


def _kappa_sentence(one: str, other: str, row: Content, level: float) -> str:
    if row["kappa"] is None:
        return f"{one} and {other} have no kappa: {row['reason']}."
    ends = percent_range(row.get("exact_low"), row.get("exact_high"))
    same = f" ({ends})" if ends else ""
    shown = _shown(row, "kappa", f"{one} and {other}", ("agree", "contradict each other", "show"))
    return (
        f"{shown}: weighted kappa {signed(row['kappa'])}{_interval(row, 'kappa', level)} over "
        f"{counted(row['pairs'], 'pair')} that both rated. They gave the same verdict in "
        f"{percent(row['exact'])} of ratings{same}."
    )


def _shown(row: Content, name: str, who: str, words: tuple[str, str, str]) -> str:
    """A claim on those who ``agree``, ``contradict`` and ``show`` (in this order, with what follows)."""
    agree, contradict, show = words
    return {
        Claim.AGREES: f"{who} {show} {agreement_word(row[name])} agreement",
        Claim.NOT_SHOWN: f"Nothing shows that {who} {agree}",
        Claim.CONTRADICTS: f"{who} {contradict}",
        Claim.NO_INTERVAL: f"Without an interval nothing shows whether {who} {agree}",
    }.get(claim(row, name), f"Too few pairs to tell whether {who} {agree}")


def _interval(row: Content, name: str, level: float) -> str:
    ends = number_range(row.get(f"{name}_low"), row.get(f"{name}_high"))
    return f" ({level:g}% interval {ends})" if ends else ""


def two_sentence(content: Content) -> str:
    """How the raters of ``two.compared`` agree, or why nothing is known of it."""
    raters, level = content["raters"], content["level"]
    where = f" in {content['category']}" if content["category"] else ""
    silent = [own["label"] for own in raters if not own["ratings"]]
    if silent:
        side = " with a side" if content["ties"] == "off" else ""
        return f"{enumerated(silent)} gave no rating{side}{where}."
    if len(raters) == 1:
        return _within_sentence(raters[0], content["within"], level)
    if content["between"]["n"]:
        return _kappa_sentence(raters[0]["label"], raters[1]["label"], content["between"], level)
    one, other = (f"{own['label']} rated {counted(own['pairs'], 'pair')}" for own in raters)
    return f"They have rated no pair in common{where}: {one}, {other}."


def difference_sentence(content: Content) -> str:
    """Which of two judges has the verdict of people more often; empty for other raters."""
    chosen = {own["selector"] for own in content["raters"]}
    tests = content.get("differences", ())
    row = next((row for row in tests if {row["one_selector"], row["other_selector"]} == chosen), None)
    if row is None:
        return ""
    low, high = row["difference_low"], row["difference_high"]
    ends = (
        ""
        if low is None
        else f" ({content['level']:g}% interval {share_points(low)} to {share_points(high)})"
    )
    certain = row["p_adjusted"] < _LEVEL and low is not None and not low <= 0 <= high
    chance = "is more than chance explains" if certain else "may be chance"
    return (
        f"Over {counted(row['pairs'], 'pair')} that people rated too, {row['one']} has people’s verdict in "
        f"{percent(row['one_right'])} and {row['other']} in {percent(row['other_right'])}. The difference of "
        f"{share_points(row['difference'])} points{ends} {chance} (McNemar’s exact test by prompt, p "
        f"{equals(row['p_adjusted'])} after Holm)."
    )


def differences_table(tests: Sequence[Content]) -> DataTable:
    """Every two judges on the pairs that both and people rated."""
    return guessed(
        "Judges' agreement with people",
        (
            {
                "Judge": row["one"],
                "Other judge": row["other"],
                "Pairs": row["pairs"],
                "Judge: as people %": percent_cell(row["one_right"]),
                "Other judge: as people %": percent_cell(row["other_right"]),
                "Difference": percent_cell(row["difference"]),
                "Low": percent_cell(row["difference_low"]),
                "High": percent_cell(row["difference_high"]),
                "Judge: alone as people": row["only_one"],
                "Other judge: alone as people": row["only_other"],
                "p: McNemar": row["p"],
                "p: Holm": row["p_adjusted"],
            }
            for row in tests
        ),
        {
            "Judge: as people %": "Judge: people’s verdict (%)",
            "Other judge: as people %": "Other judge: people’s verdict (%)",
            "Difference": "Difference of shares (points)",
        },
    )


def _within_sentence(own: Content, row: Content, level: float) -> str:
    number, who = own["members"], own["label"]
    each_other, themselves = ("each other", "among themselves") if number > 1 else ("itself", "with itself")
    if row["alpha"] is None:
        return f"{who} {themselves} {'have' if number > 1 else 'has'} no alpha: {row['reason']}."
    verbs = [verb(word, number) for word in ("agree", "contradict", "show")]
    words = (f"{verbs[0]} with {each_other}", f"{verbs[1]} {each_other}", f"{themselves} {verbs[2]}")
    return (
        f"{_shown(row, 'alpha', who, words)}: Krippendorff’s alpha {signed(row['alpha'])}"
        f"{_interval(row, 'alpha', level)} over {counted(row['pairs'], 'pair')} with two ratings or more."
    )


def two_notes(content: Content) -> list[str]:
    """What was left out of a comparison of two raters."""
    raters = content["raters"]
    found = [
        f"{counted(own['left_out'], 'member')} of {own['label']} also in {other['label']}, and counted there "
        "alone."
        for own, other in zip(raters, raters[::-1], strict=True)
        if own["left_out"]
    ]
    panels = [own["label"] for own in raters if own.get("panel")]
    if len(raters) > 1 and panels and "people" not in (own["selector"] for own in raters):
        found.append(
            f"The ratings of {enumerated(panels)} follow from those of judges: agreement with these says "
            "little."
        )
    if content["sideless"]:
        found.append(f"Ties are off: {counted(content['sideless'], 'rating')} without a side left out.")
    if content.get("unlisted"):
        found.append(f"{counted(content['unlisted'], 'member')} with fewer ratings left out of the table.")
    if content.get("twos_in_common", 0) > len(content.get("twos", ())):
        found.append(
            f"{content['twos_in_common']:,} combinations of two rated a pair in common; the table lists the "
            f"{len(content['twos']):,} with the most."
        )
    return found


_TWO_MEASURES: Final = (
    ("between", "kappa", "Weighted kappa"),
    ("between", "kappa_verdict", "Kappa of verdicts"),
    ("between", "exact", "Same verdict (share)"),
    *(("correlation", name, label) for name, label in COEFFICIENTS.items()),
    ("within", "alpha", "Alpha"),
    ("within", "alpha_verdict", "Alpha of verdicts"),
    ("within", "fleiss", "Fleiss' kappa"),
)


def two_tables(content: Content) -> list[DataTable]:
    """The tables of a comparison of two raters that there is something for."""
    measured = "within" in content or content.get("between", {}).get("n")
    return [
        *([two_table(content)] if measured else []),
        *([differences_table(content["differences"])] if content.get("differences") else []),
        *([twos_table(content)] if "twos" in content else []),
    ]


def two_table(content: Content) -> DataTable:
    """A row for each measure of a comparison of two raters."""
    return guessed(
        "How they agree",
        (
            {
                "Measure": label,
                "Value": row[name],
                "Low": row.get(f"{name}_low"),
                "High": row.get(f"{name}_high"),
                "Unmirrored": row.get(f"{name}_unmirrored"),
                "Pairs": row["fleiss_pairs"] if name == "fleiss" else row.get("pairs", row.get("n")),
                "Note": row["reason"] if row[name] is None else "",
            }
            for part, name, label in _TWO_MEASURES
            if (row := content.get(part))
        ),
    )


def twos_table(content: Content) -> DataTable:
    """Kappa of every two members."""
    return guessed(
        "Every two members",
        (
            {
                "Rater": row["one"],
                "With": row["other"],
                "Pairs in common": row["pairs"],
                "Weighted kappa": row["kappa"],
                "Low": row["kappa_low"],
                "High": row["kappa_high"],
                "Strength": strength(row, "kappa"),
                **_with_ends(row, "kappa_verdict", "Kappa of verdicts"),
                **_with_ends(row, "exact", "Same verdict %", percent_cell),
                "Note": _note(row, row["pairs"]),
            }
            for row in content["twos"]
        ),
    )
