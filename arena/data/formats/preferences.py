"""Chosen and rejected answers, as trainers of models read them: texts or lists of messages. Pure."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, Final

from arena.data.formats.files import Form, InputFile
from arena.data.formats.messages import aside, dialogue, parsed, transcript
from arena.data.formats.pairs import Pair, beside
from arena.data.formats.reading import Fields, Format, Head, Kind, Shape, read_rows
from arena.data.formats.records import Item
from arena.data.formats.values import unstorable
from arena.texts.asides import NAME as ASIDES

SOURCE: Final = "preferences"

_SIDES: Final = ("chosen", "rejected")
_PROMPTS: Final = ("prompt", "question", "instruction")
_MODELS: Final = ("{}_model", "{}-model", "model_{}", "{}_policy", "{}_generator")
_NOBODY: Final = frozenset({"", "unknown", "none"})
_GOLD: Final = {"chosen": "first", "tie": "tie", "rejected": "second"}
_OURS: Final = frozenset({"prompt", "margin", "n_raters", "agreement"})
"""Columns of our own file, which may be a table of cells."""


def _is_readable(head: Head) -> bool:
    """Tell whether the answers come with their prompt, in a field or as a conversation."""
    if head.form is Form.CELLS:
        return head.fields >= _OURS
    if not head.fields.isdisjoint(_PROMPTS):
        return True
    cells = head.file.samples().get("chosen", [])
    return bool(cells) and cells[0].startswith(("[", "Human:"))


def _read(file: InputFile) -> Iterator[Item]:
    # In a table it is our own file, whose cells are safe in a spreadsheet.
    return read_rows(file, partial(_preferences, set()), own=file.form is Form.CELLS)


def _preferences(seen: set[tuple[str, ...]], fields: Fields) -> Iterator[Item]:
    """The pair of a row; of lists of texts, as RewardBench 2 has, each chosen one with each rejected one."""
    given = [fields.peek(side) for side in _SIDES]
    if not all(isinstance(side, list) and side and isinstance(side[0], str) for side in given):
        yield from _preference(seen, fields)
        return
    models = fields.peek("models")
    count = len(given[0]) + len(given[1])
    names = models if isinstance(models, list) and len(models) == count else [""] * count
    row = fields.rest()
    for (one, text), (other, worse) in product(enumerate(given[0]), enumerate(given[1], len(given[0]))):
        sides = {"chosen": text, "rejected": worse}
        whose = {"chosen_model": names[one], "rejected_model": names[other]}
        yield from _preference(seen, fields.inside({**row, **sides, **whose}))


def _preference(seen: set[tuple[str, ...]], fields: Fields) -> Iterator[Item]:
    label = fields.peek("consensus")
    pair = _pair(fields)
    if pair is None:
        return
    key = (pair.prompt.id, pair.first.contestant, pair.second.contestant)
    if key in seen:  # sets repeat pairs, as for several criteria
        return
    seen.add(key)
    yield from pair.records()
    yield pair.gold(_GOLD.get(str(label), "first"), SOURCE)


def _pair(fields: Fields) -> Pair | None:
    asked = next((name for name in _PROMPTS if name in fields), "")
    opening = _messages(fields, asked, "user") if asked else []
    said = [_messages(fields, side, "assistant") for side in _SIDES]
    if fields.problems:
        return None
    found = [
        dialogue(fields, side, messages if _opens(messages) else [*opening, *messages])
        for side, messages in zip(_SIDES, said, strict=True)
    ]
    first, second = found
    if not fields.problems and (first.user, first.asked) != (second.user, second.asked):
        fields.problem("rejected", "the user's turns or the system message are not as in chosen")
    if not fields.problems and not first.user:
        fields.problem("prompt", "missing; the answers do not hold it")
    for side, answer in zip(_SIDES, found, strict=True):
        if not fields.problems and len(answer.model) != len(answer.user):
            fields.problem(side, f"{len(answer.model)} answers to {len(answer.user)} turns of the user")
    if fields.problems:
        return None
    models = _model(fields, "chosen"), _model(fields, "rejected")
    fields.take("messages")  # UltraFeedback repeats the chosen conversation
    extra = _with_system({**fields.rest(), **beside(first.asked)})
    subset, category = str(extra.pop("subset", "") or ""), extra.pop("category", None)
    about: dict[str, Any] = {
        "subset": subset,
        "category": str(category) if category else None,
        "extra": extra,
        "models": models,
        "implied": True,
    }
    pair = Pair.alone(fields, first.user, first.model, second.model, **about)
    return pair.with_asides(first.told, second.told)


def _with_system(extra: dict[str, Any]) -> dict[str, Any]:
    """The further fields with a system message in a field of its own put before the first turn."""
    said = extra.get("system")
    if not isinstance(said, str) or not said.strip() or ASIDES in extra:
        return extra
    told = {"turn": 1, **aside("system", said)}
    return {**{name: value for name, value in extra.items() if name != "system"}, **beside((told,))}


def _messages(fields: Fields, name: str, role: str) -> list[Any]:
    """The messages of a field; a text is one of this role, or a conversation in one text."""
    value = fields.take(name)
    if isinstance(value, str):
        listed = parsed(value) if value.lstrip().startswith("[{") else None
        if not isinstance(listed, list):
            return transcript(value) or [{"role": role, "content": value}]
        value = listed
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not value:
        fields.problem(name, "expected a text or a list of messages with role and content")
        return []
    if reason := unstorable(value):
        fields.problem(name, reason)
    return value


def _opens(messages: list[Any]) -> bool:
    """Tell whether messages begin with the user's, so that they hold the prompt."""
    first: Any = messages[0] if messages else None
    role = (first.get("role") or first.get("from")) if isinstance(first, dict) else None
    return isinstance(role, str) and role.lower() not in ("assistant", "gpt", "model")


def _model(fields: Fields, side: str) -> str:
    names = [name.format(side) for name in _MODELS]
    found = next((fields.text(name) for name in names if name in fields), "")
    return "" if found.strip().lower() in _NOBODY else found


FORMAT: Final = Format(
    "preferences",
    "Chosen and rejected answers",
    "chosen and rejected, texts beside a prompt or lists of messages",
    (Shape(Kind.PAIRS, "chosen rejected", _read, _is_readable),),
)
