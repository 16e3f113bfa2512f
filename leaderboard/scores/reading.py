"""The scores that raters gave single texts, as arrays on one scale."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from arena.models import Contestant, Score, Study
from leaderboard.snapshots.reading import Choice, rater_choices
from leaderboard.snapshots.text_sizes import Texts
from leaderboard.stats.checks import BoolArray
from leaderboard.stats.scores import Scores, make_scores
from leaderboard.stats.style import MEASURES

COLUMNS: Final = (
    ("rater", "i8"),
    ("contestant", "i8"),
    ("prompt", "i8"),
    ("turn", "i8"),
    ("value", "f8"),
    ("lowest", "f8"),
    ("highest", "f8"),
    ("length", "f8"),
    ("when", "f8"),
)
_FIELDS: Final = (
    "completion",
    "rater",
    "completion__contestant",
    "completion__prompt",
    "turn",
    "value",
    "lowest",
    "highest",
    "extra__output_characters",
    "created_at",
    "is_dated",
)


@dataclass(frozen=True, eq=False)
class TextScores:
    """The scores of a study that count, in the order given.

    ``rows`` has the fields of COLUMNS: rater is an id, contestant an index into ``names``, prompts are
    numbered from 0; value is NaN where there is none, length (in characters) and when where not known.
    """

    names: tuple[str, ...]
    rows: npt.NDArray[Any]
    raters: tuple[Choice, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def scale(self) -> tuple[float, float]:
        """The one of most scores; of several, the longest."""
        used = Counter(zip(self.rows["lowest"].tolist(), self.rows["highest"].tolist(), strict=True))
        return max(used, key=lambda ends: (used[ends], ends[1] - ends[0], ends))

    @property
    def other_scales(self) -> int:
        """How many scores are on another scale, which ``scores`` stretches evenly."""
        lowest, highest = self.scale
        return int(((self.rows["lowest"] != lowest) | (self.rows["highest"] != highest)).sum())

    @property
    def turns(self) -> list[int]:
        return [int(turn) for turn in np.unique(self.rows["turn"])]

    def of_turn(self, turn: int) -> TextScores:
        return self._only(self.rows["turn"] == turn)

    def by(self, choice: Choice) -> TextScores:
        return self._only(np.isin(self.rows["rater"], list(choice.ids)))

    def _only(self, chosen: BoolArray) -> TextScores:
        return replace(self, rows=self.rows[chosen])

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
        )


def text_scores(study: Study, texts: Texts) -> TextScores:
    """All that count; lengths are those of the texts, or else what the file of a score says."""
    active = Contestant.objects.active().filter(study=study)
    # Sorted here: databases order text differently, and the draws of a bootstrap follow this order.
    contestants = sorted(active.values_list("name", "pk"))
    place = {pk: number for number, (_, pk) in enumerate(contestants)}
    given = Score.objects.counted(study).filter(completion__contestant__in=place).order_by("pk")
    found = list(given.values_list(*_FIELDS).iterator(chunk_size=5000))
    rows = np.array(
        [
            (
                rater,
                place[author],
                prompt,
                turn,
                np.nan if value is None else value,
                lowest,
                highest,
                characters if type(characters) in (int, float) and characters >= 0 else np.nan,
                at.timestamp() if dated else np.nan,
            )
            for _, rater, author, prompt, turn, value, lowest, highest, characters, at, dated in found
        ],
        dtype=list(COLUMNS),
    )
    rows["prompt"] = np.unique(rows["prompt"], return_inverse=True)[1]
    sizes = texts.sizes(np.array([text for text, *_ in found], dtype=np.int64))
    measured = sizes[:, MEASURES.index("characters")]
    rows["length"] = np.where(np.isnan(measured), rows["length"], measured)
    names = tuple(name for name, _ in contestants)
    return TextScores(names, rows, rater_choices(study, np.unique(rows["rater"]).tolist()))
