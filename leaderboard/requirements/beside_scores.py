"""Shares of requirements met beside scores of whole answers, which InFoBench calls direct scoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from leaderboard.requirements.cached import SETTINGS, ChecksNow
from leaderboard.requirements.content import Asked
from leaderboard.scores.cached import ScoresNow
from leaderboard.scores.content import Asked as AskedOfScores
from leaderboard.scores.content import scored
from leaderboard.snapshots.settings import PEOPLE
from leaderboard.stats.pointwise_standings import OrderAgreement, orders_agree
from leaderboard.stats.requirement_pairs import LabelAgreement, label_agreement, pair_labels
from leaderboard.texts.beside_pairs import FEWEST_MODELS
from leaderboard.texts.presence import said_of_texts


@dataclass(frozen=True)
class BesideScores:
    """``met`` and the ``means`` of scores by model; ``label``: whose scores, ``scale``: its ends.

    ``agreement``: of the orders, None for too few models. ``people``: how far people agree by scores which of
    two answers is better.
    """

    label: str
    scale: tuple[float, float]
    met: Mapping[str, float]
    means: Mapping[str, float]
    agreement: OrderAgreement | None
    people: LabelAgreement | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "raters": self.label,
            "lowest": self.scale[0],
            "highest": self.scale[1],
            "means": dict(self.means),
            "agreement": self.agreement and self.agreement.as_dict(),
            "people": self.people and self.people.as_dict(),
        }


def beside_scores(checks: ChecksNow, asked: Asked) -> BesideScores | None:
    """The scores by the same raters, or else by the first that scored; None without any."""
    if not said_of_texts(checks.study).scored:
        return None
    scores = ScoresNow.of(checks.study)
    like = scores.like(asked)
    return None if like is None else _beside(checks, asked, scores, like)


@lru_cache(maxsize=SETTINGS)
def _beside(checks: ChecksNow, asked: Asked, scores: ScoresNow, like: AskedOfScores) -> BesideScores | None:
    found = scores.models(like)
    if found is None:
        return None
    met, ranked = checks.compared(asked), scores.compared(like)
    shared = [name for name in ranked.ratings if name in met.ratings]
    (own, own_samples), (other, samples) = met.of(shared), ranked.of(shared)
    # Their rounds begin with the same random numbers.
    agreement = orders_agree(own, other, own_samples, None if samples is None else samples[::-1])
    means = {each["contestant"]: each["mean"] for each in found["contestants"]}
    about = scored(scores.read, like)
    people = next((each for each in about.raters if each.selector == PEOPLE), None)
    return BesideScores(
        found["label"],
        about.scale,
        {name: met.ratings[name] for name in shared},
        {name: means[name] for name in shared},
        agreement if len(shared) >= FEWEST_MODELS else None,
        label_agreement(pair_labels(about.by(people))) if people and len(people.ids) > 1 else None,
    )
