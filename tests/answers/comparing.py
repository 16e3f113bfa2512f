"""The differences between two recordings."""

import re
from collections import defaultdict
from difflib import unified_diff
from itertools import takewhile
from pathlib import Path


def compare(before: Path, after: Path, only: str = "") -> bool:
    """Print every difference once, with the files that have it; return True where there is any.

    ``only``: a pattern that the names of the compared files match.
    """
    old, new = ({name for name in _names(folder) if re.search(only, name)} for folder in (before, after))
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(old ^ new):
        found["This file is in BEFORE only." if name in old else "This file is in AFTER only."].append(name)
    for name in sorted(old & new):
        for difference in _differences((before / name).read_bytes(), (after / name).read_bytes()):
            found[difference].append(name)
    for difference, names in sorted(found.items(), key=lambda each: -len(each[1])):
        files = "1 file" if len(names) == 1 else f"{len(names):,} files, among them"
        print(f"=== {files}: {', '.join(names[:5])}\n{difference}\n")
    print(f"{len(old):,} files before, {len(new):,} after, {len(found):,} differences")
    return bool(found)


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def _differences(old: bytes, new: bytes, lines: int = 4000, places: int = 20) -> set[str]:
    """The first places in which two answers differ, each as the lines that changed."""
    if old == new:
        return set()
    texts = [_lines(content) for content in (old, new)]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    before, after = (text[same : same + lines] for text in texts)
    changed = "\n".join(line[:200] for line in list(unified_diff(before, after, n=0, lineterm=""))[2:])
    hunks = [hunk.strip("\n") for hunk in re.split(r"^@@.*@@$", changed, flags=re.MULTILINE) if hunk]
    return {"\n".join(hunk.split("\n")[:16]) for hunk in hunks[:places]} or {"Line ends differ."}


def _lines(content: bytes) -> list[str]:
    """The lines of an answer; long ones, as of JSON, are broken where a value or a tag ends."""
    lines = content.decode("utf-8", "replace").splitlines()
    pieces = (re.split(r"(?<=[,>}\]]) ?(?=\S)", line) if len(line) > 300 else [line] for line in lines)
    return [piece for found in pieces for piece in found]
