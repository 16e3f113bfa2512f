"""Requirements met, in words and tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Final

from leaderboard.answers.requirements.content import KINDS
from leaderboard.answers.table import Lead, few_prompts, lead
from leaderboard.pages.claim import Claim, claim
from leaderboard.pages.columns import COLON, Column, bare, ends_of, place
from leaderboard.pages.format import counted, percent, percent_range
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import COEFFICIENT, SHARE, TENTHS, Estimate
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


_BOUNDS: Final = ("If all missing were not met (%)", "If all missing were met (%)")
_MODELS: Final[Sequence[Column[Content]]] = (
    Column("Model", "contestant"),
    Column("Part", "part"),
    Column("Met (%)", bare("drfr"), SHARE, label="Requirements met", ends=COLON),
    Column("Requirements met", "met", label="Number met"),
    Column("Requirements counted", "counted"),
    Column("Requirements checked", "questions"),
    Column("No answer", "unanswered"),
    Column("Cannot tell", "unknown"),
    *(Column[Content](name, place("drfr_bounds", at), SHARE) for at, name in enumerate(_BOUNDS)),
    Column("Answers", "whole.texts"),
    Column("Mean of answers (%)", "whole.macro", SHARE, ends=COLON),
    Column("All met (%)", "whole.all_met", SHARE, ends=COLON),
    Column("All required met (%)", "whole.required_met", SHARE, ends=COLON),
)


def models_table(content: Content) -> DataTable:
    """Every figure of every model, as a whole and by part."""
    return DataTable.of("Requirements met", _MODELS, _parts(content))


def _parts(content: Content) -> Iterator[Content]:
    for each in content["contestants"]:
        yield {**each, "part": "All", "whole": each}
        for kind, name in KINDS.items():
            for part, own in each[kind].items():
                yield {**own, "contestant": each["contestant"], "part": f"{name}: {part}"}


def parts(content: Content, kind: str) -> list[str]:
    """The labels, domains and so on that any model has numbers of."""
    return sorted({part for each in content["contestants"] for part in each[kind]})


def parts_table(content: Content, kind: str) -> DataTable:
    """The share met by part (rows) and model (columns)."""
    names = [each["contestant"] for each in content["contestants"]]
    found = [
        {"part": part, "by": [each[kind].get(part) for each in content["contestants"]]}
        for part in parts(content, kind)
    ]
    columns = [Column[Content](KINDS[kind], "part"), *chain.from_iterable(map(_of_model, names, count()))]
    return DataTable.of(f"Requirements met by {KINDS[kind].lower()}", columns, found)


def _of_model(name: str, at: int) -> Iterator[Column[Content]]:
    yield Column(
        f"{name}: met (%)",
        lambda row: Estimate.bare(row["by"][at], "drfr"),
        SHARE,
        label="requirements met",
        over=name,
        ends=ends_of(f"{name}:"),
    )
    yield Column(f"{name}: checked", lambda row: (row["by"][at] or {}).get("questions"), over=name)


@dataclass(frozen=True)
class Line:
    """A requirement in the list of the page; ``address`` shows one of the ``texts`` it was checked in."""

    text: str
    prompt: str
    texts: int
    address: str


_QUESTIONS: Final[Sequence[Column[Content]]] = (
    Column("Requirement", "text"),
    Column("Prompt", "prompt"),
    Column("Set", "subset"),
    Column("Place", "position"),
    Column("Kinds", lambda each: ", ".join(each["labels"])),
    Column("Answers", "texts"),
    Column("Met", "met", label="Number met"),
    Column("Met (%)", "share", SHARE, label="Requirements met"),
    Column("Tells models apart", lambda each: "yes" if each["tells_apart"] else "no"),
    Column("Contested", lambda each: "yes" if each["contested"] else "no"),
)


def questions_table(content: Content, texts: Sequence[str]) -> DataTable:
    found = ({**each, "text": text} for each, text in zip(content["questions"], texts, strict=True))
    return DataTable.of("Requirements", _QUESTIONS, found)


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
    return COEFFICIENT.told(Estimate.of(agreement, "fleiss_unmirrored"))


_MEASURES: Final = {
    "Fleiss’ kappa, as published": "fleiss_unmirrored",
    "Fleiss’ kappa": "fleiss",
    "Krippendorff’s alpha, as published": "alpha_verdict_unmirrored",
    "Krippendorff’s alpha": "alpha_verdict",
}
_PEOPLE: Final[Sequence[Column[Content]]] = (
    Column("Measure", "measure"),
    Column("Value", "value", COEFFICIENT, ends=COLON),
    Column("Pairs", "pairs"),
    Column("People", "raters"),
    Column("Prompts", "prompts"),
)


def people_table(agreement: Content, by_scores: Content | None = None) -> DataTable:
    rows = (
        {**found, "measure": f"{label}{by}", "value": Estimate.of(found, name)}
        for by, found in (("", agreement), (", by text scores", by_scores))
        if found
        for label, name in _MEASURES.items()
    )
    return DataTable.of("How far people agree", _PEOPLE, rows)


def levels_table(agreement: Content) -> DataTable:
    """How many requirements people contest on how many models' answers."""
    columns = ("Models on whose answers people disagree", "Requirements")
    return DataTable.plain("How contested requirements are", columns, enumerate(agreement["disagreement"]))


_SOURCES: Final[Sequence[Column[Content]]] = (
    Column("Raters", lambda each: each["label"] + (" (compared with)" if each["is_gold"] else "")),
    Column("Rater count", "raters", label="Raters"),
    Column("Answers", "answers"),
    Column("Minutes", "minutes", TENTHS),
    Column("Cost", "cost"),
    Column("Same answer (%)", bare("beside.accuracy.value"), SHARE, ends=COLON),
    Column("WPLD", "beside.distance.wpld", COEFFICIENT, ends=COLON),
    *(Column[Content](f"PLD {at} (%)", place("beside.distance.pld", at), SHARE) for at in range(3)),
)


def sources_table(sources: Content, costs: Mapping[str, float | None]) -> DataTable:
    """Raters beside those that they are compared with, which have nothing beside themselves."""
    rows = (
        {**each, "cost": costs.get(each["rater"]), "beside": None if each["is_gold"] else each}
        for each in sources["rows"]
    )
    return DataTable.of("Raters side by side", _SOURCES, rows)
