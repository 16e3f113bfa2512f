"""Any two raters compared: kinds, groups and single people; or the members of one among themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from arena.models import Rater, Study
from arena.people.rater_data import pseudonym
from leaderboard.raters.agreement.coefficients import (
    PEOPLE,
    Arranged,
    Kind,
    Part,
    arrange,
    between,
    correlated,
    within,
)
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.declarations import OnDemand
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.settings import Counts, Scope, Setting, counts_at, one_of, parse_for_all, people_of
from leaderboard.stats.agreement_estimates import estimates, is_alike, z_intervals
from leaderboard.stats.agreement_opinions import NO_VERDICT, mean_verdicts, resample
from leaderboard.stats.correlation import shared_entries
from leaderboard.stats.crosstabs import confusion, scatters
from leaderboard.stats.kappa import every_two
from leaderboard.stats.paired_shares import paired_shares
from leaderboard.stats.plain_values import Estimate, rounded
from leaderboard.stats.ranking_method import Method

FORM: Final = 1
"""Of the content; raised when a key changes its meaning or goes."""

MOST_PEOPLE: Final = 200
"""People who can be chosen one by one: those with the most ratings."""

MOST_TWOS: Final = 1000
"""Rows of the table of every two members: those with the most pairs in common."""


class NobodyError(ValueError):
    """Raters that are not there; the message is for the reader."""


def single_people(study: Study, opinions: Opinions) -> tuple[Choice, ...]:
    """Each person under a pseudonym, those with the most ratings first, MOST_PEOPLE at most."""
    raters, given = np.unique(opinions.rows["rater"][opinions.scored], return_counts=True)
    times = dict(zip(raters.tolist(), given.tolist(), strict=True))
    people = Rater.objects.filter(pk__in=opinions.people & times.keys()).values_list("pk", "simulated")
    named = [(-times[pk], pseudonym(study, pk), pk, simulated) for pk, simulated in people]
    return tuple(
        Choice(name, name, frozenset((pk,)), simulated)
        for _, name, pk, simulated in sorted(named)[:MOST_PEOPLE]
    )


def parse_for_two(wanted: Mapping[str, str], counts: Counts) -> Setting:
    """The setting of two raters, separated by a comma, or of all; single people may be chosen too.

    Raises UnknownSettingError.
    """
    found = parse_for_all(wanted, counts)
    counts = counts_at(counts, found.prompts, found.visitors)
    kinds = [choice["selector"] for choice in counts["raters"]]
    named = wanted["raters"].split(",") if wanted.get("raters") else []
    two = [one_of("raters", one, kinds, people_of(counts)) for one in named]
    ties = one_of("ties", wanted.get("ties") or "on", ("on", "off"))
    category = one_of("category", wanted.get("category") or "", ("", *counts["categories"]))
    return replace(found, raters=",".join(two), ties=ties, category=category).settled()


def two_table(study: Study, opinions: Opinions, setting: Setting, method: Method) -> Table:
    """The table of a page; ``setting.raters`` are two selectors joined by a comma."""
    content = compared(study, opinions, setting.raters.split(","), setting.category, method)
    return Table("two", setting.raters, canonical(content))


def compared(
    study: Study, opinions: Opinions, selectors: Sequence[str], category: str, method: Method
) -> dict[str, Any]:
    """How two raters agree in a category (in all where empty), at the ties, level and rounds of ``method``.

    Who is a member of both counts with the smaller one alone. The same raters twice are compared among
    themselves. Raises NobodyError.
    """
    everybody = (*opinions.raters, *single_people(study, opinions))
    one, other = (_choice(everybody, selector) for selector in selectors)
    arranged = arrange(opinions, method.tie_band, ties=method.ties).about(category)
    smaller = min(one, other, key=lambda choice: len(choice.ids))
    chosen = (one,) if one.ids == other.ids else (one, other)
    kinds = [arranged.kind(each, frozenset() if each is smaller else smaller.ids) for each in chosen]
    content = {
        **parameters(category, method),
        "sideless": 0 if method.ties else _sideless(opinions.about(category).by(one.ids | other.ids)),
        "raters": [
            _about(choice, kind, 0 if choice is smaller else len(choice.ids & smaller.ids))
            for choice, kind in zip(chosen, kinds, strict=True)
        ],
    }
    if all(choice.selector.startswith("judge:") for choice in chosen) and len(chosen) > 1:
        content["differences"] = judge_differences(arranged, method)
    if not all(len(kind.rows) for kind in kinds):
        return content
    if len(kinds) == 1:
        found = _rows({"within": within(arranged, *kinds)}, method)
        return content | found | _members(arranged, kinds[0], everybody, method)
    parts = {"between": between(arranged, *kinds), "correlation": correlated(arranged, *kinds)}
    return content | _rows(parts, method) | _cells(arranged, *kinds)


def parameters(category: str, method: Method) -> dict[str, Any]:
    """What everything about agreement that is made for programs begins with."""
    return {
        "form": FORM,
        "category": category or None,
        "ties": "on" if method.ties else "off",
        "band": str(method.tie_band) if method.tie_band else None,
        "level": method.interval,
        "rounds": method.rounds,
        "seed": method.seed,
    }


def judge_differences(arranged: Arranged, method: Method) -> list[dict[str, Any]]:
    """Every two judges that share a pair with people: how often each has the people's verdict there.

    The topics must have a single category.
    """
    choices = {choice.selector: choice for choice in arranged.choices}
    if PEOPLE not in choices:
        return []
    judges = [choice for selector, choice in choices.items() if selector.startswith("judge:")]
    people, *verdicts = (
        mean_verdicts(kind.rows, kind.sums) for kind in map(arranged.kind, (choices[PEOPLE], *judges))
    )
    known = [(people != NO_VERDICT) & (own != NO_VERDICT) for own in verdicts]
    right = [np.where(there, own == people, np.nan) for there, own in zip(known, verdicts, strict=True)]
    found = paired_shares(
        arranged.topics,
        np.array(right).reshape(len(judges), arranged.pairs),
        level=method.interval,
        rounds=method.rounds or 1,
        seed=method.seed,
    )
    return [
        {**_named(judges[one], judges[other]), **shares.as_dict()} for (one, other), shares in found.items()
    ]


def _named(one: Choice, other: Choice) -> dict[str, str]:
    return {
        "one": one.label,
        "other": other.label,
        "one_selector": one.selector,
        "other_selector": other.selector,
    }


def _choice(everybody: Sequence[Choice], selector: str) -> Choice:
    found = next((each for each in everybody if each.selector == selector), None)
    if found is None:
        there = ", ".join(each.selector for each in everybody) or "none"
        raise NobodyError(f'no ratings by "{selector}" in this study; it has: {there}')
    return found


def _sideless(opinions: Opinions) -> int:
    """Ratings in the middle of their scale."""
    rows = opinions.rows[opinions.scored]
    return int((2 * rows["rating"] == rows["points"] + 1).sum())


def _about(choice: Choice, kind: Kind, left_out: int) -> dict[str, Any]:
    """``left_out`` members are in both and count with the other."""
    return {
        "selector": choice.selector,
        "label": choice.label,
        "simulated": choice.simulated,
        "panel": choice.panel,
        "members": len(np.unique(kind.rows.rater)),
        "left_out": left_out,
        "ratings": len(kind.rows),
        "pairs": int((kind.sums.count > 0).sum()),
    }


def _rows(parts: Mapping[str, Part], method: Method) -> dict[str, Any]:
    """The only row of each part, from one bootstrap."""
    wanted = [part.wanted for part in parts.values()]
    found = estimates(wanted, level=method.interval, rounds=method.rounds or 1, seed=method.seed)
    rows = {name: part.write(each)[0] for (name, part), each in zip(parts.items(), found, strict=True)}
    about = ("category", "all_but")
    return {
        name: {key: value for key, value in row.items() if key not in about} for name, row in rows.items()
    }


def _cells(arranged: Arranged, one: Kind, other: Kind) -> dict[str, Any]:
    """Rating against rating, and mean preference against mean preference."""
    entries = shared_entries(one.sums, other.sums)
    if not len(entries.pair):
        return {}
    counts = confusion(arranged.topics, one.rows, other.rows)[0]
    points = dict(zip(("points_a", "points_b"), counts.shape, strict=True))
    return {
        "confusion": {**points, "counts": counts.tolist()},
        "scatter": scatters(arranged.topics, entries)[0],
    }


def _members(arranged: Arranged, kind: Kind, everybody: Sequence[Choice], method: Method) -> dict[str, Any]:
    """Kappa of every two members with a name and a pair in common, MOST_TWOS at most; {} without any."""
    several = ("people", "group:")
    named = {pk: each for each in everybody if not each.selector.startswith(several) for pk in each.ids}
    everyone = np.unique(kind.rows.rater).tolist()
    members = [pk for pk in everyone if pk in named]
    rated = np.zeros((len(members), arranged.pairs))
    for line, pk in zip(rated, members, strict=True):
        line[kind.rows.pair[kind.rows.rater == pk]] = 1.0
    common = np.triu(rated @ rated.T, 1)
    one, other = np.nonzero(common)
    chosen = np.argsort(-common[one, other], kind="stable")[:MOST_TWOS]
    if not len(chosen):
        return {}
    twos = np.array(members)[np.stack((one, other), axis=1)[chosen]]
    measure, prompts = every_two(arranged.topics, kind.rows, twos)
    (samples,) = resample([measure], method.rounds or 1, method.seed)
    value, rounds = measure.estimate[0].reshape(3, -1), samples[0].reshape(3, len(twos), -1)
    names, shares = ("kappa", "kappa_verdict", "exact"), np.array([[1.0], [1.0], [2.0]])
    low, high = z_intervals(
        value * shares - shares + 1.0,
        rounds * shares[..., None] - shares[..., None] + 1.0,
        prompts,
        method.interval,
    )
    low, high = ((ends - 1.0) / shares + 1.0 for ends in (low, high))
    columns = {
        "pairs": common[one, other][chosen].astype(int).tolist(),
        "prompts": prompts.astype(int).tolist(),
        **{
            name: [Estimate(*each) for each in ends.T.tolist()]
            for name, ends in zip(names, np.stack((value, low, high), axis=1), strict=True)
        },
        "kappa_alike": is_alike(value[0], rounds[0]).tolist(),
    }
    rows = [
        _named(named[first], named[second]) | dict(zip(columns, row, strict=True))
        for (first, second), *row in zip(twos.tolist(), *columns.values(), strict=True)
    ]
    return {"twos": rounded(rows), "twos_in_common": len(one), "unlisted": len(everyone) - len(members)}


TWO: Final = OnDemand.one(Scope.TWO, parse_for_two, two_table)
