"""A study's votes as other programs read them: in Chatbot Arena's columns, and as evalica's games."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from django.db.models import F, Q

from arena.formats.writing.interchange import LANGUAGE_NOT_KNOWN, SIDES, WINNERS, question, winner
from arena.formats.writing.schema import Row
from arena.models import Study
from arena.querysets import ComparisonQuerySet
from arena.transfer.export import CHUNK
from leaderboard.exports.raters import called
from leaderboard.exports.wanted import Wanted
from leaderboard.vote_rows import prompt_label

NO_SIDE: Final = "the middle of the scale, which takes no side with ties off"
NO_CONTESTANT: Final = "between texts without two different contestants"
IDENTICAL: Final = "by a judge about two identical texts"
RETIRED: Final = "with a retired contestant"


def arena(study: Study, wanted: Wanted, left_out: Counter[str]) -> Iterator[Row]:
    """One row per scored comparison; model_a was shown first. What is left out is counted by reason."""
    comparisons = wanted.comparisons(study)
    _count_unscored(comparisons, left_out)
    raters = called(study)
    prompt = ("external_id", "subset", "category", "turns", "extra__language")
    columns = (
        *("rater", "rating", "points", "created_at", "swapped"),
        *("pair__first__contestant__name", "pair__second__contestant__name"),
        *(f"pair__prompt__{name}" for name in prompt),
    )
    for row in comparisons.filter(status="scored").values_list(*columns).iterator(CHUNK):
        rater, rating, points, created, swapped, one, other, number, subset, category, turns, language = row
        first, second = (other, one) if swapped else (one, other)
        word = winner(rating, points, WINNERS, ties=wanted.ties)
        if first is None or second is None or first == second:
            left_out[NO_CONTESTANT] += 1
        elif word is None:
            left_out[NO_SIDE] += 1
        else:
            who = raters[rater]
            yield {
                "question_id": question(number, subset),
                "model_a": first,
                "model_b": second,
                "winner": word,
                "judge": who.name,
                "turn": max(1, len(turns)),
                "language": language if isinstance(language, str) and language else LANGUAGE_NOT_KNOWN,
                "tstamp": created.timestamp(),
                "score_1_8": rating if points == 8 else None,
                "rating": rating,
                "points": points,
                "shown_first": "model_a",
                "category": category or None,
                "protocol": who.protocol,
                "protocol_version": who.version,
                "rater_kind": who.kind,
                "simulated": who.simulated,
            }


def evalica(study: Study, wanted: Wanted, left_out: Counter[str]) -> Iterator[Row]:
    """One row per game of the board; left was shown first. What is left out is counted by reason."""
    comparisons = wanted.comparisons(study)
    _count_unscored(comparisons, left_out)
    names = ("pair__first__contestant__name", "pair__second__contestant__name")
    prompts = ("pair__prompt", "pair__prompt__external_id", "pair__prompt__subset")
    columns = ("rating", "points", "swapped", *prompts, *names)
    scored = comparisons.filter(status="scored")
    different = scored.exclude(pair__first__contestant=F("pair__second__contestant"))
    retired = Q(pair__first__contestant__retired_at__isnull=False) | Q(
        pair__second__contestant__retired_at__isnull=False
    )
    named = different.filter(pair__first__contestant__isnull=False, pair__second__contestant__isnull=False)
    _add(left_out, NO_CONTESTANT, scored.count() - named.count())
    _add(left_out, RETIRED, named.filter(retired).count())
    for rating, points, swapped, prompt, number, subset, one, other in (
        named.exclude(retired).values_list(*columns).iterator(CHUNK)
    ):
        word = winner(rating, points, SIDES, ties=wanted.ties)
        if word is None:
            left_out[NO_SIDE] += 1
            continue
        left, right = (other, one) if swapped else (one, other)
        yield {
            "left": left,
            "right": right,
            "winner": word,
            "prompt": prompt_label(prompt),
            "prompt_id": question(number, subset),
        }


def _count_unscored(comparisons: ComparisonQuerySet, left_out: Counter[str]) -> None:
    unscored = comparisons.filter(status="unscored").order_by()
    for reason in unscored.values_list("reason", flat=True).iterator(CHUNK):
        left_out[f"unscored: {reason}"] += 1
    _add(left_out, IDENTICAL, comparisons.filter(status="identical").count())


def _add(left_out: Counter[str], reason: str, number: int) -> None:
    if number:
        left_out[reason] += number
