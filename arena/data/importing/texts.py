"""Imports contestants, prompts with their references, and completions; stores what models write."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any, Final, TypeAlias

from django.db.models import Exists, Model, OuterRef, Q

from arena.data.formats.non_answers import END_TOKENS, FAILURE, NOTES, THINKING, kept, told_apart
from arena.data.formats.records import (
    AboutPair,
    AboutText,
    CompletionRecord,
    ContestantRecord,
    Place,
    PromptRecord,
    QuestionRecord,
    ReferenceRecord,
)
from arena.data.importing.import_report import ImportReport, Places, assign, fits, is_slug
from arena.models import (
    Answer,
    Assignment,
    Completion,
    CompletionFeature,
    Contestant,
    Pair,
    Prompt,
    Reference,
    Score,
    Study,
)
from arena.models.signals import announce
from arena.texts import asides
from arena.texts.marks import split_thinking, strip_end_tokens
from arena.texts.names import folded, why_not
from arena.texts.self_naming import telling_words
from arena.texts.slugs import free_slug, slug_from
from arena.texts.visible import is_blank

_CONTESTANT_COLUMNS = (
    "kind",
    "family",
    "organisation",
    "licence",
    "size",
    "generation",
    "benchmarks",
    "retired_at",
    "provisional",
)

_ABOUT_ONE: Final[tuple[type[Model], ...]] = (Score, Answer, Assignment, CompletionFeature)
"""What a completion has that would be wrong of another text."""

WRONG_NAME: Final = "names a model that cannot be called so"
OfPrompt: TypeAlias = CompletionRecord | QuestionRecord | AboutPair | AboutText
"""What names its prompt."""

ADD_IT: Final = "add it or correct its"  # what to do about an unknown name


class Contestants:
    def __init__(self, study: Study, report: ImportReport) -> None:
        self._study = study
        self._report = report
        self._counts = report.counts["contestants"]
        self._by_name = {contestant.name: contestant for contestant in study.contestants.all()}
        self._folded = {folded(name): name for name in self._by_name}
        self._slugs = {contestant.slug: contestant.name for contestant in self._by_name.values()}
        self._places = Places(report)
        self._wrong: set[str] = set()  # said once, and of each row that names it
        self._had_some = bool(self._by_name)
        self.are_listed = False
        """Whether the import lists its contestants, so that completions introduce none."""

    def find(self, name: str) -> int | None:
        found = self._by_name.get(name)
        return found.pk if found else None

    def get(self, name: str | None) -> Contestant | None:
        return self._by_name.get(name) if name else None

    def refuse_unknown(self, name: str, place: Place, field: str) -> None:
        """Report a name that no contestant has, unless the report says already what is wrong with it."""
        if name in self._wrong:
            self._report.implicate(place, WRONG_NAME)
        else:
            self._report.refuse(place, field, f'unknown model "{name}"; {ADD_IT} name')

    def take(self, records: list[ContestantRecord]) -> None:
        new: dict[str, Contestant] = {}
        changed: dict[str, Contestant] = {}
        for record in records:
            self.are_listed |= not record.implied
            known = new.get(record.name) or self._by_name.get(record.name)
            if record.implied and record.name in self._wrong:
                self._report.implicate(record.place, WRONG_NAME)
            if record.implied and (known or record.name in self._wrong):
                continue
            if self._refused(record) or (known is None and not self._is_new(record)):
                self._wrong.add(record.name)
                continue
            if known is None:
                new[record.name] = self._made(record)
                if record.implied and self._had_some:
                    self._report.note(
                        record.place, f'adds the model "{record.name}", which the study does not have'
                    )
            elif assign(known, self._values(record, known)):
                changed[record.name] = known
            else:
                self._counts.unchanged += 1
        Contestant.objects.bulk_create(new.values())
        Contestant.objects.bulk_update(
            changed.values(), ["slug", *_CONTESTANT_COLUMNS, "extra"], batch_size=100
        )
        self._by_name |= new
        self._counts.added += len(new)
        self._counts.updated += len(changed)

    def _refused(self, record: ContestantRecord) -> bool:
        names, before = ("name", "slug", *_CONTESTANT_COLUMNS[1:5]), self._report.error_count
        fits(self._report, record.place, Contestant, record, names, _field(record))
        if not record.implied:
            self._places.add(record.name, record.place, "name", f'"{record.name}"')
        if record.slug is not None:
            self._check_slug(record.slug, record)
        return self._report.error_count > before

    def _is_new(self, record: ContestantRecord) -> bool:
        """Whether the name can be one that nobody takes for another."""
        reason = why_not(record.name)
        other = self._folded.setdefault(folded(record.name), record.name)
        if not reason and other != record.name:
            reason = f'looks like the model "{other}"; write the name as there, or choose another'
        if reason:
            self._report.refuse(record.place, _field(record) or "name", reason)
        return not reason

    def _check_slug(self, slug: str, record: ContestantRecord) -> None:
        """Report a short name that cannot be one, or that another model has."""
        if not is_slug(slug):
            reason = f'"{slug}" cannot be a short name: use only letters, digits, - and _'
            self._report.refuse(record.place, "slug", reason)
        elif (owner := self._slugs.get(slug, record.name)) != record.name:
            self._report.refuse(record.place, "slug", f'"{slug}" belongs to the model "{owner}"')

    def _values(self, record: ContestantRecord, known: Contestant) -> dict[str, Any]:
        values = {name: getattr(record, name) for name in ("slug", *_CONTESTANT_COLUMNS)}
        return {**values, "extra": {**known.extra, **record.extra}}

    def _made(self, record: ContestantRecord) -> Contestant:
        contestant = Contestant(study=self._study, name=record.name)
        assign(contestant, self._values(record, contestant))
        contestant.slug = record.slug or free_slug(slug_from(record.name, "contestant"), self._slugs)
        self._slugs[contestant.slug] = record.name
        return contestant


PromptKey = tuple[str, str]  # subset and external id
_PROMPT_COLUMNS = ("category", "domain", "input", "is_private")


class Prompts:
    def __init__(self, study: Study, report: ImportReport) -> None:
        self._study = study
        self._report = report
        self._counts = report.counts["prompts"]
        rows = study.prompts.values_list("subset", "external_id", "pk")
        self._ids: dict[PromptKey, int] = {(subset, external_id): pk for subset, external_id, pk in rows}
        self._places = Places(report)

    def find(self, subset: str, external_id: str) -> int | None:
        return self._ids.get((subset, external_id))

    def named_by(self, record: OfPrompt) -> int | None:
        """Returns the prompt of a record, or None after reporting that it is unknown."""
        prompt = self.find(record.subset, record.prompt)
        if prompt is None:
            self._report.refuse(record.place, "prompt", f"unknown prompt {prompt_name(record)}; {ADD_IT} id")
        return prompt

    def take(self, records: list[PromptRecord]) -> None:
        """Add and update prompts; the text of a prompt that somebody may have rated never changes."""
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
        Prompt.objects.bulk_update(changed, ["turns", "asides", *_PROMPT_COLUMNS, "extra"], batch_size=100)
        self._ids |= {key: prompt.pk for key, prompt in new.items()}
        self._counts.added += len(new)
        self._counts.updated += len(changed)
        self._store_references(wanted)

    def _wanted(self, records: list[PromptRecord]) -> dict[PromptKey, PromptRecord]:
        """The records that are valid and say something new, by key."""
        wanted: dict[PromptKey, PromptRecord] = {}
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
        """A record joined with a later one that names its prompt in passing."""
        self._check_text(record, earlier.turns)
        turns, references = earlier.turns or record.turns, (*earlier.references, *record.references)
        return replace(earlier, turns=turns, references=references)

    def _check_text(self, record: PromptRecord, known: Sequence[str]) -> None:
        """Report a text that differs from the known one."""
        if known and record.turns and list(record.turns) != list(known):
            reason = f'the study or these files have another text of prompt "{record.id}"; use a new id'
            self._report.refuse(record.place, "turns", reason)

    def _refused(self, record: PromptRecord) -> bool:
        names, before = ("subset", "category", "domain", ("id", "external_id")), self._report.error_count
        fits(self._report, record.place, Prompt, record, names)
        for reference in record.references:
            fits(self._report, record.place, Reference, reference, ("author",))
        if not record.implied:
            self._places.add((record.subset, record.id), record.place, "id", f'"{record.id}"')
        return self._report.error_count > before

    def _known(self, wanted: dict[PromptKey, PromptRecord]) -> dict[PromptKey, Prompt]:
        """The stored prompts with ``seen`` and references."""
        pks = [self._ids[key] for key in wanted if key in self._ids]
        if not pks:
            return {}
        rows = Prompt.objects.filter(pk__in=pks).prefetch_related("references")
        own = {"completion__prompt": OuterRef("pk")}
        texts = [Exists(model._default_manager.filter(**own)) for model in _ABOUT_ONE]
        paired = Exists(Pair.objects.filter(prompt=OuterRef("pk")))
        rows = rows.annotate(seen=reduce(or_, texts, Q(paired)))
        return {(prompt.subset, prompt.external_id): prompt for prompt in rows}

    def _made(self, record: PromptRecord) -> Prompt:
        prompt = Prompt(study=self._study, external_id=record.id, subset=record.subset, turns=[])
        self._update(prompt, record)
        return prompt

    @staticmethod
    def _update(prompt: Prompt, record: PromptRecord) -> bool:
        values = {name: getattr(record, name) for name in _PROMPT_COLUMNS}
        # An unknown text never replaces a known one.
        beside = _asides(record)
        further = {name: value for name, value in record.extra.items() if name != asides.NAME or not beside}
        more = {"turns": list(record.turns) or None, "extra": {**prompt.extra, **further}}
        return assign(prompt, values | more | {"asides": beside or None})

    def _may_change(self, prompt: Prompt, record: PromptRecord) -> bool:
        if not prompt.turns or not getattr(prompt, "seen"):  # noqa: B009 - an annotation
            return True
        new_turns = bool(record.turns) and list(record.turns) != prompt.turns
        new_turns |= bool(beside := _asides(record)) and beside != prompt.asides
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

    def _store_references(self, wanted: dict[PromptKey, PromptRecord]) -> None:
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


Owner: TypeAlias = int | str  # the contestant's id, or the completion's own id if it has no contestant
Cell: TypeAlias = tuple[int, Owner]  # prompt and owner of a completion


def _field(record: ContestantRecord) -> str:
    """What the file calls the name of a contestant that it only mentions; else empty."""
    return "contestant" if record.implied else ""


def prompt_name(record: OfPrompt) -> str:
    return f'"{record.prompt}"' + (f' in subset "{record.subset}"' if record.subset else "")


def digest_of(turns: Sequence[str], beside: Sequence[Mapping[str, Any]] = ()) -> str:
    """SHA-256 of the turns, and of asides if there are any, as canonical JSON."""
    said = [*turns, *([list(beside)] if beside else [])]
    canonical = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def is_empty(turns: Sequence[str]) -> bool:
    """Return True if a text is known and nobody sees any of it."""
    return bool(turns) and all(map(is_blank, turns))


_TEXT: Final = ("turns", "asides", "is_empty", "digest", "telling")


def text_of(
    turns: Sequence[str], telling: list[str], beside: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The columns of a completion that hold a text, and what follows from it."""
    values = (list(turns), list(beside), is_empty(turns), digest_of(turns, beside), telling)
    return dict(zip(_TEXT, values, strict=True))


def add_answer(
    prompt: Prompt, contestant: Contestant, turns: Sequence[str], extra: dict[str, Any]
) -> Completion | None:
    """Store a model's answer and have figures computed again; None if there is one with a text already.

    For a transaction that holds the study's lock.
    """
    split = [split_thinking(turn) for turn in turns]
    answers = [strip_end_tokens(answer) for _, answer in split]
    text = text_of(answers, telling_words(contestant, answers))
    known = Completion.objects.filter(prompt=prompt, contestant=contestant, is_current=True).first()
    if known is None:
        known = Completion(prompt=prompt, contestant=contestant)
    elif known.turns:
        return None
    thinking = [thought for thought, _ in split]
    assign(known, {**text, "thinking": thinking if any(thinking) else [], "extra": {**known.extra, **extra}})
    known.save()
    announce([prompt.study])
    return known


_TYPOGRAPHY: Final = str.maketrans("‘’‚“”„«»‐‑‒–—−", '\'\'\'"""""------')


def _in_letters(text: str) -> str:
    """The text without blanks and typography, in which copies of one answer differ."""
    plain = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHY)
    return "".join(plain.split())


def _asides(record: PromptRecord | CompletionRecord) -> list[dict[str, Any]]:
    """What stands beside the turns, as the file gives it among its further fields."""
    return asides.read(record.extra.get(asides.NAME), len(record.turns)) or []


def _kept(record: CompletionRecord) -> dict[str, Any]:
    """The further fields that are stored as they are."""
    return {name: value for name, value in kept(record).items() if name != asides.NAME or not _asides(record)}


def _whose(record: CompletionRecord) -> str:
    return f'"{record.contestant or record.id}" to prompt "{record.prompt}"'


@dataclass
class _Batch:
    new: dict[Cell, Completion] = field(default_factory=dict)
    changed: list[Completion] = field(default_factory=list)
    rewritten: list[tuple[Cell, Completion, CompletionRecord, list[str]]] = field(default_factory=list)
    """Cell, known completion, record with another text, words that tell its author."""


class Completions:
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
        self._places = Places(report)
        self._noted: set[str] = set()

    def find(self, prompt: int, contestant: int) -> int | None:
        return self._ids.get((prompt, contestant))

    def take(self, records: list[CompletionRecord]) -> None:
        """Add completions; a changed text is a new version if somebody may have rated the old one.

        Only what is an answer becomes the text of one.
        """
        self._introduce_contestants(records)
        cells = self._cells(list(map(told_apart, records)))
        stored = self._stored(cells)
        batch = _Batch()
        for cell, record in cells.items():
            known = stored.get(self._ids.get(cell, 0))
            said = (*record.turns, *(each["text"] for each in _asides(record)))
            telling = self._report.self_naming.check(record, said, self._contestants.get(record.contestant))
            if not (known and record.implied):
                self._count(record)
            if known is None:
                batch.new[cell] = self._made(cell, record, telling)
            else:
                self._compare(cell, known, record, telling, batch)
        self._write(batch)

    def _count(self, record: CompletionRecord) -> None:
        """Count what is no answer, or was set apart from one."""
        self._counts.empty += is_empty(record.turns)
        self._counts.failed += FAILURE in record.extra
        self._counts.thinking += THINKING in record.extra
        self._counts.end_tokens += END_TOKENS in record.extra
        for name in NOTES.keys() & record.extra.keys() - self._noted:
            self._noted.add(name)
            self._report.note(record.place, NOTES[name])

    def _introduce_contestants(self, records: list[CompletionRecord]) -> None:
        """Make contestants that only completions name."""
        if self._contestants.are_listed:
            return
        named: dict[str, CompletionRecord] = {}
        for record in records:
            if record.contestant and self._contestants.find(record.contestant) is None:
                named.setdefault(record.contestant, record)
        self._contestants.take(
            [ContestantRecord(name=name, implied=True, place=record.place) for name, record in named.items()]
        )

    def _cells(self, records: list[CompletionRecord]) -> dict[Cell, CompletionRecord]:
        """The records that are valid and say something new, by cell."""
        cells: dict[Cell, CompletionRecord] = {}
        for record in records:
            cell = self._cell(record)
            if cell is None or (record.implied and self._adds_nothing(record, cell, cells.get(cell))):
                continue
            ok = fits(self._report, record.place, Completion, record, (("id", "external_id"),))
            if not record.implied:
                ok &= self._places.add(cell, record.place, "", f"the answer of {_whose(record)}")
            if ok:
                cells[cell] = record
        return cells

    def _adds_nothing(self, record: CompletionRecord, cell: Cell, earlier: CompletionRecord | None) -> bool:
        """Whether a completion named in passing is known; reports a text that differs."""
        if earlier is None:
            return cell in self._ids and not record.turns
        if record.turns and earlier.turns and record.turns != earlier.turns:
            self._refuse_text(record, earlier.turns)
        return bool(earlier.turns) or not record.turns or not earlier.implied

    def _refuse_text(self, record: CompletionRecord, known: Sequence[str]) -> None:
        """Report a text that differs from the known one, or count it if readers would not tell them apart."""
        if list(map(_in_letters, record.turns)) == list(map(_in_letters, known)):
            self._counts.near_equal += 1
            return
        reason = f"the study or these files have another text of {_whose(record)}"
        self._report.refuse(record.place, "contestant", reason)

    def _cell(self, record: CompletionRecord) -> Cell | None:
        prompt = self._prompts.named_by(record)
        if record.contestant is None:
            return None if prompt is None else (prompt, record.id)
        contestant = self._contestants.find(record.contestant)
        if contestant is None:
            self._contestants.refuse_unknown(record.contestant, record.place, "contestant")
        return None if prompt is None or contestant is None else (prompt, contestant)

    def _stored(self, cells: Iterable[Cell]) -> dict[int, Completion]:
        pks = [self._ids[cell] for cell in cells if cell in self._ids]
        return Completion.objects.defer("turns").in_bulk(pks) if pks else {}

    @staticmethod
    def _made(cell: Cell, record: CompletionRecord, telling: list[str], version: int = 1) -> Completion:
        prompt, owner = cell
        contestant = owner if isinstance(owner, int) else None
        text = text_of(record.turns, telling, _asides(record))
        text |= {"external_id": record.id, "extra": _kept(record)}
        text["thinking"] = record.extra.get(THINKING, [])
        return Completion(prompt_id=prompt, contestant_id=contestant, version=version, **text)

    def _compare(
        self, cell: Cell, known: Completion, record: CompletionRecord, telling: list[str], batch: _Batch
    ) -> None:
        if record.implied and known.digest != digest_of(()):
            if known.digest != digest_of(record.turns, _asides(record)):
                self._refuse_text(record, known.turns)
            return
        if FAILURE in record.extra and known.digest != digest_of(()):
            self._counts.unchanged += 1
            return
        thinking = record.extra.get(THINKING)
        extra = {**known.extra, **_kept(record)}
        changed = assign(known, {"external_id": record.id or None, "thinking": thinking, "extra": extra})
        # An unknown text never replaces a known one.
        if record.turns and digest_of(record.turns, _asides(record)) != known.digest:
            batch.rewritten.append((cell, known, record, telling))
        elif changed:
            batch.changed.append(known)
        else:
            self._counts.unchanged += 1

    def _write(self, batch: _Batch) -> None:
        unrated = self._unrated([known for _, known, _, _ in batch.rewritten])
        versions: dict[Cell, Completion] = {}
        outdated: list[int] = []
        filled: list[Completion] = []
        unknown = digest_of(())
        for cell, known, record, telling in batch.rewritten:
            if known.pk in unrated or known.digest == unknown:
                values = self._made(cell, record, telling)
                for name in (*_TEXT, "thinking"):
                    setattr(known, name, getattr(values, name))
                filled.append(known)
            else:
                versions[cell] = self._made(cell, record, telling, known.version + 1)
                outdated.append(known.pk)
        Completion.objects.filter(pk__in=outdated).update(is_current=False)
        made = batch.new | versions
        Completion.objects.bulk_create(made.values())
        columns = ["external_id", "extra", "thinking"]
        Completion.objects.bulk_update(batch.changed, columns, batch_size=100)
        Completion.objects.bulk_update(filled, [*columns, *_TEXT], batch_size=100)
        self._ids |= {cell: completion.pk for cell, completion in made.items()}
        self._counts.added += len(batch.new)
        self._counts.versions += len(versions)
        self._counts.updated += len(batch.changed) + len(filled)

    @staticmethod
    def _unrated(completions: list[Completion]) -> set[int]:
        """The ids of those that nobody can have seen: in no pair, never assigned, scored or checked."""
        pks = {completion.pk for completion in completions}
        if not pks:
            return pks
        uses: list[tuple[type[Model], str]] = [(Pair, "first"), (Pair, "second")]
        uses += [(model, "completion") for model in _ABOUT_ONE]
        return pks.difference(
            *(
                model._default_manager.filter(**{f"{name}__in": pks}).order_by().values_list(name, flat=True)
                for model, name in uses
            )
        )
