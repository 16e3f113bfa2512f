"""Sizes of a study's texts, each measured once and kept by its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Exists, Max, OuterRef, QuerySet

from arena.models import Completion, Contestant, Pair, Prompt, Question, Reference, Study
from arena.rules.subsets import TRAINING_SUBSET
from leaderboard.models import TextMeasure
from leaderboard.snapshots import copying, kept
from leaderboard.snapshots.canonical import FORM
from leaderboard.snapshots.prompt_kinds import of_kind
from leaderboard.stats.style import VERSION, size_of, spaced_words, tokenizer_name

FloatArray = npt.NDArray[np.float64]

AT_ONCE: Final = 500

KEPT: Final = "texts"

WORTH_KEEPING: Final = 2_000

NO_AUTHOR: Final = -1

NO_TEXT: Final = -1

Sizes = tuple[int, int, int, int]

_FIELDS: Final = ("words", "unique_words", "tokens", "characters")


@dataclass(frozen=True, eq=False)
class Texts:
    """Sizes of a study's texts as parallel arrays, in the order of ids.

    Sizes have a column for each of leaderboard.stats.style.MEASURES, NaN where not known. ``prompt`` and
    ``reference_prompt`` are rows of ``prompts``; ``contestant`` is an index into ``contestants`` (name, kind,
    retired) or NO_AUTHOR. Replaced completions are included and not ``current``.

    ``spaced`` are words between spaces of each prompt without its input, NO_TEXT where not known. ``kinds``
    are those of each requirement that raters are asked about, ``asked_of`` the row of its prompt.
    """

    tokenizer: str
    contestants: tuple[tuple[str, str, bool], ...]
    prompts: FloatArray
    category: tuple[str, ...]
    subset: tuple[str, ...]
    completion: npt.NDArray[np.int64]
    completions: FloatArray
    prompt: npt.NDArray[np.int64]
    contestant: npt.NDArray[np.int64]
    current: npt.NDArray[np.bool_]
    empty: npt.NDArray[np.bool_]
    references: FloatArray
    reference_prompt: npt.NDArray[np.int64]
    spaced: npt.NDArray[np.int64]
    asked_of: npt.NDArray[np.int64]
    kinds: tuple[tuple[str, ...], ...]
    pairs: int

    @cached_property
    def digest(self) -> str:
        """Of what the sizes of completions are."""
        return copying.digest(["sizes", self.tokenizer], self.completion, self.completions)

    def places(self, completion_ids: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The rows of ``completions`` by id; -1 where the sizes are not known."""
        if not len(self.completion):
            return np.full(len(completion_ids), -1, dtype=np.int32)
        found = np.searchsorted(self.completion, completion_ids).astype(np.int32)
        found[found == len(self.completion)] = 0
        found[(self.completion[found] != completion_ids) | np.isnan(self.completions[found, 0])] = -1
        return found


def measure_missing(study: Study) -> int:
    """Measure new completions; returns how many."""
    measured = _measured().filter(digest=OuterRef("digest"))
    known = Completion.objects.rated().filter(prompt__study=study).exclude(digest=_digest([]))
    missing = known.filter(~Exists(measured))
    batches = _read(missing, "digest", "turns")
    return sum(len(_store({digest: turns for digest, turns in rows if turns})) for rows in batches)


def texts(study: Study, kind: str = "") -> Texts:
    """The sizes of all texts; ``pairs`` are counted of a kind of prompts, or of all."""
    # Sorted here: databases order text differently.
    players = sorted(Contestant.objects.filter(study=study), key=lambda each: (each.name, each.pk))
    origin = _origin(study, players)
    arrays, kept_from = kept.load(study, KEPT) or ({}, "")
    if kept_from != origin:
        arrays = _arrays(study, {each.pk: number for number, each in enumerate(players)})
        if len(arrays["completion"]) >= WORTH_KEEPING:
            kept.store(study, KEPT, arrays, origin)
    category, subset = (tuple(arrays.pop(name).tolist()) for name in ("category", "subset"))
    pairs = Pair.objects.filter(of_kind(kind, "prompt"), prompt__study=study)
    asked_of, kinds = _requirements(study, arrays.pop("ids"))
    return Texts(
        tokenizer=tokenizer_name(),
        contestants=tuple((each.name, each.kind, each.retired_at is not None) for each in players),
        category=category,
        subset=subset,
        asked_of=asked_of,
        kinds=kinds,
        pairs=pairs.exclude(prompt__subset=TRAINING_SUBSET).count(),
        **arrays,
    )


def _origin(study: Study, players: Sequence[Contestant]) -> str:
    """Changes with every text; what edits one raises the revision."""
    revision = Study.objects.values_list("revision", flat=True).get(pk=study.pk)
    rows: tuple[QuerySet[Any], ...] = (
        Prompt.objects.filter(study=study),
        Completion.objects.filter(prompt__study=study),
        Reference.objects.filter(prompt__study=study),
    )
    marks = [each.aggregate(n=Count("pk"), last=Max("pk")) for each in rows]
    numbers = [each.pk for each in players]
    return json.dumps(
        [FORM, revision, study.created_at.isoformat(), VERSION, tokenizer_name(), marks, numbers]
    )


def _arrays(study: Study, player: Mapping[int, int]) -> kept.Arrays:
    """The arrays of Texts, names of prompts' categories and subsets too."""
    measure_missing(study)
    asked, prompt_sizes = _prompts(study)
    prompt_number = {each.pk: number for number, each in enumerate(asked)}
    completions = Completion.objects.rated().filter(prompt__study=study).order_by("pk")
    known = _known(completions.order_by().values("digest"))
    fields = ("pk", "prompt", "contestant", "is_current", "is_empty", "digest")
    rows = completions.values_list(*fields, named=True).iterator(chunk_size=10_000)
    answers = [row for row in rows if row.prompt in prompt_number]  # a vote on a battle stores both together
    blank = (0, 0, 0, 0)
    reference_of, reference_sizes = _references(study)
    return {
        "prompts": _array(prompt_sizes),
        "ids": np.array([each.pk for each in asked], dtype=np.int64),
        "category": np.array([each.category for each in asked], dtype=np.str_),
        "subset": np.array([each.subset for each in asked], dtype=np.str_),
        "spaced": np.array([each.spaced for each in asked], dtype=np.int64),
        "completion": np.array([row.pk for row in answers], dtype=np.int64),
        "completions": _array([known.get(row.digest, blank if row.is_empty else None) for row in answers]),
        "prompt": np.array([prompt_number[row.prompt] for row in answers], dtype=np.int64),
        "contestant": np.array([player.get(row.contestant, NO_AUTHOR) for row in answers], dtype=np.int64),
        "current": np.array([row.is_current for row in answers], dtype=np.bool_),
        "empty": np.array([row.is_empty for row in answers], dtype=np.bool_),
        "references": _array(reference_sizes),
        "reference_prompt": np.array([prompt_number[pk] for pk in reference_of], dtype=np.int64),
    }


def _requirements(
    study: Study, prompts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], tuple[tuple[str, ...], ...]]:
    """The place among ``prompts`` (ids in order) and the kinds of each requirement that is asked about."""
    asked = Question.objects.asked().filter(prompt__study=study).exclude(prompt__subset=TRAINING_SUBSET)
    known = set(prompts.tolist())
    rows = [row for row in asked.order_by("pk").values_list("prompt", "labels") if row[0] in known]
    places = np.searchsorted(prompts, [prompt for prompt, _ in rows]).astype(np.int64)
    return places, tuple(tuple(dict.fromkeys(map(str, labels))) for _, labels in rows)


def characters(study: Study) -> dict[int, int]:
    """The length of each measured answer by its id."""
    answers = Completion.objects.rated().filter(prompt__study=study).order_by()
    known = _known(answers.values("digest"))
    place = _FIELDS.index("characters")
    found = {}
    for pk, is_empty, digest in answers.values_list("pk", "is_empty", "digest").iterator(chunk_size=10_000):
        if digest in known or is_empty:
            found[pk] = known[digest][place] if digest in known else 0
    return found


class _Asked(NamedTuple):
    pk: int
    category: str
    subset: str
    spaced: int


def _prompts(study: Study) -> tuple[list[_Asked], list[Sizes | None]]:
    rows = Prompt.objects.rated().filter(study=study)
    asked, sizes = [], []
    for batch in _read(rows, "pk", "category", "subset", "turns", "input"):
        asked += [
            _Asked(pk, category, subset, spaced_words(turns) if turns else NO_TEXT)
            for pk, category, subset, turns, _ in batch
        ]
        sizes += _sizes([[*turns, given] if given else turns for *_, turns, given in batch])
    return asked, sizes


def _references(study: Study) -> tuple[list[int], list[Sizes | None]]:
    rows = Reference.objects.filter(prompt__study=study)
    of, sizes = [], []
    for batch in _read(rows, "prompt", "turns"):
        of += [prompt for prompt, _ in batch]
        sizes += _sizes([turns for _, turns in batch])
    return of, sizes


def _read(rows: QuerySet[Any], *fields: str) -> Iterator[list[Any]]:
    """Fields of the rows in the order of ids, in batches: SQLite refuses to write during a read once anybody
    else has written.
    """
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    # By their ids alone: with the other conditions SQLite would go through the whole study for each batch.
    chosen = rows.model._default_manager.order_by("pk").values_list(*fields)
    for first in range(0, len(ids), AT_ONCE):
        yield list(chosen.filter(pk__in=ids[first : first + AT_ONCE]))


def _sizes(batch: Sequence[Sequence[str]]) -> list[Sizes | None]:
    """The size of each text, None where not known; measures what is missing."""
    digests = [_digest(turns) for turns in batch]
    known = _known(digests)
    missing = {
        digest: turns for digest, turns in zip(digests, batch, strict=True) if turns and digest not in known
    }
    known |= _store(missing)
    return [known[digest] if turns else None for digest, turns in zip(digests, batch, strict=True)]


def _digest(turns: Sequence[str]) -> str:
    """SHA-256 of the turns as imports make it; a lone surrogate is allowed."""
    text = json.dumps(list(turns), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _measured() -> Any:
    return TextMeasure.objects.filter(version=VERSION)


def _known(digests: Any) -> dict[str, Sizes]:
    rows = _measured().filter(digest__in=digests).values_list("digest", *_FIELDS)
    return {digest: tuple(sizes) for digest, *sizes in rows.iterator(chunk_size=10_000)}


def _store(missing: dict[str, Sequence[str]]) -> dict[str, Sizes]:
    rows = [
        TextMeasure(digest=key, version=VERSION, **vars(size_of(turns))) for key, turns in missing.items()
    ]
    TextMeasure.objects.bulk_create(rows, ignore_conflicts=True)
    return {row.digest: (row.words, row.unique_words, row.tokens, row.characters) for row in rows}


def _array(sizes: Sequence[Sizes | None]) -> FloatArray:
    unknown = (np.nan,) * len(_FIELDS)
    return np.array([unknown if size is None else size for size in sizes], dtype=np.float64).reshape(
        len(sizes), len(_FIELDS)
    )
