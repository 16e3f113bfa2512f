"""Who prefers a place or length, and who changes its verdict, in words."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from leaderboard.pages.claim import Claim, claim, measured, people_said, said, unsaid
from leaderboard.pages.format import signed, whole_percent
from leaderboard.pages.wording import (
    FEWEST_PAIRS,
    enumerated,
    number_word,
    paragraph,
    share_of,
    some_judges,
    verb,
)
from leaderboard.raters.bias.table import longer_wins
from leaderboard.raters.table import Kind
from leaderboard.stats.plain_values import UNDEFINED, Estimate

Shares = Sequence[tuple[Kind, float]]


def verdict(kinds: Sequence[Kind]) -> Sequence[str]:
    """Sentences. Intervals decide who prefers something; groups are left out. Empty without ratings."""
    shown = [kind for kind in kinds if kind.replies and not kind.selector.startswith("group:")]
    preferences = (sentence for each in _LEANINGS for sentence in _preferences(shown, *each))
    return [paragraph([each]) for each in (*preferences, *_in_one_order(shown), *_swapped(shown))]


def of_one(kind: Kind) -> str:
    """The same of one kind of raters, after how it agrees with people."""
    one = kind.selector.startswith("judge:")
    agreement = list(_agreement(kind))
    who = ("it" if one else "they") if agreement else "people" if kind.selector == "people" else kind.label
    preferences = _own_preferences(kind, who, 1 if one else 2)
    sentences = [*agreement, *preferences, *_in_one_order([kind]), *_swapped([kind])]
    return paragraph(sentences) if sentences else ""


def _own_preferences(kind: Kind, who: str, number: int) -> Iterator[str]:
    leanings = [(lean(kind), words, what) for lean, words, what in _LEANINGS]
    known = [each for each in leanings if each[0].low is not None]
    found = [
        _preferred(words, side, [(kind, share.value or 0.0)])
        for share, words, _ in known
        if (side := share.side(0.5))
    ]
    if found:
        yield f"{who} {verb('prefer', number)} {enumerated(found)}"
    elif known:
        nothing = ", or ".join(what for *_, what in known)
        yield f"nothing shows that {who} {verb('prefer', number)} {nothing}"


def _agreement(kind: Kind) -> Iterator[str]:
    row, found = kind.correlation, claim(kind.correlation)
    if row is None or found is Claim.EMPTY:
        return
    if kind.selector == "people":
        yield people_said(row)
        return
    people = row.get("pearson_people")
    beside = "" if people is None else f"; people among themselves {signed(people)}"
    told = said(found, kind.label, "people", 1)
    yield f"{told} ({measured(row)}{beside})" if told else unsaid(found, kind.label, "people", row)


def _place(kind: Kind) -> Estimate:
    main = kind.main
    return main.first if main and not main.one_order else UNDEFINED


def _length(kind: Kind) -> Estimate:
    return longer_wins(kind.longer)


_LEANINGS: Final = (
    (_place, ("the answer shown first", "the answer shown second", ""), "the answer shown first or second"),
    (_length, ("the longer answer", "the shorter answer", " of points"), "longer or shorter answers"),
)


def _preferred(what: tuple[str, str, str], side: int, some: Shares) -> str:
    named = what[0] if side > 0 else what[1]
    return f"{named} ({_range([(kind, share_of(side, share)) for kind, share in some])}{what[2]})"


def _preferences(
    kinds: Sequence[Kind], lean: Callable[[Kind], Estimate], what: tuple[str, str, str], nothing: str
) -> Iterator[str]:
    leanings = [(kind, lean(kind)) for kind in kinds]
    parts = []
    for side in (1, -1):
        some = [(kind, share.value or 0.0) for kind, share in leanings if share.side(0.5) == side]
        if some:
            which = _preferred(what, side, some)
            parts.append(f"{_named(some, kinds)} {verb('prefer', _number(some))} {which}")
    if any(share.low is not None for _, share in leanings):
        yield "; ".join(parts) or f"nothing shows that a rater prefers {nothing}"


def _in_one_order(kinds: Sequence[Kind]) -> Iterator[str]:
    """A preference for a place cannot be told from one for what is shown there."""
    found = [(kind, 0.0) for kind in kinds if not kind.panel and kind.shown and kind.shown[0].one_order]
    if found:
        number = _number(found)
        yield (
            f"{_named(found, kinds)} saw nearly all pairs in the same order, so nothing shows whether "
            f"{'it' if number == 1 else 'they'} {verb('prefer', number)} a place or the models shown there"
        )


def _swapped(kinds: Sequence[Kind]) -> Iterator[str]:
    flips = [(kind, kind.flips) for kind in kinds if kind.flips]
    found = [(kind, own["rate"] or 0.0) for kind, own in flips if own["pairs"] >= FEWEST_PAIRS]
    if found:
        asked = [kind for kind, _ in flips]
        some, whose = _named(found, asked), "its" if _number(found) == 1 else "their"
        others = [kind.label for kind in kinds if kind not in asked and _is_asked(kind)]
        both, rest = "", ""
        if others and len(found) > 1:
            who = others[0] if len(others) == 1 else f"the other {number_word(len(others))}"
            both, rest = " that saw both orders", f"; {who} saw one order only"
        yield (
            f"{some}{both} {verb('change', _number(found))} {whose} verdict in {_range(found)} of pairs "
            f"when the order is swapped{rest}"
        )


def _is_asked(kind: Kind) -> bool:
    return kind.selector != "people" and not kind.panel


def _named(some: Shares, everybody: Sequence[Kind]) -> str:
    raters = [kind for kind, _ in some if kind.selector != "people"]
    people = ["people"] if len(raters) < len(some) else []
    judges, panels = ([kind.label for kind in raters if kind.panel == panel] for panel in (False, True))
    everyone = sum(map(_is_asked, everybody))
    return enumerated([*people, *([some_judges(judges, everyone, panels)] if raters else [])])


def _number(some: Shares) -> int:
    """For the form of a verb: one or several."""
    return sum(2 if kind.selector == "people" else 1 for kind, _ in some)


def _range(some: Shares) -> str:
    low, high = (whole_percent(end(share for _, share in some)) for end in (min, max))
    return high if low == high else f"{low[:-1]}–{high}"
