"""What a file can be, and what a format is. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from arena.formats.files import Form, InputFile
from arena.formats.records import Item


class Kind(IntEnum):
    """What a file holds, in the order in which files are imported: what others name comes first."""

    CONTESTANTS = 1
    RATERS = 2
    PROMPTS = 3
    COMPLETIONS = 4
    PAIRS = 5
    """Gold labels."""
    COMPARISONS = 6
    NOTHING = 7
    """Understood, and nothing in it is imported."""


@dataclass(frozen=True)
class Head:
    """What is known of a file before it is read: its name, its form and its first record's fields."""

    file: InputFile
    form: Form
    fields: frozenset[str]

    @property
    def is_typed(self) -> bool:
        """Whether values know what they are, so that texts, numbers and lists can be told apart."""
        return self.form is not Form.CELLS


Companions: TypeAlias = Mapping[Kind, Sequence[InputFile]]
"""The files of the same format that are imported together with one, by what they hold."""


@dataclass(frozen=True)
class Format:
    """A way of writing data down.

    ``recognise`` says what a file of this format holds, or None where it is not of this format. ``read``
    yields the file's records with the problems met, and may raise BrokenFileError; where a file says things
    only together with another one, that is among its companions. ``needs`` describes for
    messages which fields make a file one of this format.
    """

    name: str
    title: str
    needs: str
    recognise: Callable[[Head], Kind | None]
    read: Callable[[InputFile, Kind, Companions], Iterator[Item]]
