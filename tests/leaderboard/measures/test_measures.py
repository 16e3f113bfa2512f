"""Every measure on a page has a name in the documents, and one name one number on every page."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from django.test import Client
from django.utils import timezone

from arena.models import Contestant, Pair, Prompt, Rater, RaterGroup, Study
from leaderboard.refreshing import computing
from leaderboard.refreshing import services as snapshots
from leaderboard.snapshots.settings import ALL_CATEGORIES as ALL
from tests import factories as make
from tests.crawl.arena import make_arena
from tests.crawl.walk import facets, walk
from tests.leaderboard.measures.columns import Table, Tables
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = pytest.mark.django_db

Seen = tuple[str, Tables]
"""An address and its tables."""

ROOT = Path(__file__).parents[3]
METHODOLOGY = ROOT / "docs" / "methodology.md"
MODELS = ("Ant", "Bee", "Cat")
UNIT = re.compile(r" \((%|points|share)\)$")
COUNTS = """\
All answers|Answers|Begun|Answers that tell|Alone as people|Categories|Checks|Checked|Complete|Empty
|Exactly mirrored|Flagged|Followed the first|Followed the second|Hidden checks|Identical texts|Judges|Late
|Left out
|Losses|Members|Missing|Models on whose answers people disagree|n|Needed|No answer|No score
|Not started|Number|Number met|Of|Other ratings|Other pairs with a known right answer|Out of range
|Pairs|Pairs in both orders|Pairs rated in both orders|Pairs in common|Pairs for kappa|Pairs for r
|Pairs for Fleiss|Pairs (2+ ratings)|People|People tested|People with too few pairs|Prompts|Proposed
|Rated|Rated replies|Raters|Ratings|Ratings compared|Refused|Repeats, checks, adjudications|Replies
|Replies not rated|Requirements|Requirements checked|Requirements counted
|Right in both orders, base alone|Right in both orders, this alone|Rows|Scores|Set|Skipped|Ties
|Times|Truncated|Undecided|Unknown|Unparsable|Used|Verdict changed|Verdicts|Void|Wins|With a side
|Without a preference|Won"""
PLACES = "Above|From|Given|Given as the mirrored rating|Group|Last|Part|Place|Scale|State|To|Up to|When"
NO_MEASURE = re.compile(
    "|".join(re.escape(each) for each in re.split(r"\n?\|", f"{COUNTS}|{PLACES}"))
    + r"|\d+(\.\d+)?% interval|\d+( or more)? (ratings?|raters?)|\d+–\d+%|Score [\d.–]+|Version [\d.]+"
    r"|(People|Judges): (Change|Version [\d.]+)"
)
"""Headings of counts, names, dates, parts of a distribution and ends of intervals."""

OF_WHOM = (
    "All",
    "Ties half",
    "Ties off",
    "Judge",
    "Other judge",
    "People",
    "Against each other",
    "Unmirrored",
)
MEASURES_IN_ROWS = ("Measure", "Figure")


@cache
def named() -> list[str]:
    """The names in the list of measures."""
    section = METHODOLOGY.read_text().split("\n## Measures\n")[1].split("\n## ")[0]
    rows = re.findall(r"(?ms)^- \*\*(.+?)\*\*:\s", section)
    return [plain(name) for row in rows for name in " ".join(row.split()).split("; ")]


def plain(heading: str) -> str:
    return UNIT.sub("", " ".join(heading.replace("’", "'").split()))


def make_known() -> Study:
    """A closed study of three people and two judges who rated every pair, in both orders the judges."""
    lot, made = Random(7), HandMade(*MODELS, slug="known", categories=("facts",) * 4 + ("poems",) * 4)
    people = [made.person, make.make_rater(name="Ben"), make.make_rater(name="Cleo")]
    judges = [made.judge("severe"), made.judge("mild")]
    for prompt, (one, other) in ((prompt, two) for prompt in range(8) for two in combinations(MODELS, 2)):
        best = lot.choice((2, 3, 4, 6, 7))
        for rater in (*people, *judges, *judges):
            rating = max(1, min(8, best + lot.randint(-2, 2)))
            turned = made.pair(one, other, prompt).comparisons.filter(rater=rater).exists()
            shown = (other, one) if turned else (one, other)
            given = 9 - rating if turned else rating
            lost = rater == judges[0] and turned and prompt == 3
            reason = {"rating": None, "reason": "unparsable"} if lost else {"rating": given}
            made.rate(*shown, prompt=prompt, rater=rater, **reason)
    Pair.objects.filter(prompt__study=made.study).update(gold="first", gold_source="by hand")
    for prompt in made.prompts:
        question = make.make_question(prompt=prompt)
        for completion in prompt.completions.all():
            make.make_feature(completion=completion, name="entropy", value=lot.random())
            for rater in (*people, judges[0]):
                make.make_score(completion=completion, rater=rater, value=lot.randint(1, 5))
                value = lot.choice(("yes", "no"))
                make.make_answer(completion=completion, question=question, rater=rater, value=value)
    return closed(made.study)


def closed(study: Study) -> Study:
    study.tasks, study.closed_at = ["compare", "score", "check"], timezone.now()
    study.save()
    with few_rounds(20):
        snapshots.refresh(study)
    return study


@pytest.fixture(scope="module")
def pages(shared_rows: None) -> list[Seen]:
    """Addresses and tables of all pages of two studies, as staff sees them."""
    staff = make.make_client(make.make_user(is_staff=True, is_superuser=True))
    studies = (make_known(), make_arena().closed)
    return [page for study in studies for page in pages_of(study, staff)]


def pages_of(study: Study, who: Client) -> list[Seen]:
    found: list[Seen] = []
    starts = (f"/studies/{study.slug}/", f"/operate/{study.slug}/")

    def look(address: str) -> list[str]:
        reply = who.get(address, follow=True)
        while computing.compute_next(study.pk):
            reply = who.get(address, follow=True)
        if reply.streaming or not reply.headers.get("Content-Type", "").startswith("text/html"):
            return []
        page = Tables(reply.content.decode())
        found.append((address, page))
        return [link for link in page.links if link.startswith((*starts, "?"))]

    walk(starts, look, lambda address: {each for each in facets(address) if each[2:] in WALKED})
    return found


WALKED = (
    (),
    ("columns",),
    ("coefficient",),
    ("method",),
    ("raters",),
    ("category",),
    ("ratings",),
    ("gold",),
)
"""Parameters of addresses that change columns."""


def measures(table: Table) -> list[str]:
    """What the numbers of a table are called: by its columns, or by its rows."""
    if table.columns[:1] and table.columns[0] in MEASURES_IN_ROWS:
        return [row[0].text for row in table.rows if row]
    return table.numeric


def is_known(heading: str, whose: set[str]) -> bool:
    heading = plain(heading)
    over, _, last = heading.rpartition(": ")
    last = last[:1].upper() + last[1:]
    over = "All" if re.fullmatch(r"Version [\d.]+", over) else over
    if re.fullmatch(r"\d", heading[-1]) and heading[:-2] in whose:  # the columns of a cross table
        return True
    parts = {heading} | ({last} if over in whose else set())
    parts |= {over} if last in whose or over in named() else set()
    return bool(parts & {*named(), *whose}) or any(NO_MEASURE.fullmatch(each) for each in parts)


@pytest.fixture(scope="module")
def whose(pages: list[Seen]) -> set[str]:
    """What stands over a column or beside a row to say whose its numbers are: raters, models, categories."""
    names = [
        *Contestant.objects.values_list("name", flat=True),
        *Rater.objects.values_list("name", flat=True),
        *(group.name for group in RaterGroup.objects.all()),
        *Prompt.objects.values_list("category", flat=True),
        *Prompt.objects.values_list("subset", flat=True),
    ]
    return {plain(name) for name in (*names, *OF_WHOM)} - {""}


def test_every_heading_of_a_page_is_a_measure_in_the_documents(pages: list[Seen], whose: set[str]) -> None:
    unknown = {
        f"heading {heading!r} of page {address} ({table.title[:40]}) is not in docs/methodology.md"
        for address, page in pages
        for table in page.tables
        for heading in measures(table)
        if not is_known(heading, whose)
    }
    assert not unknown, "\n".join(sorted(unknown))


def test_every_measure_in_the_documents_is_used(pages: list[Seen]) -> None:
    said = {
        part
        for _, page in pages
        for table in page.tables
        for heading in map(plain, measures(table))
        for part in (heading, heading.rpartition(": ")[0], heading.rpartition(": ")[2])
    }
    unused = [name for name in named() if name not in said and not in_code(name)]
    assert not unused


def in_code(name: str) -> bool:
    return any(re.search(rf'("|: ){re.escape(name)}', source, re.IGNORECASE) for source in sources())


@cache
def sources() -> list[str]:
    """What writes headings that no study here shows."""
    return [plain(path.read_text()) for path in (ROOT / "leaderboard").rglob("*.py")]


PAGES = ("", "raters/", "judges/", "agreement/", "trust/", "scores/", "requirements/", "features/", "data/")
OPERATED = ("judges/", "raters/")
OTHER_SUBJECTS = {"Rank", "Best possible rank", "SD", "Value", "Unmirrored", "Quality", "Fleiss' kappa"}
"""Of the page's own order, or of what the title names."""


def test_one_name_has_one_number(pages: list[Seen]) -> None:
    """Where all raters rated all pairs and all pairs have a right answer, pages speak of the same pairs."""
    wanted = {f"/studies/known/{page}" for page in PAGES} | {f"/operate/known/{page}" for page in OPERATED}
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    usual = ((re.sub(r"\b(sort=[^&]*|columns=all)&?|\?$", "", address), page) for address, page in pages)
    tables = [
        (address, table) for address, page in usual if address.rstrip("?") in wanted for table in page.tables
    ]
    for number, (address, table) in enumerate(tables):
        for whose, measure, text in numbers(table):
            value = re.match(r"[−+]?[\d,.]+", text)
            if value and UNIT.sub("", measure) in set(named()) - OTHER_SUBJECTS:
                number_of = float(value[0].replace("−", "-").replace(",", ""))
                found[whose, UNIT.sub("", measure)][f"{address} {number} {table.title}: {text}"] = number_of
    several = [values for values in found.values() if len(values) > 1]
    assert len(several) > 40
    apart = [each for each in several if max(each.values()) - min(each.values()) > rounding(each)]
    assert not apart, "\n".join(map(str, apart))


def rounding(shown: dict[str, float]) -> float:
    """How far equal numbers may be apart as pages round them."""
    decimals = (
        len(text.rpartition(": ")[2].partition(" ")[0].partition(".")[2].rstrip("%")) for text in shown
    )
    return 0.501 * 10.0 ** -min(decimals)


def numbers(table: Table) -> Iterator[tuple[str, str, str]]:
    """Whose a number is, its measure and its text; of all categories together."""
    columns, group = [plain(each) for each in table.columns], ""
    if columns[:1] == ["Model"] and len({row[0].text for row in table.rows}) < len(table.rows):
        return  # a row for each answer
    for row in table.rows:
        if len(row) == 1:
            group = row[0].text
        about = dict(zip(columns, (cell.text for cell in row), strict=False))
        part = row[0].text if group else about.get("Category", ALL)
        if len(row) == 1 or part != ALL:
            continue
        name = re.split(" ,| with each other", group or about.get("Model") or row[0].text)[0]
        name = name.removesuffix("All counted raters")
        two = {name, about.get("With", "")} - {"", "People"}
        whose = " and ".join(sorted(two)) or "People"
        for heading, cell in zip(columns[1:], row[1:], strict=False):
            if columns[0] in MEASURES_IN_ROWS:
                yield heading, plain(row[0].text), cell.text
            elif cell.is_number:
                over, _, last = heading.rpartition(": ")
                yield whose, over if last == "Judge" else heading, cell.text
