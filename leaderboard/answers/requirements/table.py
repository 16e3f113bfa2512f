"""Requirements met, in words and tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.answers.requirements.content import KINDS
from leaderboard.answers.table import Lead, few_prompts, lead
from leaderboard.pages.claim import Claim, claim
from leaderboard.pages.format import counted, number_range, percent, percent_range, signed
from leaderboard.pages.guessed import guessed
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import Cell, percent_cell
from leaderboard.pages.wording import agreement_word
from leaderboard.snapshots.canonical import Content


def verdict(content: Content) -> tuple[str, str]:
    """Which models meet most requirements, from whom they cannot be told apart, and how much is known."""
    found = lead(content["contestants"], "drfr")
    if found is None:
        return "No requirement has an answer that counts.", ""
    return f"{found.who} {_met(found)}.", " ".join([*found.sentences(), *_coverage(content)])


def _met(found: Lead) -> str:
    share, ends = (set(each) for each in zip(*map(_share, found.first), strict=True))
    told = " ".join([*share, *(f"({each})" for each in ends if each and len(ends) == 1)])
    if not found.others:
        return f"{found.does('meet')} {told} of the requirements"
    return f"{found.does('meet')} the most requirements{found.among}: {told}"


def _share(model: Content) -> tuple[str, str]:
    return percent(model["drfr"]), percent_range(model["low"], model["high"])


def _coverage(content: Content) -> Iterator[str]:
    rows = content["contestants"]
    asked, lost, unsure, texts = (
        sum(each[name] for each in rows) for name in ("questions", "unanswered", "unknown", "texts")
    )
    parts = [f"{unsure:,} “cannot tell”"] * bool(unsure) + [f"{lost:,} without an answer"] * bool(lost)
    known, gaps = asked - lost - unsure, f" ({', '.join(parts)})" if parts else ""
    of = f"{known:,} of {counted(asked, 'requirement')} of {counted(texts, 'answer')}"
    yield f"{of} {'is' if known == 1 else 'are'} answered yes or no{gaps}."


def notes(content: Content) -> Iterator[str]:
    """What must be said beside the numbers."""
    rows = content["contestants"]
    prompts = len({each["prompt"] for each in content["questions"]})
    yield from few_prompts(prompts or max((each.get("prompts", 0) for each in rows), default=0), len(rows))
    for each in rows:
        if each["unanswered"] and each["drfr_bounds"]:
            low, high = each["drfr_bounds"]
            if high - low >= 0.05:
                checks = counted(each["questions"], "check")
                yield (
                    f"{each['unanswered']:,} of {checks} of {each['contestant']} are missing: "
                    f"its share lies between {percent(low)} and {percent(high)}."
                )


def models_table(content: Content) -> DataTable:
    """Every figure of every model, as a whole and by part."""
    rows = []
    for each in content["contestants"]:
        rows.append({"Model": each["contestant"], "Part": "All", **_cells(each), **_texts(each)})
        for kind, name in KINDS.items():
            for part, own in each[kind].items():
                rows.append(
                    {"Model": each["contestant"], "Part": f"{name}: {part}", **_cells(own), **_texts({})}
                )
    return guessed("Requirements met", rows)


def _cells(own: Content) -> dict[str, Cell]:
    bounds = own["drfr_bounds"] or (None, None)
    return {
        "Met (%)": percent_cell(own["drfr"]),
        "Met (%): low": percent_cell(own["low"]),
        "Met (%): high": percent_cell(own["high"]),
        "Requirements met": own["met"],
        "Requirements counted": own["counted"],
        "Requirements checked": own["questions"],
        "No answer": own["unanswered"],
        "Cannot tell": own["unknown"],
        "If all missing were not met (%)": percent_cell(bounds[0]),
        "If all missing were met (%)": percent_cell(bounds[1]),
    }


def _texts(own: Mapping[str, Any]) -> dict[str, Cell]:
    names = {"macro": "Mean of answers (%)", "all_met": "All met (%)", "required_met": "All required met (%)"}
    return {
        "Answers": own.get("texts"),
        **{
            f"{label}{end}": percent_cell(own.get(name + key))
            for name, label in names.items()
            for key, end in (("", ""), ("_low", ": low"), ("_high", ": high"))
        },
    }


def parts(content: Content, kind: str) -> list[str]:
    """The labels, domains and so on that any model has numbers of."""
    return sorted({part for each in content["contestants"] for part in each[kind]})


def parts_table(content: Content, kind: str) -> DataTable:
    """The share met by part (rows) and model (columns)."""
    rows: list[dict[str, Cell]] = []
    for part in parts(content, kind):
        row: dict[str, Cell] = {KINDS[kind]: part}
        for each in content["contestants"]:
            own = each[kind].get(part) or {}
            name = each["contestant"]
            row[f"{name}: met (%)"] = percent_cell(own.get("drfr"))
            row[f"{name}: low"] = percent_cell(own.get("low"))
            row[f"{name}: high"] = percent_cell(own.get("high"))
            row[f"{name}: checked"] = own.get("questions")
        rows.append(row)
    return guessed(f"Requirements met by {KINDS[kind].lower()}", rows)


@dataclass(frozen=True)
class Line:
    """A requirement in the list of the page; ``address`` shows one of the ``texts`` it was checked in."""

    text: str
    prompt: str
    texts: int
    address: str


def questions_table(content: Content, texts: Sequence[str]) -> DataTable:
    return guessed(
        "Requirements",
        [
            {
                "Requirement": text,
                "Prompt": each["prompt"],
                "Set": each["subset"],
                "Place": each["position"],
                "Kinds": ", ".join(each["labels"]),
                "Answers": each["texts"],
                "Met": each["met"],
                "Met (%)": percent_cell(each["share"]),
                "Tells models apart": "yes" if each["tells_apart"] else "no",
                "Contested": "yes" if each["contested"] else "no",
            }
            for each, text in zip(content["questions"], texts, strict=True)
        ],
    )


def people_sentence(agreement: Content, by_scores: Content | None = None) -> str:
    """How far people agree which of two answers is better, by requirements and by text scores."""
    pairs, value = counted(agreement["pairs"], "pair"), agreement["fleiss_unmirrored"]
    if not agreement["pairs"]:
        return "No two people checked the same two answers, so nothing is known of their agreement."
    if value is None:
        return f"All verdicts on {pairs} are the same, so Fleiss’ kappa is not defined."
    beside = ""
    if by_scores and by_scores["fleiss_unmirrored"] is not None:
        beside = f" By text scores it is {_kappa(by_scores)}, over {counted(by_scores['pairs'], 'pair')}."
    said = {
        Claim.AGREES: f": {agreement_word(value)} agreement.",
        Claim.NOT_SHOWN: "; this does not show that they agree.",
        Claim.CONTRADICTS: "; they contradict each other.",
        Claim.TOO_FEW: ", too few to tell how far they agree.",
    }.get(claim(agreement, "fleiss_unmirrored"), ".")
    return (
        f"Fleiss’ kappa of people on which of two answers meets more requirements is {_kappa(agreement)}, "
        f"over {pairs}{said}{beside}"
    )


def _kappa(agreement: Content) -> str:
    low, high = (agreement[f"fleiss_unmirrored_{end}"] for end in ("low", "high"))
    ends = number_range(low, high)
    return f"{signed(agreement['fleiss_unmirrored'])}{f' ({ends})' if ends else ''}"


def people_table(agreement: Content, by_scores: Content | None = None) -> DataTable:
    known = {
        "Fleiss’ kappa, as published": "fleiss_unmirrored",
        "Fleiss’ kappa": "fleiss",
        "Krippendorff’s alpha, as published": "alpha_verdict_unmirrored",
        "Krippendorff’s alpha": "alpha_verdict",
    }
    rows: list[dict[str, Cell]] = [
        {
            "Measure": f"{label}{by}",
            "Value": found[name],
            "Value: low": found[f"{name}_low"],
            "Value: high": found[f"{name}_high"],
            "Pairs": found["pairs"],
            "People": found["raters"],
            "Prompts": found["prompts"],
        }
        for by, found in (("", agreement), (", by text scores", by_scores))
        if found
        for label, name in known.items()
    ]
    return guessed("How far people agree", rows)


def levels_table(agreement: Content) -> DataTable:
    """How many requirements people contest on how many models' answers."""
    return guessed(
        "How contested requirements are",
        [
            {"Models on whose answers people disagree": level, "Requirements": n}
            for level, n in enumerate(agreement["disagreement"])
        ],
    )


def sources_table(sources: Content, costs: Mapping[str, float | None]) -> DataTable:
    rows: list[dict[str, Cell]] = []
    for each in sources["rows"]:
        apart, right = each["distance"], each["accuracy"]
        pld = apart["pld"] or (None, None, None)
        gold = each["is_gold"]
        rows.append(
            {
                "Raters": each["label"] + (" (compared with)" if gold else ""),
                "Rater count": each["raters"],
                "Answers": each["answers"],
                "Minutes": None if each["minutes"] is None else round(each["minutes"], 1),
                "Cost": costs.get(each["rater"]),
                "Same answer (%)": None if gold else percent_cell(right["value"]),
                "Same answer (%): low": None if gold else percent_cell(right["low"]),
                "Same answer (%): high": None if gold else percent_cell(right["high"]),
                "WPLD": None if gold else apart["wpld"],
                "WPLD: low": None if gold else apart["wpld_low"],
                "WPLD: high": None if gold else apart["wpld_high"],
                "PLD 0 (%)": None if gold else percent_cell(pld[0]),
                "PLD 1 (%)": None if gold else percent_cell(pld[1]),
                "PLD 2 (%)": None if gold else percent_cell(pld[2]),
            }
        )
    return guessed("Raters side by side", rows)
