"""What arena tells the apps above it, sent after the transaction has committed."""

from django.dispatch import Signal

comparison_recorded = Signal()
"""A comparison was recorded or revised. Arguments: study_id, comparison_id."""

study_changed = Signal()
"""An import or an operator changed what a study's figures rest on. Argument: study_id."""
