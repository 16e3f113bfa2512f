"""What the position statistics of one kind of raters say, in sentences with their n."""

from collections.abc import Iterator

from leaderboard.bias.table import Shown
from leaderboard.pages.wording import counted, percent, percent_range, signed
from leaderboard.raters.table import Kind, equals
from leaderboard.snapshots.canonical import Content


def position_sentences(kind: Kind, level: float) -> list[str]:
    """Position in words: the share preferring the first, the mean, the mirror test, flips and scores.

    ``level`` is that of the intervals in percent.
    """
    named = len(kind.shown) > 1
    found = [line for one in kind.shown if one.scored for line in _of_scale(one, level, named)]
    return [*found, *_of_flips(kind.flips, level), *_of_scores(kind.scores)]


def _of_scale(one: Shown, level: float, named: bool) -> Iterator[str]:
    at, where = one.position, f" on the scale of {one.points} points" if named else ""
    if one.share_first is not None:
        ratings = f"{counted(one.scored, 'rating')}{where}"
        sided = f"{at['sided']:,} of {ratings} take a side" if "sided" in at else ratings
        between = percent_range(at.get("share_first_low"), at.get("share_first_high"))
        yield (
            f"{sided}: {percent(one.share_first)} prefer the completion shown first"
            f"{_interval(between, level)}. Without position bias it would be 50 %."
        )
    if one.mean is not None:
        low, high = at.get("mean_low"), at.get("mean_high")
        between = "" if low is None or high is None else f"{signed(low)} to {signed(high)}"
        yield (
            f"The mean rating{where} is {one.mean:.2f}{_interval(between, level)}; "
            f"the middle of the scale is {one.neutral:g}."
        )
    if at.get("p") is not None:
        yield _mirror(at)


def _interval(between: str, level: float) -> str:
    return f" ({level:g} % interval {between})" if between else ""


def _mirror(at: Content) -> str:
    test = f"p {equals(at['p'])}"
    if at.get("chi2") is not None:
        degrees = counted(at["df"], "degree")
        test = (
            f"{test}, ratings of one prompt taken together; each taken by itself, "
            f"chi-square is {at['chi2']:.1f} on {degrees} of freedom"
        )
    if at["p"] < 0.05:
        return (
            f"The histogram differs from its mirror image by more than chance explains ({test}): "
            "the order of the two completions matters."
        )
    return (
        f"The histogram differs from its mirror image by no more than chance explains ({test}). "
        "That is no proof of no bias: a small one takes many ratings to be seen."
    )


def _of_flips(flips: Content | None, level: float) -> Iterator[str]:
    if flips is None:
        yield "No pair was rated by the same rater in both orders, so there is no flip rate."
        return
    between = _interval(percent_range(flips.get("low"), flips.get("high")), level)
    yield (
        f"{counted(flips['pairs'], 'pair')} rated by the same rater in both orders: "
        f"the verdict changed in {flips['flipped']:,}, {percent(flips['rate'])}{between}."
    )
    if flips["flipped"]:
        yield (
            f"Of the changed verdicts {flips['to_first']:,} followed whatever was shown first and "
            f"{flips['to_second']:,} whatever was shown second; "
            "a tie in one order follows the side taken in the other."
        )


def _of_scores(scores: Content | None) -> Iterator[str]:
    if scores is not None:
        yield (
            f"Over {counted(scores['n'], 'pair')} of scores the first completion got "
            f"{signed(scores['mean'])} points more than the second on average. "
            f"It was higher {counted(scores['first_higher'], 'time')}, "
            f"the second {counted(scores['second_higher'], 'time')}, "
            f"and they were equal {counted(scores['equal'], 'time')}."
        )
