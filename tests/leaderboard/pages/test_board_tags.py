import re
from pathlib import Path

import pytest
from django.conf import settings

from leaderboard.pages.table import Arranged, DataTable
from leaderboard.templatetags.board import cell, decimals, table_rows


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "–"),
        (0.5, "0.500"),
        (-0.0751, "−0.075"),
        (43.68, "43.7"),
        (1038.8, "1039"),
        (1435, "1,435"),
        (-3, "−3"),
        ("a-b", "a-b"),
    ],
)
def test_numbers_are_written_in_one_way(value, written):
    assert cell(value) == written


@pytest.mark.parametrize(
    ("column", "needed"),
    [
        ((0.0, 1.81, 1.39), 2),
        ((7.1, 43.9, 24.0), 1),
        ((0.5, 0.875, None), 3),
        ((0.3333333, 1.0), 3),
        ((0.0, 0.0), 1),
        (("a", 3, None), 1),
    ],
)
def test_a_column_has_as_many_decimals_as_it_needs(column, needed):
    assert decimals(column) == needed


def test_a_column_lines_up_and_names_are_escaped():
    table = DataTable("Shares", ("Raters", "Share"), (("<b>", 0.0), ("Judge", 1.81)))
    assert table_rows(Arranged(table)) == (
        '<tbody>\n<tr><th scope="row">&lt;b&gt;</th><td class="num">0.00</td></tr>\n'
        '<tr><th scope="row">Judge</th><td class="num">1.81</td></tr>\n</tbody>'
    )


def _light(colour):
    """Relative luminance (WCAG 2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("cells", ["--heat-low", "--heat-mid", "--heat-high"])
def test_numbers_can_be_read_on_every_colour_of_a_heat_map(cells, scheme):
    static = Path(settings.BASE_DIR) / "static"
    text = re.findall(r"--text: (#\w{6})", (static / "arena.css").read_text())[scheme]
    fill = re.findall(cells + r": (#\w{6})", (static / "leaderboard.css").read_text())[scheme]
    dark, light = sorted(map(_light, (text, fill)))
    assert (light + 0.05) / (dark + 0.05) >= 4.5
