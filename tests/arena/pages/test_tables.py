"""Tables of templates: a column is declared once, and its cells are named on phones."""

import pytest
from django.template import Context, Template, TemplateSyntaxError

TABLE = """{% table name, number in rows label %}
  {{ rows|length }} rows
  {% column "Name" %}<i>{{ name }}</i>
  {% column "Number" "num nowrap" title="How many" %}{% if number %}{{ number|intcomma }}{% endif %}
  {% column "Text" "wide" unnamed dir="auto" %}text
  {% column "Absent" when=more %}never
{% endtable %}"""


def rendered(source: str, **context: object) -> str:
    return Template(source).render(Context(context))


def test_cells_are_named_after_their_columns() -> None:
    page = rendered(TABLE, rows=[("<a>", 1234), ("b", 0)], label="Table of <b>")
    assert page.split("\n") == [
        '<div class="table-scroll" tabindex="0" role="region" aria-label="Table of &lt;b&gt;">'
        '<table class="table table-blocks"><caption>2 rows</caption><thead><tr><th scope="col">Name</th>'
        '<th scope="col" class="num" title="How many">Number</th><th scope="col">Text</th>'
        "</tr></thead>",
        "<tbody>",
        '<tr><th scope="row"><i>&lt;a&gt;</i></th>',
        '<td class="num nowrap" data-label="Number">1,234</td>',
        '<td class="wide" dir="auto">text</td></tr>',
        # A cell without a text must be empty: on phones it is left out.
        '<tr><th scope="row"><i>b</i></th>',
        '<td class="num nowrap" data-label="Number"></td>',
        '<td class="wide" dir="auto">text</td></tr>',
        "</tbody></table></div>",
    ]


def test_a_table_that_stays_one_on_phones_names_no_cells() -> None:
    source = '{% table row in rows "Rows" "table-compact" %}{% column "When" plain %}{{ row }}'
    page = rendered(source + '{% column "What" %}{{ when }}{% endtable %}', rows=["now"], when="then")
    assert '<table class="table table-compact"><thead>' in page
    assert "<tr><td>now</td>\n<td>then</td></tr>" in page


@pytest.mark.parametrize("column", ['"A" headless', '"A" tilte="B"'])
def test_a_slip_in_a_column_is_refused(column: str) -> None:
    with pytest.raises(TemplateSyntaxError, match="A column has no"):
        rendered('{% table row in rows "Rows" %}{% column ' + column + " %}{% endtable %}")
