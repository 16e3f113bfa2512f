"""What arena tells the apps above it: after the transaction has committed, if nothing else is said."""

from django.dispatch import Signal

comparison_recorded = Signal()
"""A comparison was recorded or revised. Arguments: study_id, comparison_id."""

study_changed = Signal()
"""An import or an operator changed what a study's figures rest on. Argument: study_id."""

answer_received = Signal()
"""An answer is stored, or arrived again just as it was stored. Sent INSIDE the recording transaction.

Arguments: assignment, comparison, call (a mapping, or None where none came). A receiver that keeps the call
returns True; a call that nobody keeps stays with its comparison, in extra["call"]. What a receiver raises
undoes the recording.
"""
