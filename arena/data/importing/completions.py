"""Taking in completions: new ones, filled-in ones and new versions."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from arena.data.formats.records import CompletionRecord, ContestantRecord
from arena.data.importing.columns import Places, assign, fits
from arena.data.importing.contestants import Contestants
from arena.data.importing.prompts import Prompts
from arena.data.importing.report import ImportReport
from arena.models import Completion, Pair, Study
from arena.texts.naming import SelfNamingWatch

Owner: TypeAlias = int | str
"""Whose a completion is: the contestant's id, or the completion's own id where it has no contestant."""

Cell: TypeAlias = tuple[int, Owner]
"""Prompt and owner of a completion, of whatever version."""


def digest_of(turns: Sequence[str]) -> str:
    """SHA-256 of the turns as canonical JSON, in hexadecimal."""
    canonical = json.dumps(list(turns), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def is_empty(turns: Sequence[str]) -> bool:
    """Whether a known text has nothing in it but white space."""
    return bool(turns) and not any(turn.strip() for turn in turns)


@dataclass
class _Batch:
    """What a chunk of records comes to."""

    new: dict[Cell, Completion] = field(default_factory=dict)
    changed: list[Completion] = field(default_factory=list)
    rewritten: list[tuple[Cell, Completion, CompletionRecord, list[str]]] = field(default_factory=list)
    """Completions with another text: what is known, what is said now, and the words that tell its author."""


class Completions:
    """The current completions of a study by cell, while an import runs."""

    def __init__(
        self, study: Study, contestants: Contestants, prompts: Prompts, report: ImportReport
    ) -> None:
        self._contestants = contestants
        self._prompts = prompts
        self._report = report
        self._counts = report.counts["completions"]
        current = Completion.objects.filter(prompt__study=study, is_current=True).order_by()
        rows = current.values_list("prompt", "contestant", "external_id", "pk")
        self._ids: dict[Cell, int] = {
            (prompt, external_id if contestant is None else contestant): pk
            for prompt, contestant, external_id, pk in rows.iterator(chunk_size=5000)
        }
        self._places = Places()
        self._watch = SelfNamingWatch(report.self_naming)

    def find(self, prompt: int, contestant: int) -> int | None:
        """The id of the contestant's current completion."""
        return self._ids.get((prompt, contestant))

    def take(self, records: list[CompletionRecord]) -> None:
        """Add completions; a changed text is a new version once a pair with the old one exists."""
        self._introduce_contestants(records)
        cells = self._cells(records)
        stored = self._stored(cells)
        batch = _Batch()
        for cell, record in cells.items():
            known = stored.get(self._ids.get(cell, 0))
            telling = self._watch.look(record, self._contestants.get(record.contestant))
            self._counts.empty += is_empty(record.turns) and not (known and record.implied)
            if known is None:
                batch.new[cell] = self._made(cell, record, telling)
            else:
                self._compare(cell, known, record, telling, batch)
        self._write(batch)

    def _introduce_contestants(self, records: list[CompletionRecord]) -> None:
        """Make the contestants that only completions name, unless the import lists its contestants."""
        if not self._contestants.may_appear():
            return
        named: dict[str, CompletionRecord] = {}
        for record in records:
            if record.contestant and self._contestants.find(record.contestant) is None:
                named.setdefault(record.contestant, record)
        self._contestants.take(
            [ContestantRecord(name=name, implied=True, place=record.place) for name, record in named.items()]
        )
        for name, record in named.items():
            if not record.implied:
                self._report.note(record.place, f'new contestant "{name}", named by a completion only')

    def _cells(self, records: list[CompletionRecord]) -> dict[Cell, CompletionRecord]:
        """The records by cell, those left out that are wrong or only repeat what is known."""
        cells: dict[Cell, CompletionRecord] = {}
        for record in records:
            cell = self._cell(record)
            if cell is None or (record.implied and self._adds_nothing(record, cell, cells.get(cell))):
                continue
            ok = fits(self._report, record.place, Completion, record, (("id", "external_id"),))
            if not record.implied:
                earlier = self._places.declare(cell, record.place)
                if earlier:
                    who = f'"{record.contestant or record.id}" on prompt "{record.prompt}"'
                    self._report.refuse(record.place, "contestant", f"{who} stands already in {earlier}")
                    ok = False
            if ok:
                cells[cell] = record
        return cells

    def _adds_nothing(self, record: CompletionRecord, cell: Cell, earlier: CompletionRecord | None) -> bool:
        """Whether a completion named in passing is known; a text must agree with what is known of it."""
        if earlier is None:
            return cell in self._ids and not record.turns
        if record.turns and earlier.turns and record.turns != earlier.turns:
            self._refuse_text(record)
        return bool(earlier.turns) or not record.turns or not earlier.implied

    def _refuse_text(self, record: CompletionRecord) -> None:
        who = f'"{record.contestant or record.id}" on prompt "{record.prompt}"'
        self._report.refuse(record.place, "contestant", f"another text of {who} is there already")

    def _cell(self, record: CompletionRecord) -> Cell | None:
        prompt = self._prompts.find(record.subset, record.prompt)
        if prompt is None:
            where = f' in subset "{record.subset}"' if record.subset else ""
            self._report.refuse(record.place, "prompt", f'there is no prompt "{record.prompt}"{where}')
        if record.contestant is None:
            return None if prompt is None else (prompt, record.id)
        contestant = self._contestants.find(record.contestant)
        if contestant is None:
            reason = f'there is no contestant "{record.contestant}"'
            self._report.refuse(record.place, "contestant", reason)
        return None if prompt is None or contestant is None else (prompt, contestant)

    def _stored(self, cells: Iterable[Cell]) -> dict[int, Completion]:
        pks = [self._ids[cell] for cell in cells if cell in self._ids]
        return Completion.objects.defer("turns").in_bulk(pks) if pks else {}

    @staticmethod
    def _made(cell: Cell, record: CompletionRecord, telling: list[str], version: int = 1) -> Completion:
        return Completion(
            prompt_id=cell[0],
            contestant_id=cell[1] if isinstance(cell[1], int) else None,
            external_id=record.id,
            turns=list(record.turns),
            is_empty=is_empty(record.turns),
            digest=digest_of(record.turns),
            version=version,
            extra=dict(record.extra),
            telling=telling,
        )

    def _compare(
        self, cell: Cell, known: Completion, record: CompletionRecord, telling: list[str], batch: _Batch
    ) -> None:
        if record.implied and known.digest != digest_of(()):
            if known.digest != digest_of(record.turns):
                self._refuse_text(record)
            return
        changed = assign(known, self._said(known, record))
        # An unknown text never replaces a known one.
        if record.turns and digest_of(record.turns) != known.digest:
            batch.rewritten.append((cell, known, record, telling))
        elif changed:
            batch.changed.append(known)
        else:
            self._counts.unchanged += 1

    @staticmethod
    def _said(known: Completion, record: CompletionRecord) -> dict[str, Any]:
        return {"external_id": record.id or None, "extra": {**known.extra, **record.extra}}

    def _write(self, batch: _Batch) -> None:
        pairless = self._without_pairs([known for _, known, _, _ in batch.rewritten])
        versions: dict[Cell, Completion] = {}
        outdated: list[int] = []
        filled: list[Completion] = []
        unknown = digest_of(())
        text = ("turns", "is_empty", "digest", "telling")
        for cell, known, record, telling in batch.rewritten:
            if known.pk in pairless or known.digest == unknown:
                values = self._made(cell, record, telling)
                for name in text:
                    setattr(known, name, getattr(values, name))
                filled.append(known)
            else:
                versions[cell] = self._made(cell, record, telling, known.version + 1)
                outdated.append(known.pk)
        Completion.objects.filter(pk__in=outdated).update(is_current=False)
        made = batch.new | versions
        Completion.objects.bulk_create(made.values())
        columns = ["external_id", "extra"]
        Completion.objects.bulk_update(batch.changed, columns, batch_size=100)
        Completion.objects.bulk_update(filled, [*columns, *text], batch_size=100)
        self._ids |= {cell: completion.pk for cell, completion in made.items()}
        self._counts.added += len(batch.new)
        self._counts.versions += len(versions)
        self._counts.updated += len(batch.changed) + len(filled)

    @staticmethod
    def _without_pairs(completions: list[Completion]) -> set[int]:
        """Those of which no pair was ever made, so that nobody can have seen them."""
        pks = {completion.pk for completion in completions}
        if not pks:
            return pks
        pairs = Pair.objects.order_by()
        firsts = pairs.filter(first__in=pks).values_list("first", flat=True)
        seconds = pairs.filter(second__in=pks).values_list("second", flat=True)
        return pks - set(firsts) - set(seconds)
