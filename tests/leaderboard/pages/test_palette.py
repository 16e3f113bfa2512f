"""Colours of figures, which no tool checks: axe does not look into them."""

import re
from itertools import pairwise

import pytest
from django.conf import settings

PALETTE = settings.BASE_DIR / "arena" / "static" / "palette.css"
_TOKEN = re.compile(r"(--[\w-]+):\s*(#[0-9a-f]{6});")


def tokens(dark: bool) -> dict[str, str]:
    light, _, rest = PALETTE.read_text().partition("@media (prefers-color-scheme: dark)")
    return dict(_TOKEN.findall(light)) | (dict(_TOKEN.findall(rest)) if dark else {})


def channels(colour: str) -> list[float]:
    return [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]


def luminance(parts: list[float]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: list[float], other: list[float]) -> float:
    """As WCAG 2 defines it, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_dots_stand_out_and_texts_can_be_read(dark):
    colours = {name: channels(value) for name, value in tokens(dark).items()}
    surface, text = colours["--surface"], colours["--text"]
    series = [colours[f"--series-{number}"] for number in range(1, 7)]
    assert min(contrast(colour, surface) for colour in series) >= 3
    assert contrast(text, surface) >= 4.5
    steps = [colours[name] for name in ("--heat-low", "--heat-mid", "--heat-high")]
    between = [
        [start + share / 10 * (end - start) for start, end in zip(one, other, strict=True)]
        for one, other in pairwise(steps)
        for share in range(11)
    ]
    assert min(contrast(text, cell) for cell in between) >= 4.5


def test_contrast_is_that_of_wcag():
    assert contrast([0, 0, 0], [1, 1, 1]) == pytest.approx(21)
    assert contrast(channels("#767676"), [1, 1, 1]) == pytest.approx(4.54, abs=0.01)
