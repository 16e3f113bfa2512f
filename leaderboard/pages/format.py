"""Numbers as readers see them: a true minus sign, a dash for what is not known."""

from typing import Final

NONE: Final = "–"
"""Stands for what is not known."""


def number(value: float, form: str) -> str:
    """A number in a format of Python's, as "+.1f"."""
    return f"{value:{form}}".replace("-", "−")


def share_points(share: float, decimals: int = 1) -> str:
    """A difference of shares in percentage points, with its sign: "+3.5", "0.0"."""
    return number(round(100 * share, decimals) + 0.0, f"+.{decimals}f").replace("+0.0", "0.0")


def percent(share: float | None) -> str:
    return NONE if share is None else f"{100 * share:.1f}%"


def in_percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def whole_percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def percent_range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}%"


def signed(value: float) -> str:
    """Two decimals with a true minus sign, and no minus before a zero."""
    return number(round(value, 2) + 0.0, ".2f")


def number_range(low: float | None, high: float | None) -> str:
    """ "0.42–0.55"; with "to" where a minus would stand beside the dash."""
    if low is None or high is None:
        return ""
    ends = signed(low), signed(high)
    return (" to " if any("−" in end for end in ends) else "–").join(ends)


def in_points(preference: float) -> float:
    """A difference of preferences on [-1, 1] in points on a scale of 1–8, which readers know."""
    return 3.5 * preference


def probability(p: float | None) -> str:
    if p is None:
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def seconds(number: float) -> str:
    """As "3.2 s", "45 s" or "3 min"."""
    return (
        f"{number:.1f} s" if number < 10 else f"{number:.0f} s" if number < 120 else f"{number / 60:.0f} min"
    )


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: "1 pair", "1,203 pairs"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
