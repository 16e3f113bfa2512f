"""Our own data as JSON Lines: one object per line; the fields tell what a file holds. Pure."""

from collections.abc import Iterator

from arena.formats import ours
from arena.formats.files import InputFile
from arena.formats.kinds import Companions, Format, Head, Kind
from arena.formats.records import Item


def recognise(head: Head) -> Kind | None:
    return ours.recognise(head.fields) if head.is_json else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    return ours.records(file, kind, file.json_objects(), cells=False)


FORMAT = Format("jsonl", "Likert Arena JSON Lines", ours.NEEDS, recognise, read)
