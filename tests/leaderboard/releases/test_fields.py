import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.pages.citation import Author
from leaderboard.releases.fields import Fields, FieldsError, read_author, read_doi, read_orcid

ORCID = "0000-0002-1825-0097"


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("Ada Lovelace", Author("Ada Lovelace")),
        (f"  Ada   Lovelace <{ORCID}> ", Author("Ada Lovelace", ORCID)),
        ("Ada <https://orcid.org/0000000218250097>", Author("Ada", ORCID)),
        (
            f"Lovelace, Ada <Analytical Engines> <{ORCID}>",
            Author("Lovelace, Ada", ORCID, "Analytical Engines"),
        ),
        ("Laszlo <0000-0002-9079-593x>", Author("Laszlo", "0000-0002-9079-593X")),
    ],
)
def test_authors_are_read(line, author):
    assert read_author(line) == author


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("<0000-0002-1825-0097>", "has no name"),
        (", Ada", "has no name"),
        ("King, Jr., Martin", "at most one comma"),
        ("Ada <x", "cannot be read"),
        ("Ada <x> <y>", "two affiliations"),
        (f"Ada <{ORCID}> <{ORCID}>", "two ORCIDs"),
        ("Ada <0000-0002-1825-0098>", "last digit does not match"),
        ("Ada\x1bLovelace", r"U\+001B"),
        ("A" * 201, "at most 200"),
    ],
)
def test_what_is_no_author_is_said(line, problem):
    with pytest.raises(ValueError, match=problem):
        read_author(line)


@given(st.text("0123456789", min_size=15, max_size=15), st.integers(0, 14), st.integers(1, 9))
def test_one_wrong_digit_of_an_orcid_is_always_found(digits, place, by):
    endings = []
    for ending in "0123456789X":
        try:
            endings.append(read_orcid(digits + ending)[-1])
        except ValueError:
            continue
    (ending,) = endings
    wrong = digits[:place] + str((int(digits[place]) + by) % 10) + digits[place + 1 :]
    with pytest.raises(ValueError, match="last digit"):
        read_orcid(wrong + ending)


@pytest.mark.parametrize(
    "text", ["10.5281/zenodo.7", " https://doi.org/10.5281/zenodo.7", "DOI: 10.5281/zenodo.7 "]
)
def test_a_doi_is_kept_without_what_stands_before_it(text):
    assert read_doi(text) == "10.5281/zenodo.7"


@pytest.mark.parametrize("text", ["10.5281", "zenodo.7", "10.5281/a b", "10.5281/{}", 'https://x.example/"'])
def test_what_is_no_doi_is_said(text):
    with pytest.raises(ValueError, match="is not a DOI"):
        read_doi(text)


def test_every_wrong_field_is_named_at_once():
    with pytest.raises(FieldsError) as error:
        Fields.read("1 0", [" ", ""], "x" * 101, "x", "\0")
    assert list(error.value.problems) == ["version", "authors", "licence", "doi", "changelog"]
    with pytest.raises(FieldsError, match="Ada is named twice"):
        Fields.read("1.0", ["Ada", "Ada <x>"], "", "", "")
