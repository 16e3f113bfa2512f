"""What judging does when arena stores an answer."""

from collections.abc import Mapping
from typing import Any

from django.dispatch import receiver

from arena.models import Assignment, Comparison, Rater
from arena.signals import answer_received
from judging.services import remote


@receiver(answer_received, dispatch_uid="judging.keep_call")
def keep_call(
    assignment: Assignment, comparison: Comparison, call: Mapping[str, Any] | None, **_: Any
) -> bool:
    """Settle the call behind a judge's answer, in the transaction that stores the answer."""
    return assignment.rater.kind == Rater.Kind.JUDGE and remote.settle(assignment, comparison, call or {})
