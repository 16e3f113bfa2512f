"""Shares of requirements met beside scores of whole answers, which InFoBench calls direct scoring."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from leaderboard.answers.asked import FEWEST
from leaderboard.answers.beside_pairs import FEWEST_MODELS, Compared, compared
from leaderboard.answers.scores.content import Scored
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.reading import Choice
from leaderboard.snapshots.settings import PEOPLE
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.pointwise_standings import orders_agree
from leaderboard.stats.requirement_pairs import label_agreement, pair_labels


def beside_scores(met: Compared, scores: Scored, choice: Choice) -> dict[str, Any]:
    """Beside the scores by raters who have some: whose (``label``), and where the scale ends.

    Of the ``models`` with both, name, share met, mean score and number of scores. ``agreement`` of the orders
    is None for too few models. ``people``: how far people agree by scores which of two answers is better.
    """
    contestants = scores.contestants(choice)
    ranked = compared(scores.standings(choice), scores.read.names, contestants)
    shared = [name for name in ranked.ratings if name in met.ratings]
    (own, own_samples), (other, samples) = met.of(shared), ranked.of(shared)
    # Their rounds begin with the same random numbers.
    agreement = orders_agree(own, other, own_samples, None if samples is None else samples[::-1])
    rows = {each["contestant"]: each for each in contestants}
    people = next((each for each in scores.raters if each.selector == PEOPLE), None)
    lowest, highest = scores.scale
    several = people is not None and len(people.ids) > 1
    return {
        "label": choice.label,
        "lowest": lowest,
        "highest": highest,
        "models": [
            [name, rounded(met.ratings[name]), rows[name]["mean"], rows[name]["n"]] for name in shared
        ],
        "agreement": agreement.as_dict() if len(shared) >= FEWEST_MODELS else None,
        "people": label_agreement(pair_labels(scores.by(people))).as_dict() if people and several else None,
    }


def seal(found: Content, shown: Collection[str]) -> Content | None:
    """What everybody may see while people rate, of the models ``shown`` then."""
    models, people = found["models"], found["people"]
    kept = [each for each in models if each[0] in shown and each[3] >= FEWEST]
    if not kept:
        return None
    return {
        **found,
        "models": kept,
        "agreement": found["agreement"] if len(kept) == len(models) else None,
        "people": people if people and people["pairs"] >= FEWEST else None,
    }
