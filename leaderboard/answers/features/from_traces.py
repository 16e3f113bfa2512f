"""Makes features of the traces that endpoints gave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from django.db import transaction

from arena.features.recording import NewFeature, record_features
from arena.models import Study
from judging.endpoints.traces import unpack
from judging.models import Trace
from leaderboard.answers.features.of_tokens import Tokens, Value, features, of_turns
from leaderboard.stats.token_features import step_bounds

AT_ONCE: Final = 200
"""Completions whose traces are read together."""

Texts = Mapping[str, Mapping[int, Trace]]
"""Traces of a completion from one source, by text and turn."""


def measure_missing(study: Study) -> int:
    """Store the features of traces that have none yet; how many features are new.

    A completion is measured with all of its traces again, because those of a reference add to the answer's;
    what is stored already stays as it is.
    """
    waiting = Trace.objects.filter(completion__prompt__study=study, is_measured=False).order_by("completion")
    added = 0
    while chosen := list(waiting.values_list("completion", flat=True).distinct()[:AT_ONCE]):
        with transaction.atomic():
            added += _measure(chosen)
    return added


def _measure(completions: Sequence[int]) -> int:
    by_source: defaultdict[tuple[int, str], defaultdict[str, dict[int, Trace]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    rows = list(Trace.objects.filter(completion__in=completions).order_by("pk"))
    for row in rows:
        by_source[row.completion_id, row.source][row.text][row.turn] = row
    turns = dict(
        Trace.objects.filter(completion__in=completions).values_list("completion", "completion__turns")
    )
    found = [
        NewFeature(completion, turn, value.name, value.variant, source, value.value)
        for (completion, source), texts in by_source.items()
        for turn, value in of_completion(texts, len(turns[completion]))
    ]
    added = record_features(found).added
    Trace.objects.filter(pk__in=[row.pk for row in rows]).update(is_measured=True)
    return added


def of_completion(texts: Texts, turns: int) -> Iterator[tuple[int, Value]]:
    """Values with their turn: 0 is the whole answer, once all of its turns are there."""
    answers, *others = (
        {turn: tokens_of(trace, trace.before) for turn, trace in texts.get(text, {}).items()}
        for text in (Trace.Text.ANSWER, Trace.Text.ILLUSTRATED, Trace.Text.REFERENCE)
    )
    parts = {0: list(range(1, turns + 1))} | ({turn: [turn] for turn in answers} if turns > 1 else {})
    for turn, chosen in parts.items():
        answer = of_turns(answers, chosen)
        if answer is not None:
            last = texts[Trace.Text.ANSWER][chosen[-1]]
            full = tokens_of(last, 0) if last.before else None
            for value in features(answer, full, *(of_turns(other, chosen) for other in others)):
                yield turn, value


def tokens_of(trace: Trace, start: int) -> Tokens:
    """What a trace says of its tokens from this one on."""
    steps = unpack(bytes(trace.packed))
    # An unknown vocabulary is taken for endless: then there is no upper bound, and the lower one is the same.
    unknown = (2**62 if trace.vocabulary is None else trace.vocabulary) - steps.known
    low, high = step_bounds(steps.told, steps.least, steps.left, unknown)
    has_bounds = bool((steps.known[start:] > 1).all())  # of one token alone nothing follows
    return Tokens(
        steps.log_p[start:],
        low=low[start:] if has_bounds else None,
        high=high[start:] if has_bounds and trace.vocabulary is not None else None,
    )
