"""The subset of the prompts of training pairs and hidden checks, which claims, plans and boards leave out.

Pure.
"""

from typing import Final

TRAINING_SUBSET: Final = "(training and checks)"
