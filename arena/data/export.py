"""A study's rows under the names that imports read, streamed."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from django.db.models import BooleanField, DateTimeField, FloatField, IntegerField, JSONField, Q, QuerySet
from django.db.models.functions import Coalesce

from arena.data.formats import records as formats
from arena.data.formats.non_answers import THINKING
from arena.data.formats.ours import TRAINING_FIELDS, record_of
from arena.data.formats.reading import Fields, Kind
from arena.data.formats.records import Item, Place
from arena.data.formats.writing import Row, Table, Type
from arena.models import (
    Answer,
    Comparison,
    Completion,
    CompletionFeature,
    CriterionRating,
    Pair,
    Prompt,
    Question,
    Rater,
    Score,
    Study,
)
from arena.models.querysets import RaterQuerySet
from arena.rating.subsets import TRAINING_SUBSET

CHUNK: Final = 2000

_SIDES: Final = (
    "pair__prompt__external_id",
    "pair__prompt__subset",
    "pair__first__contestant__name",
    "pair__first__external_id",
    "pair__second__contestant__name",
    "pair__second__external_id",
    "swapped",
)


_TYPES: Final = (
    (BooleanField, Type.FLAG),
    (DateTimeField, Type.MOMENT),
    (FloatField, Type.NUMBER),
    (IntegerField, Type.INTEGER),
    (JSONField, Type.TEXTS),
)
_SETTINGS: Final[Mapping[str, Type]] = {
    field.name: next((kind for column, kind in _TYPES if isinstance(field, column)), Type.TEXT)
    for field in Study._meta.concrete_fields
    if field.name not in ("id", "revision", "paused_at")
}
TABLES: Final[dict[str, Table]] = {
    "study": Table("study", _SETTINGS, complete=True),
    **formats.TABLES,
    "training": Table("training", dict.fromkeys(TRAINING_FIELDS, Type.TEXT)),
}
"""Everything of a study that an import reads, in the order of import."""


def rows(study: Study, what: str) -> Iterator[Row]:
    return _ROWS[what](study)


def records(study: Study) -> Iterator[Item]:
    """Its prompts, answers and gold labels as an import would read them."""
    for kind in (Kind.PROMPTS, Kind.COMPLETIONS, Kind.PAIRS):
        for row in rows(study, kind.name.lower()):
            fields = Fields(row, Place(f"study {study.slug}"))
            record = record_of(kind, fields)
            yield from fields.problems
            if record and not fields.problems:
                yield record


def count(study: Study, what: str) -> int:
    return _SETS[what](study).count()


def names_accounts(study: Study) -> bool:
    """True where exported raters have the names by which they sign in."""
    return _rater_set(study).filter(user__isnull=False).exists()


def about_old_texts(study: Study) -> int:
    """How many exported opinions are about a text changed since."""
    old = Q(completion__is_current=False)
    texts = [_score_set(study).filter(old).count(), _answer_set(study).filter(old).count()]
    return _about_old_pairs(study) + sum(texts)


def _about_old_pairs(study: Study) -> int:
    old = Q(pair__first__is_current=False) | Q(pair__second__is_current=False)
    return _comparison_set(study).filter(old).count()


def _rater_set(study: Study) -> RaterQuerySet:
    """Raters that came with an import or have rated here."""
    said = Q(study=study)
    for opinions in (_comparison_set(study), _score_set(study), _answer_set(study)):
        said |= Q(pk__in=opinions.order_by().values("rater"))
    return Rater.objects.filter(said).order_by("pk")


def _comparison_set(study: Study) -> QuerySet[Comparison]:
    """Comparisons that count, old texts included: imported elsewhere they give the same board."""
    return Comparison.objects.counted(study).order_by("pk")


def _score_set(study: Study) -> QuerySet[Score]:
    return Score.objects.counted(study).order_by("pk")


def _answer_set(study: Study) -> QuerySet[Answer]:
    """Answers that count, to questions as they are now asked: a changed question is another one."""
    asked = Question.objects.asked().filter(prompt__study=study)
    return Answer.objects.counted(study).filter(question__in=asked).order_by("pk")


def _feature_set(study: Study) -> QuerySet[CompletionFeature]:
    """Features of current answers: those of an old text are about another one."""
    return CompletionFeature.objects.filter(completion__in=_SETS["completions"](study)).order_by("pk")


def _study(study: Study) -> Iterator[Row]:
    yield {name: getattr(study, name) for name in _SETTINGS}


def _contestants(study: Study) -> Iterator[Row]:
    for contestant in _SETS["contestants"](study).iterator(CHUNK):
        texts = ("name", "slug", "kind", "family", "organisation", "licence", "size")
        yield {
            **{name: getattr(contestant, name) or None for name in texts},
            "generation": contestant.generation or None,
            "benchmarks": contestant.benchmarks or None,
            "retired_at": contestant.retired_at,
            "extra": contestant.extra or None,
        }


def _raters(study: Study) -> Iterator[Row]:
    slugs = rater_slugs(study)
    members = panel_members(study, slugs)
    for rater in _rater_set(study).prefetch_related("groups").iterator(CHUNK):
        yield {
            "rater": slugs[rater.pk],
            "rater_kind": rater.kind,
            "name": rater.name,
            "simulated": rater.simulated,
            "groups": [group.slug for group in rater.groups.all()] or None,
            "derived_from": members.get(rater.pk),
            **rater.facts,
        }


def rater_slugs(study: Study) -> dict[int, str]:
    """Unique slugs of raters by id, numbered if an imported rater has the same."""
    found: dict[int, str] = {}
    taken: set[tuple[str, str]] = set()
    imported_first = _rater_set(study).order_by(Coalesce("study", 0).desc(), "pk")
    for pk, kind, slug in imported_first.values_list("pk", "kind", "slug"):
        names = itertools.chain([slug], (f"{slug}-{number}" for number in itertools.count(2)))
        found[pk] = next(name for name in names if (kind, name) not in taken)
        taken.add((kind, found[pk]))
    return found


def panel_members(study: Study, slugs: Mapping[int, str]) -> dict[int, list[str]]:
    """By panel the exported ``slugs`` of its judges."""
    found = {}
    for panel in _rater_set(study).panels():
        judges = Rater.objects.filter(kind=panel.kind, study=panel.study_id, slug__in=panel.derived_from)
        of_slug = dict(judges.values_list("slug", "pk"))
        found[panel.pk] = [slugs.get(of_slug.get(slug, 0), slug) for slug in panel.derived_from]
    return found


def _prompts(study: Study) -> Iterator[Row]:
    for prompt in _SETS["prompts"](study).prefetch_related("references").iterator(CHUNK):
        yield {
            "id": prompt.external_id,
            "subset": prompt.subset or None,
            "category": prompt.category or None,
            "domain": prompt.domain or None,
            **_texts("instruction", prompt.turns),
            "input": prompt.input or None,
            "references": [
                {"author": reference.author, "turns": reference.turns}
                for reference in sorted(prompt.references.all(), key=lambda reference: reference.pk)
            ]
            or None,
            "extra": prompt.extra or None,
        }


def _questions(study: Study) -> Iterator[Row]:
    for question in _SETS["questions"](study).select_related("prompt").iterator(CHUNK):
        yield {
            "prompt": question.prompt.external_id,
            "subset": question.prompt.subset or None,
            "position": question.position,
            "text": question.text,
            "labels": question.labels or None,
            "required": question.required,
            "proposed_by": question.proposed_by or None,
        }


def _texts(single: str, turns: list[str]) -> Row:
    """One text under its own name; none or several as turns."""
    return {single: turns[0]} if len(turns) == 1 else {"turns": turns}


def _completions(study: Study) -> Iterator[Row]:
    for completion in _SETS["completions"](study).select_related("prompt", "contestant").iterator(CHUNK):
        yield {
            "prompt": completion.prompt.external_id,
            "subset": completion.prompt.subset or None,
            "contestant": completion.contestant.name if completion.contestant else None,
            "id": completion.external_id or None,
            **_texts("text", completion.turns),
            "extra": completion.extra | ({THINKING: completion.thinking} if completion.thinking else {})
            or None,
        }


def _sides(values: tuple[Any, ...]) -> Row:
    """Both completions in the order shown, by contestant if there is one."""
    prompt, subset, one, one_id, two, two_id, swapped = values
    first, first_id, second, second_id = (two, two_id, one, one_id) if swapped else (one, one_id, two, two_id)
    return {
        "prompt": prompt,
        "subset": subset or None,
        "first": first,
        "second": second,
        "first_id": first_id if first is None else None,
        "second_id": second_id if second is None else None,
    }


def pair_sides(pairs: Iterable[int]) -> dict[int, Row]:
    """Prompt and completions of the pairs whose texts are the current ones."""
    columns = ("pk", *(name.removeprefix("pair__") for name in _SIDES[:-1]))
    current = Pair.objects.filter(first__is_current=True, second__is_current=True)
    found = current.filter(pk__in=list(pairs)).order_by().values_list(*columns)
    return {pk: _sides((*sides, False)) for pk, *sides in found}


def _pairs(study: Study) -> Iterator[Row]:
    columns = ("gold", "gold_source", *(name.removeprefix("pair__") for name in _SIDES[:-1]))
    for gold, source, *sides in _SETS["pairs"](study).values_list(*columns).iterator(CHUNK):
        yield {**_sides((*sides, False)), "gold": gold, "gold_source": source}


def _training(study: Study) -> Iterator[Row]:
    """Training pairs and hidden checks with their texts: the answers stand as in the file they came in."""
    pairs = _SETS["training"](study).select_related("prompt", "first", "second")
    for pair in pairs.iterator(CHUNK):
        sides, gold = (pair.first, pair.second), pair.gold
        if pair.first.external_id == "second":
            sides, gold = sides[::-1], {"first": "second", "second": "first"}.get(gold, gold)
        yield {
            "id": pair.prompt.external_id,
            "prompt": pair.prompt.instruction,
            "input": pair.prompt.input or None,
            "category": pair.prompt.category or None,
            "first": "".join(sides[0].turns),
            "second": "".join(sides[1].turns),
            "gold": gold,
            "gold_source": pair.gold_source,
            "use": pair.use,
            "explanation": pair.explanation or None,
        }


_NUMBERS: Final = ("points", "rating", "first_score", "second_score", "repeat", "seconds", "created_at")
_WORDS: Final = ("reason", "rationale", "raw_reply", "extra")


def _comparisons(study: Study) -> Iterator[Row]:
    slugs = rater_slugs(study)
    members = panel_members(study, slugs)
    # A rater of the old and the new text of a pair has repeat 0 twice; then the order in the file counts.
    with_repeat = not _about_old_pairs(study)
    columns = ("pk", "rater", "rater__kind", "external_id", "status", "is_dated", *_SIDES, *_NUMBERS, *_WORDS)
    read = _comparison_set(study).values_list(*columns).iterator(CHUNK)
    while chunk := list(itertools.islice(read, CHUNK)):
        criteria = _criteria([row[0] for row in chunk])
        for pk, rater, kind, external_id, status, is_dated, *values in chunk:
            said = iter(values)
            sides = _sides(tuple(itertools.islice(said, len(_SIDES))))
            numbers = dict(zip(_NUMBERS, said, strict=False))
            words = {name: value or None for name, value in zip(_WORDS, said, strict=True)}
            if not with_repeat:
                del numbers["repeat"]
            if not is_dated:
                del numbers["created_at"]
            yield {
                "id": external_id or None,
                **sides,
                "rater": slugs[rater],
                "rater_kind": kind,
                **numbers,
                **words,
                "identical": True if status == Comparison.Status.IDENTICAL else None,
                "criteria": criteria.get(pk),
                "derived_from": members.get(rater),
            }


def _criteria(comparisons: Iterable[int]) -> dict[int, dict[str, int | str]]:
    found: dict[int, dict[str, int | str]] = {}
    for rated in CriterionRating.objects.filter(comparison__in=comparisons).order_by("pk"):
        found.setdefault(rated.comparison_id, {})[rated.criterion] = rated.said
    return found


_OF_TEXT: Final = (
    *("external_id", "completion__prompt__external_id", "completion__prompt__subset"),
    *("completion__contestant__name", "completion__external_id", "rater", "rater__kind"),
    *("repeat", "seconds", "created_at", "is_dated", "reason", "rationale", "raw_reply", "extra"),
)


def _of_texts(opinions: QuerySet[Any], columns: Mapping[str, str], study: Study) -> Iterator[Row]:
    """Scores or answers, with further ``columns`` by the name of their field."""
    slugs = rater_slugs(study)
    with_repeat = not opinions.filter(completion__is_current=False).exists()
    for row in opinions.values_list(*_OF_TEXT, *columns.values()).iterator(CHUNK):
        own_id, prompt, subset, contestant, completion, rater, kind, repeat, seconds, moment, is_dated = row[
            :11
        ]
        words = dict(zip(("reason", "rationale", "raw_reply", "extra"), row[11:15], strict=True))
        yield {
            "id": own_id or None,
            "prompt": prompt,
            "subset": subset or None,
            "contestant": contestant,
            "completion": completion if contestant is None else None,
            "rater": slugs[rater],
            "rater_kind": kind,
            **dict(zip(columns, row[15:], strict=True)),
            "repeat": repeat if with_repeat else None,
            "seconds": seconds,
            "created_at": moment if is_dated else None,
            **{name: value or None for name, value in words.items()},
        }


def _scores(study: Study) -> Iterator[Row]:
    names = ("turn", "lowest", "highest", "expected")
    return _of_texts(_score_set(study), {**{name: name for name in names}, "score": "value"}, study)


def _answers(study: Study) -> Iterator[Row]:
    return _of_texts(_answer_set(study), {"question": "question__position", "answer": "value"}, study)


def _features(study: Study) -> Iterator[Row]:
    of_text = _OF_TEXT[1:5]
    columns = ("turn", "name", "variant", "value", "source")
    for row in _feature_set(study).values_list(*of_text, *columns).iterator(CHUNK):
        prompt, subset, contestant, completion, *values = row
        yield {
            "prompt": prompt,
            "subset": subset or None,
            "contestant": contestant,
            "completion": completion if contestant is None else None,
            **{name: value if value != "" else None for name, value in zip(columns, values, strict=True)},
        }


_SETS: Final[Mapping[str, Callable[[Study], QuerySet[Any]]]] = {
    "study": lambda study: Study.objects.filter(pk=study.pk),
    "contestants": lambda study: study.contestants.order_by("pk"),
    "raters": _rater_set,
    "prompts": lambda study: Prompt.objects.rated().filter(study=study).order_by("pk"),
    "completions": lambda study: (
        Completion.objects.rated().filter(prompt__study=study, is_current=True).order_by("pk")
    ),
    "pairs": lambda study: (
        Pair.objects.filter(prompt__study=study, first__is_current=True, second__is_current=True)
        .exclude(gold="")
        .exclude(prompt__subset=TRAINING_SUBSET)
        .order_by("pk")
    ),
    "comparisons": _comparison_set,
    "questions": lambda study: (
        Question.objects.asked()
        .filter(prompt__in=Prompt.objects.rated().filter(study=study))
        .order_by("prompt", "position")
    ),
    "scores": _score_set,
    "answers": _answer_set,
    "features": _feature_set,
    "training": lambda study: (
        Pair.objects.filter(prompt__study=study, prompt__subset=TRAINING_SUBSET)
        .filter(first__is_current=True, second__is_current=True)
        .order_by("pk")
    ),
}
_ROWS: Final[Mapping[str, Callable[[Study], Iterator[Row]]]] = {
    "study": _study,
    "contestants": _contestants,
    "raters": _raters,
    "prompts": _prompts,
    "completions": _completions,
    "pairs": _pairs,
    "comparisons": _comparisons,
    "questions": _questions,
    "scores": _scores,
    "answers": _answers,
    "features": _features,
    "training": _training,
}
