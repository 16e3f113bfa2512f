"""The zip file of a bundle: written whole, and read as if a stranger had made it.

Nothing is unpacked to disk; files are read no further than the manifest says.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Final

from arena.data.formats.archives import DAMAGE
from arena.files.output import NewZip

FORMAT: Final = "likert-arena-bundle"
VERSION: Final = 2
"""Raised when an older program could not read a bundle correctly."""

READ: Final = (1, 2)
"""The versions that this program reads: 1 has no JUDGES."""

MANIFEST: Final = "MANIFEST.json"
README: Final = "README.md"
PARAMETERS: Final = "parameters.json"
JUDGES: Final = "judges.json"
OPINIONS: Final = "inputs/opinions.json"
COMPARISONS: Final = "inputs/comparisons.csv"
CONTESTANTS: Final = "inputs/contestants.csv"
RATERS: Final = "inputs/raters.csv"
PROMPTS: Final = "inputs/prompts.csv"
COMPLETIONS: Final = "inputs/completions.csv"
SIZES: Final = "inputs/text_sizes.json"
RIGHT_ANSWERS: Final = "inputs/right_answers.json"
REQUIREMENTS: Final = "inputs/requirements.json"
CHECKS: Final = "inputs/checks.csv"
SCORED: Final = "inputs/scored.json"
SCORES: Final = "inputs/scores.csv"
FEATURES: Final = "inputs/features.csv"
PROMPT_TEXTS: Final = "texts/prompts.jsonl"
COMPLETION_TEXTS: Final = "texts/completions.jsonl"
RESULTS: Final = "results/tables.jsonl"

NEEDED: Final = (
    README,
    PARAMETERS,
    OPINIONS,
    COMPARISONS,
    CONTESTANTS,
    RATERS,
    PROMPTS,
    COMPLETIONS,
    RESULTS,
)
OPTIONAL: Final = (
    *(JUDGES, SIZES, RIGHT_ANSWERS, REQUIREMENTS, CHECKS, SCORED, SCORES, FEATURES),
    *(PROMPT_TEXTS, COMPLETION_TEXTS),
)


class BundleError(Exception):
    """A bundle cannot be made or read; the message is for whoever asked."""


@contextmanager
def valid(what: str) -> Iterator[None]:
    """Read things that may come from a stranger. Raises BundleError where they make no sense."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise BundleError(f"The {what} in the bundle are invalid: {str(error)[:200]}.") from error


def pretty(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


LARGEST: Final = 2 * 1024**3

LARGEST_MANIFEST: Final = 1024**2
MOST_PACKED: Final = 400
"""The largest ratio of unpacked to packed size; real data stay far below."""

_SMALL: Final = 1024**2
_PIECE: Final = 1024**2
_MADE: Final = (1980, 1, 1, 0, 0, 0)
"""Time of every file, so that equal contents make equal archives."""


class Writer:
    def __init__(self, file: IO[bytes]) -> None:
        self._archive = NewZip(file, compresslevel=6)
        self._files: dict[str, dict[str, Any]] = {}

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._archive.open(_entry(name), "w", force_zip64=True) as member:
            for piece in pieces:
                digest.update(piece)
                size += len(piece)
                member.write(piece)
        self._files[name] = {"bytes": size, "sha256": digest.hexdigest()}

    def close(self, facts: Mapping[str, Any]) -> None:
        manifest = {"format": FORMAT, "version": VERSION, **facts, "files": self._files}
        self._archive.writestr(_entry(MANIFEST), pretty(manifest))
        self._archive.close()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _MADE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


class Reader:
    """Reads a bundle and checks its files. Raises BundleError."""

    def __init__(self, file: IO[bytes] | str) -> None:
        try:
            self._archive = zipfile.ZipFile(file)
        except OSError as error:
            raise BundleError(f"The bundle cannot be read: {error.strerror or error}.") from error
        except DAMAGE as error:
            raise BundleError(f"This is not a bundle: {error}.") from error
        self._entries = self._listed()
        self.manifest = self._manifest()

    def _listed(self) -> dict[str, zipfile.ZipInfo]:
        known, found = {MANIFEST, *NEEDED, *OPTIONAL}, {}
        for entry in self._archive.infolist():
            if entry.filename not in known:
                raise BundleError(f"The archive holds {entry.filename[:100]!r}, which no bundle has.")
            if entry.filename in found:
                raise BundleError(f"The archive holds {entry.filename} twice.")
            if entry.flag_bits & 0x1:
                raise BundleError(f"{entry.filename} is encrypted.")
            found[entry.filename] = entry
        if sum(entry.file_size for entry in found.values()) > LARGEST:
            raise BundleError(f"The unpacked files are larger than {LARGEST // 1024**3} GB.")
        return found

    def _manifest(self) -> dict[str, Any]:
        if MANIFEST not in self._entries:
            raise BundleError("This is not a bundle: it has no MANIFEST.json.")
        try:
            manifest = json.loads(self._bytes(MANIFEST, LARGEST_MANIFEST))
            if manifest["format"] != FORMAT:
                raise BundleError("This is not a bundle of this program.")
            if manifest["version"] not in READ:
                version, known = str(manifest["version"])[:20], " and ".join(map(str, READ))
                raise BundleError(f"The bundle has version {version}; this program reads {known}.")
            listed = {
                name: (int(one["bytes"]), str(one["sha256"])) for name, one in manifest["files"].items()
            }
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BundleError("The manifest of the bundle cannot be read.") from error
        missing = [name for name in NEEDED if name not in listed or name not in self._entries]
        if missing or listed.keys() != self._entries.keys() - {MANIFEST}:
            named = missing or sorted(listed.keys() ^ (self._entries.keys() - {MANIFEST}))
            raise BundleError(f"The manifest and the files do not match: {', '.join(named)[:200]}.")
        self._said = listed
        return dict(manifest)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        size, digest = self._said[name]
        content = self._bytes(name, size)
        if len(content) != size or sha256(content) != digest:
            raise BundleError(f"{name} does not match the manifest. The bundle was changed or damaged.")
        return content

    def json(self, name: str) -> Any:
        try:
            return json.loads(self.read(name))
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{name} is not JSON.") from error

    def _bytes(self, name: str, most: int) -> bytes:
        entry = self._entries[name]
        if entry.file_size > max(_SMALL, MOST_PACKED * entry.compress_size):
            raise BundleError(f"{name} is packed more tightly than any data are.")
        pieces, size = [], 0
        try:
            with self._archive.open(entry) as member:
                while piece := member.read(_PIECE):
                    size += len(piece)
                    if size > most:
                        raise BundleError(f"{name} is longer than the manifest says.")
                    pieces.append(piece)
        except (OSError, *DAMAGE) as error:
            raise BundleError(f"{name} cannot be unpacked: {error}.") from error
        return b"".join(pieces)


Place = tuple[str, ...]
"""Kind, raters, ties, category, method."""


def place_of(table: Any) -> Place:
    return table.kind, table.raters, table.ties, table.category, table.method


def line_of(place: Place, payload: str) -> str:
    names = ("kind", "raters", "ties", "category", "method")
    where = json.dumps(dict(zip(names, place, strict=True)), sort_keys=True, ensure_ascii=False)
    return f'{{"table":{where},"content":{payload}}}\n'


def digest_of(tables: Mapping[Place, str]) -> str:
    """One digest of all tables, given as payloads, whatever their order."""
    lines = sorted(line_of(place, payload) for place, payload in tables.items())
    return sha256("".join(lines).encode("utf-8", "surrogatepass"))
