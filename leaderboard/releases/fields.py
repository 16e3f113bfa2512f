"""What people write about a release, checked. Pure."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar

from leaderboard.pages.citation import Author

LONGEST_VERSION: Final = 50
LONGEST_NAME: Final = 200
LONGEST_LICENCE: Final = 100
LONGEST_DOI: Final = 200
LONGEST_CHANGELOG: Final = 20_000
MOST_AUTHORS: Final = 200

_VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*", re.ASCII)
_DOI: Final = re.compile(r"10\.[0-9]{4,9}(\.[0-9]+)*/[-._;()/:A-Za-z0-9]+", re.ASCII)
_BEFORE_DOI: Final = re.compile(r"(https?://(dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_ORCID: Final = re.compile(r"[0-9]{4}-?[0-9]{4}-?[0-9]{4}-?[0-9]{3}[0-9Xx]", re.ASCII)
_BEFORE_ORCID: Final = re.compile(r"https?://orcid\.org/", re.IGNORECASE)
_AUTHOR: Final = re.compile(r"([^<>]*)((?:<[^<>]*>\s*){0,2})")

Read = TypeVar("Read")


class FieldsError(ValueError):
    """``problems`` are sentences by the name of the field."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True)
class Fields:
    version: str
    authors: tuple[Author, ...]
    licence: str
    doi: str
    changelog: str

    @classmethod
    def read(cls, version: str, authors: Iterable[str], licence: str, doi: str, changelog: str) -> "Fields":
        """Raises FieldsError with everything that is wrong."""
        given: dict[str, tuple[Callable[[Any], Any], Any]] = {
            "version": (read_version, version),
            "authors": (read_authors, authors),
            "licence": (_read_licence, licence),
            "doi": (read_doi, doi),
            "changelog": (read_changelog, changelog),
        }
        return cls(**read_all(given))

    def stored(self) -> dict[str, Any]:
        """As the columns of a release."""
        return {**vars(self), "authors": [asdict(author) for author in self.authors]}


def read_all(given: dict[str, tuple[Callable[[Any], Any], Any]]) -> dict[str, Any]:
    """What each function makes of its text, by field. Raises FieldsError."""
    found, problems = {}, {}
    for name, (read, text) in given.items():
        try:
            found[name] = read(text)
        except ValueError as error:
            problems[name] = str(error)
    if problems:
        raise FieldsError(problems)
    return found


def read_version(text: str) -> str:
    version = _short("version", text, LONGEST_VERSION)
    if not version:
        raise ValueError("A release needs a version, such as 1.0.")
    if not _VERSION.fullmatch(version):
        raise ValueError(
            f"“{version}” is not a version. Use letters, digits, dots, hyphens, underscores and plus signs, "
            "such as 1.0 or 2026-05."
        )
    return version


def read_authors(lines: Iterable[str]) -> tuple[Author, ...]:
    """One author from each line that is not empty, in order."""
    authors = tuple(read_author(line) for line in lines if line.strip())
    if not authors:
        raise ValueError("Name at least one author.")
    if len(authors) > MOST_AUTHORS:
        raise ValueError(f"Name at most {MOST_AUTHORS} authors, not {len(authors)}.")
    names = [author.name for author in authors]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise ValueError(f"{twice} is named twice.")
    return authors


def read_author(line: str) -> Author:
    """An author from "Name <ORCID or affiliation>"; both may stand there, each in its brackets."""
    text = _short("author", line, 3 * LONGEST_NAME)
    parts = _AUTHOR.fullmatch(text)
    if parts is None:
        raise ValueError(f"“{text}” cannot be read. Write Name <ORCID or affiliation>.")
    name, orcid, affiliation = " ".join(parts[1].split()), "", ""
    if not name.strip(",") or name.count(",") > 1 or not all(part.strip() for part in name.split(",")):
        raise ValueError(
            f"“{text}” has no name. Write Name <ORCID or affiliation>, with at most one comma in the "
            "name, after the family name."
        )
    for said in re.findall(r"<([^<>]*)>", parts[2]):
        inside = " ".join(said.split())
        if _ORCID.fullmatch(_BEFORE_ORCID.sub("", inside)):
            if orcid:
                raise ValueError(f"{name} has two ORCIDs.")
            orcid = read_orcid(inside)
        elif inside:
            if affiliation:
                raise ValueError(f"{name} has two affiliations; write them as one, with a semicolon between.")
            affiliation = inside
    if max(len(name), len(affiliation)) > LONGEST_NAME:
        raise ValueError(f"A name or an affiliation has at most {LONGEST_NAME} characters.")
    return Author(name, orcid, affiliation)


def read_orcid(text: str) -> str:
    """The ORCID in groups of four, its check digit (ISO 7064, 11-2) tested."""
    signs = _BEFORE_ORCID.sub("", text).replace("-", "").upper()
    total = 0
    for digit in signs[:-1]:
        total = (total + int(digit)) * 2
    expected = (12 - total % 11) % 11
    if signs[-1] != ("X" if expected == 10 else str(expected)):
        raise ValueError(f"{text} is not an ORCID: its last digit does not match.")
    return "-".join(signs[place : place + 4] for place in range(0, 16, 4))


def read_doi(text: str) -> str:
    """The DOI without the address before it; empty where there is none yet."""
    doi = _BEFORE_DOI.sub("", _short("DOI", text, LONGEST_DOI), count=1)
    if doi and not _DOI.fullmatch(doi):
        raise ValueError(f"“{doi}” is not a DOI. It looks like 10.5281/zenodo.1234567.")
    return doi


def read_changelog(text: str) -> str:
    changelog = text.replace("\r\n", "\n").strip()
    _check_signs("changelog", changelog.replace("\n", " ").replace("\t", " "))
    if len(changelog) > LONGEST_CHANGELOG:
        raise ValueError(
            f"The changelog has {len(changelog):,} characters; at most {LONGEST_CHANGELOG:,} are possible."
        )
    return changelog


def _read_licence(text: str) -> str:
    return _short("licence", text, LONGEST_LICENCE)


def _short(what: str, text: str, longest: int) -> str:
    found = text.strip()
    _check_signs(what, found)
    if len(found) > longest:
        raise ValueError(f"The {what} has {len(found)} characters; at most {longest} are possible.")
    return found


def _check_signs(what: str, text: str) -> None:
    strange = next((sign for sign in text if unicodedata.category(sign) in ("Cc", "Cs")), None)
    if strange is not None:
        raise ValueError(f"The {what} holds the control character U+{ord(strange):04X}; leave it out.")
