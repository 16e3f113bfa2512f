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
from arena.files.writing import Row, Table, Type, batches
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
from arena.rules.subsets import TRAINING_SUBSET
from arena.texts.asides import NAME as ASIDES

CHUNK: Final = 2000

_PAIR: Final = {
    "prompt": "prompt__external_id",
    "subset": "prompt__subset",
    "first": "first__contestant__name",
    "first_id": "first__external_id",
    "second": "second__contestant__name",
    "second_id": "second__external_id",
    "private": "prompt__is_private",
}
_TEXT: Final = {
    "prompt": "completion__prompt__external_id",
    "subset": "completion__prompt__subset",
    "contestant": "completion__contestant__name",
    "completion": "completion__external_id",
    "private": "completion__prompt__is_private",
}
_NAMES: Final = ("repeat", "seconds", "created_at", "is_dated", "reason", "rationale", "raw_reply", "extra")
_SAID: Final = {
    **{"id": "external_id", "by": "rater", "rater_kind": "rater__kind"},
    **{name: name for name in _NAMES},
}
"""Columns of what is exported, by field."""


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
    if field.name not in ("id", "revision", "queue_of", "queue_lacks", "paused_at")
}
TABLES: Final[dict[str, Table]] = {
    "study": Table("study", _SETTINGS, complete=True),
    **formats.TABLES,
    "training": Table("training", dict.fromkeys(TRAINING_FIELDS, Type.TEXT)),
}
"""Everything of a study that an import reads, in the order of import."""


_SAYING: Final = ("raw_reply", "rationale", "extra")
_TELLING: Final[Mapping[str, tuple[str, ...]]] = {
    "prompts": ("instruction", "turns", "input", "references", "extra"),
    "completions": ("text", "turns", "extra"),
    **dict.fromkeys(("comparisons", "scores"), _SAYING),
}
"""Columns with texts, or with what judges and people say of them."""


def rows(study: Study, what: str, *, private: bool = False) -> Iterator[Row]:
    """The rows of a table; those of private prompts without their texts unless ``private``.

    Requirements are texts, so they and what was said of them are left out then.
    """
    columns = TABLES[what].columns
    for row in _ROWS[what](study):
        if private or not row.get("private"):
            yield {name: value for name, value in row.items() if name in columns}
        elif what not in ("questions", "answers"):
            shown = _without_texts(row, what)
            yield {name: value for name, value in shown.items() if name in columns}


def _without_texts(row: Row, what: str) -> Row:
    """The row as of a prompt whose text is unknown."""
    kept = {name: value for name, value in row.items() if name not in _TELLING.get(what, ())}
    return kept | ({"turns": []} if what in ("prompts", "completions") else {})


def on_private_prompts(study: Study) -> int:
    """How many exported ratings, scores and checks are on private prompts."""
    return sum(
        opinions.filter(**{f"{about}prompt__is_private": True}).count()
        for opinions, about in (
            (_comparison_set(study), "pair__"),
            (_score_set(study), "completion__"),
            (_answer_set(study), "completion__"),
        )
    )


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
    sets = (_comparison_set(study), _score_set(study), _answer_set(study))
    return sum(map(QuerySet.count, map(_old, sets)))


def _old(opinions: QuerySet[Any]) -> QuerySet[Any]:
    """Opinions about a text changed since."""
    if opinions.model is Comparison:
        return opinions.filter(Q(pair__first__is_current=False) | Q(pair__second__is_current=False))
    return opinions.filter(completion__is_current=False)


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
    texts = ("name", "slug", "kind", "family", "organisation", "licence", "size")
    more = ("generation", "benchmarks", "retired_at", "provisional", "extra")
    for row in read(_SETS["contestants"](study), _same(*texts, *more)):
        yield row | {"provisional": row["provisional"] or None}


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
            "private": prompt.is_private or None,
            "references": [
                {"author": reference.author, "turns": reference.turns}
                for reference in sorted(prompt.references.all(), key=lambda reference: reference.pk)
            ]
            or None,
            "extra": prompt.extra | ({ASIDES: prompt.asides} if prompt.asides else {}) or None,
        }


def _questions(study: Study) -> Iterator[Row]:
    own = _same("position", "text", "labels", "required", "proposed_by")
    own["private"] = "prompt__is_private"
    columns = {"prompt": "prompt__external_id", "subset": "prompt__subset", **own}
    for row in read(_SETS["questions"](study), columns):
        yield {**row, "labels": row["labels"] or None}


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
            "private": completion.prompt.is_private,
            **_texts("text", completion.turns),
            "extra": completion.extra | _apart(completion) or None,
        }


def _apart(completion: Completion) -> Row:
    """What stands apart from the text of an answer, by its name among the further fields."""
    apart = {THINKING: completion.thinking, ASIDES: completion.asides}
    return {name: value for name, value in apart.items() if value}


def _same(*names: str) -> dict[str, str]:
    """Columns whose fields have their names."""
    return {name: name for name in names}


def read(rows: QuerySet[Any], columns: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Rows of these columns by field; what is empty is no value."""
    for values in rows.values_list(*columns.values()).iterator(CHUNK):
        yield {
            name: None if value in ("", {}) else value for name, value in zip(columns, values, strict=True)
        }


def _sides(row: Row, *, swapped: bool = False) -> Row:
    """The row with both completions in the order shown, by contestant if there is one."""
    first, second = ("second", "first") if swapped else ("first", "second")
    return {
        **row,
        "first": row[first],
        "second": row[second],
        "first_id": row[f"{first}_id"] if row[first] is None else None,
        "second_id": row[f"{second}_id"] if row[second] is None else None,
    }


def pair_sides(pairs: Iterable[int]) -> dict[int, Row]:
    """Prompt and completions of the pairs whose texts are the current ones."""
    current = Pair.objects.filter(first__is_current=True, second__is_current=True)
    found = read(current.filter(pk__in=list(pairs)).order_by(), {"pk": "pk", **_PAIR})
    return {row.pop("pk"): _sides(row) for row in found}


def _pairs(study: Study) -> Iterator[Row]:
    return map(_sides, read(_SETS["pairs"](study), {**_PAIR, **_same("gold", "gold_source")}))


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


def _opinions(opinions: QuerySet[Any], columns: Mapping[str, str], slugs: Mapping[int, str]) -> Iterator[Row]:
    """Opinions of raters, with further ``columns`` by field, and ``by`` for the rater's id."""
    # A rater of the old and the new text has repeat 0 twice; then the order in the file counts.
    unknown = {"repeat": None} if _old(opinions).exists() else {}
    for row in read(opinions, {**_SAID, **columns}):
        undated = {} if row["is_dated"] else {"created_at": None}
        yield {**row, "rater": slugs[row["by"]], **unknown, **undated}


def _comparisons(study: Study) -> Iterator[Row]:
    slugs = rater_slugs(study)
    members = panel_members(study, slugs)
    names = ("pk", "status", "turn", "swapped", "points", "rating", "neither")
    scores = ("first_score", "second_score", "expected")
    columns = {
        **{name: f"pair__{column}" for name, column in _PAIR.items()},
        **_same(*names, *scores),
    }
    for chunk in batches(_opinions(_comparison_set(study), columns, slugs), CHUNK):
        criteria = criteria_of(row["pk"] for row in chunk)
        for row in chunk:
            yield {
                **_sides(row, swapped=row["swapped"]),
                "turn": row["turn"] or None,
                "identical": True if row["status"] == Comparison.Status.IDENTICAL else None,
                "neither": row["neither"] or None,
                "criteria": criteria.get(row["pk"]),
                "derived_from": members.get(row["by"]),
            }


def criteria_of(comparisons: Iterable[int], order: str = "pk") -> dict[int, dict[str, int | str]]:
    """Returns by comparison its ratings by criterion."""
    found: dict[int, dict[str, int | str]] = {}
    for rated in CriterionRating.objects.filter(comparison__in=comparisons).order_by(order):
        found.setdefault(rated.comparison_id, {})[rated.criterion] = rated.said
    return found


def _of_text(row: Row) -> Row:
    """The row with the completion's own id only where it has no contestant."""
    return {**row, "completion": row["completion"] if row["contestant"] is None else None}


def _scores(study: Study) -> Iterator[Row]:
    own = _same("turn", "lowest", "highest", "expected")
    return map(_of_text, _opinions(_score_set(study), {**_TEXT, **own, "score": "value"}, rater_slugs(study)))


def _answers(study: Study) -> Iterator[Row]:
    own = {"question": "question__position", "answer": "value"}
    return map(_of_text, _opinions(_answer_set(study), {**_TEXT, **own}, rater_slugs(study)))


def _features(study: Study) -> Iterator[Row]:
    own = _same("turn", "name", "variant", "value", "source")
    return map(_of_text, read(_feature_set(study), {**_TEXT, **own}))


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
