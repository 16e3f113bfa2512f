"""Markdown of prompts and completions, which is hostile input, as safe HTML. Pure.

Raw HTML is off, images become links (loading one would tell its host who looks), and the result passes an
allow-list; formulas have their own.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape, unescape
from typing import Any, Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, newline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from arena.texts.formulas import Formulas, formulas_plugin, source_of, without_marks

RENDERER = 3  # raise it when the same text gives other HTML; it makes stored renderings unused
LONGEST_MARKDOWN = 50_000
"""Characters above which a text stays unrendered: hostile Markdown takes more than linear time."""

LONGEST_WRITTEN: Final = 20_000
"""Characters of a text that an operator writes, such as guidelines. Browsers of all readers wait for it."""

LONGEST_HIGHLIGHT = 8_000  # characters of code coloured per text: slow lexers take quadratic time
DEEPEST = 100
"""Levels of nested lists and quotations. The parser drops what is deeper; nothing may be dropped."""

_DEEPEST_INLINE = 20  # nested links and emphasis, whose time grows fast; deeper ones are text
_PLAIN = '<pre class="raw" tabindex="0">'
# Up to the last end of a line in 4,000 characters, or the last space, or just so many.
_PIECE = re.compile(r"[\s\S]{1,4000}(?:\n|\Z)|[\s\S]{1,4000}(?=\s)|[\s\S]{1,4000}")

_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "span", "blockquote", "ul", "ol", "li", "a"),
    *("table", "thead", "tbody", "tr", "th", "td", "h2", "h3", "h4", "h5", "h6"),
}
_BLOCKS = ("p", "blockquote", "ul", "ol", "th", "td", "h2", "h3", "h4", "h5", "h6")
_HEADING_SHIFT = 2  # the page's own headings are h1 and h2
_DEFINITION = "definition"
_LINKS = ("http://", "https://", "mailto:")
_COPY_BUTTON = '<button class="copy needs-script" type="button" data-copy hidden>Copy</button>'


def render(text: str) -> str:
    """The sanitised HTML of a Markdown text.

    A text above LONGEST_MARKDOWN or DEEPEST stays unrendered in a <pre>. The HTML has no script, style, form,
    frame, image or id, and links only to http, https and mailto.
    """
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    if len(clean) > LONGEST_MARKDOWN:
        return _plain(clean)
    try:
        return _html(clean, breaks=True, shift=_HEADING_SHIFT)
    except _TooDeepError:
        return _plain(clean)


SUMMARY: Final = 140


@lru_cache(maxsize=64)
def summary(text: str) -> str:
    """The beginning of a Markdown text in plain words: whole sentences, SUMMARY characters at most."""
    words = " ".join(unescape(nh3.clean(render(text), tags=set())).split())
    if len(words) <= SUMMARY:
        return words
    sentences, end, _ = words[:SUMMARY].rpartition(". ")
    if len(sentences) > SUMMARY // 4:
        return sentences + end.strip()
    whole = words[:SUMMARY].rpartition(" ")[0]  # not every script puts spaces between words
    return (whole if len(whole) > SUMMARY // 2 else words[:SUMMARY]) + " …"


def is_plain(html: str) -> bool:
    """Whether ``render`` left a text unrendered."""
    return html.startswith(_PLAIN)


def _plain(text: str) -> str:
    """An unrendered text in pieces, of which a browser lays out those in sight."""
    # A million characters in one piece take a browser half a minute.
    pieces = "".join(
        f'<span class="piece" dir="auto">{escape(piece)}</span>' for piece in _PIECE.findall(text)
    )
    return f"{_PLAIN}{pieces}</pre>"


def render_document(text: str) -> str:
    """The HTML of a document of the project: headings as written, lines joined."""
    return _html(text, breaks=False, shift=0)


def _html(text: str, *, breaks: bool, shift: int) -> str:
    formulas = Formulas()
    html = _parser(breaks=breaks).render(without_marks(text), {"shift": shift, "formulas": formulas})
    # The sanitiser knows neither formulas nor buttons, and puts two attributes of a tag in any order.
    clean = _sanitise(str(html)).replace("<pre ", f'<div class="code">{_COPY_BUTTON}<pre tabindex="0" ')
    return formulas.put_in(clean.replace("</pre>", "</pre></div>"))


def _sanitise(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        allowed_classes={
            "span": set(filter(None, STANDARD_TYPES.values())),
            "td": {"align-center", "align-right"},
            "th": {"align-center", "align-right"},
        },
        url_schemes={link.partition(":")[0] for link in _LINKS},
        link_rel="nofollow noopener noreferrer",
        set_tag_attribute_values={
            "a": {"target": "_blank"},
            "pre": {"dir": "ltr"},
            # What scrolls sideways must be reachable by keyboard.
            "table": {"tabindex": "0"},
            # Each block reads in the direction of its own words.
            **{tag: {"dir": "auto"} for tag in _BLOCKS},
        },
        strip_comments=True,
    )


@cache
def _parser(*, breaks: bool) -> MarkdownIt:
    """A parser; ``breaks`` keeps what plain text means, because answers mix it with Markdown.

    Kept are line breaks, indents, definitions of links, and relative links, which would lead through this
    site.
    """
    parser, inside = _with_nesting(DEEPEST, breaks=breaks), _with_nesting(_DEEPEST_INLINE, breaks=breaks)

    def inline(state: StateCore) -> None:
        for token in state.tokens:
            if token.type == "inline" and token.children is not None:
                inside.inline.parse(token.content, inside, state.env, token.children)

    parser.core.ruler.at("inline", inline)
    parser.core.ruler.push("arena", _adapt)
    parser.add_render_rule("image", _image_as_link)
    if breaks:
        for each in (parser, inside):
            each.validateLink = lambda address: address.lower().startswith(_LINKS)  # type: ignore[assignment, method-assign]
        inside.inline.ruler.at("newline", _newline)
        parser.block.ruler.at("reference", _definition)
        parser.add_render_rule(_DEFINITION, _definition_as_text)
    return parser


def _with_nesting(most: int, *, breaks: bool) -> MarkdownIt:
    options = {"html": False, "breaks": breaks, "highlight": _highlight, "maxNesting": most}
    parser = MarkdownIt("commonmark", options)
    parser.enable(["table", "strikethrough"])
    formulas_plugin(parser)
    return parser


def _newline(state: StateInline, silent: bool) -> bool:
    """The end of a line, keeping the next one's indent: code without a fence needs it."""
    end = state.pos
    if not newline(state, silent):
        return False
    indent = state.src[end + 1 : state.pos].expandtabs(4)
    if not silent and len(indent) > 1:
        state.pending += "\N{NO-BREAK SPACE}" * len(indent)
    return True


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The definition of a link, which Markdown hides; "[Question]: Why?" is one."""
    if not reference(state, start, end, silent):
        return False
    if not silent:
        token = state.push(_DEFINITION, "p", 0)
        token.content = state.getLines(start, state.line, state.blkIndent, False).strip()
    return True


def _definition_as_text(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    lines = (escape(line.lstrip()) for line in tokens[index].content.splitlines())
    return f"<p>{'<br>'.join(lines)}</p>\n"


class _TooDeepError(Exception):
    """The parser has dropped something."""


def _adapt(state: Any) -> None:
    """Fit the tokens to the page: lower headings, cells aligned by class, limited highlighting."""
    code = 0
    for token in state.tokens:
        if token.nesting == 1 and token.level >= DEEPEST - 1:
            raise _TooDeepError
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + state.env['shift'])}"
        elif token.type == "fence":
            code += len(token.content)
            token.info = token.info if code <= LONGEST_HIGHLIGHT else ""
        elif token.type in ("th_open", "td_open"):
            side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
            if side in ("center", "right"):
                token.attrs["class"] = f"align-{side}"


def _image_as_link(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    words = "".join(
        source_of(child) if child.type == "formula" else renderer.renderInlineAsText([child], options, env)
        for child in token.children or []
    )
    words = words or "no description"
    return f'<a href="{escape(str(token.attrs.get("src", "")))}">Image: {escape(words)}</a>'


def _highlight(code: str, language: str, _attributes: str) -> str:
    """Code with the classes of Pygments; empty to leave it uncoloured."""
    if not language:
        return ""
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return ""
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True)))
