"""Tables of a snapshot about raters, written by hand, for the tests of the pages about raters."""

from typing import Any

from leaderboard.models import SnapshotSlice
from leaderboard.snapshots.canonical import canonical


def position(**overrides):
    """Of the histogram of ``scale``: 60 of 100 ratings with a side prefer the first."""
    return {
        "n": 110,
        "sided": 100,
        "share_first": 0.6,
        "share_first_low": 0.52,
        "share_first_high": 0.68,
        "mean": 4.1,
        "mean_low": 3.9,
        "mean_high": 4.3,
        "neutral_mean": 4.5,
        "chi2": 12.5,
        "df": 4,
        "p": 0.014,
        "prompts": 20,
        **overrides,
    }


def scale(**overrides):
    return {
        "points": 8,
        "counts": [20, 15, 15, 10, 10, 10, 10, 10],
        "unscored": {},
        "scored": 100,
        "share_first": 0.6,
        "mean": 4.05,
        "position": position(),
        **overrides,
    }


def flips(**overrides):
    return {
        "pairs": 40,
        "flipped": 10,
        "rate": 0.25,
        "low": 0.13,
        "high": 0.4,
        "to_first": 7,
        "to_second": 3,
        "exact": 22,
        **overrides,
    }


def scores(**overrides):
    return {
        "n": 50,
        "bins": [-2.0, -1.0, 0.0, 1.0, 2.0],
        "width": 1.0,
        "counts": [5, 10, 20, 10, 5],
        "mean": 0.4,
        "first_higher": 18,
        "equal": 17,
        "second_higher": 15,
        **overrides,
    }


def ratings(*scales, **overrides):
    found = list(scales) or [scale()]
    return {"comparisons": 100, "swapped": 50, "scales": found, "flips": None, "scores": None, **overrides}


def measure(name="words", **overrides):
    bins = [
        {"low": -90, "high": -51, "n": 30, "win_rate": 0.3, "win_low": 0.2, "win_high": 0.4},
        {"low": -50, "high": 50, "n": 60, "win_rate": 0.5, "win_low": 0.4, "win_high": 0.6},
        {"low": 51, "high": 90, "n": 30, "win_rate": 0.7, "win_low": 0.6, "win_high": 0.8},
    ]
    return {
        "name": name,
        "bins": bins,
        "longer_wins": 0.65,
        "longer_low": 0.58,
        "longer_high": 0.72,
        "slope": 0.31,
        "slope_low": 0.1,
        "slope_high": 0.5,
        "unit": "log-odds of winning per doubling",
        **overrides,
    }


def length(**overrides):
    return {"n": 100, "unknown": 3, "measures": [measure(), measure("unique_words")], **overrides}


def correlation_row(category=None, r=0.6, **overrides):
    found: dict[str, Any] = {"category": category, "n": 45, "prompts": 20, "raters": 5, "reason": None}
    for place, name in enumerate(("pearson", "spearman", "kendall")):
        value = None if r is None else round(r - 0.05 * place, 3)
        ends = (None, None) if value is None else (value - 0.1, value + 0.1)
        found |= {name: value, f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return {**found, **overrides}


def correlation(*rows):
    return {"level": 90.0, "rounds": 100, "seed": 0, "resample": "prompts", "rows": list(rows)}


def kappa_row(category=None, kappa=0.45, **overrides):
    return {
        "category": category,
        "n": 90,
        "pairs": 45,
        "kappa": kappa,
        "kappa_low": None if kappa is None else kappa - 0.1,
        "kappa_high": None if kappa is None else kappa + 0.1,
        "kappa_verdict": 0.35,
        "exact": 0.62,
        "reason": None,
        "pearson": 0.6,
        "spearman": 0.55,
        "kendall": 0.5,
        **overrides,
    }


def entry(raters, *rows, **overrides):
    return {
        "raters": raters,
        "rows": list(rows) or [kappa_row()],
        **overrides,
    }


def within_row(**overrides):
    return {
        "category": None,
        "raters": 5,
        "pairs": 40,
        "ratings": 95,
        "alpha": 0.52,
        "alpha_low": 0.4,
        "alpha_high": 0.61,
        "fleiss": 0.4,
        "fleiss_low": 0.3,
        "fleiss_high": 0.5,
        "fleiss_pairs": 30,
        "reason": None,
        **overrides,
    }


def agreement(*others, within=None):
    rows = [within_row()] if within is None else [within]
    return {"points": 8, "others": list(others), "within": {"rows": rows}}


def store(snapshot, kind, raters, content, category=""):
    """Put a table into a snapshot in place of the one it has."""
    place = {"snapshot": snapshot, "kind": kind, "raters": raters, "category": category}
    SnapshotSlice.objects.filter(**place).delete()
    SnapshotSlice.objects.create(**place, payload=canonical(content))
