"""Files of other data sets, and the records read from them, in ``cases/*.txt``.

``##`` says what a case is about, ``?`` what whoever imports it says, ``>`` begins a file by its name, and
``=`` is a record, a problem (``!``) or a note, after its line. To write anew what is read, and compare:

    .venv/bin/python -m tests.arena.data.formats.test_cases
"""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from arena.data.formats.catalogue import gather
from arena.data.formats.files import About, InputFile
from arena.data.formats.records import Item, Note, Problem, RaterKinds, Unused, VerdictValues
from arena.data.formats.table import ColumnMapping

FOLDER: Final = Path(__file__).with_name("cases")


class Case(NamedTuple):
    title: str
    lines: list[str]  # as they are in the file, but for what is expected
    expected: list[str]

    def read(self, folder: Path) -> list[str]:
        """What is read from the case's files, in lines."""
        told: dict[str, Any] = {}
        files: dict[str, list[str]] = {}
        for line in self.lines:
            if line.startswith("?"):
                told = json.loads(line[1:])
            elif line.startswith("> "):
                files[line[2:]] = []
            else:
                files[[*files][-1]].append(line)
        format_name, header = told.pop("format", ""), told.pop("header", "")
        mapping = ColumnMapping.from_dict(told.pop("mapping")) if "mapping" in told else None
        inputs = [InputFile(_written(folder / name, lines), name) for name, lines in files.items()]
        found = gather(inputs, format_name, mapping=mapping, header=header, about=About(**told)).items()
        told_of = [_shown(item, len(files) > 1) for item in found if not isinstance(item, Unused)]
        # What is named in passing is shown where it is for the first time.
        first = {line.partition(" ")[2]: line for line in reversed(told_of) if line.endswith(" implied=True")}
        return [line for line in told_of if first.get(line.partition(" ")[2], line) == line]


def _written(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def _shown(item: Item, many: bool) -> str:
    """The place, and all that is not as usual."""
    where = f"{Path(item.place.file).name}:{item.place.line}" if many else str(item.place.line)
    if isinstance(item, Problem):
        return f"{where}! {item.field}: {item.reason}"
    if isinstance(item, Note):
        return f"{where} note: {item.text}"
    if isinstance(item, VerdictValues | RaterKinds):
        return f"{where} {dict(item[1])}"
    told = [
        f"{each.name}={value!r}"
        for each in fields(item)
        if each.name != "place" and (value := getattr(item, each.name)) != _usual(each)
    ]
    return f"{where} {type(item).__name__.removesuffix('Record').lower()} {' '.join(told)}"


def _usual(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _cases(path: Path) -> Iterator[Case]:
    for text in path.read_text("utf-8").split("## ")[1:]:
        title, *lines = text.strip("\n").split("\n")
        expected = [line.removeprefix("= ") for line in lines if line.startswith("= ")]
        yield Case(title, [line for line in lines if not line.startswith("= ")], expected)


CASES: Final = [
    pytest.param(case, id=f"{path.stem}: {case.title}")
    for path in sorted(FOLDER.glob("*.txt"))
    for case in _cases(path)
]


@pytest.mark.parametrize("case", CASES)
def test_a_file_is_read(case: Case, tmp_path: Path) -> None:
    assert case.read(tmp_path) == case.expected


def write() -> None:
    for path in FOLDER.glob("*.txt"):
        with tempfile.TemporaryDirectory() as folder, path.with_suffix(".new").open("w") as new:
            for case in _cases(path):
                found = [f"= {line}" for line in case.read(Path(folder))]
                new.write("\n".join([f"## {case.title}", *case.lines, *found]) + "\n\n")
        path.with_suffix(".new").replace(path)


if __name__ == "__main__":
    write()
