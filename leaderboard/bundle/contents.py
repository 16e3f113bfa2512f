"""What stands in a bundle: the names of its files, what is said about them, and what goes wrong."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

FORMAT: Final = "likert-arena-bundle"
VERSION: Final = 1
"""Raised whenever an older program could not read a bundle, or would read it wrongly."""

MANIFEST: Final = "MANIFEST.json"
README: Final = "README.md"
PARAMETERS: Final = "parameters.json"
OPINIONS: Final = "inputs/opinions.json"
COMPARISONS: Final = "inputs/comparisons.csv"
CONTESTANTS: Final = "inputs/contestants.csv"
RATERS: Final = "inputs/raters.csv"
PROMPTS: Final = "inputs/prompts.csv"
COMPLETIONS: Final = "inputs/completions.csv"
SIZES: Final = "inputs/text_sizes.json"
PROMPT_TEXTS: Final = "texts/prompts.jsonl"
COMPLETION_TEXTS: Final = "texts/completions.jsonl"
RESULTS: Final = "results/tables.jsonl"

NEEDED: Final = (
    README,
    PARAMETERS,
    OPINIONS,
    COMPARISONS,
    CONTESTANTS,
    RATERS,
    PROMPTS,
    COMPLETIONS,
    RESULTS,
)
OPTIONAL: Final = (SIZES, PROMPT_TEXTS, COMPLETION_TEXTS)
"""Files beside the manifest that every bundle has, and those it may have."""


class BundleError(Exception):
    """A bundle cannot be made or read; the message is a sentence for whoever wanted to."""


def canonical(content: Any) -> str:
    """One line of JSON with sorted keys, as snapshots keep their tables."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def pretty(content: Mapping[str, Any]) -> str:
    """JSON for people to read."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
