"""Numbers about raters in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from leaderboard.pages.table import DataTable

FEWEST_PAIRS: Final = 30
"""Statistics over fewer pairs carry a warning."""

_AGREEMENT: Final = (
    (0.0, "none"),
    (0.2, "slight"),
    (0.4, "fair"),
    (0.6, "moderate"),
    (0.8, "substantial"),
    (1.0, "almost perfect"),
)
_CORRELATION: Final = ((0.1, "none"), (0.3, "weak"), (0.5, "moderate"), (0.7, "strong"), (1.0, "very strong"))


def agreement_word(value: float | None) -> str:
    """The strength of a kappa or an alpha, in steps of Landis and Koch (1977)."""
    return "" if value is None else _word(value, _AGREEMENT)


def correlation_word(value: float | None, below: str = "opposite") -> str:
    """The strength of a correlation, in steps at 0.1, 0.3, 0.5 (Cohen 1988) and 0.7.

    ``below`` is said of one below 0.
    """
    if value is None:
        return ""
    word = _word(abs(value), _CORRELATION)
    return f"{word}, {below}" if value < 0 and word != "none" else word


def _word(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    # Rounded as it is printed, so that 0.60 has one word.
    return next((word for limit, word in steps if round(value, 2) <= limit), steps[-1][1])


def on_intervals(words: str, found: object) -> str:
    """``words`` on the intervals of a content, or that it gives none."""
    return words if gives_interval(found) else "These numbers give no interval."


def with_intervals(level: float, found: object) -> str:
    """As " with 95% intervals", behind what a figure shows; empty where a content has none."""
    return f" with {level:g}% intervals" if gives_interval(found) else ""


def gives_interval(found: object) -> bool:
    """If any number of a content has an end "low" or NAME_low, or a table a value under such a heading."""
    if isinstance(found, DataTable):
        return found.has_intervals
    if isinstance(found, Mapping):
        ends = (end for key, end in found.items() if key == "low" or key.endswith("_low"))
        return any(end is not None for end in ends) or any(map(gives_interval, found.values()))
    return isinstance(found, list | tuple) and any(map(gives_interval, found))


_SMALL: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number_word(number: int) -> str:
    return _SMALL[number] if number < len(_SMALL) else f"{number:,}"


def enumerated(names: Sequence[str]) -> str:
    """ "A, B and C"; of at least one."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def judge_called(label: str, judge: str = "judge") -> str:
    """Judges are often named like the models they rate: "judge GPT-4"; panels are no judges."""
    return label if any(word in label.casefold() for word in ("judge", "panel")) else f"{judge} {label}"


def verb(word: str, number: int) -> str:
    """ "prefers" of one, "prefer" of several."""
    return f"{word}s" if number == 1 else word


def some_judges(some: Sequence[str], everybody: int, panels: Sequence[str] = ()) -> str:
    """ "Judge A", "both judges", "all three judges", "two of three judges"; panels are named, not counted."""
    if panels:
        return enumerated([*([some_judges(some, everybody)] if some else []), *panels])
    if len(some) == everybody > 1:
        return "both judges" if len(some) == 2 else f"all {number_word(len(some))} judges"
    return some[0] if len(some) == 1 else f"{number_word(len(some))} of {number_word(everybody)} judges"


def share_of(side: int, share: float) -> float:
    """The share of the side that is named, from the share of the first (or longer)."""
    return share if side > 0 else 1 - share


_WORDS: Final = frozenset(
    (
        "agreement",
        "all",
        "both",
        "but",
        "in",
        "it",
        "judge",
        "no",
        "nobody",
        "nothing",
        "only",
        "people",
        "the",
        "they",
        "when",
        "with",
        *_SMALL[1:],
    )
)
"""What begins a sentence and is no name."""


def paragraph(sentences: Iterable[str], simulated: bool = False) -> str:
    """Sentences without their first capital and their stop as a text, which says whether it is simulated."""
    told = list(sentences)
    if simulated:
        told[0] = f"in these simulated ratings, {told[0]}"
    return " ".join(f"{_capitalised(each)}." for each in told)


def _capitalised(sentence: str) -> str:
    """A name at the beginning stays as it is."""
    return sentence[0].upper() + sentence[1:] if sentence.partition(" ")[0] in _WORDS else sentence
