"""The tables of features held against opinions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from arena.models import CompletionFeature, Study
from leaderboard.features.content import CHOSEN, Asked, Worth
from leaderboard.features.from_traces import measure_missing
from leaderboard.features.reading import Measured, Quality, Said, measured
from leaderboard.scores.reading import ScoreRows
from leaderboard.snapshots.canonical import Table
from leaderboard.snapshots.copying import Payloads, digest, kept
from leaderboard.snapshots.reading import Opinions
from leaderboard.texts.asked import FEATURES, Known


@dataclass(frozen=True, eq=False)
class FeatureTables:
    """What is ``known`` is copied, and grows."""

    measured: Measured
    said: Said
    known: Payloads

    def counts(self) -> dict[str, Any]:
        """What readers choose from."""
        return asdict(Known(self._raters, features=self._features, given=self.measured.given))

    @cached_property
    def _features(self) -> list[dict[str, str]]:
        return [
            {"feature": one.name, "variant": one.variant, "source": one.source, "label": one.label}
            for one in self.measured.values
        ]

    @property
    def _raters(self) -> list[dict[str, Any]]:
        first: dict[str, str] = {}
        found = []
        for each in self._qualities.values():
            same = first.setdefault(self._digest(each), each.key)
            entry = {"selector": each.key, "label": each.label, "simulated": each.simulated}
            found.append(entry | {"same_as": None if same == each.key else same})
        return found

    @cached_property
    def _qualities(self) -> dict[str, Quality]:
        return {each.key: each for each in self.said.qualities()}

    def tables(self) -> Iterator[Table]:
        """By each kind of raters a line about every feature, and all about the first one."""
        for key in self._qualities:
            yield from self.tables_at(Asked(key))

    def tables_at(self, asked: Asked) -> Iterator[Table]:
        """What an address asks for."""
        quality, series = self._qualities[asked.raters], asked.series(self._features)
        inputs = digest([FEATURES, self._digest(quality)])
        payload = kept(self.known, inputs, lambda: self._summaries(quality))
        yield Table(FEATURES, quality.key, payload, inputs=inputs)
        label, own = ranking = self.said.ranking(quality)
        inputs = digest([FEATURES, CHOSEN, series, label, own.digest, self._digest(quality)])
        payload = kept(self.known, inputs, lambda: Worth(self.measured, series, quality).shown(ranking))
        yield Table(FEATURES, quality.key, payload, method=CHOSEN, inputs=inputs)

    def _summaries(self, quality: Quality) -> dict[str, Any]:
        return {"features": [Worth(self.measured, one, quality).summary() for one in self.measured.values]}

    def _digest(self, quality: Quality) -> str:
        found = quality.value, quality.opinions, quality.first, quality.second, quality.preference
        return digest([self._digest_of_features], *found)

    @cached_property
    def _digest_of_features(self) -> str:
        found, answers = self.measured, self.measured.answers
        words = [answers.names, list(found.values), sorted(found.computed)]
        arrays = answers.ids, answers.contestant, answers.prompt, answers.length
        return digest(words, *arrays, *found.values.values())


def feature_tables(
    study: Study, opinions: Opinions, scores: ScoreRows | None, known: Payloads
) -> FeatureTables | None:
    """None where no answer has features."""
    measure_missing(study)
    if not CompletionFeature.objects.of(study).filter(turn=0).exists():
        return None
    found = measured(study)
    return FeatureTables(found, Said(found.answers, opinions, scores), known) if found else None
