"""What a bundle says about itself to whoever opens it."""

from collections.abc import Mapping
from typing import Any

from arena.models import Study
from leaderboard.bundle import contents
from leaderboard.models import Snapshot


def readme(study: Study, snapshot: Snapshot, facts: Mapping[str, Any], *, with_texts: bool) -> str:
    """The README of a bundle, in plain words."""
    made_up = (
        "\nSome or all of the votes were made up by a program. They say nothing about any model.\n"
        if any(one["simulated"] for one in snapshot.counts["raters"]) or study.simulated
        else ""
    )
    texts = (
        f"| `{contents.PROMPT_TEXTS}`, `{contents.COMPLETION_TEXTS}` | the texts themselves |\n"
        if with_texts
        else ""
    )
    commit = f", commit {facts['versions']['commit']}" if facts["versions"]["commit"] else ""
    return f"""# {_one_line(study.name)}: the published board and all it was computed from

Snapshot of {snapshot.created_at:%Y-%m-%d %H:%M} UTC, data as of watermark {snapshot.watermark},
methodology {snapshot.methodology}, seed {snapshot.seed}.
Made by Likert Arena {facts["versions"]["likert-arena"]}{commit}.
{made_up}
## Compute it again

With Likert Arena of the same version installed (no study, no account and no database is needed):

    python manage.py recompute THIS-FILE.zip

It computes every table in `{contents.RESULTS}` from the files in `inputs/` and says which came out
equal. It ends with exit code 0 if all did, with 1 if not. Numbers are rounded to six decimals. Processors
may differ in the fifteenth digit; where that turns the rounding of a sixth decimal, the command says so and
does not call it a difference.

## What is in it

| file | what it holds |
|---|---|
| `{contents.MANIFEST}` | every file with its size and SHA-256 |
| `{contents.PARAMETERS}` | method, rounds, seed, interval, versions of everything that computed |
| `{contents.COMPARISONS}` | one line per comparison in the order they were given, columns below |
| `{contents.CONTESTANTS}` | the contestants that are ranked, by number |
| `{contents.RATERS}` | who rated: judges by name, people by a pseudonym |
| `{contents.PROMPTS}` | the prompts rated: id, category, subset, SHA-256 of `[turns, input]` as JSON |
| `{contents.COMPLETIONS}` | the completions: prompt, contestant, SHA-256 of the turns as JSON |
| `{contents.OPINIONS}` | names, categories, which raters can be selected together, types of the columns |
| `{contents.SIZES}` | how long the texts are: words, distinct words, tokens, characters |
{texts}| `{contents.RESULTS}` | the published tables, one line each |

In `{contents.COMPARISONS}`, `pair`, `rater`, `prompt`, `first_text` and `second_text` are numbers of the
other files. `first` and `second` are the contestants in the order in which they were shown (-1: not ranked),
`swapped` tells whether the pair's second completion was shown first. `rating` runs from 1 (first much better)
to `points` (second much better); it is 0 where there is none, and `reason` says why. `category` is a place in
the list of categories, `score_difference` the first minus the second score of a rater that gives scores.
"""


def _one_line(text: str) -> str:
    return " ".join(text.split())
