"""Sentences of a board: how much it counts, and how its scores are made."""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import floatformat

from leaderboard.pages.format import counted
from leaderboard.snapshots.settings import BOTH, Setting

_MODELS: Final = {
    "davidson": "Davidson’s model, which treats a tie as an outcome of its own",
    "ordinal": "A cumulative logit model of every rating as given. It allows for being shown first",
}
MIDDLE: Final = "4 and 5 of 8, and the middle of 3 and 5 points,"


def size(counts: Mapping[str, Any], people: int, judges: int, panels: int, not_rated: int) -> str:
    """How much a study has; ``people``, ``judges`` and ``panels``: so many ratings by each."""
    kinds = counts.get("kinds") or {}
    models, written = kinds.get("model"), kinds.get("people")
    who = counted(models or counts.get("contestants", 0), "model")
    if written:
        who = f"{who} and answers by people" if models else "Answers by people"
    shown = counts.get("prompts_shown", "")
    kind = "curated and live" if shown == BOTH else shown
    said = [who, counted(counts["prompts"], f"{kind} prompt".strip())]
    if people:
        anonymous = counts.get("anonymous")
        without = f" ({_anonymous(anonymous)})" if anonymous else ""
        said.append(f"{counted(people, 'rating')} by people{without}")
    if judges:
        said.append(f"{f'{judges:,}' if people else counted(judges, 'rating')} by judges")
    if panels:
        said.append(f"{panels:,} by panels, which follow from them")
    more = f" {not_rated:,} more {'pair' if not_rated == 1 else 'pairs'} got no rating." if not_rated else ""
    return f"{', '.join(said)}.{more}"


def _anonymous(found: Mapping[str, int]) -> str:
    return f"{found['ratings']:,} by {counted(found['raters'], 'visitor')} without an account"


def neither(found: Mapping[str, Any]) -> str:
    """In how many ratings neither answer was acceptable, in all and by model, the largest share first."""
    shares = {name: n / of for name, (n, of) in found["models"].items() if n}
    named = sorted(shares, key=lambda name: (-shares[name], name))
    models = ", ".join("{} {:,} of {:,}".format(name, *found["models"][name]) for name in named)
    return f"Neither answer was acceptable in {found['neither']:,} of {found['of']:,}: {models}."


def method(setting: Setting, used: Mapping[str, Any], adjusted_for: str) -> str:
    """The method with its constants; ``adjusted_for``: what of answers it allows for, or empty."""
    numbers = {name: floatformat(used.get(name)) for name in ("k", "scale", "base", "init")}
    if used.get("k"):
        rounds = f"median of {intcomma(used['rounds'])} resamples"
        how = "average over random orders of the ratings" if setting.method == "elo" else rounds
        return (
            f"Elo, the {how}. K={numbers['k']}, scale {numbers['scale']}, base {numbers['base']}, "
            f"start {numbers['init']}."
        )
    model = _MODELS.get(setting.method, "Bradley-Terry")
    adjusted = f" and for {adjusted_for}" if setting.method == "ordinal" and adjusted_for else ""
    return (
        f"{model}{adjusted}, by maximum likelihood. Scale {numbers['scale']}, centred at {numbers['init']}."
    )


def resampling(used: Mapping[str, Any]) -> str:
    """What the intervals take as independent, or what each resample draws."""
    what, crossed = used["resample"], used.get("raters_drawn")
    if used.get("intervals") == "sandwich":
        drawn = {"games": "Ratings", "raters": "Raters"}.get(
            what, "Prompts and raters" if crossed else "Prompts"
        )
        return f"{drawn} count as independent. Ranks and probabilities come from {used['rounds']:,} draws."
    if what == "games":
        return f"Each resample draws {used['units']:,} ratings with replacement."
    if what == "raters":
        raters = counted(used["units"], "rater")
        return f"Each resample draws {raters} with replacement and takes all their ratings."
    prompts = counted(used["clusters"], "prompt")
    if crossed:
        return (
            f"Each resample draws {prompts} and {counted(crossed, 'rater')} with replacement. "
            "A rating counts as often as both were drawn, multiplied."
        )
    return f"Each resample draws {prompts} with replacement and takes all their ratings."


def ties(setting: Setting) -> str:
    """How ties count."""
    if setting.ratings:
        return (
            "An expected rating E of n points is (n − E) / (n − 1) of a win for the first. Wins and ties are "
            "counted by its side of the middle."
        )
    if setting.method == "ordinal":
        return f"The model takes every rating as given. Wins and ties are counted with {MIDDLE} as ties."
    fitted = setting.method == "davidson"  # which counts a tie as an outcome of its own
    if setting.band:
        return f"Ratings {setting.band} are ties{'' if fitted else ' and count half for each side'}."
    if setting.ties == "on":
        return f"{MIDDLE} {'are ties' if fitted else 'count half for each side'}."
    return (
        "Off: 4 of 8 is a win for the first and 5 for the second. The middle of 3 and 5 points is left out."
    )
