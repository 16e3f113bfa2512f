import pytest

from arena.data.formats import ours
from arena.data.formats.catalogue import CATALOGUE, UnknownFormatError, catalogue, gather


def test_a_name_is_used_once() -> None:
    with pytest.raises(ValueError, match='two formats are named "jsonl"'):
        catalogue(*ours.FORMATS, *ours.FORMATS)


def test_the_catalogue_is_visible() -> None:
    assert list(CATALOGUE)[-4:] == ["jsonl", "csv", "parquet", "table"]


def test_an_unknown_format_names_those_there_are() -> None:
    with pytest.raises(UnknownFormatError, match='no format "xml"; the formats are llmfao, '):
        gather([], "xml")
