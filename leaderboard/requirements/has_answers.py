"""Whether a study has answers to requirements, and which; loads nothing that computes."""

from typing import Any

from arena.models import Answer, Study
from leaderboard.pages.shell import Published


def has_answers(study: Study) -> bool:
    return Answer.objects.filter(study=study).exists()


def answers_now(now: Published) -> Any:
    """What pages show of requirements beside any snapshot: answers count at once."""
    return Answer.objects.filter(study=now.study).watermark()
