"""Who prefers a place or length, and who changes its verdict, in words."""

from collections.abc import Sequence
from typing import Final

from leaderboard.pages.wording import enumerated, number_word, paragraph, whole_percent
from leaderboard.raters.table import Kind

Shares = Sequence[tuple[str, float]]
Leaning = tuple[str, float, float | None, float | None]
"""A label, a share and its interval."""

_MOST_NAMED: Final = 2


def verdict(kinds: Sequence[Kind]) -> str:
    """Intervals decide who prefers something; groups are left out. Empty without ratings."""
    shown = [kind for kind in kinds if kind.replies and not kind.selector.startswith("group:")]
    sentences = [
        *_preferences(
            list(map(_place, shown)), ("the answer shown first", "the answer shown second"), "a place"
        ),
        *_preferences(list(map(_length, shown)), ("the longer answer", "the shorter answer"), "length"),
        *_swapped(shown),
    ]
    return paragraph(sentences) if sentences else ""


def of_one(kind: Kind) -> str:
    """The same of one kind of raters."""
    found = []
    for (_, share, low, high), (one, other) in (
        (_place(kind), ("the answer shown first", "the answer shown second")),
        (_length(kind), ("the longer answer", "the shorter answer")),
    ):
        if low is not None and high is not None and not low <= 0.5 <= high:
            found.append(f"{one if low > 0.5 else other} ({whole_percent(max(share, 1 - share))})")
    preferred = enumerated(found) if found else "no place and no length clearly"
    known = [f"{kind.label} {_verb('prefer', [kind.label])} {preferred}"] if kind.replies else []
    sentences = [*known, *_swapped([kind])]
    return paragraph(sentences) if sentences else ""


def _place(kind: Kind) -> Leaning:
    main = kind.shown[0] if kind.shown else None
    at = main.position if main else {}
    share = main.share_first if main else None
    return kind.label, share or 0.0, at.get("share_first_low"), at.get("share_first_high")


def _length(kind: Kind) -> Leaning:
    own = kind.longer
    return kind.label, own.get("longer_wins") or 0.0, own.get("longer_low"), own.get("longer_high")


def _preferences(leanings: Sequence[Leaning], what: tuple[str, str], nothing: str) -> Sequence[str]:
    if not any(low is not None for _, _, low, _ in leanings):
        return ()
    more = [(label, share) for label, share, low, _ in leanings if low is not None and low > 0.5]
    less = [(label, 1 - share) for label, share, _, high in leanings if high is not None and high < 0.5]
    parts = [
        f"{_named(some, len(leanings))} {_verb('prefer', [label for label, _ in some])} {which}"
        for some, which in zip((more, less), what, strict=True)
        if some
    ]
    return ["; ".join(parts) or f"nobody clearly prefers {nothing}"]


def _swapped(kinds: Sequence[Kind]) -> Sequence[str]:
    found = [(kind.label, kind.flips["rate"] or 0.0) for kind in kinds if kind.flips]
    if not found:
        return ()
    if len(kinds) == 1:
        often = f"in {whole_percent(found[0][1])} of pairs"
    elif len(found) <= _MOST_NAMED:
        first, *others = [f"{whole_percent(share)} {{}}with {label}" for label, share in found]
        often = f"in {enumerated([first.format('of pairs '), *(each.format('') for each in others)])}"
    else:
        often = f"in {_range(found)} of pairs, by judge"
    return [f"when the order is swapped, the verdict changes {often}"]


def _range(some: Shares) -> str:
    low, high = (whole_percent(end(share for _, share in some)) for end in (min, max))
    return high if low == high else f"{low[:-1]}–{high}"


def _named(some: Shares, everybody: int) -> str:
    if len(some) <= _MOST_NAMED:
        return enumerated([f"{label} ({whole_percent(share)})" for label, share in some])
    who = "all" if len(some) == everybody else f"{number_word(len(some))} of {number_word(everybody)}"
    return f"{who} kinds of raters ({_range(some)})"


def _verb(verb: str, labels: Sequence[str]) -> str:
    return f"{verb}s" if len(labels) == 1 and not labels[0].startswith("People") else verb
