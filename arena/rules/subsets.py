"""Subsets of prompts that the arena itself makes. Pure."""

from typing import Final

TRAINING_SUBSET: Final = "(training and checks)"
"""Prompts of training pairs and hidden checks, which claims, plans and boards leave out."""

NO_PROMPT_SUBSET: Final = "(no prompt named)"
"""Of the prompt that holds imported comparisons whose file names none: each counts as a prompt of its own."""

LIVE_SUBSET: Final = "live"
"""Prompts that visitors typed in battles."""

NEIGHBOUR, SIMILAR, WORSE = "Neighbor", "GPTInst", "GPTOut"
"""Of candidates for pairs that mislead judges, as LLMBar names them, by what the wrong answer is: another
prompt's answer, an answer to a similar prompt that a model wrote, a worse one that looks good."""

RIGHT: Final = "1"
"""The own id of the answer to such a prompt that a model is to write a wrong one beside."""
