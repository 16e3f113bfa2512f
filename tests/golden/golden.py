"""Golden texts: what was answered before, one file for a family of addresses or commands."""

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "texts"
WHOLE: Final = 25
"""A file with more lines is kept as its first ones and its digest."""

WIDTH: Final = 200

UNCUT: Final = os.environ.get("ARENA_GOLDEN_UNCUT", "")
"""A folder to which everything is written in full, also of public studies, in place of the comparison."""

RULES: Final = (
    (r"\{seen: hidden \d+\}", "{seen}"),  # a number for all settings of a form
    (r"computed in [\d.]+ s", "computed in SECONDS s"),
    (r'("seconds": |"lease_seconds": )[\d.]+', r"\1SECONDS"),
)
"""What differs between two runs of the same code, and what stands for it. Clock and chance stand still."""


class Golden:
    """The texts of one run, by the name of their file."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = defaultdict(list)
        self._first: dict[str, list[str]] = {}
        self._titles: dict[str, list[str]] = defaultdict(list)

    def add(self, family: str, title: str, lines: Sequence[str], like: str = "") -> None:
        """Keep an answer under its title; one that is much ``like`` another title's as what differs."""
        lines = [_clean(line) for line in lines]
        self._first.setdefault(title, lines)
        self._titles[family].append(title)
        known = self._first.get(like)
        if known is not None and like != title:
            changed = _changes(known, lines)
            if len(changed) < len(lines):
                title, lines = f"{title}, like {like}{' but' if changed else ''}", changed
        self._texts[family] += [f"=== {title}", *lines, ""]

    def has(self, title: str) -> bool:
        """Return True where there is an answer with this title."""
        return title in self._first

    def titles(self, family: str) -> Sequence[str]:
        """The titles in a file, in their order."""
        return self._titles[family]

    def files(self) -> dict[str, str]:
        """Their content by their names."""
        return {f"{family}.txt": "\n".join(lines) for family, lines in self._texts.items()}


def read_file(name: str, content: bytes, most: int = WHOLE) -> list[str]:
    """A file as lines: JSON one value a line; what is long as its beginning and its digest."""
    text = content.decode("utf-8", "replace")
    if name.endswith(".json") or text[:1] in "{[":
        with suppress(ValueError):
            text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    text = _clean(text)
    if UNCUT:
        return text.splitlines()
    return cut([line[:WIDTH] for line in text.splitlines()], text, most)


def cut(lines: list[str], text: str = "", most: int = WHOLE) -> list[str]:
    """Many lines as the first ones and the digest of them all, or of ``text``."""
    is_whole = not text or all(len(line) < WIDTH for line in lines)
    if UNCUT or (len(lines) <= most and is_whole):
        return lines
    digest = hashlib.sha256((text or "\n".join(lines)).encode()).hexdigest()[:16]
    return [*lines[:most], f"… {len(lines):,} lines, SHA-256 {digest}"]


def compare(found: dict[str, str]) -> str:
    """What differs from the texts that are kept; empty where nothing does."""
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.txt")}
    differences = []
    for name in sorted(found.keys() | kept.keys()):
        texts = [each.get(name, "").splitlines() for each in (kept, found)]
        differences += unified_diff(*texts, f"kept/{name}", f"now/{name}", n=2, lineterm="")
    return "\n".join(differences)


def write(found: dict[str, str], folder: Path = FOLDER) -> None:
    """Keep these texts in place of all that were."""
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.txt"):
        path.unlink()
    for name, text in found.items():
        (folder / name).write_text(text, encoding="utf-8")


def _changes(known: list[str], lines: list[str]) -> list[str]:
    """The lines in which an answer differs, but for the settings of links; lines that are gone are cut."""
    texts = ([re.sub(r"\?[^()\s]*\)", "?…)", line) for line in text] for text in (known, lines))
    changes = islice(unified_diff(*texts, n=0, lineterm=""), 2, None)
    return ["@@" if line[:2] == "@@" else line[:40] if line[0] == "-" else line for line in changes]


def _clean(text: str) -> str:
    for pattern, instead in RULES:
        text = re.sub(pattern, instead, text)
    return text
