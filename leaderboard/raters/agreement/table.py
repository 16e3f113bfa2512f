"""Tables of how raters agree."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, starmap
from operator import itemgetter
from typing import Any, Final

from leaderboard.pages.claim import Claim, claim, strength
from leaderboard.pages.columns import BLANK, LOW_HIGH, Column, ends_of
from leaderboard.pages.format import counted, percent, signed
from leaderboard.pages.table import DataTable, Matrix
from leaderboard.pages.units import COEFFICIENT, POINTS, SHARE, Estimate, P
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
    """A coefficient of one kind of raters with people, over ``n`` pairs."""

    label: str
    category: str
    n: int
    found: Estimate


def correlated(label: str, content: Content, coefficient: str) -> list[Correlated]:
    return [
        Correlated(label, category, row["n"], Estimate.of(row, coefficient))
        for row, category in _named(content)
    ]


def _named(content: Content) -> Iterable[tuple[Content, str]]:
    return zip(content["rows"], category_names(content["rows"]), strict=True)


def without_pools(content: Content) -> Content:
    """A table of correlations without the rows about all categories but one."""
    rows = content["rows"]
    kept = [row for row, left_out in zip(rows, all_but(rows), strict=True) if left_out is None]
    return {**content, "rows": kept}


def _rows(label: str, content: Content, **more: Any) -> Iterator[Content]:
    """The rows of a content with ``more``, whose they are, and what each is about."""
    for row, category in _named(content):
        yield {**row, "whose": label, "about": category, **more}


_WHOSE: Final = Column[Content]("Raters", "whose")
_ABOUT: Final = Column[Content]("Category", "about")
_PAIRS: Final = Column[Content]("Pairs (n)", "n", label="Pairs")
_REASON: Final = Column[Content]("Note", lambda row: row["reason"] or "")
_VERDICTS: Final[Sequence[Column[Content]]] = (
    Column("Kappa of verdicts", "kappa_verdict", COEFFICIENT, ends=BLANK),
    Column("Same verdict %", "exact", SHARE, label="Same verdict", ends=BLANK),
)


def correlation_table(kinds: Iterable[tuple[str, Content]]) -> DataTable:
    """Correlations with the mean of all people."""
    labels = {key: f"{name} with the mean of people" for key, name in COEFFICIENTS.items()}
    return _correlations("Correlation with the mean of people", kinds, labels)


def agrees_table(kinds: Iterable[tuple[str, Content]]) -> DataTable:
    """The rows of ``with_people_by_category``, in the columns of ``correlation_table``."""
    return _correlations("Agreement with people", kinds, AGREES)


def _correlations(caption: str, kinds: Iterable[tuple[str, Content]], labels: Mapping[str, str]) -> DataTable:
    coefficients = (
        Column[Content](name, key, COEFFICIENT, label=labels[key], ends=BLANK)
        for key, name in COEFFICIENTS.items()
    )
    columns = (_WHOSE, _ABOUT, _PAIRS, Column[Content]("Prompts", "prompts"), *coefficients, _REASON)
    return DataTable.of(caption, columns, chain.from_iterable(starmap(_rows, kinds)))


def beside_people_table(judges: Iterable[tuple[str, Sequence[Content]]], coefficient: str) -> DataTable:
    """Correlations with the other people, of a judge in the place of each person and of the person."""
    name, over = COEFFICIENTS[coefficient], AGREES[coefficient]
    columns: list[Column[Content]] = [
        _WHOSE,
        _ABOUT,
        _PAIRS,
        Column("People", "raters"),
        Column(f"{name}: judge", coefficient, COEFFICIENT, label="judge", over=over, ends=BLANK),
        Column(
            f"{name}: people", f"{coefficient}_people", COEFFICIENT, label="people", over=over, ends=BLANK
        ),
        Column(
            "Difference",
            f"{coefficient}_difference",
            COEFFICIENT,
            label="Difference from people",
            ends=LOW_HIGH,
        ),
        _REASON,
    ]
    found = (row for label, rows in judges for row in _rows(label, {"rows": rows}))
    return DataTable.of("In a person's place", columns, found)


_STAND_IN: Final[Sequence[Column[Content]]] = (
    _WHOSE,
    Column("People tested", lambda found: len(found["people"])),
    Column("People with too few pairs", "too_few"),
    Column("Won", lambda found: sum(each["won"] for each in found["people"])),
    Column("Winning rate", "winning_rate", COEFFICIENT),
    Column("Advantage", "advantage", COEFFICIENT),
    Column("Passes", lambda found: {True: "yes", False: "no", None: ""}[found["passes"]]),
    _REASON,
)


def stand_in_table(judges: Iterable[tuple[str, Content]]) -> DataTable:
    """The alternative annotator test of each judge."""
    return DataTable.of(
        "Alternative annotator test", _STAND_IN, ({**found, "whose": label} for label, found in judges)
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
    apart = Estimate.of(row, f"{coefficient}_difference")
    return (
        f" Its {COEFFICIENTS[coefficient]} with the others is {signed(own)}, a person’s {signed(people)}. "
        f"The difference of {COEFFICIENT.told_at(level, apart)} "
        f"{'is more than chance explains' if apart.side() else 'may be chance'}."
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


_KAPPA: Final[Sequence[Column[Content]]] = (
    _WHOSE,
    _ABOUT,
    Column("Ratings compared (n)", "n", label="Ratings compared"),
    Column("Pairs", "pairs"),
    Column("Weighted kappa", "kappa", COEFFICIENT, ends=LOW_HIGH),
    Column("Strength", lambda row: strength(row, "kappa")),
    *_VERDICTS,
    Column("Unmirrored: weighted kappa", "kappa_unmirrored", COEFFICIENT, over="Unmirrored"),
    Column("Unmirrored: kappa of verdicts", "kappa_verdict_unmirrored", COEFFICIENT, over="Unmirrored"),
    Column("With", "other"),
    Column("Note", lambda row: _note(row, row.get("pairs", row["n"]))),
)


def kappa_table(entries: Iterable[tuple[str, str, Content]]) -> DataTable:
    """Kappa by category, from two labels and the entry of ``between``."""
    found = (row for one, other, entry in entries for row in _rows(one, entry, other=other))
    return DataTable.of("Cohen's kappa, quadratic weights", _KAPPA, found)


_WITHIN: Final[Sequence[Column[Content]]] = (
    _ABOUT,
    Column("Members", "raters"),
    Column("Pairs (2+ ratings)", "pairs"),
    Column("Ratings", "ratings"),
    Column("Alpha", "alpha", COEFFICIENT, ends=BLANK),
    Column("Strength", lambda row: strength(row, "alpha")),
    Column("Alpha of verdicts", "alpha_verdict", COEFFICIENT, ends=BLANK),
    Column("Fleiss' kappa", "fleiss", COEFFICIENT, ends=ends_of("Fleiss")),
    Column("Pairs for Fleiss", "fleiss_pairs"),
    Column("Unmirrored: alpha", "alpha_unmirrored", COEFFICIENT, over="Unmirrored"),
    Column("Unmirrored: alpha of verdicts", "alpha_verdict_unmirrored", COEFFICIENT, over="Unmirrored"),
    Column("Unmirrored: Fleiss' kappa", "fleiss_unmirrored", COEFFICIENT, over="Unmirrored"),
    Column("Note", lambda row: _note(row, row["pairs"])),
)


def within_table(kinds: Iterable[tuple[str, Content]]) -> DataTable:
    """Krippendorff's alpha and Fleiss' kappa of each kind of raters.

    An empty label, for a single kind, gives no column of labels.
    """
    found = [row for label, content in kinds for row in _rows(label, content["within"])]
    named = [_WHOSE] if any(row["whose"] for row in found) else []
    return DataTable.of("Agreement among raters of one kind", (*named, *_WITHIN), found)


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
    """One row for every two kinds of raters that rated the same pairs, as of ``kind_matrix``."""
    rows = (
        {**row, "whose": label, "other": other_label, "n": row.get("pairs", row["n"])}
        for (one, label), (other, other_label) in combinations(kinds, 2)
        if (row := row_of(between(agreements, one, other), category))
    )
    measure = Column[Content](caption, what, COEFFICIENT, ends=LOW_HIGH)
    return DataTable.of(caption, (_WHOSE, Column("With", "other"), measure, _PAIRS), rows)


def confusion_table(one: str, other: str, confusion: Content) -> DataTable:
    columns = (f"{one} \\ {other}", *(f"{other} {point}" for point in range(1, confusion["points_b"] + 1)))
    rows = [(f"{one} {point}", *counts) for point, counts in enumerate(confusion["counts"], start=1)]
    return DataTable.plain(f"Ratings of {one} (rows) against {other} (columns)", columns, rows)


def scatter_table(one: str, other: str, points: Sequence[Sequence[float]]) -> DataTable:
    columns: list[Column[Sequence[float]]] = [
        Column(one, itemgetter(0)),
        Column(other, itemgetter(1)),
        Column("Pairs (n)", lambda point: int(point[2]), label="Pairs"),
    ]
    return DataTable.of(f"Mean preference of {one} and of {other}", columns, points)


def _kappa_sentence(one: str, other: str, row: Content, level: float) -> str:
    if row["kappa"] is None:
        return f"{one} and {other} have no kappa: {row['reason']}."
    same = SHARE.told(Estimate.of(row, "exact"), " of ratings")
    shown = _shown(row, "kappa", f"{one} and {other}", ("agree", "contradict each other", "show"))
    return (
        f"{shown}: weighted kappa {COEFFICIENT.told_at(level, Estimate.of(row, 'kappa'))} over "
        f"{counted(row['pairs'], 'pair')} that both rated. They gave the same verdict in {same}."
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
    apart = Estimate.of(row, "difference")
    certain = row["p_adjusted"] < _LEVEL and apart.side()
    chance = "is more than chance explains" if certain else "may be chance"
    return (
        f"Over {counted(row['pairs'], 'pair')} that people rated too, {row['one']} has people’s verdict in "
        f"{percent(row['one_right'])} and {row['other']} in {percent(row['other_right'])}. The difference of "
        f"{POINTS.told_at(content['level'], apart, ' points')} {chance} (McNemar’s exact test by prompt, p "
        f"{equals(row['p_adjusted'])} after Holm)."
    )


_DIFFERENCES: Final[Sequence[Column[Content]]] = (
    Column("Judge", "one"),
    Column("Other judge", "other"),
    Column("Pairs", "pairs"),
    Column("Judge: as people %", "one_right", SHARE, label="Judge: people’s verdict"),
    Column("Other judge: as people %", "other_right", SHARE, label="Other judge: people’s verdict"),
    Column("Difference", "difference", POINTS, label="Difference of shares", ends=LOW_HIGH),
    Column("Judge: alone as people", "only_one"),
    Column("Other judge: alone as people", "only_other"),
    Column("p: McNemar", "p", P, over="p"),
    Column("p: Holm", "p_adjusted", P, over="p"),
)


def differences_table(tests: Sequence[Content]) -> DataTable:
    """Every two judges on the pairs that both and people rated."""
    return DataTable.of("Judges' agreement with people", _DIFFERENCES, tests)


def _within_sentence(own: Content, row: Content, level: float) -> str:
    number, who = own["members"], own["label"]
    each_other, themselves = ("each other", "among themselves") if number > 1 else ("itself", "with itself")
    if row["alpha"] is None:
        return f"{who} {themselves} {'have' if number > 1 else 'has'} no alpha: {row['reason']}."
    verbs = [verb(word, number) for word in ("agree", "contradict", "show")]
    words = (f"{verbs[0]} with {each_other}", f"{verbs[1]} {each_other}", f"{themselves} {verbs[2]}")
    return (
        f"{_shown(row, 'alpha', who, words)}: Krippendorff’s alpha "
        f"{COEFFICIENT.told_at(level, Estimate.of(row, 'alpha'))} over {counted(row['pairs'], 'pair')} with "
        "two ratings or more."
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


_MEASURED: Final[Sequence[Column[Content]]] = (
    Column("Measure", "measure"),
    Column("Value", "value", ends=LOW_HIGH),
    Column("Unmirrored", "unmirrored"),
    Column("Pairs", "n"),
    Column("Note", "note"),
)


def two_table(content: Content) -> DataTable:
    """A row for each measure of a comparison of two raters."""
    return DataTable.of("How they agree", _MEASURED, _measured(content))


def _measured(content: Content) -> Iterator[Content]:
    for part, name, label in _TWO_MEASURES:
        if row := content.get(part):
            yield {
                "measure": label,
                "value": Estimate.of(row, name),
                "unmirrored": row.get(f"{name}_unmirrored"),
                "n": row["fleiss_pairs"] if name == "fleiss" else row.get("pairs", row.get("n")),
                "note": row["reason"] if row[name] is None else "",
            }


_TWOS: Final[Sequence[Column[Content]]] = (
    Column("Rater", "one"),
    Column("With", "other"),
    Column("Pairs in common", "pairs"),
    Column("Weighted kappa", "kappa", COEFFICIENT, ends=LOW_HIGH),
    Column("Strength", lambda row: strength(row, "kappa")),
    *_VERDICTS,
    Column("Note", lambda row: _note(row, row["pairs"])),
)


def twos_table(content: Content) -> DataTable:
    """Kappa of every two members."""
    return DataTable.of("Every two members", _TWOS, content["twos"])
