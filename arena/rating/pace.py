"""How fast a pair can be read. Pure."""

from typing import Final

FLOOR: Final = 3.0
"""Seconds below which nobody has read both answers."""
