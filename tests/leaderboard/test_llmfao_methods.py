"""The page docs/llmfao.md: every table and quoted line on it is computed here again from the public data.

With -s this prints what the page must hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import transaction
from scipy.stats import kendalltau, spearmanr

from arena.models import Study
from leaderboard.anchoring import panel_of_study
from leaderboard.games import Opinions, style_covariates
from leaderboard.management.study_option import opinions_chosen
from leaderboard.presentation import findings
from leaderboard.stats import Method, Ratings, Standings, ordinal, plan_from_data, rank_ratings
from leaderboard.stats.elo import EloParameters

pytestmark = pytest.mark.django_db

PAGE = Path(__file__).parents[2] / "docs" / "llmfao.md"

PEOPLE, GPT4, GPT35 = "people", "judge:gpt-4", "judge:gpt-3.5"
LABELS = {PEOPLE: "people", GPT4: "GPT-4", GPT35: "GPT-3.5"}

ELO = Method()
SLOW_ELO = Method(elo=EloParameters(k=4))
BRADLEY_TERRY = Method(name="bradley-terry", robustness=False)
ORDINAL = Method(name="ordinal", rounds=None)
STYLE = ("length", "markdown")
METHODS = {
    "Elo": ELO,
    "Elo, K=4": SLOW_ELO,
    "Elo, ties off": Method(ties=False),
    "Bradley-Terry": replace(BRADLEY_TERRY, rounds=None),
    "Bradley-Terry, ties off": replace(BRADLEY_TERRY, rounds=None, ties=False),
    "Davidson": Method(name="davidson", rounds=None),
    "ordinal": ORDINAL,
    "ordinal, style": replace(ORDINAL, adjust=STYLE),
    "ordinal, leans": replace(ORDINAL, adjust=("raters",)),
}
SHOWN = ("Elo", "Elo, K=4", "Elo, ties off", "Bradley-Terry", "Davidson", "ordinal", "ordinal, style")
TELLING = (
    "Mythalion 13B",
    "Falcon Instruct (40B)",
    "MPT-Chat (7B)",
    "MythoMax-L2 (13B)",
    "Weaver 12k",
    "Luminous Base",
    "Dolly v2 (3B)",
)


Scores = dict[str, float]


@dataclass(frozen=True)
class Votes:
    """Ratings by one kind of rater, with the names of the contestants."""

    names: tuple[str, ...]
    ratings: Ratings

    @classmethod
    def of(cls, study: Study, opinions: Opinions) -> "Votes":
        players = opinions.present()
        return cls(players.names, players.ratings(style_covariates(study, players)))

    def ranked(self, method: Method) -> Standings:
        return rank_ratings(self.ratings, self.names, method)

    def without_position(self) -> Scores:
        """Ratings by the ordinal model that knows nothing of who stood first."""
        return dict(zip(self.names, ordinal(self.ratings, position=False).rating.tolist(), strict=True))

    def shown_first(self, name: str) -> float:
        number = self.names.index(name)
        first, second = (int((side == number).sum()) for side in (self.ratings.first, self.ratings.second))
        return first / (first + second)

    def only(self, kept: np.ndarray[Any, Any]) -> "Votes":
        own = self.ratings
        columns = {name: getattr(own, name)[kept] for name in ("first", "second", "rating", "points")}
        return Votes(self.names, replace(own, **columns, prompt=None, rater=None, covariates={}))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    rule = ["---" if column < left else "--:" for column in range(len(header))]
    lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]])


def scores(standings: Standings) -> Scores:
    return {row.contestant: row.rating for row in standings.standings if row.rating is not None}


def placed(standings: Standings) -> dict[str, str]:
    return {row.contestant: f"{row.rank} ({row.rating:.0f})" for row in standings.standings}


def alike(one: Scores, other: Scores) -> tuple[float, float]:
    """Kendall's tau-b and Spearman's rho over the contestants both rate."""
    both = sorted(one.keys() & other.keys())
    x, y = ([ratings[name] for name in both] for ratings in (one, other))
    return float(kendalltau(x, y).statistic), float(spearmanr(x, y).statistic)


def method_table(found: dict[str, Standings]) -> str:
    """Rank and rating by people, by every method."""
    columns = [placed(found[label]) for label in SHOWN]
    order = [row.contestant for row in found["Bradley-Terry"].standings]
    rows = [[name, *(column[name] for column in columns)] for name in (*order[:10], *TELLING)]
    return table(["model", *SHOWN], rows)


def ranks(ratings: Scores) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(sorted(ratings, key=lambda n: (-ratings[n], n)), start=1)}


def likeness_table(found: dict[str, Scores]) -> str:
    """How every other method ranks compared with Bradley-Terry."""
    reference = found["Bradley-Terry"]
    before, rows = ranks(reference), []
    for label, own in found.items():
        if own is reference:
            continue
        after = ranks(own)
        most = max(after, key=lambda name: (abs(after[name] - before[name]), name))
        shared = sum(before[name] <= 10 and after[name] <= 10 for name in after)
        same = after[most] == before[most]
        move = "none" if same else f"{most}, {before[most]} to {after[most]}"
        rows.append([label, *(f"{value:.2f}" for value in alike(own, reference)), f"{shared} of 10", move])
    return table(["people's votes by", "Kendall", "Spearman", "same top ten", "moves most"], rows)


def certainty_row(label: str, drawn: str, standings: Standings) -> list[str]:
    """What the intervals say, as numbers."""
    rows = standings.standings
    half = np.mean([(row.high - row.low) / 2 for row in rows])
    alike_pairs = {pair for group in standings.groups for pair in combinations(sorted(group), 2)}
    apart = 1 - len(alike_pairs) / (len(rows) * (len(rows) - 1) / 2)
    best = sum(row.rank_ub == 1 for row in rows)
    first = next(row.p_first for row in rows if row.contestant == "GPT 4")
    return [label, drawn, f"{half:.0f}", f"{100 * first:.0f} %", str(best), f"{100 * apart:.0f} %"]


def certainty_table(people: Votes) -> str:
    rows = []
    for label, method in {"Elo": ELO, "Elo, K=4": SLOW_ELO, "Bradley-Terry": BRADLEY_TERRY}.items():
        for drawn in ("games", "raters", "prompts"):
            rows.append(certainty_row(label, drawn, people.ranked(replace(method, resample=drawn))))
    sandwich = people.ranked(replace(BRADLEY_TERRY, intervals="sandwich"))
    rows.append(certainty_row("Bradley-Terry, sandwich", "prompts", sandwich))
    header = ["people's votes by", "drawn", "mean half-width", "P(GPT 4 first)", "best rank 1", "told apart"]
    return table(header, rows, left=2)


def rater_table(same: dict[str, Votes], anchored: Scores) -> str:
    """The same pairs rated by people and judges: Bradley-Terry, and the ordinal model for the judges."""
    fits = {
        (rater, name): same[rater].ranked(METHODS[name])
        for rater in LABELS
        for name in ("Bradley-Terry", "ordinal")
    }
    columns = {
        "people": fits[PEOPLE, "Bradley-Terry"],
        "GPT-4": fits[GPT4, "Bradley-Terry"],
        "GPT-4, ordinal": fits[GPT4, "ordinal"],
        "GPT-3.5": fits[GPT35, "Bradley-Terry"],
        "GPT-3.5, ordinal": fits[GPT35, "ordinal"],
    }
    leaders = [row.contestant for column in columns.values() for row in column.standings[:4]]
    names = [
        *dict.fromkeys(leaders),
        "MythoMax-L2 (13B)",
        "Jurassic 2 Mid",
        "MPT-Chat (7B)",
        "Luminous Extended",
    ]
    cells = [placed(column) for column in columns.values()]
    rows = [[name, *(cell[name] for cell in cells), f"{anchored[name]:.0f}"] for name in dict.fromkeys(names)]
    return table(["model", *columns, "anchored"], rows)


def agreement_table(same: dict[str, Votes]) -> str:
    """How alike raters rank, and how alike halves of the same people do."""
    plain, position = METHODS["Bradley-Terry"], METHODS["ordinal"]
    by = {(rater, m): scores(votes.ranked(m)) for rater, votes in same.items() for m in (plain, position)}
    rows = []
    for one, other in combinations(LABELS, 2):
        found = [f"{value:.2f}" for m in (plain, position) for value in alike(by[one, m], by[other, m])]
        rows.append([f"{LABELS[one]} and {LABELS[other]}", *found])
    people = same[PEOPLE]
    for unit in ("raters", "prompts"):
        own = people.ratings.unit(unit)
        halves = [people.only(own % 2 == side) for side in (0, 1)]
        found = [
            f"{value:.2f}"
            for m in (plain, position)
            for value in alike(*(scores(half.ranked(m)) for half in halves))
        ]
        rows.append([f"people, halves of the {unit}", *found])
    return table(["rankings by", "Kendall", "Spearman", "Kendall, ordinal", "Spearman, ordinal"], rows)


def effect_table(everything: dict[str, Votes]) -> str:
    """What moves raters beside the model: place, length and Markdown."""
    rows = []
    for rater, votes in everything.items():
        details = votes.ranked(replace(ORDINAL, rounds=1000, intervals="sandwich", adjust=STYLE)).details
        shares = [f"{100 * np.mean(votes.ratings.rating == rating):.0f}" for rating in (1, 2, 3)]
        effects = [details["position"], *(details["effects"][name] for name in STYLE)]
        found = [f"{e['points']:+.0f} ({e['low']:+.0f} to {e['high']:+.0f})" for e in effects]
        rows.append([LABELS[rater], " / ".join(shares), *found])
    return table(["rater", "first / tie / second, %", "shown first", "longer", "more Markdown"], rows)


def quotes(everything: dict[str, Votes], found: dict[str, Standings]) -> Iterator[str]:
    """Sentences of commands that the page quotes."""
    for votes in everything.values():
        standings = votes.ranked(replace(BRADLEY_TERRY, robustness=True))
        yield from findings(standings.details)
        yield from (line.split(" and one")[0] for line in standings.warnings if "no finite answer" in line)
    yield from findings(found["ordinal, leans"].details)
    people = everything[PEOPLE]
    pair = people.names.index("GPT 4"), people.names.index("Platypus-2 Instruct (70B)")
    yield plan_from_data(people.ratings, gap=30.0).sentence(people.names)
    yield plan_from_data(people.ratings, between=pair).sentence(people.names)


def facts(people: Votes, gpt35: Votes, found: dict[str, Standings]) -> Iterator[str]:
    """Shorter statements of the page."""
    for name in ("GPT 4", "MythoMax-L2 (13B)", "Mythalion 13B"):
        yield f"{name}: {100 * people.shown_first(name):.0f} %"
    for name in ("Falcon Instruct (40B)", "GPT 3.5 Turbo", "command"):
        number = people.names.index(name)
        mine = (people.ratings.first == number) | (people.ratings.second == number)
        prompts = np.bincount(people.ratings.prompt[mine])
        yield f"{name}: {prompts.max()} of {prompts.sum()}"
        if name.startswith("Falcon"):
            rest = people.only(people.ratings.prompt != prompts.argmax())
            left = scores(rest.ranked(METHODS["Bradley-Terry"]))[name]
            yield f"without that prompt it stands at {left:.0f}"
    plain, placed_ = ranks(people.without_position()), ranks(scores(found["ordinal"]))
    for name in ("ReMM SLERP L2 13B", "LLaMA-2-Chat (70B)", "GPT 3.5 Turbo", "Mythalion 13B"):
        yield f"{name} {plain[name]} and {placed_[name]}"
    plain, placed_ = ranks(gpt35.without_position()), ranks(scores(gpt35.ranked(ORDINAL)))
    for name in ("MythoMax-L2 (13B)", "GPT 4"):
        yield f"{name} from {plain[name]} to {placed_[name]}"


@pytest.fixture(scope="module")
def computed(reference_data, django_db_setup, django_db_blocker) -> dict[str, str]:
    """Everything the page must hold; the database is left as it was."""
    with django_db_blocker.unblock(), transaction.atomic():
        call_command("import_data", "llmfao", str(reference_data / "llmfao"), verbosity=0)
        study = Study.objects.get(slug="llmfao")
        read = {rater: opinions_chosen(study, rater, "")[0] for rater in LABELS}
        everything = {rater: Votes.of(study, own) for rater, own in read.items()}
        crowd = np.unique(read[PEOPLE].rows["pair"])
        shared = {r: replace(own, rows=own.rows[np.isin(own.rows["pair"], crowd)]) for r, own in read.items()}
        same = {rater: Votes.of(study, own) for rater, own in shared.items()}
        ranking = panel_of_study(study, ["gpt-4"], ties=True).ranking(95.0)
        transaction.set_rollback(True)
    anchored = dict(zip(ranking.panel.names, ranking.found.best.value.tolist(), strict=True))
    people = everything[PEOPLE]
    found = {label: people.ranked(method) for label, method in METHODS.items()}
    likened = {label: scores(standings) for label, standings in found.items()}
    likened |= {"ordinal without position": people.without_position()}
    tables = {
        "methods": method_table(found),
        "likeness": likeness_table(likened),
        "certainty": certainty_table(people),
        "raters": rater_table(same, anchored),
        "agreement": agreement_table(same),
        "effects": effect_table(everything),
    }
    said = [*quotes(everything, found), *facts(people, same[GPT35], found)]
    return tables | {"quotes": "\n".join(said)}


@pytest.mark.parametrize("name", ["methods", "likeness", "certainty", "raters", "agreement", "effects"])
def test_the_page_shows_this_table(computed, name):
    print(f"\n{computed[name]}")
    assert computed[name] in PAGE.read_text()


def test_the_page_quotes_the_commands(computed):
    flowing = " ".join(PAGE.read_text().replace("\n> ", "\n").split())
    print(f"\n{computed['quotes']}")
    assert [line for line in computed["quotes"].splitlines() if line not in flowing] == []
