r"""Formulas in Markdown: found between $, $$, \( and \[, set aside, and put in behind the sanitiser. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Final

from arena.texts.mathml import LONGEST, to_mathml

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.ruler import RuleOptionsType
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

MOST: Final = 500
"""Formulas converted in one text; the others are shown as their source."""

LARGEST: Final = 200_000
"""Characters of the MathML of one text."""

_PLACE: Final = "\ufdd0"
"""Stands around the number of a formula until the text is sanitised. A code point that no text may hold."""
_BAR: Final = "\ufdd1"
"""Stands for a | inside a formula while the cells of a table are told apart."""
_WIDE: Final = 30
"""Characters from which a formula may be wider than a phone: it scrolls, so it can be reached by keyboard."""

_TYPE: Final = "formula"


@dataclass
class Formulas:
    """The formulas of one text, set aside while the rest of it is sanitised."""

    _mathml: list[str] = field(default_factory=list)
    _size: int = 0

    def add(self, source: str, *, display: bool) -> str | None:
        """Convert a formula: what stands for it until ``put_in``, or None where its source is to be shown."""
        if len(self._mathml) >= MOST or self._size >= LARGEST:
            return None
        mathml = to_mathml(source, display=display)
        if mathml is None:
            return None
        if display or len(source) > _WIDE:
            scrolls = ' tabindex="0"' if len(source) > _WIDE else ""
            name = "formula" if display else "formula formula-inline"
            mathml = f'<span class="{name}"{scrolls}>{mathml}</span>'
        self._mathml.append(mathml)
        self._size += len(mathml)
        return f"{_PLACE}{len(self._mathml) - 1}{_PLACE}"

    def put_in(self, html: str) -> str:
        """Sanitised HTML with the formulas in their places."""
        return re.sub(f"{_PLACE}(\\d+){_PLACE}", lambda found: self._mathml[int(found[1])], html)


def without_marks(text: str) -> str:
    """A text without the code points that stand for something here; no text has a use for them."""
    return text.replace(_PLACE, "\ufffd").replace(_BAR, "\ufffd")


_INLINE: Final = re.compile(
    rf"""
    \$\$ (?P<shown> (?:[^$\\]|\\.){{1,{LONGEST}}} ) \$\$
  # No space inside the dollars and no digit behind: "$5 and $10" is money. Nor a letter before, as in US$.
  | (?<![A-Za-z0-9]) \$ (?![\s$]) (?P<dollars> (?:[^$\\`]|\\.){{1,{LONGEST}}} ) (?<!\s) \$ (?!\d)
  | \\\( (?P<round> (?:[^\\]|\\[^()\[\]]){{1,{LONGEST}}} ) \\\)
  | \\\[ (?P<square> (?:[^\\]|\\[^()\[\]]){{1,{LONGEST}}} ) \\\] (?!\()
    """,
    re.DOTALL | re.VERBOSE,
)
_DELIMITERS: Final = {
    "shown": ("$$", "$$"),
    "dollars": ("$", "$"),
    "round": (r"\(", r"\)"),
    "square": (r"\[", r"\]"),
}
_IN_A_ROW: Final = re.compile(
    r"(?<![A-Za-z0-9\\])\$(?![\s$])(?:[^$\\`\n]|\\[^\n]){1,500}(?<!\s)\$(?!\d)|\\\([^\n]{1,500}?\\\)"
)
_MONEY: Final = re.compile(r"\d[\d.,]*\s+[A-Za-z]{2,}[^\\^_=]*|[\d.,]+\s*\|[^|]*")
_VARIABLE: Final = re.compile(r"[A-Z_]{2,}[^\\^={}]*")
_MATHS: Final = re.compile(r"[\\^_=<>{}+*/\n]")
_CLOSERS: Final = {
    "$$": re.compile(r"\\.|\$\$"),
    r"\[": re.compile(r"\\\\|\\\[|\\\]"),
}


def formulas_plugin(parser: MarkdownIt) -> None:
    """Find formulas. A text is then rendered with ``formulas`` in its environment, a Formulas."""
    inside: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("fence", _TYPE, _display_block, inside)
    parser.inline.ruler.before("escape", _TYPE, _inline)
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.add_render_rule(_TYPE, _render)


def source_of(token: Token) -> str:
    """A formula as it was written, with its delimiters."""
    return f"{token.markup}{token.content}{token.info}"


def _inline(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    found = _INLINE.match(state.src, state.pos, state.posMax)
    if not found or _is_prose(found):
        return False
    if not silent:
        kind = str(found.lastgroup)
        token = state.push(_TYPE, "math", 0)
        token.content = found[kind]
        token.markup, token.info = _DELIMITERS[kind]
    state.pos = found.end()
    return True


def _is_prose(found: re.Match[str]) -> bool:
    """Whether what stands between delimiters is rather money, a variable of a shell or a bracket."""
    kind = str(found.lastgroup)
    content = found[kind]
    if kind == "square":
        return not _MATHS.search(content)
    if kind != "dollars":
        return False
    after = found.string[found.end() : found.end() + 1]
    variable = (after.isalpha() or after == "_") and _VARIABLE.fullmatch(content)
    return bool(variable or _MONEY.fullmatch(content))


def _display_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula that begins a line: what is in its lines is neither a list nor a heading."""
    if state.is_code_block(start):
        return False
    begin = state.bMarks[start] + state.tShift[start]
    opener = state.src[begin : begin + 2]
    closer = _CLOSERS.get(opener)
    if closer is None:
        return False
    lines: list[str] = []
    size = 0
    for line in range(start, end):
        text = state.src[
            begin + 2 if line == start else state.bMarks[line] + state.tShift[line] : state.eMarks[line]
        ]
        outside = line > start and (state.isEmpty(line) or state.sCount[line] < state.blkIndent)
        size += len(text)
        if outside or size > LONGEST:
            return False
        delimiter = next((found for found in closer.finditer(text) if found[0] in ("$$", r"\[", r"\]")), None)
        if delimiter is None:
            lines.append(text)
            continue
        rest = text[delimiter.end() :].rstrip()
        # A line that goes on behind its only formula is a paragraph; so is what opens another inside.
        if delimiter[0] == r"\[" or (rest and line == start):
            return False
        if not silent:
            _push(state, "\n".join([*lines, text[: delimiter.start()]]), opener, delimiter[0], rest)
            state.line = line + 1
        return True
    return False


def _push(state: StateBlock, content: str, opener: str, closer: str, rest: str) -> None:
    """A paragraph that holds the formula and what follows it."""
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content = f"{opener}{content}{closer}{rest}"
    inline.children = []
    state.push("paragraph_close", "p", -1)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The parser's own rule for tables, blind to each | inside a formula."""
    from markdown_it.rules_block import table

    if state.env.get("bars") is None:
        state.env["bars"] = _IN_A_ROW.sub(_hide_bars, state.src)
    written, known = state.src, len(state.tokens)
    state.src = state.env["bars"]
    try:
        return table(state, start, end, silent)
    finally:
        state.src = written
        for token in state.tokens[known:]:
            token.content = token.content.replace(_BAR, "|")


def _hide_bars(found: re.Match[str]) -> str:
    formula = found[0]
    inside = formula.strip("$")
    of_cells = inside.count("|") % 2 and (inside.endswith("|") or _MONEY.fullmatch(inside))
    return formula if of_cells else formula.replace("|", _BAR)


def _render(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    display = token.markup in ("$$", r"\[")
    place: str | None = env["formulas"].add(token.content, display=display)
    return place or f"<code>{escape(source_of(token))}</code>"
