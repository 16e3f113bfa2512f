"""How often judges are right, in words and tables."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from leaderboard.pages.columns import COLON, Column, bare, place
from leaderboard.pages.format import NONE, counted, number, percent
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import COEFFICIENT, COUNT, POINTS, SHARE, WHOLE, Cell, Estimate, P
from leaderboard.pages.wording import enumerated
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.settings import LABELS, PEOPLE
from leaderboard.stats.choices import CLASS
from leaderboard.trust.measures import (
    ACCURACY,
    MEAN_OF_MODELS,
    MEASURES,
    OVER_MODELS,
    OVER_PROTOCOLS,
    Measure,
)

BASELINES: Final = {
    "always first": "Always the answer shown first",
    "always second": "Always the answer shown second",
    "longer": "Always the longer answer",
    "shorter": "Always the shorter answer",
    "constant": "Always the answer stored first",
    "random": "A random answer",
    PEOPLE: "One person",
}
LEAST_SURE: Final = 0.05
HALF: Final = 0.5


def lead_in(content: Content, part: str) -> Content | None:
    """The judge in front, in a part or in all; None without one."""
    lead: Content | None = content["leads"][part] if part else content["lead"]
    return lead


def verdict(content: Content, part: str = "") -> tuple[str, str]:
    """Which judge is right how often; and whether that is more than others, a baseline and people."""
    lead = lead_in(content, part)
    subsets = len(content["parameters"]["averaged"])
    if lead is None:
        every = " of every subset" if subsets > 1 and part not in content["parameters"]["subsets"] else ""
        return f"No judge has rated pairs{every} with a right answer.", ""
    judges = {each["judge"]: each for each in content["judges"]}
    best, equal = figures_of(judges[lead["judge"]], part), lead.get("equal", ())
    where = f" on {part}" if part else f", on average over {subsets} subsets" if subsets > 1 else ""
    share = SHARE.told(ACCURACY.estimate(best), " of its ratings")
    first = f"{judges[lead['judge']]['label']} is right in {share}{where}"
    if equal:
        named = enumerated([judges[slug]["label"] for slug in (lead["judge"], *equal)])
        first = f"{named} are each right in {percent(best['accuracy'])}{where}"
    others = len(set(lead["alike"]) - set(equal))
    if others:
        first += f", but cannot be told apart from {counted(others, 'other')}"
    outdone = [] if part else _outdone(content)
    said = [*_next(lead, judges), *_beside(content, part), *outdone, *_guessing(content, part)]
    return f"{first}.", " ".join(f"{each}." for each in said)


def _next(lead: Content, judges: Mapping[str, Content]) -> Iterator[str]:
    found = lead.get("next")
    if found is None or lead.get("equal"):
        return
    over = f"over {judges[found['judge']]['label']}"
    if found["difference"] == 0:
        yield f"It has no lead {over}"
    elif found["low"] is None:
        yield f"Its lead of {_points(found['difference'])} points {over} has no interval"
    else:
        ends = f"({_points(found['low'])} to {_points(found['high'])})"
        noise = "is more than" if found["low"] > 0 else "may be"
        yield f"Its lead of {_points(found['difference'])} points {over} {noise} noise {ends}"


def _beside(content: Content, part: str) -> Iterator[str]:
    """The best baseline, and people."""
    figures = {each["baseline"]: figures_of(each, part) for each in content["baselines"]}
    lead = lead_in(content, part) or {}
    found = lead.get("baseline")
    if found is not None:
        right = SHARE.told(ACCURACY.estimate(figures[found["baseline"]]))
        name = BASELINES[found["baseline"]].removeprefix("Always ")
        yield f"Always choosing {name} is right in {right}{_beaten(found, bool(lead.get('equal')))}"
    people = figures.get(PEOPLE, {})
    if people.get("accuracy") is not None:
        by = "" if content["parameters"]["gold"] == LABELS else " by what the others say"
        yield f"A person is right in {SHARE.told(ACCURACY.estimate(people))}{by}"
    if people.get("agreement") is not None:
        yield f"Two people agree in {SHARE.told(Estimate.of(people, 'agreement'))}"


def _beaten(found: Content, several: bool) -> str:
    """How a judge, or several equal ones, do against a rule, unless they surely beat it."""
    if (found["low"] or 0) > 0:
        return ""
    if (found["high"] or 0) < 0:
        return f", surely more often than {'they are' if several else 'it'}"
    if found["difference"] < 0:
        return f", more often than {'they are' if several else 'it'}"
    return f", which {'they do' if several else 'it does'} not surely beat"


def _outdone(content: Content) -> Iterator[str]:
    """Subsets on which a rule without a judge is right more often than every judge."""
    subsets = content["parameters"]["subsets"]
    for subset in subsets if len(subsets) > 1 else ():
        known = [row for row in rows(content, subset) if RIGHT.value(row) is not None]
        judges = [RIGHT.value(row) for row in known if row.slug]
        rules = [row for row in known if row.entry.get("baseline") not in (None, "random", PEOPLE)]
        best = max(rules, key=RIGHT.value, default=None)
        if judges and best and RIGHT.value(best) > max(judges):
            name = best.name.removeprefix("Always ")
            more = "is right more often than every judge"
            yield f"On {subset}, always choosing {name} ({RIGHT.text(best)}) {more}"


def _guessing(content: Content, part: str) -> Iterator[str]:
    """How many judges are clearly worse than a random answer, and how many may be no better."""
    by_lot = chance(content, part)
    if by_lot is None:
        return
    found = [(each, figures_of(each, part)) for each in content["judges"]]
    ends = [(each, own["low"], own["high"]) for each, own in found if own.get("low") is not None]
    worse = [each for each, _, high in ends if high < by_lot]
    unsure = [each for each, low, high in ends if low <= by_lot <= high]
    for some, how in ((worse, "clearly worse"), (unsure, "not clearly better or worse")):
        if some:
            yield f"{_counted(some)} {'is' if len(some) == 1 else 'are'} {how} than a random answer"


def _counted(some: Sequence[Content]) -> str:
    """How many judges, and the names of panels, which are none."""
    panels = [each["label"] for each in some if each.get("panel")]
    judges = len(some) - len(panels)
    return enumerated([*([counted(judges, "judge")] if judges else []), *panels])


def chance(content: Content, part: str = "") -> float | None:
    """How often a random answer is right; None where that would tell a hidden right answer.

    It is less than half of all where a tie is right and a random side beside it is wrong.
    """
    for each in content["baselines"]:
        if each["baseline"] == "random":
            share: float | None = figures_of(each, part)["accuracy"]
            return share
    return None if content["parameters"].get("ties", "half") != "half" else HALF


def _points(share: float | None) -> str:
    return NONE if share is None else number(100 * share, ".1f")


Price = tuple[float, str]
"""An amount and its currency."""


@dataclass(frozen=True)
class Row:
    """A judge, or a baseline, in one part of the pairs; ``price`` and ``seconds`` are of a thousand pairs."""

    entry: Content
    part: str = ""
    price: Price | None = None
    seconds: float | None = None

    @property
    def name(self) -> str:
        return str(self.entry.get("label") or BASELINES[self.entry["baseline"]])

    @property
    def slug(self) -> str:
        """That of a judge; empty for a baseline."""
        return str(self.entry.get("judge", ""))

    @property
    def about(self) -> str:
        """Model and protocol of a judge, unless its name says them."""
        told = [each for each in map(self.entry.get, ("model", "protocol")) if each]
        said = _plain(" ".join(told)) in _plain(self.name)
        return "" if said else ", ".join(told)

    @cached_property
    def figures(self) -> Mapping[str, Any]:
        """Those of the part, of people without what says something else of them than of a judge."""
        found = figures_of(self.entry, self.part)
        if self.entry.get("baseline") != PEOPLE:
            return found
        return found | dict.fromkeys(key for each in MEASURES if each.between_people for key in each.keys)


def parts(content: Content) -> list[str]:
    """What a row can be about: groups and subsets; none with a single subset."""
    named = content["parameters"]
    return [*named["groups"], *named["subsets"]] if len(named["subsets"]) > 1 else []


def rows(
    content: Content,
    part: str = "",
    prices: Mapping[str, Price] = MappingProxyType({}),
    seconds: Mapping[str, float] = MappingProxyType({}),
) -> list[Row]:
    """Judges and baselines in a part, or in all together; ``prices`` and ``seconds`` by slug."""
    return [
        Row(each, part, prices.get(each.get("judge")), seconds.get(each.get("judge")))
        for each in (*content["judges"], *content["baselines"])
    ]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).casefold()


def figures_of(entry: Content, part: str = "") -> dict[str, Any]:
    """The figures of a part: of the average where it is empty."""
    subsets = entry["subsets"]
    return dict(next(iter(subsets.values())) if len(subsets) == 1 else in_part(entry, part))


def _column(measure: Measure) -> Column[Row]:
    return measure.column(lambda row: row.figures)


NAME: Final = Column[Row](
    "Judge",
    "name",
    key="judge",
    kind="name",
    falling=False,
    help="Judges, and rules that need no judge.",
)
RIGHT: Final = _column(ACCURACY)
USUAL: Final = tuple(_column(each) for each in MEASURES[1:] if each.usual)
_FURTHER: Final = (
    *(_column(each) for each in MEASURES[1:] if each.help and not each.usual),
    Column[Row](
        "Price per 1,000 pairs",
        lambda row: row.price and row.price[0],
        write=lambda row: f"{row.price[0]:,.2f} {row.price[1]}".strip() if row.price else NONE,
        key="price",
        kind="num nowrap",
        falling=False,
        help="As its file says, or of its calls.",
    ),
    Column[Row](
        "Seconds per 1,000 pairs",
        "seconds",
        WHOLE,
        key="seconds",
        falling=False,
        help="Added up over calls.",
    ),
)


def further(found: Sequence[Row], subsets: Sequence[str]) -> list[Column[Row]]:
    """The columns on demand that hold anything."""
    by_subset = [_accuracy_on(name) for name in subsets] if len(subsets) > 1 else []
    return [
        column
        for column in (*by_subset, *_FURTHER)
        if any(column.value(row) is not None for row in found if row.slug)
    ]


def _accuracy_on(subset: str) -> Column[Row]:
    own: Column[Row] = ACCURACY.column(lambda row: row.entry["subsets"].get(subset, {}))
    return replace(own, label=subset, ends=None, key=f"on-{subset}")


_FILED: Final[Sequence[Column[Row]]] = (
    NAME,
    Column("Pairs of", lambda row: row.part or "All"),
    Column("Model", lambda row: row.entry.get("model") or ""),
    Column("Protocol", lambda row: row.entry.get("protocol") or ""),
    RIGHT,
    Column("If all not rated were wrong (%)", lambda row: _bounds(row)[0], SHARE),
    Column("If all not rated were right (%)", lambda row: _bounds(row)[1], SHARE),
    *(_column(each) for unit in (SHARE, COEFFICIENT, COUNT) for each in MEASURES[1:] if each.unit is unit),
)


def _bounds(row: Row) -> tuple[float | None, float | None]:
    return row.figures.get("accuracy_bounds") or (None, None)


def judges_table(content: Content) -> DataTable:
    """Every figure of every judge and baseline, by subset, group and in all."""
    found = [
        Row(each, part)
        for each in (*content["judges"], *content["baselines"])
        for part in ("", *parts(content))
    ]
    return DataTable.of("How often each judge is right", _FILED, found)


@dataclass(frozen=True)
class CellOf:
    """A cell of the matrix; ``difference`` is to the base."""

    judge: str
    model: str
    protocol: str
    accuracy: float | None
    difference: Content | None = None

    @property
    def is_sure(self) -> bool:
        """Whether it differs from the base by Holm."""
        p = self.difference["p_adjusted"] if self.difference else None
        return p is not None and bool(p < LEAST_SURE)


def cells(content: Content, part: str = "") -> list[CellOf]:
    """The judges with a model and a protocol; differences are of the average.

    The first of several counts that rated pairs with a right answer, as in averages.
    """
    matrix = content["matrix"]
    apart = {each["judge"]: each for each in matrix["differences"]}
    chosen: dict[tuple[str, str], Content] = {}
    for each in matrix["cells"]:
        if each["model"] and each["protocol"]:
            place = each["model"], each["protocol"]
            if place not in chosen or _has_rated(each) > _has_rated(chosen[place]):
                chosen[place] = each
    return [
        CellOf(
            each["judge"],
            each["model"],
            each["protocol"],
            in_part(each, part),
            None if part else apart.get(each["judge"]),
        )
        for each in chosen.values()
    ]


def _has_rated(cell: Content) -> bool:
    return any(accuracy is not None for accuracy in cell["subsets"].values())


def protocols(content: Content) -> list[str]:
    """The base first."""
    base = content["matrix"]["base"]
    return sorted(content["matrix"]["protocols"], key=lambda each: each != base)


def matrix_table(found: Sequence[CellOf]) -> DataTable:
    return DataTable.of("Models and protocols", _MATRIX, found)


def _apart(key: str) -> Callable[[CellOf], Cell]:
    return lambda each: (each.difference or {}).get(key)


_MATRIX: Final[Sequence[Column[CellOf]]] = (
    Column("Model", "model"),
    Column("Protocol", "protocol"),
    Column("Right (%)", "accuracy", SHARE),
    Column("Base", lambda each: (each.difference or {}).get("base", "")),
    Column(
        "More than the base (points)",
        lambda each: Estimate.bare(each.difference, "difference"),
        POINTS,
        ends=COLON,
    ),
    Column("p (Holm)", _apart("p_adjusted"), P),
    Column("Right in both orders, base alone", _apart("only_base")),
    Column("Right in both orders, this alone", _apart("only_judge")),
    Column("p (McNemar, Holm)", _apart("mcnemar_adjusted"), P),
)


@dataclass(frozen=True)
class Line:
    """A protocol over models, or a model over protocols, in one part of the pairs."""

    entry: Content
    part: str = ""
    half: str = ""

    @property
    def name(self) -> str:
        return str(self.entry.get("protocol") or self.entry["model"])

    @property
    def others(self) -> int:
        """Of a protocol its models, of a model its protocols."""
        return int(self.entry["models" if "protocol" in self.entry else "protocols"])

    @property
    def figures(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = in_part(self.entry, self.part)
        return found


def in_part(entry: Content, part: str) -> Any:
    """What is kept of a subset or a group, or of the average."""
    return entry["subsets"].get(part, entry["groups"].get(part, entry["average"]))


def protocol_lines(content: Content, part: str = "") -> list[Line]:
    """Protocols over models, those of most models first, and of these the best on average."""
    return _ordered(Line(each, part) for each in content["matrix"]["over_models"])


def model_lines(content: Content, part: str = "") -> list[Line]:
    """Models over protocols in the same order; ``half`` is "stronger" or "weaker"."""
    halves = content["matrix"]["halves"]
    half = {name: said for key, said in _HALVES.items() for name in halves[key]}
    found = content["matrix"]["over_protocols"]
    return _ordered(Line(each, part, half.get(each["model"], "")) for each in found)


_HALVES: Final = {"strong": "stronger", "weak": "weaker"}


def _ordered(found: Iterable[Line]) -> list[Line]:
    """Averages over fewer others do not compare, so they come later; those without one come last."""

    def place(line: Line) -> tuple[bool, int, float]:
        average = line.figures[MEAN_OF_MODELS.key]
        return average is None, -line.others, -(average or 0.0)

    return sorted(found, key=place)


def known_lines(found: Iterable[Line], *measures: Measure) -> list[Line]:
    """Those that have all of these measures."""
    return [line for line in found if all(line.figures[each.key] is not None for each in measures)]


def protocols_table(content: Content) -> DataTable:
    columns = [Column[Line]("Protocol", "name"), Column[Line]("Models", "others")]
    return _lines_table("Protocols over models", content, protocol_lines, columns, OVER_MODELS)


def models_table(content: Content) -> DataTable:
    columns = [
        Column[Line]("Model", "name"),
        Column[Line]("Protocols", "others"),
        Column[Line]("Half", "half"),
    ]
    return _lines_table("Models over protocols", content, model_lines, columns, OVER_PROTOCOLS)


def _lines_table(
    caption: str,
    content: Content,
    lines: Callable[[Content, str], list[Line]],
    columns: Sequence[Column[Line]],
    measures: Sequence[Measure],
) -> DataTable:
    """Lines of all parts, under the name of each where there are several."""
    named = parts(content)
    heads = [Column[Line]("Pairs of", lambda line: line.part or "All")] if named else []
    found = [line for part in ("", *named) for line in lines(content, part)]
    return DataTable.of(caption, [*heads, *columns, *map(_line_column, measures)], found)


def _line_column(measure: Measure) -> Column[Line]:
    return measure.column(lambda line: line.figures)


def best_table(content: Content) -> DataTable:
    """The judges that are right most often on each subset, several where they are exactly as often."""
    named = {each["judge"]: each["label"] for each in content["judges"]}
    columns: list[Column[Content]] = [
        Column("Subset", "subset"),
        Column("Judge", lambda each: named[each["judge"]]),
        Column("Right (%)", "accuracy", SHARE),
        Column("Base judge", lambda each: named.get(each["base"], "")),
        Column("Base (%)", "base_accuracy", SHARE),
    ]
    return DataTable.of("Best judge of each subset", columns, list(_best(content)))


def _best(content: Content) -> Iterator[Content]:
    bases = {each["judge"]: each["base"] for each in content["matrix"]["differences"]}
    judges = {each["judge"]: each for each in content["judges"]}
    for row in content["matrix"]["best"]:
        yield row
        lead = lead_in(content, row["subset"]) or {"judge": row["judge"]}
        for slug in (lead["judge"], *lead.get("equal", ())):
            if slug != row["judge"] and lead.get("equal"):
                base = bases.get(slug)
                own = figures_of(judges[base], row["subset"])["accuracy"] if base else None
                yield row | {"judge": slug, "base": base, "base_accuracy": own}


_CORRELATIONS: Final[Sequence[Column[Content]]] = (
    Column("Of", lambda each: f"{each['one']} and {each['other']}"),
    Column("Over", "over"),
    Column("Number", "n"),
    Column("Spearman", "spearman", COEFFICIENT, label="Spearman rho of shares", ends=COLON),
    Column("Kendall", "kendall", COEFFICIENT, label="Kendall tau of shares", ends=COLON),
)


def correlations_table(content: Content) -> DataTable | None:
    """None without any."""
    known = known_correlations(content)
    return DataTable.of("Rank correlations", _CORRELATIONS, known) if known else None


def known_correlations(content: Content) -> list[Content]:
    """Those of what more than two have a value."""
    found = content["matrix"]["correlations"]
    return [each for each in found if each["n"] > 2 and each["spearman"] is not None]


def ranks(content: Content, over: str, *pairs: tuple[str, str]) -> str:
    """The rank correlations of pairs of numbers of the average, in words; empty without any."""
    known = {
        (each["one"], each["other"]): each for each in known_correlations(content) if each["over"] == over
    }
    said = [f"{' and '.join(pair)} {_coefficients(known[pair])}" for pair in pairs if pair in known]
    return f" Correlation of ranks over {over}: {'; '.join(said)}." if said else ""


def _coefficients(found: Content) -> str:
    told = (
        f"{name} {COEFFICIENT.told(Estimate.of(found, name.lower()))}" for name in ("Spearman", "Kendall")
    )
    return ", ".join(told)


def noise_of_ranks(content: Content) -> str:
    """A caution where a subset has few prompts; empty otherwise."""
    used = content["parameters"]
    fewest = min(used.get("prompts", used["subsets"]).values())
    return " With few prompts, noise makes them too low." if fewest < _MANY else ""


_MANY: Final = 100


def difficulty_table(content: Content) -> DataTable:
    found = [{"name": name, **own} for name, own in content["matrix"]["difficulty"].items()]
    columns: list[Column[Content]] = [
        Column("Subset", "name"),
        Column("Pairs", "n"),
        Column("Judges right on average (%)", "mean", SHARE),
        Column("Better half of judges (%)", "strong", SHARE),
        Column("Other half (%)", "weak", SHARE),
    ]
    counts = [Column[Content](name, place("counts", at)) for at, name in enumerate(bins(found[0]))]
    return DataTable.of("Difficulty", [*columns, *counts], found)


def bins(own: Content) -> list[str]:
    """The names of the bins of a histogram."""
    n = len(own["counts"])
    return [f"{100 * place // n}–{100 * (place + 1) // n}%" for place in range(n)]


def notes(content: Content) -> Iterator[str]:
    """What must be said beside the numbers."""
    used = content["parameters"]
    if used["sealed"]:
        yield (
            "Until the study closes, right answers stay hidden from raters: this page shows judges alone, on "
            "subsets of 10 pairs or more."
        )
    if left_out := [name for name in used["subsets"] if name not in used["averaged"]]:
        yield f"No part of the average: {enumerated(left_out)}."
    of = "prompts" if "prompts" in used else "subsets"
    few = [name for name, n in used[of].items() if n < _FEW]
    if few:
        what = "pairs" if used[of] == used["subsets"] else "prompts"
        where = f" in {enumerated(few)}" if len(used["subsets"]) > 1 else ""
        yield f"Fewer than {_FEW} {what}{where}: take the numbers as a hint."
    if used["ties_left_out"] or used["too_few_people"]:
        tied, alone = used["ties_left_out"], used["too_few_people"]
        divided = "they were divided" if used["ties"] == CLASS else "most said tie or they were divided"
        reasons = [
            (tied, f"{divided} on {tied:,}"),
            (alone, f"fewer than {used['least']} rated {alone:,}"),
        ]
        why = enumerated([reason for number, reason in reasons if number])
        yield f"People gave no right answer to {counted(tied + alone, 'pair')}: {why}."


_FEW: Final = 30


def tags_table(content: Content, tags: Mapping[str, Mapping[str, int]]) -> DataTable:
    """Judges by error tag; ``tags`` by slug."""
    names = sorted({name for own in tags.values() for name in own})
    rows = [
        (each["label"], *(tags[each["judge"]].get(name, 0) for name in names))
        for each in content["judges"]
        if each["judge"] in tags
    ]
    return DataTable.plain("Error tags by judge", ("Judge", *names), rows)


_RELIABILITY: Final[Sequence[Column[Content]]] = (
    Column("Judge", "label"),
    Column("Above (%)", "low", SHARE),
    Column("Up to (%)", "high", SHARE),
    Column("Verdicts", "right.n"),
    Column("Mean probability (%)", "confidence", SHARE),
    Column("Right (%)", bare("right.value"), SHARE, ends=COLON),
)


def reliability_table(content: Content) -> DataTable:
    """How often verdicts are right by the probability that the judge gave them."""
    found = [
        {"label": each["label"], **one} for each in content["judges"] for one in each["probability"]["bins"]
    ]
    return DataTable.of("Right by the probability of the verdict", _RELIABILITY, found)


def _sure_by(key: str, label: str) -> Iterator[Column[Content]]:
    yield Column(f"{label}: right (%)", f"{key}.right", SHARE, over=label)
    yield Column(f"{label}: mean (%)", f"{key}.confidence", SHARE, over=label)
    yield Column(f"{label}: calibration error (%)", f"{key}.error", SHARE, over=label)
    yield Column(f"{label}: tells right from wrong (%)", f"{key}.tells_apart", SHARE, over=label)


_CONFIDENCE: Final[Sequence[Column[Content]]] = (
    Column("Judge", "label"),
    Column("Verdicts", "probability.n"),
    *_sure_by("probability", "Probability of the verdict"),
    *_sure_by("expected", "Expected rating"),
    Column("Entropy: where right", "entropy.right", over="Entropy"),
    Column("Entropy: where wrong", "entropy.wrong", over="Entropy"),
    Column("Entropy: tells right from wrong (%)", "entropy.tells_apart", SHARE, over="Entropy"),
    Column("Left out", "left_out"),
)


def confidence_table(content: Content) -> DataTable:
    return DataTable.of("How sure judges are", _CONFIDENCE, content["judges"])


def telling_apart(content: Content) -> str:
    """How often judges are surer of what is right than of what is wrong."""
    known = [(each["label"], each["probability"]["tells_apart"]) for each in content["judges"]]
    told = [f"{label} {percent(share)}" for label, share in known if share is not None]
    if not told:
        return ""
    return f"Surer of a right verdict than of a wrong one, where 50% is chance: {enumerated(told)}."
