"""How to cite a leaderboard or a release of it. Pure."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "{": r"\textbraceleft{}",  # BibTeX counts braces, escaped or not
    "}": r"\textbraceright{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}

_KNOWN_LICENCES: Final = frozenset(
    (
        *("CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-ND-4.0", "CC-BY-NC-SA-4.0", "CC-BY-NC-ND-4.0"),
        *("CC0-1.0", "ODbL-1.0", "ODC-By-1.0", "PDDL-1.0", "CDLA-Permissive-2.0", "Apache-2.0", "MIT"),
    )
)
"""Of SPDX. CFF takes no other words for a licence, so others stand in the abstract alone."""

_NOT_IN_YAML: Final = re.compile("[\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class Author:
    """A person; the family name comes first and a comma after it, or stands last."""

    name: str
    orcid: str = ""
    affiliation: str = ""

    @property
    def family(self) -> str:
        return self._parts[0]

    @property
    def given(self) -> str:
        """Empty for a name of one word."""
        return self._parts[1]

    @property
    def _parts(self) -> tuple[str, str]:
        family, comma, given = self.name.partition(",")
        if comma:
            return family.strip(), given.strip()
        words = self.name.split()
        # As BibTeX does: "Ludwig van Beethoven" is a van Beethoven.
        small = (place for place, word in enumerate(words[:-1]) if place and word[0].islower())
        start = next(small, len(words) - 1)
        return " ".join(words[start:]), " ".join(words[:start])

    @property
    def shown(self) -> str:
        return f"{self.given} {self.family}".strip()


@dataclass(frozen=True)
class Citation:
    """``version`` is that of a release, which was made at ``made_at``."""

    name: str
    slug: str
    made_at: datetime
    snapshot_at: datetime
    methodology: str
    address: str
    simulated: bool
    licence: str = ""
    authors: Sequence[Author] = ()
    version: str = ""
    doi: str = ""

    @property
    def about(self) -> str:
        parts = [
            f"data as of {self.snapshot_at.day} {self.snapshot_at:%b %Y, %H:%M} UTC",
            f"method version {self.methodology}",
        ]
        if self.simulated:
            parts.append("simulated ratings")
        if self.licence:
            parts.append(f"licence {_one_line(self.licence)}")
        return ", ".join(parts)

    @property
    def text(self) -> str:
        who = f"{', '.join(author.shown for author in self.authors)}. " if self.authors else ""
        version = f", version {self.version}" if self.version else ""
        where = f"https://doi.org/{self.doi}" if self.doi else self.address
        return f"{who}{_one_line(self.name)}{version}. Likert Arena leaderboard, {self.about}. {where}"

    @property
    def bibtex(self) -> str:
        """An entry for BibTeX, with names escaped for LaTeX."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.slug.lower()).strip("-") or "study"
        key = "-".join(filter(None, ("likert-arena", slug, self.version or f"{self.made_at:%Y}")))
        fields = {
            "author": " and ".join(map(_bibtex_name, self.authors)),
            "title": f"{{{_latex(self.name)}}}",
            "howpublished": "Likert Arena leaderboard",
            "year": f"{self.made_at:%Y}",
            "version": _latex(self.version),
            "note": _latex(self._note),
            "doi": self.doi,
            "url": _in_address(self.address),
        }
        lines = (f"  {name:<12} = {{{value}}}," for name, value in fields.items() if value)
        return "\n".join((f"@misc{{{key},", *lines, "}"))

    @property
    def _note(self) -> str:
        # The styles of BibTeX itself print no version.
        return f"Version {self.version}, {self.about}" if self.version else self.about

    @property
    def cff(self) -> str:
        """A file CITATION.cff (Citation File Format 1.2.0) for a release."""
        return "".join(f"{line}\n" for line in self._cff())

    def _cff(self) -> Iterator[str]:
        yield "cff-version: 1.2.0"
        yield "message: If you use these numbers, please cite this release."
        yield "type: dataset"
        yield f"title: {_quoted(self.name)}"
        yield f"version: {_quoted(self.version)}"
        yield f"date-released: {self.made_at:%Y-%m-%d}"
        yield "authors:"
        for author in self.authors:
            named = {"family-names": author.family, "given-names": author.given}
            orcid = f"https://orcid.org/{author.orcid}" if author.orcid else ""
            fields = {**(named if author.given else {"name": author.family}), "orcid": orcid}
            known = {**fields, "affiliation": author.affiliation}.items()
            for number, (name, value) in enumerate((name, value) for name, value in known if value):
                yield f"  {' ' if number else '-'} {name}: {_quoted(value)}"
        if self.doi:
            yield f"doi: {_quoted(self.doi)}"
        yield f"url: {_quoted(self.address)}"
        if self.licence in _KNOWN_LICENCES:
            yield f"license: {self.licence}"
        yield f"abstract: {_quoted(f'Likert Arena leaderboard, {self.about}.')}"


def _bibtex_name(author: Author) -> str:
    parts = (part for part in (author.family, author.given) if part)
    return ", ".join(_kept_whole(_latex(part)) for part in parts)


def _kept_whole(text: str) -> str:
    """In braces where BibTeX would take the text for several names, or a word's case for a part of one."""
    return f"{{{text}}}" if re.search(r"\band\b", text, re.IGNORECASE) else text


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in _one_line(text))


def _in_address(address: str) -> str:
    return address.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")


def _quoted(text: str) -> str:
    """A double-quoted scalar of YAML, whose escapes are those of JSON."""
    written = json.dumps(_one_line(text), ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def _one_line(text: str) -> str:
    return " ".join(text.split())
