"""How often each judge is right, as ``meta_evaluate`` prints it and pages show it.

Numbers are fractions, None where undefined. A summary of a judge or a baseline has ``subsets`` (the fields of
GoldFigures, and the interval of accuracy), ``groups`` of subsets and ``average``: unweighted means of
them, and sums of counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

import numpy as np

from arena.models import Study
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.declarations import OnDemand
from leaderboard.snapshots.reading import Opinions
from leaderboard.snapshots.settings import (
    LABELS,
    PEOPLE,
    Scope,
    TrustSetting,
    parse_for_trust,
    subsets_in,
)
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.choices import CLASS
from leaderboard.stats.clustered_means import mean_of_shares
from leaderboard.stats.gold import Judged, Part, Rule, intervals, share_of
from leaderboard.stats.gold_baselines import BASELINES, AmongPeople, chance, mean_of_people
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.ranking_method import Method
from leaderboard.trust.matrix import matrix
from leaderboard.trust.measures import AVERAGED, CERTAIN, COUNTS, PUBLIC
from leaderboard.trust.reading import (
    NO_GOLD,
    Gold,
    NothingToJudgeError,
    as_shown,
    of_people,
    people_of,
    prompts_of,
)
from leaderboard.trust.trial import Asked, Known, Trial


def trust(known: Known, read: Opinions, asked: Asked) -> dict[str, Any]:
    """All figures, for JSON. Raises NothingToJudgeError."""
    trial = Trial.of(known, read, asked)
    judges = [
        {
            "judge": slug,
            "label": choice.label,
            "simulated": choice.simulated,
            **({"panel": True} if choice.panel else {}),
            "model": model,
            "protocol": protocol,
            **_summary(trial, number),
        }
        for number, (slug, choice, model, protocol) in enumerate(
            zip(trial.slugs, trial.choices, trial.models, trial.protocols, strict=True)
        )
    ]
    wanted = asked.matrix or asked.base
    return {
        "study": known.study,
        "parameters": _parameters(trial),
        "judges": judges,
        "baselines": [] if asked.sealed else list(_baselines(trial)),
        "lead": _lead(trial, trial.averaged),
        "leads": {name: _lead(trial, subsets) for name, subsets in trial.parts.items()},
        "matrix": matrix(trial) if wanted else None,
    }


def trust_table(study: Study, read: Opinions, setting: TrustSetting, method: Method) -> Table:
    """The table of a page. Its key ``nothing`` says why it is empty."""
    try:
        return known_table(Known.of(study, read, _gold(setting)), read, setting, method)
    except NothingToJudgeError as error:
        return _table({"nothing": str(error)}, setting)


def _gold(setting: TrustSetting) -> Gold:
    return Gold(setting.gold, ties=setting.ties == CLASS)


def known_table(known: Known, read: Opinions, setting: TrustSetting, method: Method) -> Table:
    """The same; a judge must have rated a pair with a right answer."""
    asked = Asked(
        base=setting.base,
        gold=_gold(setting),
        rule=Rule(setting.unscored, setting.ties, setting.published or None, method.seed),
        matrix=True,
        level=method.interval,
        rounds=method.rounds or ROUNDS,
        without=subsets_in(setting.without),
        sealed=bool(setting.sealed),
    )
    try:
        content = trust(known, read, asked)
    except NothingToJudgeError as error:
        content = {"nothing": str(error)}
    return _table(content, setting)


def _table(content: Mapping[str, Any], setting: TrustSetting) -> Table:
    return Table("trust", "", canonical(content), method=setting.sealed)


def labelled(study: Study, read: Opinions) -> Known | None:
    """What a study knows of right answers by labels; None without any, or without a judge."""
    try:
        return Known.of(study, read, Gold())
    except NothingToJudgeError:
        return None


def _parameters(trial: Trial) -> dict[str, Any]:
    asked, own = trial.asked, trial.instances
    return {
        "gold": asked.gold.source,
        **({} if asked.gold.source == LABELS else {"least": asked.gold.least}),
        **asdict(asked.rule),
        "sealed": asked.sealed,
        "base": asked.base or None,
        "level": asked.level,
        "rounds": asked.rounds,
        "instances": len(own.pair),
        "ties_left_out": own.tied,
        "too_few_people": own.too_few,
        "subsets": {name: len(gold) for name, gold in zip(own.subsets, trial.golds, strict=True)},
        "prompts": {name: int(of.max()) + 1 for name, of in zip(own.subsets, trial.prompts, strict=True)},
        "not_asked": list(own.not_asked),
        "groups": {name: trial.names(subsets) for name, subsets in trial.groups.items()},
        "averaged": trial.names(trial.averaged),
    }


def _parts(
    trial: Trial, found: Sequence[Mapping[str, Any]], mean: Callable[[Sequence[int]], Mapping[str, Any]]
) -> dict[str, Any]:
    """Figures by subset and their means."""
    return trial.by_part(mean) | {"subsets": dict(zip(trial.instances.subsets, found, strict=True))}


def _mean(found: Iterable[Mapping[str, Any]], name: str) -> float | None:
    values = [each[name] for each in found]
    return None if None in values else rounded(sum(values) / len(values))


def _sum(found: Iterable[Mapping[str, Any]], name: str) -> int | None:
    """None where it is sealed."""
    values = [each[name] for each in found]
    return None if None in values else sum(values)


def _summary(trial: Trial, number: int) -> dict[str, Any]:
    """Figures of a judge, or of one of BASELINES after them."""
    judged = trial.judged[number]
    leanings = [_leanings(trial, own, subset) for subset, own in enumerate(judged)]

    def accuracy(subsets: Sequence[int]) -> dict[str, Any]:
        found = trial.accuracies[number].mean(subsets, trial.asked.level)
        return dict(zip(("accuracy", "low", "high"), rounded(found), strict=True))

    def ends(subsets: Sequence[int]) -> dict[str, Any]:
        found = intervals([judged[subset] for subset in subsets], trial.asked.level)
        for name in leanings[0]:
            parts = [leanings[subset][name] for subset in subsets]
            found[name] = mean_of_shares(parts, trial.asked.level).estimate
        return {key: end for key, end in rounded(found).items() if key not in found}

    def told(figures: dict[str, Any]) -> dict[str, Any]:
        hidden = figures.keys() - PUBLIC if trial.asked.sealed else set()
        return figures | dict.fromkeys(hidden | (CERTAIN if number >= len(trial.choices) else set()))

    found = [
        told(
            own.figures().as_dict()
            | accuracy([subset])
            | {name: rounded(share_of(*part)) for name, part in leanings[subset].items()}
            | ends([subset])
        )
        for subset, own in enumerate(judged)
    ]

    def mean(subsets: Sequence[int]) -> dict[str, Any]:
        values = {each.key: _mean([found[subset] for subset in subsets], each.key) for each in AVERAGED}
        counts = {each.key: _sum([found[subset] for subset in subsets], each.key) for each in COUNTS}
        return told(accuracy(subsets) | values | counts | ends(subsets))

    return _parts(trial, found, mean)


def _leanings(trial: Trial, own: Judged, subset: int) -> dict[str, Part]:
    """By prompt, ``longer``: verdicts for the longer text; ``people``: points by the majority of people."""
    longer, held = trial.longer[subset], trial.held[subset]
    sided = (np.abs(own.verdicts) == 1) & (np.abs(longer) == 1)
    credits = np.where(held == NO_GOLD, np.nan, replace(own, gold=held).credits)
    return {
        "longer": own.part((((own.verdicts == longer) & sided).sum(axis=0), sided.sum(axis=0))),
        "people": own.part((np.nansum(credits, axis=0), (~np.isnan(credits)).sum(axis=0))),
    }


def _baselines(trial: Trial) -> Iterator[dict[str, Any]]:
    for number, name in enumerate(BASELINES, start=len(trial.choices)):
        yield {"baseline": name, **_summary(trial, number)}

    def by_lot(subsets: Sequence[int]) -> dict[str, Any]:
        golds = [trial.golds[subset] for subset in subsets]
        return chance(golds, trial.asked.rule, trial.asked.level).as_dict()

    alone = [by_lot([subset]) for subset in range(len(trial.golds))]
    yield {"baseline": "random", **_parts(trial, alone, by_lot)}
    if trial.read.people:
        yield {"baseline": PEOPLE, **_people(trial)}


def _people(trial: Trial) -> dict[str, Any]:
    """People against each other, named by pseudonyms."""
    source, read, level = trial.asked.gold.source, trial.read, trial.asked.level
    ids = people_of(read, source)
    everybody, found = [], []
    for pairs, gold in zip(trial.instances.comparable, trial.golds, strict=True):
        verdicts, people = of_people(read, ids, pairs)
        said = as_shown(read, ids, pairs, verdicts)
        held = as_shown(read, ids, pairs, gold) if source == LABELS else None
        named = [trial.known.names[pk] for pk in people]
        among = AmongPeople(said, trial.asked.rule, held, prompts_of(read, pairs))
        figures = among.figures(level).as_dict()
        figures["kappas"] = [
            {"one": named[one], "other": named[other], "n": n, **kappa}
            for one, other, n, kappa in figures["kappas"]
        ]
        everybody.append(among)
        found.append(figures)

    def mean(subsets: Sequence[int]) -> dict[str, Any]:
        shares: dict[str, Any] = rounded(mean_of_people([everybody[each] for each in subsets], level))
        return shares

    return _parts(trial, found, mean)


def _lead(trial: Trial, subsets: Sequence[int]) -> dict[str, Any] | None:
    """The most accurate judge, and its lead over the next and over the best baseline; None without one.

    ``equal``: the judges that are right as often. ``alike``: those and others whose difference from it may be
    noise, each by its own interval.
    """
    averages = trial.averages_on(subsets)
    if not (ranking := trial.ranking(subsets)):
        return None
    best, *others = ranking
    judges = len(trial.choices)
    beside = averages[judges:]
    leads = {other: trial.difference(other, best, subsets) for other in others}
    alike = [trial.slugs[other] for other, lead in leads.items() if lead.low is None or lead.low <= 0]
    found: dict[str, Any] = {
        "judge": trial.slugs[best],
        "accuracy": rounded(float(averages[best])),
        "equal": [trial.slugs[other] for other, lead in leads.items() if not rounded(lead.difference)],
        "alike": alike,
    }
    if others:
        found["next"] = {"judge": trial.slugs[others[0]], **trial.named(leads[others[0]])}
    known = np.flatnonzero(~np.isnan(beside))
    if len(known) and not trial.asked.sealed:
        strongest = int(known[np.argmax(beside[known])])
        lead = trial.named(trial.difference(judges + strongest, best, subsets))
        found["baseline"] = {"baseline": BASELINES[strongest], **lead}
    return found


TRUST: Final = OnDemand.one(Scope.TRUST, parse_for_trust, trust_table)
