"""Taking in prompts and their references."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Exists, OuterRef

from arena.data.formats.records import PromptRecord, ReferenceRecord
from arena.data.importing.columns import Places, assign, fits
from arena.data.importing.report import ImportReport
from arena.models import Pair, Prompt, Reference, Study

Key = tuple[str, str]
"""Subset and external id of a prompt."""

_COLUMNS = ("category", "domain", "input")


class Prompts:
    """The prompts of a study by subset and external id, while an import runs."""

    def __init__(self, study: Study, report: ImportReport) -> None:
        self._study = study
        self._report = report
        self._counts = report.counts["prompts"]
        rows = study.prompts.values_list("subset", "external_id", "pk")
        self._ids: dict[Key, int] = {(subset, external_id): pk for subset, external_id, pk in rows}
        self._places = Places()

    def find(self, subset: str, external_id: str) -> int | None:
        """The id of the prompt in the table."""
        return self._ids.get((subset, external_id))

    def take(self, records: list[PromptRecord]) -> None:
        """Add and update prompts. The text of a prompt that was paired already never changes."""
        wanted = self._wanted(records)
        known = self._known(wanted)
        new = {key: self._made(record) for key, record in wanted.items() if key not in self._ids}
        changed = []
        for key, record in wanted.items():
            prompt = known.get(key)
            if prompt is None:
                continue
            if record.implied and prompt.turns:
                self._check_text(record, prompt.turns)
                self._counts.updated += not self._same_references(prompt, record)
                continue
            if not self._may_change(prompt, record):
                continue
            if self._update(prompt, record):
                changed.append(prompt)
            elif self._same_references(prompt, record):
                self._counts.unchanged += 1
            else:
                self._counts.updated += 1
        Prompt.objects.bulk_create(new.values())
        Prompt.objects.bulk_update(changed, ["turns", *_COLUMNS, "extra"], batch_size=100)
        self._ids |= {key: prompt.pk for key, prompt in new.items()}
        self._counts.added += len(new)
        self._counts.updated += len(changed)
        self._store_references(wanted)

    def _wanted(self, records: list[PromptRecord]) -> dict[Key, PromptRecord]:
        """The records by key, those left out that are wrong or only repeat what is known."""
        wanted: dict[Key, PromptRecord] = {}
        for record in records:
            key = (record.subset, record.id)
            says_more = record.turns or record.references or not record.implied
            if not says_more and (key in wanted or key in self._ids):
                continue
            if self._refused(record):
                continue
            earlier = wanted.get(key)
            wanted[key] = self._joined(earlier, record) if earlier and record.implied else record
        return wanted

    def _joined(self, earlier: PromptRecord, record: PromptRecord) -> PromptRecord:
        """What two records say of a prompt, of which the second one names it in passing."""
        self._check_text(record, earlier.turns)
        turns, references = earlier.turns or record.turns, (*earlier.references, *record.references)
        return replace(earlier, turns=turns, references=references)

    def _check_text(self, record: PromptRecord, known: Sequence[str]) -> None:
        """The text of a prompt that is named in passing must agree with what is known of it."""
        if known and record.turns and list(record.turns) != list(known):
            reason = f'another text of prompt "{record.id}" is there already'
            self._report.refuse(record.place, "turns", reason)

    def _refused(self, record: PromptRecord) -> bool:
        names = ("subset", "category", "domain", ("id", "external_id"))
        ok = fits(self._report, record.place, Prompt, record, names)
        for reference in record.references:
            ok &= fits(self._report, record.place, Reference, reference, ("author",))
        if not record.implied:
            earlier = self._places.declare((record.subset, record.id), record.place)
            if earlier:
                self._report.refuse(record.place, "id", f'"{record.id}" stands already in {earlier}')
                ok = False
        return not ok

    def _known(self, wanted: dict[Key, PromptRecord]) -> dict[Key, Prompt]:
        """The prompts that exist already, each with ``paired`` and its references."""
        pks = [self._ids[key] for key in wanted if key in self._ids]
        if not pks:
            return {}
        rows = Prompt.objects.filter(pk__in=pks).prefetch_related("references")
        rows = rows.annotate(paired=Exists(Pair.objects.filter(prompt=OuterRef("pk"))))
        return {(prompt.subset, prompt.external_id): prompt for prompt in rows}

    def _made(self, record: PromptRecord) -> Prompt:
        prompt = Prompt(study=self._study, external_id=record.id, subset=record.subset, turns=[])
        self._update(prompt, record)
        return prompt

    @staticmethod
    def _update(prompt: Prompt, record: PromptRecord) -> bool:
        values = {name: getattr(record, name) for name in _COLUMNS}
        # An unknown text never replaces a known one.
        values["turns"] = list(record.turns) or None
        values["extra"] = {**prompt.extra, **record.extra}
        return assign(prompt, values)

    def _may_change(self, prompt: Prompt, record: PromptRecord) -> bool:
        if not prompt.turns or not getattr(prompt, "paired"):  # noqa: B009 - an annotation
            return True
        new_turns = bool(record.turns) and list(record.turns) != prompt.turns
        new_input = record.input is not None and record.input != prompt.input
        if new_turns or new_input:
            name = "turns" if new_turns else "input"
            reason = f'"{record.id}" was rated with another text; a changed prompt needs a new id'
            self._report.refuse(record.place, name, reason)
        return not (new_turns or new_input)

    @staticmethod
    def _same_references(prompt: Prompt, record: PromptRecord) -> bool:
        stored = {reference.author: tuple(reference.turns) for reference in prompt.references.all()}
        return all(stored.get(author) == turns for author, turns in record.references)

    def _store_references(self, wanted: dict[Key, PromptRecord]) -> None:
        said: dict[tuple[int, str], ReferenceRecord] = {}
        for key, record in wanted.items():
            said |= {(self._ids[key], reference.author): reference for reference in record.references}
        rows = [
            Reference(prompt_id=prompt, author=author, turns=list(reference.turns))
            for (prompt, author), reference in said.items()
        ]
        Reference.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["prompt", "author"], update_fields=["turns"]
        )
