"""Position bias, length bias and self-preference, as tables of a snapshot."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from leaderboard.pages.wording import FEWEST_PAIRS
from leaderboard.snapshots.canonical import Table
from leaderboard.snapshots.copying import Payloads, digest, kept
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.text_sizes import Texts
from leaderboard.stats.descriptive import rating_histogram
from leaderboard.stats.flips import flips
from leaderboard.stats.length_bias import length_effect
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.position_bias import position
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.score_differences import score_differences
from leaderboard.stats.self_preference import own_family as measured
from leaderboard.stats.style import MEASURES
from leaderboard.stats.verdicts import TieBand, preference, verdicts


def ratings(chosen: Opinions, level: float = 95.0, band: TieBand | None = None) -> dict[str, Any]:
    """The table ``ratings``; ``band`` if not the usual ties."""
    rows, scored, unscored = chosen.rows, chosen.scored, chosen.unscored
    scales = []
    for points in np.unique(rows["points"]).tolist():
        own = rows["points"] == points
        reasons = [reason.decode() for reason in rows["reason"][own & unscored].tolist()]
        given = rows[own & scored]
        scale = rating_histogram(given["rating"], points, reasons)
        leaning = position(given["rating"], points, given["prompt"], level)
        scales.append(rounded({**scale, "position": leaning}))
    given = rows[scored]
    turned = flips(
        given["pair"],
        given["rater"],
        given["prompt"],
        given["swapped"],
        given["rating"],
        given["points"],
        level,
        band,
    )
    scores = score_differences(rows["score_difference"], rows["prompt"], level)
    return ({"band": str(band)} if band else {}) | {
        "comparisons": len(rows),
        "swapped": int(rows["swapped"].sum()),
        "level": level,
        "scales": scales,
        "flips": rounded(turned),
        "scores": rounded(scores),
    }


def length(
    chosen: Opinions, texts: Texts, level: float = 95.0, band: TieBand | None = None
) -> dict[str, Any]:
    """The table ``length``, ties counting half."""
    rows = chosen.rows[chosen.scored]
    first, second = texts.places(rows["first_text"]), texts.places(rows["second_text"])
    known = (first >= 0) & (second >= 0)
    rows, first, second = rows[known], first[known], second[known]
    rating, points = rows["rating"].astype(np.int64), rows["points"].astype(np.int64)
    score = (1.0 - verdicts(rating, points, band)) / 2.0
    return {
        "n": len(rows),
        "unknown": int((~known).sum()),
        "level": level,
        "tokenizer": texts.tokenizer,
        "measures": [
            {"name": name} | rounded(length_effect(sizes[first], sizes[second], score, rows["prompt"], level))
            for name, sizes in zip(MEASURES, texts.completions.T, strict=True)
            if len(rows)
        ],
    }


def leanings(
    choice: Choice, category: str, chosen: Opinions, texts: Texts | None, method: Method, known: Payloads
) -> Iterator[Table]:
    """The table of ratings and, with ``texts``, that of length."""
    place = {"raters": choice.selector, "category": category}
    given = method.interval, method.tie_band
    inputs = digest(["ratings", *given, chosen.digest])
    payload = kept(known, inputs, lambda: ratings(chosen, *given))
    yield Table("ratings", payload=payload, inputs=inputs, **place)
    if texts is not None:
        inputs = digest(["length", *given, chosen.digest, texts.digest])
        payload = kept(known, inputs, lambda: length(chosen, texts, *given))
        yield Table("length", payload=payload, inputs=inputs, **place)


def own_family(
    opinions: Opinions, judge: Choice, kin: Collection[str], level: float = 95.0
) -> dict[str, Any] | None:
    """A judge against people on the pairs with one contestant of its ``kin`` (names).

    With fewer than FEWEST_PAIRS such pairs, against all other judges; None with as few there.
    """
    people = frozenset().union(*(each.ids for each in opinions.raters if each.selector == "people"))
    judges = frozenset().union(*(each.ids for each in opinions.raters if each.selector.startswith("judge:")))
    for name, others in (("people", people), ("the other judges", judges - judge.ids)):
        found = _against(opinions, judge, kin, others, level)
        if found["n"] >= FEWEST_PAIRS:
            return {"against": name, "kin": sorted(kin), **found}
    return None


def _against(
    opinions: Opinions, judge: Choice, kin: Collection[str], others: frozenset[int], level: float
) -> dict[str, Any]:

    numbers = [number for number, name in enumerate(opinions.names) if name in kin]
    rows = opinions.rows[opinions.scored & np.isin(opinions.rows["rater"], list(judge.ids | others))]
    first, second = (np.isin(rows[side], numbers) for side in ("first", "second"))
    rows, second = rows[first != second], second[first != second]
    lean = preference(rows["rating"], rows["points"])
    judged = np.isin(rows["rater"], list(judge.ids))
    toward = np.where(second, lean, -lean)
    return measured(rows["pair"], rows["prompt"], toward, judged, level).as_dict()
