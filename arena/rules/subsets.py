"""Subsets of prompts that the arena itself makes. Pure."""

from typing import Final

TRAINING_SUBSET: Final = "(training and checks)"
"""Prompts of training pairs and hidden checks, which claims, plans and boards leave out."""

NO_PROMPT_SUBSET: Final = "(no prompt named)"
"""Of the prompt that holds imported comparisons whose file names none: each counts as a prompt of its own."""
