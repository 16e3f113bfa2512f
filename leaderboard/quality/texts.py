"""How people score single answers and check them against their requirements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from django.db.models import Case, F, IntegerField, Value, When

from arena.models import Answer, Rater, Score, Study
from arena.models.querysets import left_out_raters
from leaderboard.pages.format import signed
from leaderboard.quality.measures import (
    LEVEL,
    Check,
    Checked,
    Rows,
    agrees_less,
    first,
    is_fast,
)
from leaderboard.quality.table import NOTHING, Shown, share, shown_agreement, shown_speed
from leaderboard.snapshots.columns import fetched
from leaderboard.stats.rater_quality import (
    Apart,
    Speed,
    WithOthers,
    apart,
    majority_of_others,
    means_of_others,
    speed,
    with_others,
)
from leaderboard.stats.shares import Share, wilson_share

YES, NO, UNKNOWN = 1, -1, 0

_SCORES: Final = [("rater", "i8"), ("text", "i8"), ("value", "f8"), ("seconds", "f8")]
_ANSWERS: Final = [
    *(("rater", "i8"), ("text", "i8"), ("prompt", "i8"), ("question", "i8"), ("value", "i8")),
    ("seconds", "f8"),
]


@dataclass(frozen=True)
class TextFigures:
    """How one rater does with single answers, or everybody together.

    ``pace`` counts an answer once for its score and once for all its checks.
    """

    scores: int
    apart: Apart
    checked: int
    agreement: WithOthers
    unknown: Share
    pace: Speed

    @property
    def cells(self) -> dict[str, Shown]:
        return {
            "Scores": _count(self.scores),
            "Apart from others": _apart(self.apart),
            "Checks": _count(self.checked),
            "Checks as others": shown_agreement(self.agreement),
            "Cannot tell": share(self.unknown),
            "Time": shown_speed(self.pace),
        }


@dataclass(frozen=True)
class TextLine(Checked):
    rater: Rater
    figures: TextFigures
    checks: list[Check]
    left_out: bool


@dataclass(frozen=True)
class TextTable:
    lines: list[TextLine]
    everybody: TextFigures

    def of(self, rater: Rater) -> TextLine | None:
        return next((line for line in self.lines if line.rater.pk == rater.pk), None)

    def headings(self) -> list[str]:
        return list(self.everybody.cells)


def texts_table(study: Study) -> TextTable:
    """Everybody who scored or checked, those with most warnings first."""
    said = _Said.read(study)
    scorers, checkers = said.scores["rater"], said.answers["rater"]
    everybody = said.figures(*(~np.isin(raters, said.out) for raters in (scorers, checkers)))
    lines = []
    for pk, rater in Rater.objects.in_bulk(list({*scorers.tolist(), *checkers.tolist()})).items():
        own = said.figures(scorers == pk, checkers == pk)
        lines.append(TextLine(rater, own, _checks(own, everybody), pk in said.out))
    return TextTable(sorted(lines, key=lambda line: (-len(line.remarks), line.rater.name)), everybody)


def own_figures(study: Study, rater: Rater, step: int) -> tuple[TextFigures, TextFigures]:
    """A rater's figures, and those of the first scores and checks, as many as are a multiple of ``step``."""
    said = _Said.read(study, around=rater)
    scores, checks = said.scores["rater"] == rater.pk, said.answers["rater"] == rater.pk
    return said.figures(scores, checks), said.figures(first(scores, step), first(checks, step))


@dataclass(frozen=True, eq=False)
class _Said:
    """Scores and answers, each with what others said of the same; ``out`` are raters left out."""

    scores: Rows
    answers: Rows
    out: Sequence[int]
    means: Any
    majority: Any
    has_majority: Any

    @classmethod
    def read(cls, study: Study, around: Rater | None = None) -> _Said:
        """What was said about all texts of the study, or only about those that a rater scored or checked."""
        scores, answers, out = _scores(study, around), _answers(study, around), left_out_raters(study)
        kept_scores, kept_answers = (~np.isin(rows["rater"], out) for rows in (scores, answers))
        item = np.unique(np.stack([answers["text"], answers["question"]]), axis=1, return_inverse=True)[1]
        is_known = answers["value"] != UNKNOWN
        majority, known = majority_of_others(
            item.reshape(-1), answers["rater"], answers["value"], kept_answers & is_known
        )
        means = means_of_others(scores["text"], scores["rater"], scores["value"], kept_scores)
        return cls(scores, answers, out, means, majority, known & is_known)

    def figures(self, of_scores: Any, of_answers: Any) -> TextFigures:
        """Of the scores and answers that two masks choose."""
        own, checks = self.scores[of_scores], self.answers[of_answers]
        counted = self.has_majority & of_answers
        compared = self.answers[counted]
        return TextFigures(
            scores=len(own),
            apart=apart(own["value"], self.means[of_scores]),
            checked=len(checks),
            agreement=with_others(compared["value"], self.majority[counted], compared["prompt"], LEVEL),
            unknown=wilson_share(int((checks["value"] == UNKNOWN).sum()), len(checks), LEVEL),
            pace=speed(np.concatenate([own["seconds"], list(_by_text(checks))]), level=LEVEL),
        )


def _scores(study: Study, around: Rater | None) -> Rows:
    """On the study's own scale; of an answer of several turns each is a text."""
    rows = Score.objects.current().filter(
        study=study,
        purpose="study",
        rater__kind=Rater.Kind.PERSON,
        value__isnull=False,
        lowest=study.score_lowest,
        highest=study.score_highest,
    )
    if around is not None:
        rows = rows.filter(completion__in=around.scores.filter(study=study).values("completion"))
    text = F("completion_id") * 2**16 + F("turn")
    return fetched(rows.order_by("pk").values_list("rater", text, "value", "seconds"), _SCORES)


def _answers(study: Study, around: Rater | None) -> Rows:
    value = Case(
        When(value="yes", then=Value(YES)),
        When(value="no", then=Value(NO)),
        default=Value(UNKNOWN),
        output_field=IntegerField(),
    )
    rows = Answer.objects.current().filter(
        study=study, purpose="study", rater__kind=Rater.Kind.PERSON, value__isnull=False
    )
    if around is not None:
        rows = rows.filter(completion__in=around.answers.filter(study=study).values("completion"))
    columns = ("rater", "completion", "completion__prompt", "question", value, "seconds")
    return fetched(rows.order_by("pk").values_list(*columns), _ANSWERS)


def _by_text(checks: Rows) -> Iterator[float]:
    """The seconds that all checks of an answer by one rater took together."""
    key = np.unique(np.stack([checks["rater"], checks["text"]]), axis=1, return_inverse=True)[1].reshape(-1)
    yield from np.bincount(key, checks["seconds"])


def _checks(own: TextFigures, everybody: TextFigures) -> list[Check]:
    return [agrees_less(own.agreement, everybody.agreement), is_fast(own.pace)]


def _count(number: int) -> Shown:
    return Shown(f"{number:,}", sort=number) if number else NOTHING


def _apart(found: Apart) -> Shown:
    if found.absolute is None or found.signed is None:
        return NOTHING
    sign = "+" if found.signed > 0 else ""
    note = f"{sign}{signed(found.signed)} on average, n\u00a0{found.n:,}"
    return Shown(f"{found.absolute:.2f}", note, found.absolute)
