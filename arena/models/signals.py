"""What arena tells the apps above it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db import transaction
from django.dispatch import Signal

from arena.models import Assignment, Study
from arena.models.comparisons import Opinion

opinion_recorded = Signal()
"""After a commit: opinions of a study are new or revised. Argument: study_id; the sender is their model."""

study_changed = Signal()  # after a commit: the basis of a study's figures changed. Argument: study_id

answers_received = Signal()
"""INSIDE the recording transaction: answers are stored, or arrived again.

Argument: answers, a list of Received. A receiver returns the ids of the assignments whose calls it keeps;
other calls stay in the opinion's extra["call"]. An exception undoes the recording.
"""


answer_shown = Signal()
"""Asks whether pages show numbers that count an answer. Argument: assignment. A receiver returns a bool."""


details_removed = Signal()
"""INSIDE the transaction: a person's details are removed. Arguments: rater; by, an account or None."""


class Received(NamedTuple):
    """A stored answer; of answers to several questions, the last. call: the record of the model call."""

    assignment: Assignment
    opinion: Opinion
    call: Mapping[str, Any] | None


def announce(studies: Iterable[Study]) -> None:
    """Have the studies' figures computed anew after the commit."""
    for study in studies:
        study.touch()
        pk = study.pk
        transaction.on_commit(lambda pk=pk: study_changed.send(sender=Study, study_id=pk))  # type: ignore[misc]
