"""The tables of features held against opinions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

from arena.models import CompletionFeature, Study
from leaderboard.answers.asked import FEATURES, Known
from leaderboard.answers.features.content import CHOSEN, Asked, Bridge, bridges, every_quality
from leaderboard.answers.features.from_traces import measure_missing
from leaderboard.answers.features.reading import TURNS, WHOLE, Quality
from leaderboard.answers.scores.reading import ScoreRows
from leaderboard.answers.stored.texts import text_opinions_of
from leaderboard.snapshots.canonical import Table
from leaderboard.snapshots.copying import Payloads, digest, kept
from leaderboard.snapshots.declarations import OnDemand, Request, SnapshotOutdatedError
from leaderboard.snapshots.reading import Opinions
from leaderboard.snapshots.settings import Scope


@dataclass(frozen=True, eq=False)
class FeatureTables:
    """``bridges`` are of whole answers, or turns. What is ``known`` is copied, and grows."""

    bridges: Sequence[Bridge]
    known: Payloads

    def counts(self) -> dict[str, Any]:
        """What readers choose from; a value counts once, whether or not its turn has figures of its own."""
        turns = {each.measured.turn for each in self.bridges}
        once = turns & {WHOLE, TURNS} if TURNS in turns else turns
        given = sum(each.measured.given for each in self.bridges if each.measured.turn in once)
        models = sorted(set().union(*(each.measured.measured_models for each in self.bridges)))
        return asdict(Known(self._raters, features=self._features, given=given, models=models))

    @cached_property
    def _features(self) -> list[dict[str, str]]:
        found = [one for each in self.bridges for one in each.measured.values]
        names = list(dict.fromkeys(one.name for one in found))
        return [
            {
                "feature": one.name,
                "variant": one.variant,
                "source": one.source,
                "turn": one.turn,
                "label": one.label,
            }
            for one in sorted(found, key=lambda one: names.index(one.name))
        ]

    @property
    def _raters(self) -> list[dict[str, Any]]:
        first: dict[str, str] = {}
        found = []
        for each in self._qualities.values():
            same = first.setdefault(self._digest(each.key), each.key)
            entry = {"selector": each.key, "label": each.label, "simulated": each.simulated}
            found.append(entry | {"same_as": None if same == each.key else same})
        return found

    @cached_property
    def _qualities(self) -> dict[str, Quality]:
        return every_quality(self.bridges)

    def tables(self) -> Iterator[Table]:
        """By each kind of raters a line about every feature, and all about the first one."""
        for key in self._qualities:
            yield from self.tables_at(Asked(key))

    def tables_at(self, asked: Asked) -> Iterator[Table]:
        """What an address asks for."""
        quality, series = self._qualities[asked.raters], asked.series(self._features)
        about = next(each for each in self.bridges if each.measured.turn == series.turn)
        said = self._digest(quality.key)
        inputs = digest([FEATURES, said])
        payload = kept(self.known, inputs, lambda: self._summaries(quality))
        yield Table(FEATURES, quality.key, payload, inputs=inputs)
        label, own = ranking = about.said.ranking(quality)
        inputs = digest([FEATURES, CHOSEN, series, label, own.digest, said, asked.model])
        payload = kept(self.known, inputs, lambda: about.worth(series, quality).shown(ranking, asked.model))
        yield Table(FEATURES, quality.key, payload, method=CHOSEN, inputs=inputs)

    def _summaries(self, quality: Quality) -> dict[str, Any]:
        told = [each for each in self.bridges if quality.key in each.qualities]
        return {
            "features": [each.worth(one, quality).summary() for each in told for one in each.measured.values]
        }

    def _digest(self, key: str) -> str:
        """Of all features, and what these raters said."""
        said = [each.qualities[key] for each in self.bridges if key in each.qualities]
        arrays = [
            array
            for each in said
            for array in (each.value, each.opinions, each.first, each.second, each.preference)
        ]
        return digest([self._digest_of_features], *arrays)

    @cached_property
    def _digest_of_features(self) -> str:
        return digest([_digest_of(each) for each in self.bridges])


def _digest_of(bridge: Bridge) -> str:
    found, answers = bridge.measured, bridge.measured.answers
    words = [answers.names, list(found.values), sorted(found.computed)]
    arrays = answers.ids, answers.turn, answers.contestant, answers.prompt, answers.length
    return digest(words, *arrays, *found.values.values())


def feature_tables(
    study: Study, opinions: Opinions, scores: ScoreRows | None, known: Payloads
) -> FeatureTables | None:
    """None where no answer has features."""
    measure_missing(study)
    if not CompletionFeature.objects.of(study).exists():
        return None
    found = bridges(study, opinions, scores)
    return FeatureTables(found, known) if found else None


def _tables(request: Request) -> Iterator[Table]:
    """Raises SnapshotOutdatedError."""
    given = text_opinions_of(request.snapshot)
    found = given and feature_tables(request.study, request.opinions, given.rows, request.known)
    if not found:
        raise SnapshotOutdatedError
    return found.tables_at(request.setting)


FEATURES_ON_DEMAND: Final = OnDemand(
    Scope.FEATURES, lambda wanted, counts: Asked.of(wanted, Known.of(counts, FEATURES)), _tables
)
