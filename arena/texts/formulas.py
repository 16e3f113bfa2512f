r"""Formulas in Markdown, converted to MathML and inserted behind the sanitiser. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape, unescape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from math_core import LatexError, LatexToMathML

# A formula is as hostile as the text around it, and its MathML passes no sanitiser. So every tag of the
# converter is rewritten from the lists below, and a formula with anything else in it is shown as its source.

LONGEST: Final = 2_000
"""Characters: a longer formula may nest so deep that it overflows the stack and ends the process."""

DEEPEST: Final = 40  # deepest nesting of braces in a formula, and half that of its MathML

_MACROS: Final = {
    "dotsb": r"\cdots",
    "dotsc": r"\ldots",
    "hdots": r"\ldots",
    "mbox": r"\text{#1}",
    "substack": r"\begin{subarray}{c}#1\end{subarray}",
}
_ENVIRONMENTS: Final = {
    "align": "aligned",
    "eqnarray": "aligned",
    "gather": "gathered",
    "multline": "gathered",
    "smallmatrix": "matrix",
    "split": "aligned",
}
"""Environments of a document, and the like without numbers."""

_ENVIRONMENT: Final = re.compile(r"\\(begin|end)\{(\w+)\*?\}")
_NUMBERED: Final = re.compile(r"\\(?:label\{[^{}]*\}|nonumber\b|notag\b|(?:begin|end)\{equation\*?\})")
_TAG: Final = re.compile(r"\\tag\*?\{([^{}]*)\}")
_PERCENT: Final = re.compile(r"\\.|%", re.DOTALL)
_REFUSED: Final = re.compile(
    r"\\(?:[egx]?def|let|(?:re)?newcommand|providecommand|DeclareMath\w*)(?![a-z])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]"
)
"""Commands that define commands, whose expansion has no bound, and control characters."""

_ELEMENTS: Final = frozenset(
    {
        *("math", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom"),
        *("mprescripts", "mroot", "mrow", "mspace", "msqrt", "msub", "msubsup", "msup", "mtable", "mtd"),
        *("mtext", "mtr", "munder", "munderover", "b", "i", "u", "code"),
    }
)
_DROPPED: Final = frozenset({"a"})  # elements of which only the content is kept: references to other formulas
_FLAG: Final = re.compile("true|false")
_LENGTH: Final = re.compile(r"\d{1,2}(?:\.\d+)?(?:em|ex|pt|rem)?")
_ATTRIBUTES: Final = {
    "accent": _FLAG,
    "accentunder": _FLAG,
    "columnspan": re.compile(r"\d{1,2}"),
    "display": re.compile("block"),
    "displaystyle": _FLAG,
    "form": re.compile("prefix|infix|postfix"),
    "height": _LENGTH,
    "linethickness": _LENGTH,
    "lspace": _LENGTH,
    "mathvariant": re.compile("normal"),
    "maxsize": _LENGTH,
    "minsize": _LENGTH,
    "movablelimits": _FLAG,
    "notation": re.compile("box|(?:(?:up|down)diagonalstrike ?){1,2}"),
    "rspace": _LENGTH,
    "scriptlevel": re.compile("[012]"),
    "stretchy": _FLAG,
    "symmetric": _FLAG,
    "width": _LENGTH,
}

_STYLES: Final = {
    "border-bottom": "m-line-bottom",
    "border-left": "m-line-left",
    "border-right": "m-line-right",
    "border-top": "m-line-top",
    "margin-left:-0.16666667em": "m-closer",
    "padding-left:0": "m-tight-left",
    "padding-left:1em": "m-far-left",
    "padding-right:0": "m-tight-right",
    "text-align:left": "m-left",
    "text-align:right": "m-right",
}
"""Allowed styles as classes. No colours: they may be unreadable on a dark or light page."""

_MARKUP: Final = re.compile(r"<(/?)([a-z]+)((?: [a-z]+=\"[^\"<>]*\")*) ?(/?)>")
_ATTRIBUTE: Final = re.compile(r'([a-z]+)="([^"]*)"')


def to_mathml(source: str, *, display: bool) -> str | None:
    """A LaTeX formula as MathML; None if it cannot be converted safely."""
    if not source.strip() or len(source) > LONGEST or _depth(source) > DEEPEST or _REFUSED.search(source):
        return None
    try:
        mathml = _converter().convert_with_local_state(_usual(source), displaystyle=display)
    except (LatexError, ValueError):
        return None
    return _only_known(mathml)


@cache
def _converter() -> LatexToMathML:
    return LatexToMathML(
        fancy_error=False, macros=_MACROS, allow_unreliable_rendering=True, max_expansions=LONGEST
    )


def _usual(source: str) -> str:
    """The formula without what has a meaning only in a document with numbered equations."""
    source = _TAG.sub(r"\\qquad(\\text{\1})", _NUMBERED.sub("", source))
    # To LaTeX the rest of the line would be a comment; in an answer it is "50%".
    source = _PERCENT.sub(lambda found: r"\%" if found[0] == "%" else found[0], source)
    return _ENVIRONMENT.sub(lambda found: rf"\{found[1]}{{{_ENVIRONMENTS.get(found[2], found[2])}}}", source)


def _depth(source: str) -> int:
    depth = deepest = 0
    for found in re.finditer(r"\\.|[{}]", source, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        deepest = max(deepest, depth)
    return deepest


def _only_known(mathml: str) -> str | None:
    """MathML with every tag rewritten from the allow-lists; None if it has another."""
    parts: list[str] = []
    inside: list[str] = []
    end = 0
    for found in _MARKUP.finditer(mathml):
        text, end = mathml[end : found.start()], found.end()
        closing, name, attributes, empty = found.groups()
        if "<" in text:
            return None
        parts.append(escape(unescape(text), quote=False))
        if name in _DROPPED:
            continue
        if name not in _ELEMENTS or (closing and (not inside or inside.pop() != name)):
            return None
        if closing:
            parts.append(f"</{name}>")
            continue
        parts.append(f"<{name}{_kept(attributes)}>" + (f"</{name}>" if empty else ""))
        if not empty:
            inside.append(name)
        if len(inside) > 2 * DEEPEST:
            return None
    if inside or mathml[end:].strip() or not parts:
        return None
    # A formula reads from left to right in an Arabic text as well.
    return "".join(parts).replace("<math", '<math dir="ltr"', 1)


def _kept(attributes: str) -> str:
    kept = []
    for name, value in _ATTRIBUTE.findall(attributes):
        allowed = _ATTRIBUTES.get(name)
        if name == "style":
            declarations = [part.replace(": ", ":").strip() for part in value.split(";")]
            names = [_STYLES.get(one) or _STYLES.get(one.partition(":")[0]) for one in declarations]
            classes = " ".join(each for each in names if each)
            kept += [f' class="{classes}"'] if classes else []
        elif allowed and allowed.fullmatch(value):
            kept.append(f' {name}="{value}"')
    return "".join(kept)


MOST: Final = 500
LARGEST: Final = 200_000  # characters of MathML per text
_PLACE: Final = "\ufdd0"
"""Surrounds a formula's number until the text is sanitised; no text may hold this code point."""
_BAR: Final = "\ufdd1"  # replaces a | inside a formula while the cells of a table are split
_WIDE: Final = 30  # characters from which a formula scrolls, as it may be wider than a phone
_TYPE: Final = "formula"


@dataclass
class Formulas:
    """The formulas of one text, kept aside while the rest is sanitised."""

    _mathml: list[str] = field(default_factory=list)
    _size: int = 0

    def add(self, source: str, *, display: bool) -> str | None:
        """A placeholder for the formula, or None if its source is to be shown."""
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
        return re.sub(f"{_PLACE}(\\d+){_PLACE}", lambda found: self._mathml[int(found[1])], html)


def without_marks(text: str) -> str:
    """A text without the code points used as marks here."""
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
_CLOSERS: Final = {"$$": re.compile(r"\\.|\$\$"), r"\[": re.compile(r"\\\\|\\\[|\\\]")}


def formulas_plugin(parser: MarkdownIt) -> None:
    """Find formulas; rendering needs ``formulas``, a Formulas, in its environment."""
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
    """Whether the text between delimiters is money, a shell variable or a bracket."""
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
    """A formula that begins a line: its lines are neither lists nor headings."""
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
        # Text behind the only formula of a line, or another opener inside, makes it a paragraph.
        if delimiter[0] == r"\[" or (rest and line == start):
            return False
        if not silent:
            _push(state, "\n".join([*lines, text[: delimiter.start()]]), opener, delimiter[0], rest)
            state.line = line + 1
        return True
    return False


def _push(state: StateBlock, content: str, opener: str, closer: str, rest: str) -> None:
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content = f"{opener}{content}{closer}{rest}"
    inline.children = []
    state.push("paragraph_close", "p", -1)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The parser's rule for tables, blind to each | inside a formula."""
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
