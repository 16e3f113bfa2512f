"""LaTeX formulas as MathML. Pure.

A formula is as hostile as the text around it, and its MathML is put into a page behind the sanitiser. So
every tag that the converter wrote is written anew from the lists below; a formula with anything else in it,
one that cannot be converted, and one beyond the bounds have no MathML, and are shown as their source.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from math_core import LatexToMathML

LONGEST: Final = 2_000
"""Characters of one formula. The converter descends into what is nested: so long a formula cannot be so deep
that the stack of a thread would overflow, which would end the process."""

DEEPEST: Final = 40
"""How deep braces may be nested in a formula, and twice that the elements of its MathML."""

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
"""What a text displays with, and its like without the numbers that only a whole document has."""

_ENVIRONMENT: Final = re.compile(r"\\(begin|end)\{(\w+)\*?\}")
_NUMBERED: Final = re.compile(r"\\(?:label\{[^{}]*\}|nonumber\b|notag\b|(?:begin|end)\{equation\*?\})")
_TAG: Final = re.compile(r"\\tag\*?\{([^{}]*)\}")
_PERCENT: Final = re.compile(r"\\.|%", re.DOTALL)
_REFUSED: Final = re.compile(
    r"\\(?:[egx]?def|let|(?:re)?newcommand|providecommand|DeclareMath\w*)(?![a-z])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]"
)
"""Commands that define commands, as what those expand to has no bound; and what is no character of a text."""

_ELEMENTS: Final = frozenset(
    {
        *("math", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom"),
        *("mprescripts", "mroot", "mrow", "mspace", "msqrt", "msub", "msubsup", "msup", "mtable", "mtd"),
        *("mtext", "mtr", "munder", "munderover", "b", "i", "u", "code"),
    }
)
_DROPPED: Final = frozenset({"a"})
"""Elements of which only what is inside is shown: a reference to another formula."""

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
"""Attributes that are kept, and the values they may have."""

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
"""Declarations of a style that are kept, as classes: a page takes no style from a text. Colours are not kept,
because black on a dark page, or white on a light one, could not be read."""

_MARKUP: Final = re.compile(r"<(/?)([a-z]+)((?: [a-z]+=\"[^\"<>]*\")*) ?(/?)>")
_ATTRIBUTE: Final = re.compile(r'([a-z]+)="([^"]*)"')


def to_mathml(source: str, *, display: bool) -> str | None:
    """A LaTeX formula as MathML, on a line of its own or in one; None where it cannot be shown as such."""
    if not source.strip() or len(source) > LONGEST or _depth(source) > DEEPEST or _REFUSED.search(source):
        return None
    from math_core import LatexError

    try:
        mathml = _converter().convert_with_local_state(_usual(source), displaystyle=display)
    except (LatexError, ValueError):
        return None
    return _only_known(mathml)


@cache
def _converter() -> LatexToMathML:
    from math_core import LatexToMathML

    return LatexToMathML(
        fancy_error=False, macros=_MACROS, allow_unreliable_rendering=True, max_expansions=LONGEST
    )


def _usual(source: str) -> str:
    """The formula without what only a document with numbered equations gives a meaning to."""
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
    """MathML with every tag written anew from the lists of what is allowed; None where there is another."""
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
    """The attributes of a tag that are allowed, with classes in place of a style."""
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
