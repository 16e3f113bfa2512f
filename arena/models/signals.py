"""What arena tells the apps above it: after the transaction has committed, if nothing else is said."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db import transaction
from django.dispatch import Signal

from arena.models import Assignment, Comparison, Study

comparison_recorded = Signal()
"""A comparison was recorded or revised. Arguments: study_id, comparison_id."""

study_changed = Signal()
"""An import or an operator changed what a study's figures rest on. Argument: study_id."""

answers_received = Signal()
"""Answers of a rater are stored, or arrived again as they were. Sent INSIDE the recording transaction.

Argument: answers, a list of Received. A receiver returns the ids of the assignments whose calls it keeps; a
call that nobody keeps stays with its comparison, in extra["call"]. What a receiver raises undoes the
recording of them all.
"""


class Received(NamedTuple):
    """An answer that is stored now. call is the record of the model call, None where none came."""

    assignment: Assignment
    comparison: Comparison
    call: Mapping[str, Any] | None


# Having the figures of studies computed anew when something other than a comparison changed them.


def announce(studies: Iterable[Study]) -> None:
    """Have the figures of these studies computed anew, once the transaction has committed."""
    for study in studies:
        study.touch()
        pk = study.pk
        transaction.on_commit(lambda pk=pk: study_changed.send(sender=Study, study_id=pk))  # type: ignore[misc]
