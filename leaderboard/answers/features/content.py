"""What features are worth, as ``correlate`` prints it and pages show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self

import numpy as np

from arena.models import Study
from arena.rules.feature_names import Named, Variant
from leaderboard.answers.asked import FEWEST, AskedOfAnswers, Known, NoOpinionsError
from leaderboard.answers.features.reading import TURNS, WHOLE, Measured, Quality, Said, Series, measured
from leaderboard.answers.scores.reading import ScoreRows
from leaderboard.pages.rater_kinds.choices import one_of
from leaderboard.snapshots.reading import Opinions
from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.checks import BoolArray, FloatArray, NoGamesError
from leaderboard.stats.clustered_means import mean_over_prompts
from leaderboard.stats.feature_worth import by_decile, feature_correlation, pair_accuracy
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.pointwise_standings import orders_agree

Content = dict[str, Any]

CHOSEN: Final = "chosen"
"""Method of the table of the feature that an address asks for."""

MOST_DRAWN: Final = 1000
"""Answers of a scatter."""

MOST_LISTED: Final = 20
"""Answers of the list of those that a feature finds weakest."""

NO_SCALE: Final = "probabilities of different models have no common scale: look at each model"


@dataclass(frozen=True)
class Asked(AskedOfAnswers):
    """Whose opinions, by the key of a Quality, and which feature; what is empty means the first there is.

    ``model``: of which model the weakest answers are listed; of all, if empty.
    """

    feature: str = ""
    variant: str = ""
    source: str = ""
    turn: str = ""
    model: str = ""

    @classmethod
    def of(cls, wanted: Mapping[str, str], known: Known) -> Self:
        """Raises UnknownSettingError."""
        raters = known.selectors
        found = cls(one_of(wanted, "raters", raters, raters[0] if raters else ""))
        for field in FIELDS:
            values = found.offered(known.features, field)
            value = one_of(wanted, field, values, values[0] if values else "")
            found = replace(found, **{field: value if values and value != values[0] else ""})
        return replace(found, model=one_of(wanted, "model", known.models, ""))

    def offered(self, features: Sequence[Mapping[str, str]], field: str) -> list[str]:
        """What there is to choose of a field, by what is chosen of those before it."""
        left: Sequence[Mapping[str, str]] = features
        for before in FIELDS[: FIELDS.index(field)]:
            left = [each for each in left if each[before] == (getattr(self, before) or left[0][before])]
        # Snapshots of old know of whole answers alone.
        return list(dict.fromkeys(each.get(field, WHOLE) for each in left))

    def series(self, features: Sequence[Mapping[str, str]]) -> Series:
        name, variant, *rest = (getattr(self, each) or self.offered(features, each)[0] for each in FIELDS)
        return Series(name, Variant(variant), *rest)


FIELDS: Final = ("feature", "variant", "source", "turn")


class NoFeatureError(ValueError):
    """There is nothing of what was asked for; the message says what there is."""


@dataclass(frozen=True, eq=False)
class Worth:
    """A feature held against what some raters said of the same answers."""

    measured: Measured
    series: Series
    quality: Quality
    level: float = 95.0

    @cached_property
    def _value(self) -> FloatArray:
        return self.measured.values[self.series]

    @cached_property
    def _shared(self) -> BoolArray:
        return ~np.isnan(self._value) & ~np.isnan(self.quality.value)

    def __len__(self) -> int:
        """Answers that have both."""
        return int(self._shared.sum())

    def summary(self) -> Content:
        """Over all answers."""
        return {
            "feature": feature_entry(self.series, self.measured),
            "opinions": int(self.quality.opinions[self._shared].sum()),
            "correlation": self._correlation(self._shared),
            "pairs": self._pairs(),
        }

    def _correlation(self, chosen: BoolArray) -> Content:
        found = feature_correlation(
            self._value[chosen],
            self.quality.value[chosen],
            self.measured.answers.prompt[chosen],
            self.level,
        )
        return found.as_dict()

    def _pairs(self) -> Content:
        """How often the feature picks the answer of a pair that these raters prefer."""
        first, second, preference = self.quality.first, self.quality.second, self.quality.preference
        more = self.series.direction * (self._value[first] - self._value[second])
        length = self.measured.answers.length
        longer = length[first] - length[second]
        known = ~np.isnan(more) & ~np.isnan(longer)
        prompt = self.measured.answers.prompt[first]
        return pair_accuracy(
            more[known], longer[known], preference[known], prompt[known], self.level
        ).as_dict()

    def told(self, ranking: tuple[str, Opinions]) -> Content:
        """Over all answers, for each model, and how the models stand by their means and by a ranking."""
        standings = self.standings()
        return {
            **self.summary(),
            "contestants": list(self._contestants()),
            "standings": standings,
            "order": self._order(*ranking, standings),
        }

    def _contestants(self) -> Iterator[Content]:
        """Of each model's answers by themselves."""
        for number, name in enumerate(self.measured.answers.names):
            own = self._shared & (self.measured.answers.contestant == number)
            if own.any():
                yield {
                    "contestant": name,
                    "opinions": int(self.quality.opinions[own].sum()),
                    "correlation": self._correlation(own),
                }

    def standings(self) -> list[Content]:
        """The mean of the feature over all answers of each model; those expected to be better first."""
        answers, found = self.measured.answers, []
        for number, name in enumerate(answers.names):
            own = (answers.contestant == number) & ~np.isnan(self._value)
            if own.any():
                mean = mean_over_prompts(self._value[own], answers.prompt[own], self.level)
                row = {"contestant": name, "n": mean.n, "prompts": mean.prompts, "mean": mean.estimate}
                found.append(rounded(row))
        return sorted(found, key=lambda each: (-self.series.direction * each["mean"], each["contestant"]))

    def _order(self, label: str, opinions: Opinions, standings: Sequence[Content]) -> Content | None:
        """How far that order is the order by pairs; None where fewer than two models have both."""
        strength = strengths(opinions)
        shared = [each for each in standings if each["contestant"] in strength]
        if len(shared) < 2:
            return None
        means = np.array([self.series.direction * each["mean"] for each in shared])
        scores = np.array([strength[each["contestant"]] for each in shared])
        found = orders_agree(means, scores)
        return {
            "label": label,
            "n": found.n,
            **rounded({"spearman": found.spearman.value, "kendall": found.kendall.value}),
            "ratings": rounded({each["contestant"]: strength[each["contestant"]] for each in shared}),
        }

    def shown(self, ranking: tuple[str, Opinions], model: str = "") -> Content:
        """All that the page shows of a feature; ``model``: whose weakest answers."""
        return {
            **self.told(ranking),
            "level": self.level,
            "deciles": self.deciles(),
            "weakest": self.weakest(model),
            "models": list(self.measured.answers.names),
            "points": self.drawn(),
        }

    def deciles(self) -> list[Content]:
        chosen = self._shared
        columns = self._value[chosen], self.quality.value[chosen], self.measured.answers.prompt[chosen]
        return [each.as_dict() for each in by_decile(*columns, level=self.level)]

    def drawn(self) -> list[list[Any]]:
        """Value, quality and model of answers; of many, those at even steps in the order of values."""
        places = np.flatnonzero(self._shared)
        places = places[np.argsort(self._value[places], kind="stable")]
        if len(places) > MOST_DRAWN:
            places = places[np.linspace(0, len(places) - 1, MOST_DRAWN).round().astype(np.int64)]
        columns = self._value[places], self.quality.value[places], self.measured.answers.contestant[places]
        return [rounded(point) for point in zip(*(each.tolist() for each in columns), strict=True)]

    def weakest(self, model: str = "") -> list[Content]:
        """Those with the worst values first, of one model or all, whether or not raters said something.

        None where nothing is expected of better answers.
        """
        if self.series.higher_is_better is None:
            return []
        answers, value = self.measured.answers, self.series.direction * self._value
        if model:
            value = np.where(answers.contestant == answers.names.index(model), value, np.nan)
        places = np.argsort(value, kind="stable")[: min(MOST_LISTED, int((~np.isnan(value)).sum()))]
        return [
            {
                "text": int(answers.ids[place]),
                "turn": int(answers.turn[place]),
                "contestant": answers.names[answers.contestant[place]],
                "value": rounded(float(self._value[place])),
                "quality": rounded(float(self.quality.value[place])),
            }
            for place in places.tolist()
        ]


def strengths(opinions: Opinions) -> dict[str, float]:
    """Bradley-Terry strengths of the models in the largest group that comparisons connect."""
    players = opinions.present()
    try:
        fit = bradley_terry(players.ratings().games(ties=True))
    except NoGamesError:
        return {}
    largest = np.bincount(fit.component).argmax()
    return {
        name: float(rating)
        for name, rating, component in zip(players.names, fit.rating, fit.component, strict=True)
        if component == largest
    }


def feature_entry(series: Series, measured: Measured) -> Content:
    """``higher_is_better`` is None where nobody says; then pairs and models are told by higher values."""
    named = Named.read(series.name)
    return {
        "name": series.name,
        "variant": series.variant,
        "source": series.source,
        "turn": series.turn,
        "label": series.whole_label,
        "bound": bool(named.end),
        "computed": series in measured.computed,
        "higher_is_better": series.higher_is_better,
    }


def seal(content: Mapping[str, Any]) -> Content:
    """What everybody may see while people rate: nothing of single answers, few opinions, or lengths.

    Raises NoOpinionsError.
    """
    if content["opinions"] < FEWEST:
        raise NoOpinionsError(
            f"fewer than {FEWEST} opinions are given of answers with this feature; until the study closes, "
            "the numbers stay hidden"
        )
    return {
        **content,
        "contestants": [each for each in content["contestants"] if each["opinions"] >= FEWEST],
        "features": [{**each, "pairs": None} for each in content["features"] if each["opinions"] >= FEWEST],
        "pairs": None,
        "deciles": [],
        "weakest": [],
        "points": [],
    }


@dataclass(frozen=True, eq=False)
class Bridge:
    """Features, and what raters said, of whole answers or of turns."""

    measured: Measured
    said: Said

    @cached_property
    def qualities(self) -> dict[str, Quality]:
        return {each.key: each for each in self.said.qualities()}

    def worth(self, series: Series, quality: Quality) -> Worth:
        """``quality`` may be that of other turns by the same raters."""
        own = self.qualities.get(quality.key) or self.said.none(quality)
        return Worth(self.measured, series, own)


def bridges(study: Study, opinions: Opinions, scores: ScoreRows | None) -> list[Bridge]:
    """Those of whole answers, of all turns and of each, as far as there are features."""
    return [Bridge(each, Said(each.answers, opinions, scores, each.turn)) for each in measured(study)]


def every_quality(known: Iterable[Bridge]) -> dict[str, Quality]:
    """One of each kind of raters, whatever it is about."""
    found: dict[str, Quality] = {}
    for each in known:
        found |= {key: one for key, one in each.qualities.items() if key not in found}
    return found


def chosen_series(
    known: Sequence[Bridge], feature: str, variant: str = "", source: str | None = None, turn: str = ""
) -> list[tuple[Bridge, Series]]:
    """Each variant, source and turn of a feature, or of all, or those asked for. Raises NoFeatureError."""
    everything = [(each, one) for each in known for one in each.measured.values]
    named = [(each, one) for each, one in everything if feature in ("", one.name)]
    if not named:
        there = ", ".join(dict.fromkeys(one.name for _, one in everything))
        raise NoFeatureError(
            f'no answer has a feature "{feature[:100]}"; there are {there}'
            if feature and there
            else "no answer has features"
        )
    found = [
        (each, one)
        for each, one in named
        if variant in ("", one.variant) and source in (None, one.source) and turn in ("", one.turn)
    ]
    if not found:
        there = "; ".join(dict.fromkeys(_described(one) for _, one in named))
        none = f"{feature} has no" if feature else "no feature has"
        raise NoFeatureError(f"{none} values of this variant, source and turn; there are {there}")
    return found


def _described(series: Series) -> str:
    about = {WHOLE: "", TURNS: " of all turns"}.get(series.turn, f" of turn {series.turn}")
    return f'{series.variant} from "{series.source}"{about}' if series.source else f"{series.variant}{about}"


def chosen_quality(known: Sequence[Bridge], key: str) -> Quality:
    """Raises NoFeatureError."""
    said = every_quality(known)
    if key in said:
        return said[key]
    there = ", ".join(said) or "nobody"
    whole = any(each.measured.turn == WHOLE for each in known)
    turns = "" if whole else " (these have features of single turns, and pairs are of whole answers)"
    raise NoFeatureError(
        f'no raters "{key[:140]}" said anything of these answers{turns}; those who did: {there}'
    )


def as_printed(
    study: str,
    known: Sequence[Bridge],
    feature: str,
    key: str,
    variant: str = "",
    source: str | None = None,
    turn: str = "",
) -> Content:
    """The figures of the command, for each variant, source and turn asked for. Raises NoFeatureError."""
    series = chosen_series(known, feature, variant, source, turn)
    quality = chosen_quality(known, key)
    found = [(each.said, each.worth(one, quality)) for each, one in series if key in each.qualities]
    if not any(len(worth) for _, worth in found):
        raise NoFeatureError(f"no answer has both {feature or 'a feature'} and an opinion of {key}")
    return {
        "study": study,
        "label": quality.label,
        "simulated": quality.simulated,
        "parameters": {"feature": feature or None, "with": key, "level": found[0][1].level},
        "features": [worth.told(said.ranking(quality)) for said, worth in found],
    }
