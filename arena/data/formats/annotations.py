"""Argilla's and Label Studio's exports as JSON: what people, and models, said about two answers. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from arena.data.formats import verdicts
from arena.data.formats.messages import dialogue
from arena.data.formats.pairs import Asides, Pair, Turns, beside
from arena.data.formats.reading import Fields, Format, Kind, Shape, by_row
from arena.data.formats.records import Item
from arena.data.formats.verdicts import FIRST, NOUN, RATINGS, SECOND

_PROMPT: Final = re.compile(
    r"(?:user_|input_)?(?:prompt|instruction|question|query|input|context|task|messages|conversation|chat)"
    r"(?:_text)?"
)
_ANSWER: Final = re.compile(rf"(?:{NOUN})s?")
_FIRST: Final = re.compile(FIRST)
_SECOND: Final = re.compile(SECOND)
_MODEL: Final = frozenset({"model", "generator", "system"})


class Task(NamedTuple):
    """A pair with what each of its answers is called."""

    pair: Pair
    called: Sequence[Sequence[str]]

    def side(self, value: Any) -> str | None:
        """The side that a value tells, by a word or as the best of a ranking; None if it tells none."""
        if isinstance(value, list) and value:
            ranked = [each if isinstance(each, dict) else {"value": each} for each in value]
            ranks = [each.get("rank", number) for number, each in enumerate(ranked)]
            if len(ranked) > 1 and len(set(map(str, ranks))) == 1:
                return "tie"
            value = ranked[ranks.index(min(ranks, key=str))].get("value")
        return verdicts.side(value, *self.called) if isinstance(value, str) else None

    def opinion(
        self, fields: Fields, rater: str, kind: str, values: Sequence[Any], **more: Any
    ) -> Iterator[Item]:
        """Return what a rater said; texts that tell no side are comments."""
        told = {side for value in values if (side := self.side(value))}
        if len(told) > 1:
            fields.problem("", f'"{rater}" says {" and ".join(sorted(told))}')
        comments = [value for value in values if isinstance(value, str) and not self.side(value)]
        rating = RATINGS[3][told.pop()] if told else None
        reason = "" if rating else "empty" if kind == "person" else "unparsable"
        yield self.pair.rated(rater, kind, 3, rating, reason=reason, rationale="\n\n".join(comments), **more)


def _task(fields: Fields, name: str, texts: Any, about: Mapping[str, Any]) -> Task | None:
    """The task of an object of texts with what is known about them; None after a problem."""
    given: dict[str, Any] = (
        {key: value for key, value in texts.items() if value} if isinstance(texts, dict) else {}
    )
    asked, sides = _columns(given)
    if len(sides) != 2:
        fields.problem(name, f"holds no two texts that are the answers: {', '.join(given) or 'nothing'}")
        return None
    said = given.get(asked, "")
    before: Turns = ()
    asides: list[Asides] = [(), ()]
    user: Turns = (said,) if isinstance(said, str) and said else ()
    if isinstance(said, list):
        user, before, *asides = dialogue(fields, asked, said)
    if not user and not fields.problems:
        fields.problem(name, f"holds no prompt: {', '.join(given)}")
    known = {**given, **about}
    models = [_model_of(side, known) for side in sides]
    answers = [(*before, _text(fields, side, given[side])) for side in sides]
    if fields.problems:
        return None
    category = known.get("category")
    pair = Pair.alone(
        fields,
        user,
        *answers,
        models=(models[0], models[1]),
        category=category if isinstance(category, str) else None,
        extra={
            **{key: value for key, value in known.items() if key not in (asked, *sides)},
            **beside(asides[0]),
        },
        implied=True,
    ).with_asides(asides[1], asides[1])
    return Task(pair, [[side, model] for side, model in zip(sides, models, strict=True)])


def _columns(given: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The names of the prompt and of the answers."""
    texts = [name for name, value in given.items() if isinstance(value, str | list)]
    asked = next((name for name in texts if _PROMPT.fullmatch(_plain(name))), "")
    left = [name for name in texts if name != asked and _MODEL.isdisjoint(_plain(name).split("_"))]
    answers = [name for name in left if any(map(_ANSWER.fullmatch, _plain(name).split("_")))]
    found = next((names for names in (answers, list(filter(_mark, left)), left) if len(names) == 2), [])
    return asked, sorted(found, key=lambda name: _mark(name) == 2)


def _plain(name: str) -> str:
    return verdicts.plain(re.sub(r"(?<=[a-zA-Z])(?=\d)|(?<=[a-z])(?=[A-Z])", "_", name)).replace("-", "_")


def _mark(name: str) -> int:
    """Returns 1 or 2 where a part of the name marks the first or second side, else 0."""
    parts = _plain(name).split("_")
    return 1 if any(map(_FIRST.fullmatch, parts)) else 2 if any(map(_SECOND.fullmatch, parts)) else 0


def _model_of(side: str, known: Mapping[str, Any]) -> str:
    """The model that wrote the answer of this name, if a field says it."""
    for name, value in known.items():
        parts = _plain(name).split("_")
        is_about = _plain(side) in _plain(name) or (_mark(side) and _mark(name) == _mark(side))
        if name != side and is_about and isinstance(value, str) and not _MODEL.isdisjoint(parts):
            return value.strip()
    return ""


def _text(fields: Fields, name: str, value: Any) -> str:
    """The text of an answer, or of the last message of a list."""
    if isinstance(value, list):
        value = value[-1].get("content") if isinstance(value[-1], dict) else None
    if isinstance(value, str):
        return value
    fields.problem(name, "expected a text")
    return ""


def _inside(fields: Fields, values: Any) -> Fields:
    """The fields of an object inside; none of what is no object."""
    return fields.inside(values if isinstance(values, dict) else {})


def _objects(fields: Fields, name: str) -> list[Fields]:
    given = fields.json(name)
    return [_inside(fields, each) for each in given] if isinstance(given, list) else []


# --- Argilla: fields, and under each question the responses of people and the suggestion of a model.


def _record(fields: Fields) -> Iterator[Item]:
    task = _task(fields, "fields", fields.json("fields"), fields.mapping("metadata") or {})
    responses, suggestions = fields.mapping("responses") or {}, fields.mapping("suggestions") or {}
    if task is None:
        return
    said: dict[str, list[Any]] = {}
    inside = _inside(fields, responses)
    for question in responses:
        for each in _objects(inside, question):
            if each.text("status") not in ("draft", "discarded"):
                said.setdefault(each.text("user_id") or "anonymous", []).append(each.take("value"))
    yield from task.pair.records()
    for user, values in said.items():
        yield from task.opinion(fields, user, "person", values)
    for suggestion in suggestions.values():
        each = _inside(fields, suggestion)
        value, agent = each.take("value"), each.text("agent")
        if agent and task.side(value):
            yield from task.opinion(fields, agent, "judge", [value])


# --- Label Studio: the data of a task, and annotations, each a list of results.


def _annotated(fields: Fields) -> Iterator[Item]:
    task = _task(fields, "data", fields.json("data"), {"task": fields.take("id")})
    if task is None:
        return
    yield from task.pair.records()
    for each in _objects(fields, "annotations"):
        who = each.take("completed_by")  # with an address of mail, which is not kept
        name = _inside(fields, who).text("id") if isinstance(who, dict) else who
        more = {
            "seconds": each.seconds("lead_time"),
            "created_at": each.moment("created_at"),
            "id": each.text("id"),
        }
        if not each.flag("was_cancelled"):
            rater = "anonymous" if name in (None, "") else f"annotator-{name}"
            yield from task.opinion(fields, rater, "person", _values(each), **more)
    for each in _objects(fields, "predictions"):
        if model := each.text("model_version"):
            yield from task.opinion(fields, model, "judge", _values(each))


def _values(fields: Fields) -> list[Any]:
    """The contents of an annotation: sides selected, choices and texts."""
    found: list[Any] = []
    for result in _objects(fields, "result"):
        value = _inside(fields, result.take("value"))
        for name in ("selected", "choices", "text"):
            given = value.take(name)
            found += given if isinstance(given, list) else [given]
    return found


ARGILLA: Final = Format(
    "argilla",
    "Argilla records",
    "fields and responses (Argilla's records as JSON)",
    (Shape(Kind.COMPARISONS, "fields responses", by_row(_record)),),
    is_typed=True,
)
LABEL_STUDIO: Final = Format(
    "label-studio",
    "Label Studio annotations",
    "data and annotations (Label Studio's JSON)",
    (Shape(Kind.COMPARISONS, "data annotations", by_row(_annotated)),),
    is_typed=True,
)
