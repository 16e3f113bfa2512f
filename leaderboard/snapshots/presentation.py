"""Wording of methods, intervals, ties and findings, and aligned text. Pure."""

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

# Those of leaderboard.stats, which web processes do not load for its NumPy and SciPy.
METHOD_NAMES: Final = {
    "elo": "Elo",
    "bradley-terry": "Bradley-Terry",
    "davidson": "Davidson",
    "ordinal": "Ordinal",
    "elo-study": "Elo as in the study",
}
STORED_METHODS: Final = tuple(name for name in METHOD_NAMES if name != "elo-study")
"""Those every snapshot holds; a worker computes the other when somebody asks."""
STYLE_NAMES: Final = {"length": "length", "markdown": "Markdown"}
"""Words for what a ranking is adjusted for."""
_MOST_LETTERS: Final = 4


def interval_line(used: Mapping[str, Any]) -> str:
    """The interval in words; empty without one. Parameters of methodology 1 lack some."""
    if used["rounds"] is None:
        return ""
    units = _units(used)
    level = f"{used['interval']:g} % interval"
    if used.get("intervals") == "sandwich":
        return f"{level}: Student's t, from the robust covariance over {units}"
    low, high = (100 - used["interval"]) / 2, (100 + used["interval"]) / 2
    return (
        f"{level}: percentiles {low:.6g} to {high:.6g} of {counted(used['rounds'], 'rounds')} "
        f"resampling {units}"
    )


def _units(used: Mapping[str, Any]) -> str:
    if "raters_drawn" in used:
        return f"{counted(used['clusters'], 'prompts')} and {counted(used['raters_drawn'], 'raters')}"
    units = counted(used.get("units") or used["clusters"], used["resample"])
    same = used.get("same_raters")
    return units if same is None else f"{units}, so for other prompts and these same {same} raters"


def printable(text: str) -> str:
    """The text with question marks for control characters and lone surrogates: names are not trusted."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def ties_phrase(method: str, used: Mapping[str, Any]) -> str:
    if method == "ordinal":
        return "every rating as given"
    if used.get("ratings"):
        return "every expected rating as a share of a win"
    if used["ties"] == "off":
        return "ties off"
    what = "are outcomes of their own" if method == "davidson" else "count half"
    return f"ties ({used['tie_band']}) {what}" if used.get("tie_band") else f"ties {what}"


def counted(number: int, plural: str) -> str:
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


def letters_shown(group: str | None) -> str:
    between = " " if group and " " in group else ""
    letters = group.split() if group and between else list(group or "")
    if len(letters) <= _MOST_LETTERS:
        return group or ""
    return f"{between.join(letters[:_MOST_LETTERS])} +{len(letters) - _MOST_LETTERS}"


def drawn(used: Mapping[str, Any]) -> str:
    return "draws" if used.get("intervals") == "sandwich" else "rounds"


def findings(content: Mapping[str, Any], level: float | None) -> Iterator[str]:
    """Sentences about what one method alone finds; ``level`` is that of its intervals, in percent."""
    between = partial(_between, level)
    if content.get("robustness"):
        yield content["robustness"]["sentence"]
    if content.get("davidson"):
        ties = content["davidson"]
        equals = 100 * ties["nu"] / (2 + ties["nu"])
        yield f"nu {ties['nu']:.3f}{between(ties, '.3f')}: equals tie in {equals:.0f} % of their games."
    if content.get("position"):
        place = content["position"]
        yield f"Standing first is worth {place['points']:+.1f} points{between(place, '+.1f')}."
    for name, effect in content.get("effects", {}).items():
        more = f"One standard deviation more {STYLE_NAMES.get(name, name)}"
        yield f"{more} is worth {effect['points']:+.1f} points{between(effect, '+.1f')}."
    if content.get("rater_lean_sd") is not None:
        yield f"Raters' leans towards the first spread by {content['rater_lean_sd']:.3f} (log-odds)."


def control_sentences(control: Mapping[str, Any]) -> Iterator[str]:
    """Whether pairs drawn at random rank as all pairs do, from leaderboard.stats.part_agreement."""
    between = partial(_between, control["level"])
    if control["tau"] is not None:
        ends = {"low": control["tau_low"], "high": control["tau_high"]}
        yield (
            "Ranked by Bradley-Terry on these alone and on all, Kendall’s tau of the two orders is "
            f"{control['tau']:.2f}{between(ends, '.2f')}."
        )
    if not control["changes"]:
        return
    largest = control["changes"][0]
    yield f"{largest['contestant']} changes most: {largest['change']:+.0f} points{between(largest, '+.0f')}."
    certain = [each["contestant"] for each in control["changes"] if each["certain"]]
    if certain:
        yield (
            f"More than chance explains: {', '.join(certain)}. Adaptive choice may have moved the ranking: "
            "rely on the pairs drawn at random."
        )
    elif largest["low"] is not None:
        yield "No change is larger than chance explains: as far as can be told, the rankings agree."


def expected_sentence(found: Mapping[str, Any]) -> str:
    """How expected ratings and those given correlate with people's, from leaderboard.agreement.expected."""
    expected, given, difference = (found["pearson"][kind] for kind in ("expected", "given", "difference"))
    if expected["value"] is None or given["value"] is None:
        return ""
    between = partial(_between, found["level"])
    return (
        f"On {counted(found['pairs'], 'pairs')} that people rated too, expected ratings correlate with "
        f"people’s mean ratings at r = {expected['value']:.2f}{between(expected, '.2f')}, those given at "
        f"{given['value']:.2f}{between(given, '.2f')}: a difference of {difference['value']:+.2f}"
        f"{between(difference, '+.2f')}."
    )


def _between(level: float | None, found: Mapping[str, Any], form: str) -> str:
    if found.get("low") is None:
        return ""
    return f" ({level:g} %: {found['low']:{form}} to {found['high']:{form}})"


def aligned(rows: Sequence[Sequence[str]], left: Collection[str]) -> list[str]:
    """Lines with aligned columns, right but for those named in ``left``; the first row is the header."""
    header = rows[0]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(header))]
    sides = [name in left for name in header]
    return ["  ".join(map(_padded, row, widths, sides)).rstrip() for row in rows]


def _padded(cell: str, width: int, left: bool) -> str:
    space = " " * (width - _width(cell))
    return cell + space if left else space + cell


def _width(text: str) -> int:
    """Columns on a terminal: wide East Asian characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def method_beside(method: str) -> str:
    return "elo" if method == "bradley-terry" else "bradley-terry"
