"""Making pairs where comparisons or gold labels need them, and giving them their gold labels."""

from collections.abc import Iterable
from typing import Final

from arena.data.formats.records import GoldRecord
from arena.data.importing.columns import assign, fits
from arena.data.importing.report import ImportReport
from arena.data.importing.sides import SideFinder, Sides
from arena.models import Pair

_COUNTED_AS: Final = {None: "gold labels", "train": "training pairs", "check": "hidden checks"}
_TURNED: Final = {"first": "second", "tie": "tie", "second": "first"}


class Pairs:
    """The pairs of a study, while an import runs."""

    def __init__(self, sides: SideFinder, report: ImportReport) -> None:
        self._sides = sides
        self._report = report

    def made(self, wanted: Iterable[Sides]) -> dict[tuple[int, int], int]:
        """The ids of these pairs by completion ids in ascending order; missing pairs are made."""
        prompts = {sides.key: sides.prompt for sides in wanted}
        if not prompts:
            return {}
        found = Pair.objects.filter(
            first__in={first for first, _ in prompts}, second__in={second for _, second in prompts}
        )
        pairs = {
            (first, second): pk for first, second, pk in found.order_by().values_list("first", "second", "pk")
        }
        made = Pair.objects.bulk_create(
            Pair(prompt_id=prompt, first_id=key[0], second_id=key[1])
            for key, prompt in prompts.items()
            if key not in pairs
        )
        self._report.counts["pairs"].added += len(made)
        return pairs | {(pair.first_id, pair.second_id): pair.pk for pair in made}

    def take(self, records: list[GoldRecord]) -> None:
        """Give pairs their gold labels. A pair has one label; another one is an error."""
        if not records:
            return
        self._sides.prepare(records)
        labelled = [
            (record, sides)
            for record in records
            if fits(self._report, record.place, Pair, record, (("source", "gold_source"),))
            and (sides := self._sides.find(record))
        ]
        ids = self.made(sides for _, sides in labelled)
        pairs = Pair.objects.in_bulk(set(ids.values()))
        changed: dict[int, Pair] = {}
        for record, sides in labelled:
            pair = pairs[ids[sides.key]]
            if self._label(pair, record, swapped=sides.swapped):
                changed[pair.pk] = pair
        columns = ["gold", "gold_source", "use", "explanation"]
        Pair.objects.bulk_update(changed.values(), columns, batch_size=100)

    def _label(self, pair: Pair, record: GoldRecord, *, swapped: bool) -> bool:
        """Set the pair's label if it has none, and what it is for; returns whether anything changed."""
        gold = _TURNED[record.gold] if swapped else record.gold
        said = {"use": record.use, "explanation": record.explanation}
        counts = self._report.counts[_COUNTED_AS[record.use]]
        if not pair.gold:
            assign(pair, {"gold": gold, "gold_source": record.source, **said})
            counts.added += 1
            return True
        if pair.gold == gold:
            changed = assign(pair, said)
            counts.updated += changed
            counts.unchanged += not changed
            return changed
        earlier = _TURNED[pair.gold] if swapped else pair.gold
        reason = f'"{record.gold}" contradicts "{earlier}", the label of this pair by "{pair.gold_source}"'
        self._report.refuse(record.place, "gold", reason)
        return False
