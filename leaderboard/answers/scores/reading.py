"""The scores that raters gave single texts: as rows, and as arrays on one scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.models import Score, Study
from leaderboard.snapshots.reading import ALL, Choice, Read, rater_choices
from leaderboard.snapshots.text_sizes import characters
from leaderboard.stats.checks import BoolArray
from leaderboard.stats.scores import Scores, make_scores


class ScoreRow(NamedTuple):
    """A score, by ids; None where there is none or it is not known. Repeats of a rater have numbers from 0.

    ``length`` of the text is in characters; ``moment`` counts the times at which scores were given, from 0.
    """

    rater: int
    repeat: int
    text: int
    prompt: int
    contestant: str
    turn: int
    lowest: float
    highest: float
    score: float | None
    expected: float | None
    reason: str
    seconds: float | None
    length: float | None
    moment: int | None


class About(NamedTuple):
    subset: str = ""
    category: str = ""


@dataclass(frozen=True)
class ScoreRows:
    """The scores of a study that count, in the order given; ``prompts`` by id."""

    study: str
    rows: tuple[ScoreRow, ...]
    raters: tuple[Choice, ...]
    prompts: Mapping[int, About] = field(default_factory=dict)

    def arrays(self) -> TextScores:
        ids, prompt = np.unique([row.prompt for row in self.rows], return_inverse=True)
        names = sorted({row.contestant for row in self.rows})
        place = {name: number for number, name in enumerate(names)}
        rows = np.array(
            [
                (row.rater, place[row.contestant], number, row.turn, *map(_or_nan, row[6:9]), *_known(row))
                for row, number in zip(self.rows, prompt.tolist(), strict=True)
            ],
            dtype=list(COLUMNS),
        )
        about = tuple(self.prompts.get(pk, About()) for pk in ids.tolist())
        return TextScores(self.study, tuple(names), about, rows, self.raters)


def _known(row: ScoreRow) -> tuple[float, float]:
    return _or_nan(row.length), _or_nan(row.moment)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


COLUMNS: Final = (
    ("rater", "i8"),
    ("contestant", "i8"),
    ("prompt", "i8"),
    ("turn", "i8"),
    ("lowest", "f8"),
    ("highest", "f8"),
    ("value", "f8"),
    ("length", "f8"),
    ("moment", "f8"),
)


@dataclass(frozen=True, eq=False)
class TextScores:
    """The scores of a study that count, in the order given.

    ``rows`` has the fields of COLUMNS: rater is an id, contestant an index into ``names``, prompt one into
    ``prompts``; value, length and moment are NaN where not known.
    """

    study: str
    names: tuple[str, ...]
    prompts: tuple[About, ...]
    rows: npt.NDArray[Any]
    raters: tuple[Choice, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def scale(self) -> tuple[float, float]:
        """The one of most scores; of several, the longest."""
        used = Counter(zip(self.rows["lowest"].tolist(), self.rows["highest"].tolist(), strict=True))
        return max(used, key=lambda ends: (used[ends], ends[1] - ends[0], ends))

    @property
    def turns(self) -> list[int]:
        return [int(turn) for turn in np.unique(self.rows["turn"])]

    def subsets(self) -> list[str]:
        return sorted({each.subset for each in self.prompts} - {""})

    def categories(self) -> list[str]:
        return sorted({each.category for each in self.prompts} - {""})

    def of_turn(self, turn: int) -> TextScores:
        return self._only(self.rows["turn"] == turn)

    def about(self, subset: str = "", category: str = "") -> TextScores:
        """The scores about the prompts of a set and a category; all where they are empty."""
        wanted = [
            (not subset or each.subset == subset) and (not category or each.category == category)
            for each in self.prompts
        ]
        return self._only(np.array(wanted, dtype=bool)[self.rows["prompt"]])

    def by(self, choice: Choice) -> TextScores:
        return self._only(np.isin(self.rows["rater"], list(choice.ids)))

    def most_of_a_model(self, choice: Choice) -> int:
        """How many scores the raters of a choice gave to the model with the most."""
        own = self.by(choice).rows
        return int(np.bincount(own["contestant"][~np.isnan(own["value"])]).max(initial=0))

    def _only(self, chosen: BoolArray) -> TextScores:
        return replace(self, rows=self.rows[chosen])

    def not_on(self, scale: tuple[float, float]) -> int:
        """How many scores are on another scale, which ``scores`` stretches evenly."""
        return int(((self.rows["lowest"] != scale[0]) | (self.rows["highest"] != scale[1])).sum())

    def scores(self, scale: tuple[float, float]) -> Scores:
        lowest, highest = scale
        rows = self.rows
        stretched = lowest + (rows["value"] - rows["lowest"]) * (
            (highest - lowest) / (rows["highest"] - rows["lowest"])
        )
        same = (rows["lowest"] == lowest) & (rows["highest"] == highest)
        return make_scores(
            np.unique(rows["rater"], return_inverse=True)[1],
            rows["contestant"],
            rows["prompt"],
            np.where(same, rows["value"], np.clip(stretched, lowest, highest)),
            lowest=lowest,
            highest=highest,
            turn=rows["turn"],
        )


_FIELDS: Final = (
    *("rater", "repeat", "completion", "completion__prompt", "completion__contestant__name", "turn"),
    *("lowest", "highest", "value", "expected", "reason", "seconds", "extra__output_characters"),
    *("is_dated", "created_at"),
)


def score_rows(study: Study, read: Read = ALL) -> ScoreRows:
    """All that count; lengths are those of the texts, or else what the file of a score says."""
    counted = Score.objects.counted(study, read.until).filter(
        completion__contestant__retired_at__isnull=True,
        completion__contestant__isnull=False,
    )
    found = counted.order_by("pk").values_list("pk", *_FIELDS).iterator(chunk_size=5000)
    given = [row for pk, *row in found if pk not in read.without]
    times = sorted({at for *_, is_dated, at in given if is_dated})
    moments = {at: number for number, at in enumerate(times)}
    lengths = characters(study)
    rows = tuple(
        ScoreRow._make([*own, lengths.get(own[2], _length(said)), moments[at] if is_dated else None])
        for *own, said, is_dated, at in given
    )
    prompts = study.prompts.values_list("pk", *About._fields)
    return ScoreRows(
        study.slug,
        rows,
        rater_choices(study, sorted({row.rater for row in rows})),
        {pk: About(subset, category) for pk, subset, category in prompts},
    )


def _length(said: Any) -> float | None:
    return said if type(said) in (int, float) and said >= 0 else None


def text_scores(study: Study) -> TextScores:
    return score_rows(study).arrays()
