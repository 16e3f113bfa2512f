"""How often judges are right, in words and tables."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any, Final

from leaderboard.pages.columns import Column
from leaderboard.pages.format import NONE, counted, number, percent, percent_range
from leaderboard.pages.table import Cell, DataTable, percent_cell
from leaderboard.pages.units import COEFFICIENT, COUNT, POINTS, SHARE, with_ends
from leaderboard.pages.wording import enumerated
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.settings import LABELS, PEOPLE
from leaderboard.trust.measures import ACCURACY, COUNTS, MEASURES, Measure

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
    subsets = len(content["parameters"]["subsets"])
    if lead is None:
        every = " of every subset" if subsets > 1 and part not in content["parameters"]["subsets"] else ""
        return f"No judge has rated pairs{every} with a right answer.", ""
    judges = {each["judge"]: each for each in content["judges"]}
    best, equal = figures_of(judges[lead["judge"]], part), lead.get("equal", ())
    where = f" on {part}" if part else f", on average over {subsets} subsets" if subsets > 1 else ""
    share = _sure(best, "accuracy", "low", "high", " of its ratings")
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
    found = (lead_in(content, part) or {}).get("baseline")
    if found is not None:
        right = _sure(figures[found["baseline"]], "accuracy", "low", "high")
        name = BASELINES[found["baseline"]].removeprefix("Always ")
        yield f"Always choosing {name} is right in {right}{_beaten(found)}"
    people = figures.get(PEOPLE, {})
    if people.get("accuracy") is not None:
        by = "" if content["parameters"]["gold"] == LABELS else " by what the others say"
        yield f"A person is right in {_sure(people, 'accuracy', 'low', 'high')}{by}"
    if people.get("agreement") is not None:
        yield f"Two people agree in {_sure(people, 'agreement', 'agreement_low', 'agreement_high')}"


def _beaten(found: Content) -> str:
    """How a judge does against a rule, unless it surely beats it."""
    if (found["low"] or 0) > 0:
        return ""
    if (found["high"] or 0) < 0:
        return ", surely more often than it"
    return ", more often than it" if found["difference"] < 0 else ", which it does not surely beat"


def _sure(figures: Content, name: str, low: str, high: str, of: str = "") -> str:
    """A share with its interval, where it has one."""
    ends = percent_range(figures.get(low), figures.get(high))
    return f"{percent(figures[name])}{of}" + (f" ({ends})" if ends else "")


def _outdone(content: Content) -> Iterator[str]:
    """Subsets on which a rule without a judge is right more often than every judge."""
    rules = [each for each in content["baselines"] if each["baseline"] not in ("random", PEOPLE)]
    subsets = content["parameters"]["subsets"]
    for subset in subsets if len(subsets) > 1 else ():
        by_judges, by_rules = (
            [
                (share, each)
                for each in some
                if (share := figures_of(each, subset).get("accuracy")) is not None
            ]
            for some in (content["judges"], rules)
        )
        if not by_judges or not by_rules:
            continue
        share, rule = max(by_rules, key=lambda one: one[0])
        if share > max(own for own, _ in by_judges):
            name = BASELINES[rule["baseline"]].removeprefix("Always ")
            more = "is right more often than every judge"
            yield f"On {subset}, always choosing {name} ({percent(share)}) {more}"


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
    return None if content["parameters"].get("ties") == "tie" else HALF


def _points(share: float | None) -> str:
    return NONE if share is None else number(100 * share, ".1f")


Price = tuple[float, str]
"""An amount and its currency."""


@dataclass(frozen=True)
class Row:
    """A judge, or a baseline, in one part of the pairs; ``figures`` as in the content.

    ``accuracies``: by subset. ``price`` and ``seconds``: of a thousand pairs.
    """

    name: str
    figures: Content
    slug: str = ""
    about: str = ""
    accuracies: Mapping[str, float | None] = field(default_factory=dict)
    price: Price | None = None
    seconds: float | None = None

    @property
    def is_judge(self) -> bool:
        return bool(self.slug)

    @property
    def share(self) -> float | None:
        """Accuracy."""
        return self.number("accuracy")

    def number(self, name: str) -> float | None:
        value: float | None = self.figures.get(name)
        return value


def parts(content: Content) -> list[str]:
    """What a row can be about: groups and subsets; none with a single subset."""
    named = content["parameters"]
    return [*named["groups"], *named["subsets"]] if len(named["subsets"]) > 1 else []


def rows(
    content: Content,
    part: str = "",
    prices: Mapping[str, Price] | None = None,
    seconds: Mapping[str, float] | None = None,
) -> list[Row]:
    """Judges and baselines in a part, or in all together."""
    return [
        *(
            Row(
                each["label"],
                figures_of(each, part),
                each["judge"],
                _about(each),
                _accuracies(each),
                (prices or {}).get(each["judge"]),
                (seconds or {}).get(each["judge"]),
            )
            for each in content["judges"]
        ),
        *(
            Row(BASELINES[each["baseline"]], _shown(each, part), accuracies=_accuracies(each))
            for each in content["baselines"]
        ),
    ]


def _shown(entry: Content, part: str) -> dict[str, Any]:
    """Figures of a part, of people without what says something else of them than of a judge."""
    figures = figures_of(entry, part)
    if entry.get("baseline") != PEOPLE:
        return figures
    return figures | dict.fromkeys(key for each in MEASURES if each.between_people for key in each.keys)


def _accuracies(entry: Content) -> dict[str, float | None]:
    return {name: own.get("accuracy") for name, own in entry["subsets"].items()}


def _about(judge: Content) -> str:
    """Model and protocol, unless its name says them."""
    told = [each for each in (judge["model"], judge["protocol"]) if each]
    said = _plain(" ".join(told)) in _plain(judge["label"])
    return "" if said else ", ".join(told)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).casefold()


def figures_of(entry: Content, part: str = "") -> dict[str, Any]:
    """The figures of a part: of all subsets together where it is empty. Counts are added."""
    subsets = entry["subsets"]
    if part in subsets or len(subsets) == 1:
        return dict(subsets.get(part) or next(iter(subsets.values())))
    sums = {each.key: sum(own.get(each.key, 0) for own in subsets.values()) for each in COUNTS}
    if not part:
        return {**sums, **entry["average"]}
    return dict(entry["groups"].get(part, {}))


def _column(measure: Measure) -> Column[Row]:
    return Column(
        measure.address,
        measure.heading or measure.label,
        lambda row: row.number(measure.key),
        lambda row: measure.text(row.figures),
        help=measure.help,
        ends=lambda row: measure.range(row.figures),
    )


NAME: Final = Column[Row](
    "judge",
    "Judge",
    lambda row: row.name,
    lambda row: row.name,
    "name",
    falling=False,
    help="Judges, and rules that need no judge.",
)
RIGHT: Final = _column(ACCURACY)
USUAL: Final = tuple(_column(each) for each in MEASURES[1:] if each.usual)
_FURTHER: Final = (
    *(_column(each) for each in MEASURES[1:] if each.help and not each.usual),
    Column[Row](
        "price",
        "Price per 1,000 pairs",
        lambda row: row.price[0] if row.price else None,
        lambda row: f"{row.price[0]:,.2f} {row.price[1]}".strip() if row.price else NONE,
        "num nowrap",
        falling=False,
        help="As its file says, or of its calls.",
    ),
    Column[Row](
        "seconds",
        "Seconds per 1,000 pairs",
        lambda row: row.seconds,
        lambda row: NONE if row.seconds is None else f"{row.seconds:,.0f}",
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
        if any(column.value(row) is not None for row in found if row.is_judge)
    ]


def _accuracy_on(subset: str) -> Column[Row]:
    return Column(
        f"on-{subset}",
        subset,
        lambda row: row.accuracies.get(subset),
        lambda row: percent(row.accuracies.get(subset)),
        help=ACCURACY.help,
    )


def judges_table(content: Content) -> DataTable:
    """Every figure of every judge and baseline, by subset, group and in all."""
    entries = [
        (each.get("label") or BASELINES[each["baseline"]], each)
        for each in (*content["judges"], *content["baselines"])
    ]
    found = [
        {
            "Judge": name,
            "Pairs of": part or "All",
            "Model": each.get("model") or "",
            "Protocol": each.get("protocol") or "",
            **_cells(_shown(each, part)),
        }
        for (name, each), part in product(entries, ["", *parts(content)])
    ]
    return DataTable.of("How often each judge is right", found, _WORDS)


_FILED: Final = tuple(
    each for unit in (SHARE, COEFFICIENT, COUNT) for each in MEASURES[1:] if each.unit is unit
)
"""The measures beside accuracy in the order of files."""

_WORDS: Final = {
    name: name.replace(each.label, each.heading, 1)
    for each in MEASURES
    if each.heading
    for name, _ in each.cells({})
}


def _cells(own: Mapping[str, Any]) -> dict[str, Cell]:
    wrong, right = own.get("accuracy_bounds") or (None, None)
    return {
        **dict(ACCURACY.cells(own)),
        "If all not rated were wrong (%)": percent_cell(wrong),
        "If all not rated were right (%)": percent_cell(right),
        **dict(chain.from_iterable(each.cells(own) for each in _FILED)),
    }


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
    """The judges with a model and a protocol; differences are of all subsets together."""
    matrix = content["matrix"]
    apart = {each["judge"]: each for each in matrix["differences"]}
    found: dict[tuple[str, str], CellOf] = {}
    for each in matrix["cells"]:
        if each["model"] and each["protocol"]:
            accuracy = each["subsets"].get(part, each["average"])
            difference = None if part in each["subsets"] else apart.get(each["judge"])
            cell = CellOf(each["judge"], each["model"], each["protocol"], accuracy, difference)
            found.setdefault((each["model"], each["protocol"]), cell)
    return list(found.values())


def protocols(content: Content) -> list[str]:
    """The base first."""
    base = content["matrix"]["base"]
    return sorted(content["matrix"]["protocols"], key=lambda each: each != base)


def matrix_table(found: Sequence[CellOf]) -> DataTable:
    return DataTable.of(
        "Models and protocols",
        [
            {
                "Model": each.model,
                "Protocol": each.protocol,
                "Right (%)": percent_cell(each.accuracy),
                "Base": (each.difference or {}).get("base", ""),
                **_difference(each.difference or {}),
            }
            for each in found
        ],
    )


def _difference(found: Content) -> dict[str, Cell]:
    return {
        **dict(POINTS.cells("More than the base", *map(found.get, ("difference", "low", "high")))),
        "p (Holm)": found.get("p_adjusted"),
        "Right in both orders, base alone": found.get("only_base"),
        "Right in both orders, this alone": found.get("only_judge"),
        "p (McNemar, Holm)": found.get("mcnemar_adjusted"),
    }


@dataclass(frozen=True)
class Model:
    """A model's accuracy by the base protocol, on average over protocols, and by its best other protocol."""

    name: str
    base: float
    average: float
    gain: float | None


def models(content: Content) -> list[Model]:
    """Those with a judge of the base protocol and others."""
    matrix = content["matrix"]
    base = {each["model"]: each["average"] for each in matrix["cells"] if each["protocol"] == matrix["base"]}
    average, gain = matrix["averages"]["models"], matrix["gain"]
    return [
        Model(name, base[name], average[name]["average"], gain[name]["average"])
        for name in matrix["models"]
        if base.get(name) is not None
        and average[name]["average"] is not None
        and gain[name]["average"] is not None
    ]


def models_table(found: Sequence[Model]) -> DataTable:
    return DataTable.of(
        "Base and average",
        [
            {
                "Model": each.name,
                "Base (%)": percent_cell(each.base),
                "Average over protocols (%)": percent_cell(each.average),
                "Best other protocol, more than the base (points)": percent_cell(each.gain),
            }
            for each in found
        ],
    )


def correlations_table(content: Content) -> DataTable | None:
    """Of what more than two have a value; None without any."""
    rows = [
        {
            "Of": f"{each['one']} and {each['other']}",
            "Over": each["over"],
            "Number": each["n"],
            **dict(COEFFICIENT.cells("Spearman", *with_ends(each, "spearman"))),
            **dict(COEFFICIENT.cells("Kendall", *with_ends(each, "kendall"))),
        }
        for each in content["matrix"]["correlations"]
        if each["n"] > 2 and each["spearman"] is not None
    ]
    words = {"Spearman": "Spearman rho of shares", "Kendall": "Kendall tau of shares"}
    return DataTable.of("Rank correlations", rows, words) if rows else None


def noise_of_ranks(content: Content) -> str:
    """A caution where a subset has few prompts; empty otherwise."""
    used = content["parameters"]
    fewest = min(used.get("prompts", used["subsets"]).values())
    return " With few prompts, noise makes them too low." if fewest < _MANY else ""


_MANY: Final = 100


def difficulty_table(content: Content) -> DataTable:
    found = content["matrix"]["difficulty"]
    return DataTable.of(
        "Difficulty",
        [
            {
                "Subset": name,
                "Pairs": own["n"],
                "Judges right on average (%)": percent_cell(own["mean"]),
                "Better half of judges (%)": percent_cell(own["strong"]),
                "Other half (%)": percent_cell(own["weak"]),
                **dict(zip(bins(own), own["counts"], strict=True)),
            }
            for name, own in found.items()
        ],
    )


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
    of = "prompts" if "prompts" in used else "subsets"
    few = [name for name, n in used[of].items() if n < _FEW]
    if few:
        what = "pairs" if used[of] == used["subsets"] else "prompts"
        where = f" in {enumerated(few)}" if len(used["subsets"]) > 1 else ""
        yield f"Fewer than {_FEW} {what}{where}: take the numbers as a hint."
    if used["ties_left_out"] or used["too_few_people"]:
        tied, alone = used["ties_left_out"], used["too_few_people"]
        reasons = [
            (tied, f"most said tie or they were divided on {tied:,}"),
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
    return DataTable("Error tags by judge", ("Judge", *names), tuple(rows))


def reliability_table(content: Content) -> DataTable:
    """How often verdicts are right by the probability that the judge gave them."""
    rows = [
        {
            "Judge": each["label"],
            "Above (%)": percent_cell(one["low"]),
            "Up to (%)": percent_cell(one["high"]),
            "Verdicts": one["right"]["n"],
            "Mean probability (%)": percent_cell(one["confidence"]),
            **dict(SHARE.cells("Right", *(one["right"][each] for each in ("value", "low", "high")))),
        }
        for each in content["judges"]
        for one in each["probability"]["bins"]
    ]
    return DataTable.of("Right by the probability of the verdict", rows)


_SURE_BY: Final = {"probability": "Probability of the verdict", "expected": "Expected rating"}


def confidence_table(content: Content) -> DataTable:
    rows = []
    for each in content["judges"]:
        row: dict[str, Cell] = {"Judge": each["label"], "Verdicts": each["probability"]["n"]}
        for name, label in _SURE_BY.items():
            own = each[name]
            row |= {
                f"{label}: right (%)": percent_cell(own["right"]),
                f"{label}: mean (%)": percent_cell(own["confidence"]),
                f"{label}: calibration error (%)": percent_cell(own["error"]),
                f"{label}: tells right from wrong (%)": percent_cell(own["tells_apart"]),
            }
        entropy = each["entropy"]
        rows.append(
            {
                **row,
                "Entropy: where right": entropy["right"],
                "Entropy: where wrong": entropy["wrong"],
                "Entropy: tells right from wrong (%)": percent_cell(entropy["tells_apart"]),
                "Left out": each["left_out"],
            }
        )
    return DataTable.of("How sure judges are", rows)


def telling_apart(content: Content) -> str:
    """How often judges are surer of what is right than of what is wrong."""
    known = [(each["label"], each["probability"]["tells_apart"]) for each in content["judges"]]
    told = [f"{label} {percent(share)}" for label, share in known if share is not None]
    if not told:
        return ""
    return f"Surer of a right verdict than of a wrong one, where 50% is chance: {enumerated(told)}."
