"""What a judge's own probabilities say about its verdicts, held against right answers.

Only verdicts that take a side count, of comparisons with one verdict whose probabilities are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from django.db.models import Q

from arena.models import Comparison, Study
from judging.endpoints.logprobs import verdict_probabilities
from judging.models import Judge, JudgeCall
from judging.protocols.answer_scales import answer_scale
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.rows import Rows
from leaderboard.snapshots.settings import CONFIDENCE
from leaderboard.stats.calibration import calibration, tells_apart
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.sides import TIE
from leaderboard.trust.reading import judges_of
from leaderboard.trust.trial import Known

FORMS: Final = ("likert", "binary", "letters")
"""Answer scales whose verdict is one token that names a rating of a pair."""


@dataclass(frozen=True)
class Verdict:
    """The probability of each rating, in the order shown."""

    probabilities: Mapping[int, float]
    points: int

    @property
    def expected(self) -> float:
        return sum(rating * share for rating, share in self.probabilities.items())

    @property
    def leaning(self) -> float:
        """Of the expected rating: 1 is all for the first answer shown, 0 for the second."""
        return (self.points - self.expected) / (self.points - 1)

    def of_side(self, side: int) -> float:
        """The probability of all ratings that prefer the first (1) or the second (-1)."""
        return sum(
            share for one, share in self.probabilities.items() if (self.points + 1 - 2 * one) * side > 0
        )

    @property
    def entropy(self) -> float:
        return -sum(share * float(np.log(share)) for share in self.probabilities.values() if share > 0)


def confidence_table(study: Study, known: Known | None, read: Opinions, level: float) -> Table | None:
    """How each judge's confidence goes with being right; None where no judge has probabilities."""
    if known is None or not Judge.objects.filter(logprobs=True, runs__study=study).exists():
        return None
    verdicts = _verdicts(study)
    judges = [
        {
            "judge": choice.selector.partition(":")[2],
            "label": choice.label,
            "simulated": choice.simulated,
            **found,
        }
        for choice in judges_of(read, ())
        if (found := _held(known, read, choice, verdicts, level))
    ]
    if not judges:
        return None
    return Table("trust", "", canonical({"level": level, "judges": judges}), method=CONFIDENCE)


def _verdicts(study: Study) -> dict[int, Verdict]:
    """By id of the comparison; of pairs with a right answer alone."""
    calls = JudgeCall.objects.filter(
        assignment__study=study, logprobs__isnull=False, state="replied", run__judge__form__in=FORMS
    ).exclude(Q(assignment__pair__gold="") | Q(logprobs=[]))
    fields = ("assignment", "round", "logprobs", "run__judge__form", "run__judge__points")
    found: dict[int, dict[int, list[Verdict]]] = {}
    for assignment, number, stored, form, points in calls.order_by().values_list(*fields):
        scale = answer_scale(form, points)
        verdict = Verdict(verdict_probabilities(stored, scale), scale.points)
        found.setdefault(assignment, {}).setdefault(number, []).append(verdict)
    last = {assignment: rounds[max(rounds)] for assignment, rounds in found.items()}
    given = Comparison.objects.filter(study=study, is_current=True).exclude(
        Q(pair__gold="") | Q(assignment=None)
    )
    alone = {
        assignment: verdicts[0]
        for assignment, verdicts in last.items()
        if len(verdicts) == 1 and verdicts[0].probabilities
    }
    rows = given.order_by().values_list("pk", "assignment")
    return {pk: alone[assignment] for pk, assignment in rows if assignment in alone}


def _held(
    known: Known, read: Opinions, choice: Choice, verdicts: Mapping[int, Verdict], level: float
) -> dict[str, Any] | None:
    rows = read.by(choice.ids).rows
    rows = rows[np.isin(rows["id"], list(verdicts)) & np.isin(rows["pair"], known.instances.pair)]
    gold, lean = (
        _right_as_shown(known, rows),
        np.sign(rows["points"].astype(np.int64) + 1 - 2 * rows["rating"]),
    )
    sided = (gold != TIE) & (lean != 0) & (rows["rating"] > 0)
    if not sided.any():
        return None
    rows, gold, lean = rows[sided], gold[sided], lean[sided]
    own = [verdicts[pk] for pk in rows["id"].tolist()]
    leaning = np.array([each.leaning for each in own])
    means = {
        "probability": (
            np.array([each.of_side(side) for each, side in zip(own, lean.tolist(), strict=True)]),
            lean == gold,
        ),
        "expected": (np.maximum(leaning, 1.0 - leaning), np.sign(leaning - 0.5) == gold),
    }
    entropy = np.array([each.entropy for each in own])
    return {
        **{name: _measured(*each, rows, level) for name, each in means.items()},
        "entropy": _of_entropy(entropy, lean == gold),
        "left_out": int((~sided).sum()),
    }


def _right_as_shown(known: Known, rows: Rows) -> Any:
    """Which side is right of each comparison as it was shown."""
    order = np.argsort(known.instances.pair)
    gold = known.instances.gold[order[np.searchsorted(known.instances.pair, rows["pair"], sorter=order)]]
    return np.where(rows["swapped"], -gold, gold)


def _measured(said: FloatArray, right: Any, rows: Rows, level: float) -> dict[str, Any]:
    is_right = right.astype(np.float64)
    found = calibration(said.clip(0.0, 1.0), is_right, rows["prompt"], level).as_dict()
    return found | {
        "right": rounded(float(is_right.mean())),
        "tells_apart": rounded(tells_apart(said, is_right)),
    }


def _of_entropy(entropy: FloatArray, right: Any) -> dict[str, Any]:
    """Its mean where the verdict is right, and wrong; and how often it is lower where it is right."""
    parts = {"right": entropy[right], "wrong": entropy[~right]}
    means = {name: rounded(float(own.mean())) if len(own) else None for name, own in parts.items()}
    return {**means, "tells_apart": rounded(tells_apart(-entropy, right.astype(np.float64)))}
