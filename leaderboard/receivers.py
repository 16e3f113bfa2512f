"""What the leaderboard does when arena reports a change."""

from typing import Any

from django.dispatch import receiver

from arena.signals import comparison_recorded, study_changed
from leaderboard.services import request_refresh


@receiver([comparison_recorded, study_changed], dispatch_uid="leaderboard.refresh")
def refresh_soon(sender: Any, study_id: int, **kwargs: Any) -> None:
    """A rating, an import or an operator changed a study's figures."""
    request_refresh(study_id)
