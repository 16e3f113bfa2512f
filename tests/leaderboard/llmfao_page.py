"""What docs/llmfao.md shows, computed from the public data: ratings, rankings and the tables made of them."""

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
from scipy.stats import kendalltau, spearmanr

from leaderboard.snapshots.reading import pair_style
from leaderboard.stats.ordinal import ordinal
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import Ratings

PEOPLE, GPT4, GPT35 = "people", "judge:gpt-4", "judge:gpt-3.5"
LABELS = {PEOPLE: "people", GPT4: "GPT-4", GPT35: "GPT-3.5"}

ELO = Method()
STUDY_ELO = Method(name="elo-study")
BRADLEY_TERRY = Method(name="bradley-terry")
FIT = replace(BRADLEY_TERRY, rounds=None, robustness=False)
ORDINAL = Method(name="ordinal", rounds=None)
STYLE = ("length", "markdown")
METHODS = {
    "Elo": ELO,
    "Elo as in the study": STUDY_ELO,
    "Elo, ties off": Method(ties=False, rounds=None),
    "Bradley-Terry": BRADLEY_TERRY,
    "Bradley-Terry, ties off": replace(FIT, ties=False),
    "Davidson": Method(name="davidson", rounds=None),
    "ordinal": ORDINAL,
    "ordinal, style": replace(ORDINAL, adjust=STYLE),
    "ordinal, leans": replace(ORDINAL, rounds=1000, intervals="sandwich", adjust=("raters",)),
}
SHOWN = tuple(name for name in METHODS if name not in ("Elo", "Bradley-Terry, ties off", "ordinal, leans"))
TELLING = ("Mythalion 13B", "Falcon Instruct (40B)", "MPT-Chat (7B)")


@dataclass(frozen=True, eq=False)
class Votes:
    """Ratings by one kind of rater, with the names of the contestants."""

    names: tuple[str, ...]
    ratings: Ratings

    @classmethod
    def read(cls, study, opinions):
        players = opinions.present()
        return cls(players.names, players.ratings(pair_style(study).covariates(players)))

    @cache  # noqa: B019 - kept as long as the process of a test
    def ranked(self, method):
        return rank_ratings(self.ratings, self.names, method)

    def without_position(self):
        """Ratings by the ordinal model that knows nothing of who stood first."""
        return dict(zip(self.names, ordinal(self.ratings, position=False).rating.tolist(), strict=True))

    def of(self, name):
        number = self.names.index(name)
        return (self.ratings.first == number) | (self.ratings.second == number)

    def shown_first(self, name):
        return float(np.mean(self.ratings.first[self.of(name)] == self.names.index(name)))

    def only(self, kept):
        own = self.ratings
        columns = {name: getattr(own, name)[kept] for name in ("first", "second", "rating", "points")}
        return Votes(self.names, replace(own, **columns, prompt=None, rater=None, covariates={}))


def table(header, rows, left=1):
    rule = ["---" if column < left else "--:" for column in range(len(header))]
    lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]])


def scores(standings):
    return {row.contestant: row.rating for row in standings.standings if row.rating is not None}


def placed(standings):
    return {row.contestant: f"{row.rank} ({row.rating:.0f})" for row in standings.standings}


def alike(one, other):
    """Kendall's tau-b and Spearman's rho over the contestants both rate."""
    both = sorted(one.keys() & other.keys())
    x, y = ([ratings[name] for name in both] for ratings in (one, other))
    return float(kendalltau(x, y).statistic), float(spearmanr(x, y).statistic)


def method_table(found):
    columns = [placed(found[label]) for label in SHOWN]
    order = [row.contestant for row in found["Bradley-Terry"].standings]
    rows = [[name, *(column[name] for column in columns)] for name in (*order[:4], *TELLING)]
    return table(["model", *SHOWN], rows)


def ranks(ratings):
    return {name: rank for rank, name in enumerate(sorted(ratings, key=lambda n: (-ratings[n], n)), start=1)}


def likeness_table(found):
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
    return table(["people's ratings by", "Kendall", "Spearman", "same top ten", "moves most"], rows)


def inseparable(standings):
    return {frozenset(pair) for group in standings.groups or () for pair in combinations(group, 2)}


def certainty_row(label, drawn, standings):
    rows = standings.standings
    half = np.mean([(row.high - row.low) / 2 for row in rows])
    apart = 1 - len(inseparable(standings)) / (len(rows) * (len(rows) - 1) / 2)
    best = sum(row.rank_ub == 1 for row in rows)
    first = next(row.p_first for row in rows if row.contestant == "GPT 4")
    return [label, drawn, f"{half:.0f}", f"{100 * first:.0f}%", str(best), f"{100 * apart:.0f}%"]


def certainty_table(people, found):
    """How sure people's ranking looks by what is drawn; ``found`` drew prompts."""
    rows = []
    for label in ("Elo", "Elo as in the study", "Bradley-Terry"):
        of_games = people.ranked(replace(METHODS[label], resample="games", robustness=False))
        rows.append(certainty_row(label, "games", of_games))
        rows.append(certainty_row(label, "prompts", found[label]))
    sandwich = people.ranked(replace(BRADLEY_TERRY, intervals="sandwich", robustness=False))
    rows.append(certainty_row("Bradley-Terry, sandwich", "prompts", sandwich))
    numbers = ["mean half-width", "P(GPT 4 first)", "best rank 1", "told apart"]
    return table(["people's ratings by", "resampled", *numbers], rows, left=2)


def rater_table(same, anchored):
    """The same pairs rated by people and judges."""
    columns = {LABELS[rater]: same[rater].ranked(FIT) for rater in LABELS}
    leaders = [row.contestant for column in columns.values() for row in column.standings[:2]]
    names = [*leaders, "MPT-Chat (7B)", "Luminous Extended"]
    cells = [placed(column) for column in columns.values()]
    rows = [[name, *(cell[name] for cell in cells), f"{anchored[name]:.0f}"] for name in dict.fromkeys(names)]
    return table(["model", *columns, "anchored"], rows)


def agreement_table(same):
    """How alike raters rank, and how alike halves of the same people do."""
    people, rows = same[PEOPLE], []
    for one, other in combinations(LABELS, 2):
        rows.append([f"{LABELS[one]} and {LABELS[other]}", *_likeness(same[one], same[other])])
    for unit in ("raters", "prompts"):
        own = people.ratings.unit(unit)
        halves = (people.only(own % 2 == side) for side in (0, 1))
        rows.append([f"people, halves of the {unit}", *_likeness(*halves)])
    return table(["rankings by", "Kendall", "Spearman"], rows)


def _likeness(one, other):
    both = [votes.ranked(FIT) for votes in (one, other)]
    assert all(len(standings.components) == 1 for standings in both), "there is a common scale"
    return [f"{value:.2f}" for value in alike(*map(scores, both))]


def effect_table(everything):
    rows = []
    for rater, votes in everything.items():
        details = votes.ranked(replace(ORDINAL, rounds=1000, intervals="sandwich", adjust=STYLE)).details
        shares = [f"{100 * np.mean(votes.ratings.rating == rating):.0f}" for rating in (1, 2, 3)]
        effects = [details["position"], *(details["effects"][name] for name in STYLE)]
        found = [f"{e['points']:+.0f} ({e['low']:+.0f} to {e['high']:+.0f})" for e in effects]
        rows.append([LABELS[rater], " / ".join(shares), *found])
    return table(["rater", "first / tie / second (%)", "shown first", "longer", "more Markdown"], rows)


def board_table(by_raters):
    """People's first ten as their board shows them, with the ranks the judges give the same models."""
    rows = {
        label: {row.contestant: row for row in found.standings if row.rating is not None}
        for label, found in by_raters.items()
    }
    people = rows[LABELS[PEOPLE]]
    order = sorted(people, key=lambda name: (people[name].rank, name))[:10]
    return table(
        ["model", *(f"{label}: rank and score" for label in rows)],
        [[name, *(_on_board(rows[label].get(name)) for label in rows)] for name in order],
    )


def _on_board(row):
    if row is None or row.rating is None or row.low is None or row.high is None:
        return "–"
    return f"{row.rank} ({row.rating:.0f} +{row.high - row.rating:.0f}/−{row.rating - row.low:.0f})"
