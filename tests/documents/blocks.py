"""The shell commands that the documents tell readers to run.

A block of commands is fenced (as ``sh``, as ``console`` with ``$`` before each command, or without a name) or
indented by four spaces. A comment before it says why it cannot run in a test:

    <!-- not run: needs Docker -->

A block with placeholders, such as ``standings STUDY [--rounds 1000]``, shows how a command is used. STUDY
alone stands for the demo study.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
STANDS_FOR: Final = {"NEW-STUDY": "another-study", "STUDY": "demo"}

_PROGRAM: Final = re.compile(
    r"([A-Z_]+=\S+ )?(\.venv/bin/)?python3? |(arena|cd|curl|docker|echo|export|git|make|mkdir|printf|sed) "
)
_PLACEHOLDER: Final = re.compile(r"\[--|\.\.\.|<\w|(?<![\w$/=.-])[A-Z]+(?![\w=-])")
_REASON: Final = re.compile(r"<!-- not run: (.+) -->")


@dataclass(frozen=True)
class Block:
    """Commands that stand together in a document; ``reason``: why they cannot run in a test."""

    document: str
    line: int
    language: str
    script: str
    reason: str

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"

    @property
    def shows_usage(self) -> bool:
        """Tell whether placeholders stand in for what a reader has to name."""
        unquoted = re.sub(r"'[^']*'|\"[^\"]*\"|#.*", "", self.script)
        return bool(_PLACEHOLDER.search(unquoted))


def blocks(document: str) -> Iterator[Block]:
    """Yield the blocks of commands in a document, named by its path from the project's folder."""
    reason = ""
    for line, language, body in _code((ROOT / document).read_text()):
        if not language and (found := _REASON.fullmatch(body[0])):
            reason = found[1]
            continue
        script = _script(language, body)
        if script:
            yield Block(document, line, language, script, reason)
        reason = ""


def spans(document: str) -> Iterator[str]:
    """Yield what stands as code within the text of a document."""
    lines = [line[0] if not language else "" for _, language, line in _code((ROOT / document).read_text())]
    for cell in re.split(r"\n\n|\|", re.sub(r"(?m)^[-*#>]|^\d+\.", "\n", "\n".join(lines))):
        yield from cell.replace("\n", " ").split("`")[1::2]


def _code(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield where it begins, the language and the lines of every block; other lines have no language."""
    lines = text.split("\n")
    at = 0  # the files end with a line break, so that every block ends before the last line
    while at < len(lines):
        begin = at + 1
        if lines[at].startswith("```"):
            end = lines.index("```", begin)
            yield begin + 1, lines[at][3:] or "fenced", lines[begin:end]
            at = end + 1
        elif lines[at].startswith("    ") and not (at and lines[at - 1].strip()):
            end = begin
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield begin, "indented", [line[4:] for line in lines[at:end]]
            at = end
        else:
            if lines[at].strip():
                yield begin, "", [lines[at]]
            at += 1


def _script(language: str, body: list[str]) -> str:
    """Return the commands of a block, one a line; "" if it has none."""
    text = re.sub(r"\\\n\s*", "", "\n".join(body).strip())
    if language == "console":
        text = "\n".join(line[2:] for line in text.split("\n") if line.startswith("$ "))
    elif language != "sh" and not (language in ("fenced", "indented") and _PROGRAM.match(text)):
        return ""
    for placeholder, value in STANDS_FOR.items():
        text = re.sub(rf"(?<![\w-]){placeholder}(?![\w-])", value, text)
    return text
