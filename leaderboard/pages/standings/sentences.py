"""Sentences about standings: intervals, ties, why a row is grey, who is first, and findings. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from leaderboard.pages.aligned_text import counted
from leaderboard.snapshots.method_names import STYLE_NAMES

_MOST_LETTERS: Final = 4
_FEWEST_GAMES: Final = 30


def ratings_given(counts: Mapping[str, Any]) -> int:
    """Of a snapshot or some of its raters; comparisons include those without a rating."""
    given: int = counts.get("comparisons", 0) - counts.get("unscored", 0)
    return given


_NOT_USED: Final = {
    "left_out": ("tie, while ties are off", "ties, while ties are off"),
    "no_model": (
        "rating of an answer that counts for no model: none is named, or the model has another answer",
        "ratings of answers that count for no model: none is named, or the model has another answer",
    ),
    "retired": ("rating of a retired model", "ratings of retired models"),
    "other_kind": ("rating of people’s answers", "ratings of people’s answers"),
    "same_model": ("rating of two answers by one model", "ratings of two answers by one model"),
    "not_ranked": ("rating of a retired model or of no model", "ratings of retired models or of no model"),
    "unscored": ("pair that got no rating", "pairs that got no rating"),
    "identical": (
        "pair of identical answers, which counts for no side",
        "pairs of identical answers, which count for no side",
    ),
}
"""Why opinions count in no score, by the keys of standings; first those that are ratings."""
_NO_RATING: Final = ("unscored", "identical")


def not_used(content: Mapping[str, Any]) -> dict[str, int]:
    """How many opinions of the chosen raters no score counts, by reason; ``games`` are the others."""
    # Snapshots before methodology 7 did not tell models apart that are not ranked.
    found = content.get("not_used") or {name: content.get(name, 0) for name in ("not_ranked", "unscored")}
    numbers = {"left_out": content.get("left_out", 0), **found}
    return {name: numbers[name] for name in _NOT_USED if numbers.get(name)}


def not_used_words(content: Mapping[str, Any]) -> list[str]:
    return [f"{number:,} {_NOT_USED[name][number != 1]}" for name, number in not_used(content).items()]


def all_ratings(content: Mapping[str, Any]) -> int:
    """How many ratings the chosen raters gave, with those that no score counts."""
    others = not_used(content).items()
    return int(content["games"]) + sum(number for name, number in others if name not in _NO_RATING)


def interval_line(used: Mapping[str, Any]) -> str:
    """The interval in words; empty without one. Parameters of methodology 1 lack some."""
    if used["rounds"] is None:
        return ""
    how, units = f"{counted(used['rounds'], 'resamples')}", _units(used)
    if used.get("intervals") == "sandwich":
        how = "robust covariance"
    return f"{used['interval']:g}% interval {_scope(used)} ({how}; {units})"


def intervals_shown(content: Mapping[str, Any]) -> str:
    """The intervals of standings in words; empty where no score has one, though they were asked for."""
    drawn = any(row.get("low") is not None for row in content["standings"])
    return interval_line(content["parameters"]) if drawn else ""


def _scope(used: Mapping[str, Any]) -> str:
    """What the interval allows for."""
    return {
        "games": "if every rating were independent",
        "raters": "for other raters on these prompts",
    }.get(
        used["resample"],
        "for other prompts and raters" if "raters_drawn" in used else "for other prompts of this kind",
    )


def _units(used: Mapping[str, Any]) -> str:
    if "raters_drawn" in used:
        return f"{counted(used['clusters'], 'prompts')}, {counted(used['raters_drawn'], 'raters')}"
    plural = "ratings" if used["resample"] == "games" else used["resample"]
    units = counted(used.get("units") or used["clusters"], plural)
    same = used.get("same_raters")
    return units if same is None else f"{units}, same {counted(same, 'raters')}"


def ties_phrase(method: str, used: Mapping[str, Any]) -> str:
    if method == "ordinal":
        return "every rating as given"
    if used.get("ratings"):
        return "expected ratings as shares of a win"
    if used["ties"] == "off":
        return "ties off"
    what = "modelled" if method == "davidson" else "count half"
    return f"ties ({used['tie_band']}) {what}" if used.get("tie_band") else f"ties {what}"


def letters_shown(group: str | None) -> str:
    between = " " if group and " " in group else ""
    letters = group.split() if group and between else list(group or "")
    if len(letters) <= _MOST_LETTERS:
        return group or ""
    return f"{between.join(letters[:_MOST_LETTERS])} +{len(letters) - _MOST_LETTERS}"


def drawn(used: Mapping[str, Any]) -> str:
    return "draws" if used.get("intervals") == "sandwich" else "resamples"


_MOST_NAMED: Final = 2


def provisional(row: Mapping[str, Any]) -> str:
    """Why a row's rating is not to be relied on yet, or empty."""
    if row.get("provisional"):
        return "waits for an operator to confirm it"
    if row["component"]:
        return "never compared with the main group, directly or through others"
    if row["games"] < _FEWEST_GAMES:
        return f"fewer than {_FEWEST_GAMES} ratings"
    if row["wins"] == row["games"]:
        return "won every rating, so its score has no upper limit"
    if row["losses"] == row["games"]:
        return "lost every rating, so its score has no lower limit"
    if row.get("unbounded"):
        limit = "upper" if row["unbounded"] == "above" else "lower"
        return f"the ratings set no {limit} limit to its score"
    return ""


def ranks_written(places: Iterable[tuple[int | None, int | None]]) -> list[str]:
    """Ranks for readers, of (component, rank): "1=" where several of a component share it, empty for none."""
    found = list(places)
    several = Counter(found)
    return ["" if place[1] is None else f"{place[1]}{'=' * (several[place] > 1)}" for place in found]


def _ranked(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for row in content["standings"] if row["rating"] is not None]


def _main(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows of the first component; the others were never compared with it."""
    return [row for row in _ranked(content) if not row["component"]]


def first_names(content: Mapping[str, Any]) -> list[str]:
    """The model of rank 1, or all that share it."""
    return [row["contestant"] for row in _main(content) if row["rank"] == 1]


def leading_group(content: Mapping[str, Any]) -> list[str]:
    """Those of rank 1 and those that cannot be told apart from one of them, as in the table.

    Empty without groups.
    """
    first = set(first_names(content))
    close = {name for names in content.get("groups") or () if first & set(names) for name in names}
    return [row["contestant"] for row in _main(content) if row["contestant"] in close]


def leading_sentence(content: Mapping[str, Any]) -> str:
    """Who is first in the table, how surely, and from whom it cannot be told apart."""
    apart = len(_ranked(content)) - len(_main(content))
    if len(_ranked(content)) < 2:
        return ""
    whom = "it" if len(first_names(content)) == 1 else "them"
    were = "was" if apart == 1 else "were"
    never = f"{counted(apart, 'models')} {were} never compared with {whom}, directly or through others."
    return " ".join([_first(content), *([never] if apart else ())])


def _first(content: Mapping[str, Any]) -> str:
    ranked, names = _main(content), first_names(content)
    close = [name for name in leading_group(content) if name not in names]
    unsure = _unsure(ranked, names)
    if len(names) > 1:
        who = f"All {len(names)} models" if len(names) == len(ranked) > 2 else _listed(names)
        said = f"{who} share the first place"
    else:
        said = f"{names[0]} {'is first' if unsure else 'leads'}"
    # Of several that are first one may be told apart where another may not.
    some = "at least one of them" if len(names) > 1 else ""
    if unsure:
        more = f" {some.capitalize() or 'It'} cannot be told apart from {_listed(close)}."
        return f"{said}, but {unsure}.{more if close else ''}"
    if ranked[0].get("p_first") is None:
        return f"{said}. These ratings give no interval."
    if close:
        return f"{said}, but {f'{some} ' if some else ''}cannot be told apart from {_listed(close)}."
    if len(names) > 1 or not leading_group(content):
        return f"{said}."
    others = "all others" if len(ranked) == len(_ranked(content)) else "all it was compared with"
    return f"{said}, ahead of {others} beyond chance."


def _unsure(ranked: Sequence[Mapping[str, Any]], first: Collection[str]) -> str:
    """Which of the first scores are provisional, and of one why; empty for none."""
    found = {row["contestant"]: why for row in ranked if (why := provisional(row))}
    of_first = [name for name in first if name in found]
    if not of_first:
        return ""
    if len(found) == len(ranked):
        return "all scores are provisional"
    if len(first) > 1:
        one = len(of_first) == 1
        return (
            f"the {'score' if one else 'scores'} of {_listed(of_first)} {'is' if one else 'are'} provisional"
        )
    why = found[of_first[0]]
    if why.startswith("the "):
        return f"provisional: {why}"
    return f"provisional: it {'has ' if why.startswith('fewer') else ''}{why}"


def marked_sentence(content: Mapping[str, Any]) -> str:
    """What the bar beside some ranks marks; empty where it marks none."""
    first, marked = first_names(content), leading_group(content)
    if len(marked) < 2:
        return ""
    if len(marked) == len(first):
        return "A bar beside the rank marks the models that share the first place."
    one = len(first) == 1
    whom = (
        f"{first[0]} and the models that cannot be told apart from it"
        if one
        else "the models that share the first place and those that cannot be told apart from them"
    )
    return (
        f"A bar beside the rank marks {whom}, because they score nearly as high or their scores are too "
        "uncertain."
    )


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{names[0]} and {len(names) - 1} others"
    return " and ".join(names)


_FEW: Final = re.compile(r"The intervals come from only (.+?)\..*")
_DIFFER: Final = re.compile(r"The \d+ raters differ in taste.*")


def few_units(warning: str) -> str:
    """The prompts or raters that are too few for intervals, as "3 prompts"; empty for other warnings."""
    few = _FEW.fullmatch(warning)
    return few[1] if few else ""


def raters_differ(warning: str) -> bool:
    """Whether the warning says that other raters would matter."""
    return _DIFFER.fullmatch(warning) is not None


def findings(content: Mapping[str, Any], level: float | None) -> Iterator[str]:
    """Sentences about what one method alone finds; ``level`` is that of its intervals, in percent."""
    between = partial(_between, level)
    if content.get("robustness"):
        yield content["robustness"]["sentence"]
    if content.get("davidson"):
        ties = content["davidson"]
        equals = 100 * ties["nu"] / (2 + ties["nu"])
        nu = f"ν = {ties['nu']:.3f}{between(ties, '.3f')}"
        yield f"Two equally good models would tie in {equals:.0f}% of their ratings: {nu}."
    if content.get("position"):
        place = content["position"]
        yield f"Being shown first is worth {_number(place['points'], '+.1f')} points{between(place, '+.1f')}."
    for name, effect in content.get("effects", {}).items():
        more = f"One standard deviation more {STYLE_NAMES.get(name, name)}"
        yield f"{more} is worth {_number(effect['points'], '+.1f')} points{between(effect, '+.1f')}."
    if content.get("rater_lean_sd") is not None:
        lean = content["rater_lean_sd"]
        yield f"Raters differ in preferring the first answer (standard deviation {lean:.3f} log-odds)."


def control_sentences(control: Mapping[str, Any]) -> Iterator[str]:
    """Whether pairs drawn at random rank as all pairs do, from leaderboard.stats.part_agreement."""
    between = partial(_between, control["level"])
    if control["tau"] is not None:
        ends = {"low": control["tau_low"], "high": control["tau_high"]}
        yield (
            "Their ranking and the ranking of all pairs (both by Bradley-Terry) have Kendall’s tau "
            f"{control['tau']:.2f}{between(ends, '.2f')}."
        )
    if not control["changes"]:
        return
    largest = control["changes"][0]
    change = _number(largest["change"], "+.0f")
    yield f"{largest['contestant']} changes most: {change} points{between(largest, '+.0f')}."
    certain = [each["contestant"] for each in control["changes"] if each["certain"]]
    if certain:
        yield (
            f"More than chance explains: {', '.join(certain)}. The choice of pairs may have moved the "
            "ranking. Rely on the random pairs."
        )
    elif largest["low"] is not None:
        yield "No change is larger than chance explains. The rankings agree as far as the data can tell."


def expected_sentence(found: Mapping[str, Any]) -> str:
    """How expected ratings and those given correlate with people's, as counted by raters.agreement."""
    expected, given, difference = (found["pearson"][kind] for kind in ("expected", "given", "difference"))
    if expected["value"] is None or given["value"] is None:
        return ""
    between = partial(_between, found["level"])
    own, other = (f"{_number(each['value'], '.2f')}{between(each, '.2f')}" for each in (expected, given))
    return (
        f"Over {counted(found['pairs'], 'pairs')} that people rated too, expected ratings correlate with "
        f"people’s mean ratings at {own}. Ratings as given have {other}, a difference of "
        f"{_number(difference['value'], '+.2f')}{between(difference, '+.2f')}."
    )


def _between(level: float | None, found: Mapping[str, Any], form: str) -> str:
    if found.get("low") is None:
        return ""
    low, high = (_number(found[end], form) for end in ("low", "high"))
    return f" ({level:g}%: {low} to {high})"


def _number(value: float, form: str) -> str:
    return f"{value:{form}}".replace("-", "−")
