"""Rank language models from ratings, in a notebook or a script, and speak to a running arena.

    from likert_arena import rank
    rank("votes.csv").to_frame()

``rank``, ``compare``, ``plan`` and ``anchor`` take a path, records or a DataFrame and load no Django.
``Arena`` is a client of a running arena.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likert_arena.analysis import anchor, compare, plan, rank
    from likert_arena.client import Arena, ArenaError
    from likert_arena.results import Anchoring, Comparison, PromptPlan, Ranking, Result

_MODULES = {
    **dict.fromkeys(("Arena", "ArenaError"), "likert_arena.client"),
    **dict.fromkeys(("anchor", "compare", "plan", "rank"), "likert_arena.analysis"),
    **dict.fromkeys(("Anchoring", "Comparison", "PromptPlan", "Ranking", "Result"), "likert_arena.results"),
}

__all__ = [
    "Anchoring",
    "Arena",
    "ArenaError",
    "Comparison",
    "PromptPlan",
    "Ranking",
    "Result",
    "anchor",
    "compare",
    "plan",
    "rank",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for: the command must not wait for SciPy, nor a ranking for HTTP."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
