"""Where prompts stand that are for raters and not for the study: training pairs and hidden checks. Pure.

Their texts have no author and are compared with nothing else, so they must not reach claims, judges' plans,
boards or exports of the study. One subset, which only imports of such pairs give, keeps them apart by a
column that is there and indexed.
"""

from typing import Final

APART: Final = "(training and checks)"
"""Subset of the prompts of training pairs and hidden checks."""
