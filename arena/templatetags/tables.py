"""Tables of pages in which each column says once what it is called and what its cells hold.

    {% table key in page "Table of keys" %}
      {{ page.paginator.count }} keys
      {% column "Rater" %}{{ key.rater }}
      {% column "Created" "nowrap" %}{{ key.created_at|date }}
    {% endtable %}

What stands before the first column is the caption. The first column names the row. On phones a row is a block
in which each cell follows the name of its column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import template
from django.template.base import FilterExpression, Parser, Token, token_kwargs
from django.template.context import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import smart_split

register = template.Library()

BLOCKS: Final = "table-blocks"
FLAGS: Final = {"plain", "unnamed"}
OPTIONS: Final = {"title", "dir", "when"}


@dataclass(frozen=True)
class Column:
    """A heading, classes of the cells, and the template that fills them.

    ``plain``: does not name the row, though it is the first. ``unnamed``: has no name before it on phones.
    ``title`` is that of the heading, ``dir`` that of the cells; a column is there ``when`` something holds.
    """

    label: FilterExpression
    classes: str
    flags: set[str]
    options: Mapping[str, FilterExpression]
    cells: template.NodeList

    @classmethod
    def read(cls, parser: Parser, token: Token) -> "Column":
        """Read a ``column`` tag and what follows, up to the next one or the end of the table."""
        _, label, *more = token.split_contents()
        classes = [word.strip('"') for word in more if word.startswith('"')]
        flags = {word for word in more if word.isalpha()}
        options = token_kwargs([word for word in more if "=" in word], parser)
        if unknown := (flags - FLAGS) | (options.keys() - OPTIONS):
            raise template.TemplateSyntaxError(f"A column has no {', '.join(sorted(unknown))}.")
        cells = parser.parse(("column", "endtable"))
        return cls(parser.compile_filter(label), " ".join(classes), flags, options, cells)

    def told(self, option: str, context: Context) -> Any:
        return self.options[option].resolve(context) if option in self.options else ""

    def heading(self, context: Context) -> SafeString:
        kind = "num" if "num" in self.classes.split() else ""
        start = _start("th", {"scope": "col", "class": kind, "title": self.told("title", context)})
        return format_html("{}{}</th>", start, self.label.resolve(context))

    def around(self, context: Context, *, is_first: bool, in_blocks: bool) -> tuple[SafeString, SafeString]:
        """The start and the end of its cells."""
        more = {"class": self.classes, "dir": self.told("dir", context)}
        if is_first and "plain" not in self.flags:
            return _start("th", {"scope": "row", **more}), _safe("</th>")
        is_named = in_blocks and "unnamed" not in self.flags
        label = self.label.resolve(context) if is_named else ""
        return _start("td", {**more, "data-label": label}), _safe("</td>")


@dataclass(eq=False)
class Table(template.Node):
    """A table in a region that scrolls; ``names`` stand for a row, or for its parts."""

    names: Sequence[str]
    rows: FilterExpression
    label: FilterExpression
    classes: str
    caption: template.NodeList
    columns: Sequence[Column]

    def render(self, context: Context) -> SafeString:
        columns = [each for each in self.columns if "when" not in each.options or each.told("when", context)]
        caption = self.caption.render(context).strip()
        region = {"class": "table-scroll", "tabindex": "0", "role": "region"}
        return _safe(
            _start("div", {**region, "aria-label": self.label.resolve(context)})
            + _start("table", {"class": f"table {self.classes}".strip()})
            + (f"<caption>{caption}</caption>" if caption else "")
            + f"<thead><tr>{''.join(each.heading(context) for each in columns)}</tr></thead>\n"
            + f"<tbody>\n{self._body(columns, context)}\n</tbody></table></div>"
        )

    def _body(self, columns: Sequence[Column], context: Context) -> str:
        in_blocks = BLOCKS in self.classes
        cells = [
            (*each.around(context, is_first=not at, in_blocks=in_blocks), each.cells)
            for at, each in enumerate(columns)
        ]
        made = []
        for row in self.rows.resolve(context):
            parts = row if len(self.names) > 1 else (row,)
            with context.push(**dict(zip(self.names, parts, strict=True))):
                filled = (start + inside.render(context).strip() + end for start, end, inside in cells)
                made.append("<tr>{}</tr>".format("\n".join(filled)))  # on phones, the space between two cells
        return "\n".join(made)


@register.tag
def table(parser: Parser, token: Token) -> Table:
    """Read a table up to ``endtable``; behind its label may stand other classes than those of blocks."""
    names, _, rest = token.contents.removeprefix("table ").partition(" in ")
    rows, label, *classes = smart_split(rest)
    caption = parser.parse(("column", "endtable"))
    columns = []
    while (tag := parser.next_token()).contents != "endtable":
        columns.append(Column.read(parser, tag))
    return Table(
        [name.strip() for name in names.split(",")],
        parser.compile_filter(rows),
        parser.compile_filter(label),
        " ".join(word.strip('"') for word in classes) if classes else BLOCKS,
        caption,
        columns,
    )


def _start(name: str, attributes: Mapping[str, Any]) -> SafeString:
    """The start of an element, with those attributes that are not empty."""
    told = format_html_join("", ' {}="{}"', ((key, value) for key, value in attributes.items() if value))
    return format_html("<{}{}>", _safe(name), told)


def _safe(html: str) -> SafeString:
    """HTML in which every text is escaped."""
    return mark_safe(html)  # noqa: S308 - made of elements and of pieces of templates
