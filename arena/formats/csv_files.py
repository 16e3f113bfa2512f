"""Our own data as CSV: the same fields as columns; lists and objects are JSON in their cell. Pure."""

from collections.abc import Iterator

from arena.formats import ours
from arena.formats.files import InputFile
from arena.formats.kinds import Companions, Format, Head, Kind
from arena.formats.records import Item


def recognise(head: Head) -> Kind | None:
    return None if head.is_json else ours.recognise(head.fields)


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    return ours.records(file, kind, file.table().rows(), cells=True)


FORMAT = Format("csv", "Likert Arena CSV", ours.NEEDS, recognise, read)
