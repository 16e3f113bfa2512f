"""Every setting of a study, declared once: its words, its form, its tasks, and what a change of it affects.

Forms, the log, what is computed again and what a rater's page is checked against derive from here. The type,
default, bounds and choices of a setting are those of its column.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Any, Final, Literal

TASKS: Final = ("compare", "score", "check")


class Affects(Flag):
    """Consequences of a change: new figures, or a refusal of answers from pages opened before."""

    NOTHING = 0
    FIGURES = auto()
    QUESTION = auto()


@dataclass(frozen=True)
class Setting:
    """A column of a study that its operators choose.

    tasks: those that it concerns. when: other settings, and the values at which this one acts.
    log: its name in the history; if empty, the label without what stands in brackets.
    unit: "%" for a share, stored from 0 to 1. rows: lines of its field.
    """

    label: str
    affects: Affects
    help: str = ""
    tasks: tuple[str, ...] = TASKS
    when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    log: str = ""
    unit: Literal["", "%"] = ""
    rows: int = 5

    @property
    def name(self) -> str:
        """Its name in the history of the study."""
        return self.log or self.label.partition(" (")[0]

    @property
    def conditions(self) -> dict[str, tuple[str, ...]]:
        """Values of other settings; without one of each this one does nothing. Empty if it always acts."""
        return {**({} if self.tasks == TASKS else {"tasks": self.tasks}), **self.when}


FIGURES, QUESTION, NOTHING = Affects.FIGURES, Affects.QUESTION, Affects.NOTHING
COMPARE, SCORE = ("compare",), ("score",)

NOT_SETTINGS: Final = frozenset(
    {"id", "paused_at", "closed_at", "revision", "queue_of", "queue_lacks", "created_at"}
)
"""Columns of a study that are recorded otherwise, or chosen by nobody."""

FORMS: Final[Mapping[str, Mapping[str, Setting]]] = {
    "address": {
        "slug": Setting(
            "Address", FIGURES, "Letters, digits, hyphens and underscores; a letter or a digit first."
        ),
    },
    "guidelines": {
        "guidelines": Setting("Guidelines", NOTHING, "Markdown.", rows=12),
        "consent": Setting(
            "Consent and privacy (optional)",
            NOTHING,
            "Markdown. What you record, why, for how long, and whom to ask. Raters agree to it when "
            "they join.",
            rows=4,
        ),
    },
    "rating": {
        "tasks": Setting("What raters do, in this order", FIGURES, log="Tasks"),
        "points": Setting(
            "Scale for pairs", FIGURES | QUESTION, "Earlier ratings keep their scale.", COMPARE, log="Scale"
        ),
        "score_lowest": Setting(
            "Lowest score of an answer", FIGURES | QUESTION, tasks=SCORE, log="Lowest score"
        ),
        "score_highest": Setting(
            "Highest score of an answer",
            FIGURES | QUESTION,
            "You cannot change the scale once answers have scores.",
            SCORE,
            log="Highest score",
        ),
        "ratings_per_pair_people": Setting(
            "Ratings per pair or answer by people",
            FIGURES,
            "How many different people rate each pair, and score or check each answer.",
            log="Ratings per pair by people",
        ),
        "ratings_per_pair_judges": Setting(
            "Ratings per pair or answer by each judge", FIGURES, log="Ratings per pair by each judge"
        ),
        "goal": Setting(
            "Goal per rater (optional)",
            NOTHING,
            "Raters see how far they have come, for example 20 of 50. They may do more.",
        ),
        "reasons": Setting(
            "Reasons offered after the choice",
            NOTHING,
            "One per line. Leave empty to offer none.",
            COMPARE,
            log="Reasons",
        ),
    },
    "advanced": {
        "criteria": Setting(
            "Criteria beside the overall rating",
            QUESTION,
            "One per line, for example helpfulness. Each adds a row of buttons on the same scale.",
            COMPARE,
            log="Criteria",
            rows=3,
        ),
        "rated_turns": Setting(
            "What is rated of a conversation",
            FIGURES,
            "Where a prompt has several turns. Turns are rated one after another: those before are shown, "
            "those after are not.",
            COMPARE,
            log="Rated of a conversation",
        ),
        "rater_limit": Setting(
            "Limit per rater (optional)",
            NOTHING,
            "How many pairs, scores and checks one person can submit. Hidden repeats and checks "
            "count; skips do not.",
        ),
        "daily_limit": Setting(
            "Limit per rater and day (optional)", NOTHING, "How many on one day. Days begin at 00:00 UTC."
        ),
        "pairing": Setting("Pairing", NOTHING, tasks=COMPARE),
        "pairing_feature": Setting(
            "Feature that judges are held against",
            NOTHING,
            "Pairs come first about which judges and this feature of the answers disagree.",
            COMPARE,
            {"pairing": ("disagreement",)},
            log="Feature for pairing",
        ),
        "control_share": Setting(
            "Random share (%)",
            NOTHING,
            "Pairs drawn at random in between, so that the choice of the others can be audited.",
            COMPARE,
            {"pairing": ("adaptive", "disagreement")},
            unit="%",
        ),
        "repeat_share": Setting(
            "Hidden repeats (%)",
            NOTHING,
            "Raters get these pairs again in the other order, which shows how consistent they are.",
            COMPARE,
            unit="%",
        ),
        "gold_share": Setting(
            "Hidden checks (%)",
            NOTHING,
            "Pairs with a known right answer, mixed in unmarked.",
            COMPARE,
            unit="%",
        ),
        "training_threshold": Setting(
            "Training pairs to get right (%)",
            NOTHING,
            "Leave empty if the training only explains.",
            COMPARE,
            unit="%",
        ),
        "show_references": Setting("Reference answers", NOTHING, "Raters do not learn who wrote them."),
        "thinking": Setting(
            "Answers with thinking",
            NOTHING,
            "Imports set the thinking of a model apart: raters and judges read the answer alone. "
            "Exports tell it.",
        ),
        "reveal_names": Setting(
            "Show raters who wrote the answers after they have rated them",
            NOTHING,
            "Raters may then recognise a model's style. To keep them blind, each gets only one pair "
            "of a prompt, no single answers of it after that, and no repeats. So you need more "
            "raters.",
            log="Raters see who wrote the answers",
        ),
        "stop_margin": Setting(
            "Pause when the leader is known: margin in points",
            FIGURES,
            "0 pauses when the leader is better than every other model; 10 when it is at most 10 "
            "points worse. Only people's ratings count. Leave empty to continue until you pause.",
            COMPARE,
            log="Stopping rule",
        ),
    },
    "names": {
        "naming": Setting("Answers that tell who wrote them", NOTHING),
    },
    "publish": {
        "name": Setting("Name", FIGURES),
        "description": Setting(
            "Description", FIGURES, "What the study is about. Markdown, shown on the study's page.", rows=6
        ),
        "visibility": Setting(
            "Who sees the leaderboard",
            FIGURES,
            "A private leaderboard keeps raters blind. While a public study is open, ratings count in"
            " groups of at least 10 by at least 3 people, so the numbers reveal little about who "
            "wrote an answer. With fewer people the leaderboard can stay empty until you close the "
            "study.",
            log="Visibility",
        ),
        "sign_up_open": Setting("Anyone may sign up and rate", FIGURES, "Without an invitation."),
        "takes_models": Setting(
            "Anyone may propose a model",
            FIGURES,
            "A page takes addresses of models and files of answers. Nothing is asked or imported until you "
            "accept a proposal under Proposed models.",
        ),
        "licence": Setting("Licence", FIGURES, "For sharing texts and ratings, for example CC-BY-4.0."),
        "simulated": Setting("Contains simulated ratings", FIGURES, "Every page then says so."),
    },
    "none": {
        "is_draft": Setting("Draft", FIGURES),
    },
}
"""By form, in its order, the settings by column; "advanced" is the lower part of "rating"."""

SETTINGS: Final = {name: setting for form in FORMS.values() for name, setting in form.items()}


def asked_about(study: Any, task: str) -> list[Any]:
    """Return the values of the settings that an answer to this task is about."""
    return [
        getattr(study, name)
        for name, setting in SETTINGS.items()
        if QUESTION in setting.affects and task in setting.tasks
    ]
