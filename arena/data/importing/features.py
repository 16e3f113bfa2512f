"""Imports features of completions."""

from arena.data.formats.records import FeatureRecord, Place
from arena.data.importing.import_report import ImportReport, fits
from arena.data.importing.sides import SideFinder
from arena.features.recording import NewFeature, record_features
from arena.models import CompletionFeature


class Features:
    """Features of answers that are there; another value for a stored one is an error."""

    def __init__(self, sides: SideFinder, report: ImportReport) -> None:
        self._sides = sides
        self._report = report
        self._counts = report.counts["features"]

    def take(self, records: list[FeatureRecord]) -> None:
        self._sides.prepare(records)
        found: list[tuple[NewFeature, FeatureRecord]] = []
        for record in records:
            ok = fits(self._report, record.place, CompletionFeature, record, ("source",))
            side = self._sides.of_text(record)
            if ok and side:
                completion = side[1].completion
                key = (completion, record.turn, record.name, record.variant, record.source)
                found.append((NewFeature(*key, record.value), record))
        self._sides.check_turns((record, feature.completion) for feature, record in found)
        recorded = record_features([feature for feature, _ in found])
        self._counts.added += recorded.added
        self._counts.unchanged += recorded.unchanged
        self._refuse(recorded.contradicting, {feature: record.place for feature, record in found})

    def _refuse(self, contradicting: list[tuple[NewFeature, float]], places: dict[NewFeature, Place]) -> None:
        for feature, stored in contradicting:
            source = f' from "{feature.source}"' if feature.source else ""
            known = f"{stored!r}, the {feature.name} ({feature.variant}) of this answer{source}"
            reason = f"{feature.value!r} contradicts {known}; correct it, or give another source"
            self._report.refuse(places[feature], "value", reason)
