"""Auto-J: pairs of responses by people's verdict. Pure."""

from collections.abc import Iterator
from typing import Final

from arena.data.formats.files import InputFile
from arena.data.formats.reading import SUBSET, Companions, Fields, Format, Head, Kind, read_rows
from arena.data.formats.records import Item
from arena.data.formats.text_pairs import TextPair

SOURCE: Final = "Auto-J"
GOLD: Final = {0: "first", 1: "second", 2: "tie"}
_ITEM: Final = frozenset({"prompt", "label", "scenario"})
_RESPONSES: Final = (("response 1", "response 2"), ("response_1", "response_2"))


def recognise(head: Head) -> Kind | None:
    named = any(head.fields >= set(names) for names in _RESPONSES)
    return Kind.PAIRS if head.is_typed and head.fields >= _ITEM and named else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    yield from read_rows(file, _item)


def _item(fields: Fields) -> Iterator[Item]:
    first, second = next((names for names in _RESPONSES if names[0] in fields), _RESPONSES[0])
    pair = TextPair.read(fields, "prompt", first, second, category=fields.optional_text("scenario"))
    if "label" not in fields:
        fields.problem("label", "missing; 0 or 1 says which response is better, 2 is a tie")
    label = fields.integer("label", least=0, most=2)
    yield from pair.records()
    yield pair.gold(GOLD[label or 0], SOURCE)


FORMAT: Final = Format(
    "autoj", "Auto-J pairs", "scenario, prompt, response 1, response 2 and label", recognise, read, SUBSET
)
