"""A study's pairs as preferences for reward models: prompt, chosen, rejected and how clear it is."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from arena.formats.writing.batches import batches
from arena.formats.writing.interchange import question
from arena.formats.writing.preferences import LeftOut, Preference, Said, Texts, preference, texts_row
from arena.formats.writing.schema import Row
from arena.models import Completion, Pair, Rater, Study
from arena.transfer.export import CHUNK
from leaderboard.exports.wanted import Wanted

PAIRS: int = 200
"""Pairs whose texts are in memory at a time."""


def preferences(study: Study, wanted: Wanted, left_out: Counter[str]) -> Iterator[Row]:
    """One row per pair that its raters prefer one side of. Pairs left out are counted by reason."""
    simulated = frozenset(Rater.objects.filter(simulated=True).values_list("pk", flat=True))
    for batch in batches(_decided(study, wanted, simulated, left_out), PAIRS):
        texts = _texts(row["pair"] for row in batch)
        for row in batch:
            decided: Preference = row["preference"]
            found, prompt = texts[row["pair"]]
            written = texts_row(found, decided.first_chosen, conversational=wanted.conversational)
            if isinstance(written, LeftOut):
                left_out[written.value] += 1
                continue
            yield {
                **written,
                "margin": decided.margin,
                "n_raters": decided.raters,
                "agreement": round(decided.agreement, 6),
                **prompt,
                "simulated": row["simulated"],
            }


def _decided(
    study: Study, wanted: Wanted, simulated: frozenset[int], left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    """The pairs with a preference, in the order they were made."""
    scored = wanted.comparisons(study).filter(status="scored").order_by("pair", "pk")
    read = scored.values_list("pair", "rater", "rating", "points", "swapped").iterator(CHUNK)
    for pair, rows in groupby(read, key=itemgetter(0)):
        said = [Said(rater, rating or 0, points, swapped) for _, rater, rating, points, swapped in rows]
        found = preference(said, ties=wanted.ties)
        if isinstance(found, Preference):
            by_program = any(one.rater in simulated for one in said)
            yield {"pair": pair, "preference": found, "simulated": by_program}
        else:
            left_out[found.value if found else "no rating with a side"] += 1


def _texts(pairs: Iterator[int]) -> dict[int, tuple[Texts, dict[str, Any]]]:
    """The texts of some pairs, and what their prompts are called, by the id of the pair."""
    found = Pair.objects.filter(pk__in=list(pairs)).select_related("prompt", "first", "second").order_by()
    return {
        pair.pk: (
            Texts(pair.prompt.turns, pair.prompt.input, _turns(pair.first), _turns(pair.second)),
            {
                "prompt_id": question(pair.prompt.external_id, pair.prompt.subset),
                # Never null: readers that take the type of a column from its first rows would find none.
                "category": pair.prompt.category,
            },
        )
        for pair in found
    }


def _turns(completion: Completion) -> list[str]:
    """The turns; one with nothing in it where the text is known to be empty."""
    return completion.turns or ([""] if completion.is_empty else [])
