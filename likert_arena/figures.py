"""The arena's figures outside its pages: as Plotly's, in the colours of its light style sheet."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

import arena

_COLOURS = re.compile(r"(--[a-z0-9-]+): ([^;]+);")
_COLOURED = ("color", "colorscale", "family")
"""Ends of the keys whose values may name a colour or font of the style sheet, as in the script of pages."""

_FONT = {"--font": "system-ui, sans-serif"}
_WIDE = 760
_ROW = 28


def drawn(figure: Mapping[str, Any]) -> go.Figure:
    """Make a figure of Plotly from one of a page, which names colours by variables of the style sheet."""
    found = _themed({"data": figure["data"], "layout": figure["layout"]}, "")
    layout = {"template": "plotly_white", "width": _WIDE, **found["layout"]}
    names = layout.get("yaxis", {}).get("ticktext")
    if names:
        layout["height"] = _ROW * len(names) + 120
    return go.Figure({"data": found["data"], "layout": layout})


def _themed(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _themed(entry, name) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_themed(entry, key) for entry in value]
    named = isinstance(value, str) and value.startswith("--") and key.endswith(_COLOURED)
    return _palette().get(value, value) if named else value


@cache
def _palette() -> Mapping[str, str]:
    """The font, and the colours of the light style sheet, by their names."""
    text = (Path(arena.__path__[0]) / "static" / "palette.css").read_text(encoding="utf-8")
    light = text.split("@media", 1)[0]
    return _FONT | dict(_COLOURS.findall(light))
