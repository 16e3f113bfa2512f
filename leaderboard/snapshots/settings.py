"""A setting of all switches of a board, read from its address and written into addresses. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlencode

from leaderboard.snapshots.presentation import METHOD_NAMES

# Which tables are computed together when somebody asks for a setting. Pure.


class Scope(StrEnum):
    """The tables that one page shows at a setting; other pages may show them too.

    The value is the page's address behind that of the study: tables are kept under it and their setting.
    """

    BOARD = ""
    """One category: standings of the chosen raters and of all others beside them, and the matrices."""

    CATEGORIES = "categories/"
    """Standings of the chosen raters over all categories together and in each of them."""

    RATERS = "raters/"
    """How all kinds of raters lean in every category, and how they agree; no standings."""

    JUDGES = "judges/"
    """Some kinds of raters side by side on the same pairs; the setting names them, with commas in between."""

    @property
    def has_every_category(self) -> bool:
        """Whether its tables are of all categories at once, whichever a page shows."""
        return self is not Scope.BOARD


ALL_CATEGORIES: Final = "All"

LEVELS: Final = ("50", "80", "90", "95", "99")
"""Percent; intervals of these levels are stored with every snapshot, those of others are computed."""

LOWEST_LEVEL: Final = 50.0
MODELS: Final = "models"
"""Of ``contestants``: without people, that is without human demonstrations."""

EVERYONE: Final = "everyone"
"""The kind of the standings with people that stand beside those of models only."""

PROMPTS_AND_RATERS: Final = "prompts-and-raters"
RESAMPLE: Final = ("prompts", "games", "raters", PROMPTS_AND_RATERS)

_LEVEL: Final = re.compile(r"[0-9]{2}(\.[0-9])?", re.ASCII)
_SHOWN: Final = 100


class UnknownSettingError(ValueError):
    """The address asks for something this board does not have; the message is a sentence for the reader."""


@dataclass(frozen=True)
class Setting:
    """One setting of all switches, in canonical form: equal settings show the same numbers.

    ``category`` is empty for all of them together, a name, or a name after a minus sign for all but that one.
    ``band`` holds the ratings that count as ties, LOW-HIGH, or nothing for those that usually do; ``level``
    that of the intervals in percent; ``contestants`` is empty for all of them or MODELS; ``resample`` is what
    a round of the bootstrap draws as a whole. ``raters`` is empty on the pages about all of them.
    """

    raters: str
    ties: str = "on"
    category: str = ""
    method: str = "elo"
    band: str = ""
    level: str = "95"
    contestants: str = ""
    resample: str = "prompts"

    def query(self, **changes: str) -> str:
        """The setting as the end of an address, with some switches changed; the usual is left out.

        Raters are always named, so that an address goes on to mean the same when others rate too.
        """
        return "?" + urlencode(replace(self, **changes).settled().parts())

    def settled(self) -> "Setting":
        """The same without what has no effect: the ordinal model takes every rating as given, so ties are on,
        and a tie band says nothing for it, or where ties are off."""
        ordinal = self.method == "ordinal"
        ties = "on" if ordinal else self.ties
        return replace(self, ties=ties, band="" if ordinal or ties == "off" else self.band)

    def parts(self) -> dict[str, str]:
        """What the address says: the raters, and every switch that is not as usual."""
        return {name: value for name, value in asdict(self).items() if value != _USUAL.get(name, "")}

    def is_stored(self, categories: Sequence[str]) -> bool:
        """Whether every snapshot holds this setting; anything else is computed when somebody asks for it."""
        usual = (self.band, self.contestants, self.resample) == ("", "", _USUAL["resample"])
        return usual and self.level in LEVELS and left_out(self.category, categories) is None

    @property
    def computed(self) -> "Setting":
        """The setting whose tables show this one: what was computed for one usual level serves them all."""
        return replace(self, level=_USUAL["level"]) if self.level in LEVELS else self


_USUAL: Final[Mapping[str, Any]] = {
    each.name: each.default for each in fields(Setting) if each.name != "raters"
}


def left_out(category: str, categories: Sequence[str]) -> str | None:
    """The category that a setting leaves out of all; None where it shows one category, or all of them."""
    name = category.removeprefix("-")
    return name if category not in categories and category != name and name in categories else None


def parse(wanted: Mapping[str, str], counts: Mapping[str, Any]) -> Setting | None:
    """The setting an address asks for, from a snapshot's ``counts``; None where nobody has rated yet.

    What is not asked for is people (or the first judge), ties on, all categories, Elo, and the rest as usual.
    Raises UnknownSettingError for a value this board does not have.
    """
    raters = [choice["selector"] for choice in counts["raters"]]
    if not raters:
        return None
    but = [f"-{name}" for name in counts["categories"]]
    found = Setting(
        _one_of("raters", wanted, raters, raters[0]),
        _one_of("ties", wanted, ("on", "off"), "on"),
        _one_of("category", wanted, ("", *counts["categories"]), "", but),
        _one_of("method", wanted, tuple(METHOD_NAMES), "elo"),
        level=_level(wanted),
        contestants=_one_of("contestants", wanted, ("", MODELS), ""),
        resample=_one_of("resample", wanted, RESAMPLE, "prompts"),
    )
    band = _band(wanted, scales(counts, found.raters))
    models = found.contestants if people_play(counts) else ""
    return replace(found, band=band, contestants=models).settled()


def parse_for_all(wanted: Mapping[str, str], counts: Mapping[str, Any]) -> Setting:
    """The band of ties and the level that an address asks for on the pages about all raters.

    A band acts on those who used its scale. Raises UnknownSettingError for one of a scale that nobody used.
    """
    used = sorted({size for choice in counts["raters"] for size in scales(counts, choice["selector"])})
    return Setting("", band=_band_of(wanted.get("band") or "", used), level=_level(wanted))


def parse_for_judges(wanted: Mapping[str, str], counts: Mapping[str, Any]) -> Setting | None:
    """The raters that stand side by side, with commas in between, each once and in the order of the board.

    Raises UnknownSettingError for raters that this study does not have.
    """
    known = [choice["selector"] for choice in counts["raters"]]
    named = [_one_of("raters", {"raters": one}, known, "") for one in wanted.get("raters", "").split(",")]
    return Setting(",".join(one for one in known if one in named))


def scales(counts: Mapping[str, Any], raters: str) -> list[int]:
    """The points of the scales that some raters used."""
    points: list[int] = choice_of(counts, raters).get("points", [8])
    return points


def choice_of(counts: Mapping[str, Any], raters: str) -> Mapping[str, Any]:
    """The entry of some raters in the counts of a snapshot."""
    return next(choice for choice in counts["raters"] if choice["selector"] == raters)


def people_play(counts: Mapping[str, Any]) -> bool:
    """Whether there are people as well as models among the contestants."""
    kinds = counts.get("kinds", {})
    return bool(kinds.get("people") and kinds.get("model"))


def bands(points: int) -> list[str]:
    """The tie bands of a scale, the usual one first: symmetric about its middle, and not all of it."""
    return [f"{low}-{points + 1 - low}" for low in range((points + 1) // 2, 1, -1)]


def _one_of(
    name: str, wanted: Mapping[str, str], known: Sequence[str], default: str, more: Sequence[str] = ()
) -> str:
    """The value asked for; ``more`` are values that exist without being worth a mention."""
    value = wanted.get(name) or default
    if value not in known and value not in more:
        raise _unknown(name, value, known)
    return value


def _unknown(name: str, value: str, known: Sequence[str]) -> UnknownSettingError:
    there = ", ".join(entry for entry in known if entry)
    return UnknownSettingError(f'This board has no {name} "{value[:_SHOWN]}". It has: {there or "none"}.')


def _band(wanted: Mapping[str, str], points: Sequence[int]) -> str:
    """The tie band asked for, or nothing for the usual one."""
    value = wanted.get("band") or ""
    if value and len(points) > 1:
        named = " and ".join(str(size) for size in points)
        raise UnknownSettingError(f"These raters used scales of {named} points; a tie band needs one scale.")
    return _band_of(value, points)


def _band_of(value: str, points: Sequence[int]) -> str:
    """A band of one of these scales; nothing for the usual one."""
    known = [band for size in points for band in bands(size)]
    if value and value not in known:
        raise _unknown("band", value, known)
    return "" if value in [band for size in points for band in bands(size)[:1]] else value


def _level(wanted: Mapping[str, str]) -> str:
    value = wanted.get("level") or _USUAL["level"]
    if not _LEVEL.fullmatch(value) or float(value) < LOWEST_LEVEL:
        more = f"and any other from {LOWEST_LEVEL:g} to 99.9 with one decimal"
        raise _unknown("level", value, (*LEVELS, more))
    return f"{float(value):g}"
