"""What sentences claim, and how each claim is held against the table it is about or against the rows.

A claim is a pattern and a check. The check yields what is wrong with a sentence that the pattern finds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from tests.truth.facts import Facts
from tests.truth.looking import Reading
from tests.truth.reading import Table
from tests.truth.studies import NAMES

MODEL: Final = f"(?:{'|'.join(NAMES)})"
NUMBER: Final = r"[−-]?\d[\d,]*(?:\.\d+)?"
WORDS: Final = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NOUNS: Final = (
    "ratings prompts models people judges pairs answers scores checks requirements raters resamples"
)


@dataclass(frozen=True)
class About:
    reading: Reading
    facts: Facts

    @property
    def tables(self) -> list[Table]:
        return self.reading.page.tables

    @property
    def raters(self) -> str:
        """Whose ratings the address asks for; empty where it does not say."""
        found = re.search(r"raters=([\w:-]+)", self.reading.address)
        return found[1] if found else "people" if self.reading.address.startswith("standings") else ""

    @property
    def has_ties(self) -> bool:
        return not re.search("ties[= ]off", self.reading.address)

    def ranking(self) -> list[dict[str, str]]:
        """The rows of the page's first table that ranks models."""
        for table in self.tables:
            if "Model" in table.columns and table.columns[0].startswith("Rank") and table.rows:
                return table.rows
        return []

    def says(self, pattern: str) -> bool:
        return any(re.search(pattern, each) for each in self.reading.sentences)


Check = Callable[[re.Match[str], About], Iterator[str]]
CLAIMS: Final[list[tuple[re.Pattern[str], Check]]] = []


def claim(pattern: str) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        CLAIMS.append((re.compile(pattern), check))
        return check

    return register


def faults(about: About) -> Iterator[str]:
    """Everything that is not so in a reading, as "sentence: what is wrong with it"."""
    for sentence in about.reading.sentences:
        for pattern, check in CLAIMS:
            for match in pattern.finditer(sentence):
                yield from (f"“{sentence}”: {wrong}" for wrong in check(match, about))
    yield from _contradictions(about.reading.sentences)


CONTRARY: Final = (
    (
        rf"^({MODEL}) leads, ahead of all",
        rf"^({MODEL}) (?:leads|is first), but|^{MODEL}.*apart from ({MODEL})",
    ),
    (r"^(?:Judge )?([A-Z]\w+ \d) agrees with", r"othing shows that (?:judge )?([A-Z]\w+ \d) agrees"),
    (r"^(?:Judge )?([A-Z]\w+ \d) agrees with", r"([A-Z]\w+ \d) contradicts"),
    (
        r"(?<!that )([A-Z]\w+ \d) prefers the answer shown",
        r"othing shows that ([A-Z]\w+ \d) prefers the answer shown",
    ),
    (r"^([A-Z]\w+ \d) is right most often", r"^([A-Z]\w+ \d) .*share the first place"),
    (r"^(People) agree with each other", r"^Nothing shows that (people) agree with each other"),
)
"""Two sentences that cannot both be on a page about the same subject, which the groups find."""


def _contradictions(sentences: list[str]) -> Iterator[str]:
    for one, other in CONTRARY:
        both = [_subjects(pattern, sentences) for pattern in (one, other)]
        for subject in both[0].keys() & both[1].keys():
            yield f"“{both[0][subject]}”: the page also says “{both[1][subject]}”"


def _subjects(pattern: str, sentences: list[str]) -> dict[str, str]:
    """Each subject that the pattern finds, with its sentence."""
    found = ((match, each) for each in sentences if (match := re.search(pattern, each)))
    return {group.casefold(): each for match, each in found for group in match.groups() if group}


def number(text: str) -> float:
    text = text.replace("−", "-").replace(",", "")
    return float(WORDS.index(text.lower())) if text.lower() in WORDS else float(text)


def first(row: dict[str, str]) -> bool:
    rank = next((cell for column, cell in row.items() if column.startswith("Rank")), "")
    return bool(re.match(r"1=?(?!\d)", rank))


def named(row: dict[str, str]) -> str:
    found = re.search(MODEL, row.get("Model", ""))
    return found.group() if found else ""


# --- Places -------------------------------------------------------------------------------------------------
@claim(r"the picture is symmetric|50%: no bias")
def _unbiased(_: re.Match[str], about: About) -> Iterator[str]:
    if said := [each for each in about.reading.sentences if "pairs in the same order" in each]:
        yield f"the page also says “{said[0]}”"


# --- Who is first -------------------------------------------------------------------------------------------
@claim(rf"^({MODEL}) (?:leads|is first)")
def _leads(match: re.Match[str], about: About) -> Iterator[str]:
    rows = about.ranking()
    if rows and match[1] not in [named(row) for row in rows if first(row)]:
        yield f"rank 1 of the table is {[named(row) for row in rows if first(row)]}"


@claim(rf"({MODEL}(?:(?:, | and ){MODEL})+) (?:share the top|share the first place|are first)")
def _share_the_top(match: re.Match[str], about: About) -> Iterator[str]:
    rows = about.ranking()
    told, top = re.findall(MODEL, match[1]), [named(row) for row in rows if first(row)]
    if rows and set(told) - set(top):
        yield f"rank 1 of the table is {top}"


@claim(rf"({MODEL}) leads, ahead of all others beyond chance")
def _ahead_of_all(match: re.Match[str], about: About) -> Iterator[str]:
    for row in about.ranking():
        possible = re.search(r"possible: (\d+)", next(iter(row.values())))
        if named(row) != match[1] and possible and possible[1] == "1":
            yield f"{named(row)} may be first by its range of ranks"


@claim(rf"({MODEL}) (?:leads|scores highest|meets the most requirements|is first)")
def _has_answers(match: re.Match[str], about: About) -> Iterator[str]:
    small = about.facts.made.small
    without = small.without_answers and small.models > 2
    if without and match[1] == NAMES[small.models - 1]:
        yield "this model has no answers"


@claim(rf"^({MODEL}) (?:meets the most requirements|scores highest): (\d[\d.]*)")
def _highest(match: re.Match[str], about: About) -> Iterator[str]:
    for table in about.tables:
        column = next(
            (each for each in table.columns if each in ("Requirements met", "Mean text score", "DRFR")), None
        )
        if column and "Model" in table.columns:
            values = {named(row): re.match(r"[\d.]+", row.get(column, "")) for row in table.rows}
            top = {name: float(found.group()) for name, found in values.items() if found}
            if top and match[1] in top and top[match[1]] < max(top.values()):
                yield f"the table has {top}"
            equal = [name for name, value in top.items() if match[1] in top and value == top[match[1]]]
            if len(equal) > 1:
                yield f"{equal} are equal in the table"
            return


@claim(r"^All (\w+) models share the first place|^Both models share the first place")
def _all_share(match: re.Match[str], about: About) -> Iterator[str]:
    rows = about.ranking()
    if not all(first(row) for row in rows):
        yield f"the table has {[next(iter(row.values())) for row in rows]}"


@claim(rf"({MODEL}(?:(?:, | and ){MODEL})*) (won|lost) every rating(?! against)")
def _every_rating(match: re.Match[str], about: About) -> Iterator[str]:
    if about.raters:
        is_command = not about.reading.address.startswith("/")
        rows = about.facts.of(about.raters, waiting=is_command)
        results = about.facts.results(rows, about.has_ties)
        for model in re.findall(MODEL, match[1]):
            own = results.get(model, Counter())
            if own[match[2]] != own.total() or not own:
                yield f"the ratings of {model} are {dict(own)}"


@claim(r"[Cc]annot(?: both| all)? be told apart from ((?:\w+)(?:(?:, | and )\w+)*)\.")
def _in_its_group(match: re.Match[str], about: About) -> Iterator[str]:
    """The models it names share a letter with all that are first; if not with "both" or "all", with one."""
    table = next((each for each in about.tables if {"Group", "Model"} <= set(each.columns)), Table(""))
    letters = {named(row): set(row.get("Group", "")) for row in table.rows}
    leaders = [letters[named(row)] for row in table.rows if first(row)]
    # Models that were never compared with the first have a first of their own.
    apart = "never compared" in " ".join(about.reading.sentences)
    some = any if apart or re.search("both|all", match.group()) else all
    for model in re.findall(MODEL, match[1]):
        if letters.get(model) and leaders and not some(leader & letters[model] for leader in leaders):
            yield f"{model} has the letters {letters[model]}, the first {leaders}"


# --- What is more than chance -------------------------------------------------------------------------------
@claim(rf"more than noise \(({NUMBER}) to ({NUMBER})\)")
def _more_than_noise(match: re.Match[str], about: About) -> Iterator[str]:
    if number(match[1]) <= 0 <= number(match[2]):
        yield "its interval holds none"


@claim(r"^Its lead is more than noise\.")
def _alone_in_its_group(match: re.Match[str], about: About) -> Iterator[str]:
    if about.facts.made.small.prompts < 2:
        yield "one prompt tells nothing of noise"
    if about.facts.made.small.alike:
        yield "all scores and checks are the same"


@claim(rf"It is not clear whether .* differ by ({NUMBER}) to ({NUMBER}) points")
@claim(rf"lead of .* may be noise \\(({NUMBER}) to ({NUMBER})\\)")
def _may_be_noise(match: re.Match[str], about: About) -> Iterator[str]:
    if not number(match[1]) <= 0 <= number(match[2]):
        yield "its interval excludes none"


@claim(rf"may be chance|({MODEL}) cannot be told apart from ({MODEL}) ")
def _may_be_chance(match: re.Match[str], about: About) -> Iterator[str]:
    ends = re.search(rf"interval ({NUMBER}) to ({NUMBER})", match.string)
    if ends and not number(ends[1]) <= 0 <= number(ends[2]):
        yield "its interval excludes none"


@claim(rf"({MODEL}) is (better|worse) than ({MODEL}) by ({NUMBER}) to ({NUMBER}) points")
def _better(match: re.Match[str], about: About) -> Iterator[str]:
    if number(match[4]) < 0 or number(match[5]) < 0:
        yield "its interval holds none"


# --- How raters agree ---------------------------------------------------------------------------------------
@claim(rf"r\s({NUMBER}) \(({NUMBER})(?:–| to )({NUMBER})\)")
def _interval_around(match: re.Match[str], about: About) -> Iterator[str]:
    value, low, high = (number(each) for each in match.groups())
    if not -1 <= low <= value <= high <= 1:
        yield "the interval does not hold the number, or leaves −1 to 1"
    if low <= 0 and _claims_agreement(match.string):
        yield "agreement is claimed with an interval that holds none"


def _claims_agreement(sentence: str) -> bool:
    agrees = re.search(r"agrees? (?:as well|better|with people\b(?! less))", sentence)
    return bool(agrees) and not re.search(r"Nothing shows|less|too wide|cannot tell|contradict", sentence)


@claim(r"[Jj]udge (\w+ \d)(?:’s)? (?:agrees with|gives the same order|agrees (?:better|as well))")
def _agrees(match: re.Match[str], about: About) -> Iterator[str]:
    if "order" in match.group() or re.search("othing shows that $", match.string[: match.start()]):
        return
    r = about.facts.pearson(match[1])
    # A judge in each person's place may be a little above 0 where it is a little below with their mean.
    if r is not None and r <= -0.05:
        yield f"its correlation with people is {r:.2f}"
    if r is None and "cannot" not in match.string:
        yield "it has no correlation with people"


@claim(r"(?:All|both|[Bb]oth|[Aa]ll \w+) judges .*?\bagree\b(?: with)?")
def _all_agree(match: re.Match[str], about: About) -> Iterator[str]:
    if re.search(r"too wide|cannot|Nothing shows|too few|less", match.string):
        return
    for judge in about.facts.judges:
        r = about.facts.pearson(judge)
        if r is not None and r <= 0:
            yield f"{judge} has a correlation with people of {r:.2f}"


@claim(rf"[Pp]eople agree with each other:? \(?r\s({NUMBER})")
def _people_agree(match: re.Match[str], about: About) -> Iterator[str]:
    if number(match[1]) <= 0 and not match.string.startswith("Nothing shows"):
        yield "they do not"


@claim(r"too close to call")
def _too_close(match: re.Match[str], about: About) -> Iterator[str]:
    spearman = re.search(rf"({NUMBER}) \(Spearman\)", " ".join(about.reading.sentences))
    if spearman and number(spearman[1]) <= -0.99 and len(about.facts.judges) == 1:
        yield "Spearman’s correlation is −1"


@claim(r"same order of models as people")
def _same_order(match: re.Match[str], about: About) -> Iterator[str]:
    spearman = re.search(rf"({NUMBER}) \(Spearman\)", " ".join(about.reading.sentences))
    if spearman and number(spearman[1]) < 0.999 and len(about.facts.judges) == 1:
        yield f"Spearman’s correlation is {spearman[1]}"


@claim(r"\(Spearman\) on the order")
def _has_an_order(match: re.Match[str], about: About) -> Iterator[str]:
    rows = about.ranking()
    if about.raters == "people" and rows and all(first(row) for row in rows):
        yield "people put all models on one rank"


@claim(r"right most often")
def _is_one_of_several(match: re.Match[str], about: About) -> Iterator[str]:
    if len(about.facts.judges) == 1:
        yield "no other judge rated"


@claim(r"^Intervals (?:\(\d+%\) are for|of \d+%\.|are \d+%\.)|with \d+% intervals")
def _has_intervals(match: re.Match[str], about: About) -> Iterator[str]:
    cells = [cell for table in about.tables for row in table.rows for cell in row.values()]
    if cells and not any(re.search(rf"{NUMBER}%?(?:–| to ){NUMBER}", cell) for cell in cells):
        yield "no table has an interval"


# --- Who prefers what ---------------------------------------------------------------------------------------
@claim(r"prefers? the answer shown (?:first|second)(?:, in| \()\s?(\d+)(?:–(\d+))?%")
def _prefers_a_place(match: re.Match[str], about: About) -> Iterator[str]:
    if float(match[1]) < 50:
        yield "it chooses it in less than half of its choices"


@claim(r"[Cc]learly prefers? (?:no place|neither)")
def _prefers_no_place(match: re.Match[str], about: About) -> Iterator[str]:
    if "/raters/" in about.reading.address and about.says(r"^One side is preferred"):
        yield "the page also says that one side is preferred"


# --- Counts in words ----------------------------------------------------------------------------------------
@claim(rf"(?<![\d.,–=#])\b1 ((?:more )?(?:{'|'.join(NOUNS.split())}))\b")
def _one_of_several(match: re.Match[str], about: About) -> Iterator[str]:
    if not match.string[: match.start()].rstrip().endswith(("of", "to", "or", "from")):
        yield f"1 {match[1]}"


@claim(
    r"(\d+) models?, (\d+) prompts?(?:, ([\d,]+) ratings? by people)?(?:, ([\d,]+) (?:ratings? )?by judges)?"
)
def _the_study_has(match: re.Match[str], about: About) -> Iterator[str]:
    facts, small = about.facts, about.facts.made.small
    if int(match[1]) not in (small.models, *facts.models_rated):
        yield f"it has {small.models} models, {facts.models_rated} of them rated"
    if int(match[2]) not in (small.prompts, facts.prompts_rated):
        yield f"it has {small.prompts} prompts, {facts.prompts_rated} of them rated"
    for given, kind in ((match[3], "person"), (match[4], "judge")):
        counted = [row for row in facts.by(kind) if row.rating is not None]
        if given and number(given) not in (len(counted), len(facts.by(kind))):
            yield f"{len(counted)} rated by {kind}, {len(facts.by(kind))} with those not rated"


@claim(r"(?:(\d+) (?:people|person), )?(?:(\d+) judges?, )?([\d,]+) ratings?\.$")
def _card(match: re.Match[str], about: About) -> Iterator[str]:
    facts = about.facts
    if match.start() or about.reading.address != "/":
        return
    for given, names in ((match[1], facts.people), (match[2], facts.judges)):
        if given and int(given) != len(names):
            yield f"{names} rated"


@claim(r"\b([Bb]oth|[Aa]ll (\w+)) judges")
def _all_judges(match: re.Match[str], about: About) -> Iterator[str]:
    told = 2 if match[2] is None else number(match[2])
    if told not in (len(about.facts.judges), len(about.facts.judges_with_sides)):
        yield f"{about.facts.judges} rated"


@claim(r"All of these judges")
def _several_judges(match: re.Match[str], about: About) -> Iterator[str]:
    if len(about.facts.judges) == 1:
        yield f"only {about.facts.judges} rated"


@claim(r"\bnot rated 0 of\b|\b0 of them\b")
def _none_of_them(match: re.Match[str], about: About) -> Iterator[str]:
    yield "none are counted"


@claim(r"\b(\w+) of (\w+) judges")
def _some_judges(match: re.Match[str], about: About) -> Iterator[str]:
    if match[2] in WORDS and number(match[2]) > len(about.facts.judges):
        yield f"{about.facts.judges} rated"


@claim(r"[Oo]nly (\d+) prompts?\b")
def _only_prompts(match: re.Match[str], about: About) -> Iterator[str]:
    if int(match[1]) > about.facts.made.small.prompts:
        yield f"the study has {about.facts.made.small.prompts}"


@claim(r"\b0 (?:prompts|models)\b")
def _none_counted(match: re.Match[str], about: About) -> Iterator[str]:
    if not match.string[: match.start()].rstrip().endswith(("of", "to")):
        yield "there are some"


@claim(r"([\d,]+) ratings, ([\d,]+) left out")
def _left_out(match: re.Match[str], about: About) -> Iterator[str]:
    if about.reading.address.startswith("standings"):
        total = len([row for row in about.facts.rows if row.rater.kind == "person"])
        if number(match[1]) + number(match[2]) != total:
            yield f"people gave {total} ratings"


@claim(r"([\d,]+) pairs? (?:has|have) ratings by two people or more")
def _by_two_people(match: re.Match[str], about: About) -> Iterator[str]:
    if number(match[1]) != about.facts.pairs_by_two_people:
        yield f"{about.facts.pairs_by_two_people} have"


@claim(r"The verdict counts ([\d,]+) ratings? by [\w ]+, on ([\d,]+) prompts?")
def _verdict_counts(match: re.Match[str], about: About) -> Iterator[str]:
    rated = [row for row in about.facts.of(about.raters) if row.rating is not None]
    if about.raters and number(match[1]) > len(rated):
        yield f"there are {len(rated)}"


@claim(r"Waiting to count[\w ]*: ([\d,]+) by (\d+) (?:people|person)")
def _waiting(match: re.Match[str], about: About) -> Iterator[str]:
    waiting = [row for row in about.facts.rows if row not in about.facts.counted]
    people = {row.rater.name for row in waiting if row.rater.kind == "person"}
    if int(match[2]) != len(people):
        yield f"{len(waiting)} by {sorted(people)} wait"


@claim(r"[Ww]ith one person nothing shows|the only person who rated")
def _one_person(match: re.Match[str], about: About) -> Iterator[str]:
    if len(about.facts.people) != 1:
        yield f"{about.facts.people} rated"


# --- What is not there --------------------------------------------------------------------------------------
@claim(r"[Oo]nly judges have rated|[Nn]o ratings by people yet")
def _only_judges(match: re.Match[str], about: About) -> Iterator[str]:
    if any(row.rater.kind == "person" for row in about.facts.rows):
        yield "people have rated"


@claim(r"[Nn]obody has rated|No ratings yet(?!:)|[Tt]here are no ratings")
def _nobody_rated(match: re.Match[str], about: About) -> Iterator[str]:
    whose = [row for row in about.facts.rows if row.rating is not None]
    if about.reading.address.startswith("standings"):
        whose = [row for row in whose if row.rater.kind == "person"]
    if whose and not re.search("category|pair|compared|wait|left out", match.string):
        yield f"{len(whose)} ratings are there"


@claim(r"[Nn]o judge has rated")
def _no_judge_rated(match: re.Match[str], about: About) -> Iterator[str]:
    if any(row.rating is not None for row in about.facts.by("judge")):
        yield f"{about.facts.judges} rated"


@claim(r"[Nn]obody has scored")
def _nobody_scored(match: re.Match[str], about: About) -> Iterator[str]:
    if about.facts.scores:
        yield f"{about.facts.scores} scores are there"


@claim(r"[Nn]obody has checked")
def _nobody_checked(match: re.Match[str], about: About) -> Iterator[str]:
    if about.facts.checks:
        yield f"{about.facts.checks} checks are there"


@claim(r"No rater saw the same pair in both orders")
def _no_order_reversed(match: re.Match[str], about: About) -> Iterator[str]:
    small = about.facts.made.small
    asked = [judge for judge in small.judges if judge != "unreadable"]
    if (
        small.both_orders
        and asked
        and about.reading.address.endswith(("/raters/", "/judges/", "/agreement/"))
    ):
        yield "judges saw both orders"


# --- What no sentence says ----------------------------------------------------------------------------------
@claim(r"\b(?:nan|NaN|None|inf|undefined|null)\b(?! of (?:its|the|them|these))")
def _leaks(match: re.Match[str], about: About) -> Iterator[str]:
    if match.group() != "None" or not match.string.startswith(("None", "All")):
        yield f"{match.group()} is no word for readers"


@claim(r"(\d[\d,.]*)%")
def _percent(match: re.Match[str], about: About) -> Iterator[str]:
    if number(match[1].rstrip(".,")) > 100 and "more" not in match.string:
        yield "more than all"


@claim(r"(?:Pearson|Spearman|Kendall|[Kk]appa|[Aa]lpha|\br)\s(?:is )?([−-]?\d\.\d+)")
def _correlation(match: re.Match[str], about: About) -> Iterator[str]:
    if not -1 <= number(match[1]) <= 1:
        yield "it lies outside −1 to 1"
