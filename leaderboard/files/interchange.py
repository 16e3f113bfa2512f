"""Files of votes for other programs."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from django.db.models import F, Q

from arena.data.export import CHUNK, pair_sides
from arena.data.formats.records import CONSENSUS
from arena.data.interchange import (
    ARENA,
    CONVERSATIONS,
    EVALICA,
    LANGUAGE_NOT_KNOWN,
    PREFERENCES,
    SIDES,
    WINNERS,
    By,
    Consensus,
    LeftOut,
    PairRating,
    Preference,
    Texts,
    consensus,
    preference,
    question,
    texts_row,
    winner,
)
from arena.files.writing import MEDIA_TYPES, WRITERS, Row, batches
from arena.models import Completion, Pair, Rater, Study
from arena.models.querysets import ComparisonQuerySet
from arena.rating.assignments import adjudications
from arena.rules.subsets import NO_PROMPT_SUBSET
from arena.rules.verdicts import NEITHER
from leaderboard.files import published
from leaderboard.files.selection import ExportError, Selection, check_form, rater_names, usual_prompts
from leaderboard.terminal.prompt_labels import prompt_label

NO_SIDE: Final = "the middle of the scale, which takes no side with ties off"
NO_CONTESTANT: Final = "between texts that are not by two different models"
IDENTICAL: Final = "by a judge about two identical texts"
RETIRED: Final = "with a retired model"
OF_PANELS: Final = "of panels, which follow from the ratings of their judges"
PRIVATE: Final = "on private prompts"
CHANGED: Final = "about a text that was changed since"
PEOPLE: Final = "people"


def arena(study: Study, wanted: Selection, left_out: Counter[str]) -> Iterator[Row]:
    """Comparisons with a winner, or without any acceptable answer, in Chatbot Arena's columns.

    model_a was shown first.
    """
    comparisons = wanted.comparisons(study, panels=True)
    told = Q(status="scored") | Q(status="unscored", reason=NEITHER)
    _count_unscored(comparisons.exclude(told), left_out)
    raters, labels = rater_names(study), _labels(study, wanted)
    prompt = ("external_id", "subset", "category", "turns", "extra__language")
    columns = (
        *("pair", "rater", "rating", "points", "created_at", "is_dated", "extra__anony", "swapped"),
        "neither",
        *("pair__first__contestant__name", "pair__second__contestant__name"),
        *(f"pair__prompt__{name}" for name in prompt),
    )
    for row in comparisons.filter(told).values_list(*columns).iterator(CHUNK):
        pair, rater, rating, points, created, is_dated, anony, swapped, neither, one, other, *about = row
        number, subset, category, turns, language = about
        first, second = (other, one) if swapped else (one, other)
        word = winner(rating, points, WINNERS, ties=wanted.ties, neither=neither)
        if first is None or second is None or first == second:
            left_out[NO_CONTESTANT] += 1
        elif word is None:
            left_out[NO_SIDE] += 1
        else:
            who, label = raters[rater], labels.get(pair, NOTHING_SAID)
            shown = ("model_b", "tie", "model_a") if swapped else ("model_a", "tie", "model_b")
            yield {
                "question_id": None if subset == NO_PROMPT_SUBSET else question(number, subset),
                "model_a": first,
                "model_b": second,
                "winner": word,
                "judge": who.name,
                "turn": max(1, len(turns)),
                "anony": anony is not False,
                "language": language if isinstance(language, str) and language else LANGUAGE_NOT_KNOWN,
                "tstamp": created.timestamp(),
                "tstamp_known": is_dated,
                "score_1_8": rating if points == 8 else None,
                "rating": rating,
                "points": points,
                "shown_first": "model_a",
                "category": category or None,
                "protocol": who.protocol,
                "protocol_version": who.version,
                "rater_kind": who.kind,
                "consensus": label.in_words(*shown) or None,
                "consensus_by": label.by,
                "simulated": who.simulated,
                "derived_from": who.derived_from,
            }


def evalica(study: Study, wanted: Selection, left_out: Counter[str]) -> Iterator[Row]:
    """Games of the board; left was shown first."""
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
    left_out[NO_CONTESTANT] += scored.count() - named.count()
    left_out[RETIRED] += named.filter(retired).count()
    left_out[OF_PANELS] += _of_panels(study, wanted)
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
            "prompt": None if subset == NO_PROMPT_SUBSET else prompt_label(prompt),
            "prompt_id": question(number, subset),
        }


def _of_panels(study: Study, wanted: Selection) -> int:
    """How many ratings a file leaves out because they repeat others in it."""
    scored = wanted.comparisons(study, panels=True).filter(status="scored")
    return scored.count() - wanted.comparisons(study).filter(status="scored").count()


def _count_unscored(comparisons: ComparisonQuerySet, left_out: Counter[str]) -> None:
    unscored = comparisons.filter(status="unscored").order_by()
    for reason in unscored.values_list("reason", flat=True).iterator(CHUNK):
        left_out[f"not rated: {reason}"] += 1
    left_out[IDENTICAL] += comparisons.filter(status="identical").count()


NOTHING_SAID: Final = Consensus("", By.NONE, 0, 0, 0)
PAIRS: Final = 200
"""Pairs whose texts are in memory at a time."""


def preferences(study: Study, wanted: Selection, left_out: Counter[str]) -> Iterator[Row]:
    """Pairs that their raters prefer one side of, to train reward models."""
    simulated, labels = _simulated(), _labels(study, wanted)
    left_out[OF_PANELS] += _of_panels(study, wanted)
    for batch in batches(_decided(study, wanted, simulated, left_out), PAIRS):
        texts = _texts((row["pair"] for row in batch), private=wanted.private)
        for row in batch:
            decided: Preference = row["preference"]
            if row["pair"] not in texts:
                left_out[PRIVATE] += 1
                continue
            found, prompt = texts[row["pair"]]
            written = texts_row(found, decided.first_chosen, conversational=wanted.conversational)
            if isinstance(written, LeftOut):
                left_out[written.value] += 1
                continue
            label = labels.get(row["pair"], NOTHING_SAID)
            words = ("chosen", "tie", "rejected")
            yield {
                **written,
                "margin": decided.margin,
                "n_raters": decided.raters,
                "agreement": decided.agreement,
                # Never null, as the category.
                "consensus": label.in_words(*(words if decided.first_chosen else words[::-1])),
                "consensus_by": label.by,
                **prompt,
                "simulated": row["simulated"],
            }


def _decided(
    study: Study, wanted: Selection, simulated: frozenset[int], left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    scored = wanted.comparisons(study).filter(status="scored").order_by("pair", "pk")
    read = scored.values_list("pair", "rater", "rating", "points", "swapped").iterator(CHUNK)
    for pair, rows in groupby(read, key=itemgetter(0)):
        said = [PairRating(rater, rating or 0, points, swapped) for _, rater, rating, points, swapped in rows]
        found = preference(said, ties=wanted.ties)
        if isinstance(found, Preference):
            by_program = any(one.rater in simulated for one in said)
            yield {"pair": pair, "preference": found, "simulated": by_program}
        else:
            left_out[found.value if found else "no rating with a side"] += 1


def consensus_labels(study: Study, wanted: Selection, left_out: Counter[str]) -> Iterator[Row]:
    """What is held to be right about each pair that people rated or somebody settled, as gold labels."""
    _count_unscored(wanted.comparisons(study), left_out)
    for batch in batches(labelled(study, wanted), CHUNK):
        sides = pair_sides(row["pair"] for row in batch)
        for row in batch:
            found: Consensus = row["consensus"]
            if row["pair"] not in sides:
                left_out[CHANGED] += 1
                continue
            yield {
                **sides[row["pair"]],
                "gold": found.label or None,
                "gold_source": f"consensus ({found.by})" if found.label else None,
                "consensus": found.by,
                "raters": found.first + found.ties + found.second,
                "for_first": found.first,
                "ties": found.ties,
                "for_second": found.second,
                "simulated": row["simulated"],
            }


def _labels(study: Study, wanted: Selection) -> dict[int, Consensus]:
    """By pair what people and whoever settled it hold to be right, whatever raters are wanted."""
    of_people = replace(wanted, raters=PEOPLE)
    return {row["pair"]: row["consensus"] for row in labelled(study, of_people)}


def labelled(study: Study, wanted: Selection) -> Iterator[dict[str, Any]]:
    """Each pair that the raters rated or somebody settled, with its consensus and whether it is simulated."""
    columns = ("pair", "rater", "rating", "points", "swapped")
    decided = adjudications(study).filter(wanted.about("pair__prompt")).order_by("pk")
    settled = {pair: PairRating(*said) for pair, *said in decided.values_list(*columns)}
    scored = wanted.comparisons(study).filter(status="scored").order_by("pair", "pk")
    rated = groupby(scored.values_list(*columns).iterator(CHUNK), key=itemgetter(0))
    simulated = _simulated()

    def found(pair: int, people: Sequence[PairRating]) -> dict[str, Any]:
        last = settled.pop(pair, None)
        return {
            "pair": pair,
            "consensus": consensus(people, last, ties=wanted.ties),
            "simulated": any(one.rater in simulated for one in (*people, last) if one),
        }

    for pair, rows in rated:
        yield found(pair, [PairRating(*said) for _, *said in rows])
    for pair in sorted(settled):
        yield found(pair, ())


def _simulated() -> frozenset[int]:
    return frozenset(Rater.objects.filter(simulated=True).values_list("pk", flat=True))


def _texts(pairs: Iterator[int], *, private: bool) -> dict[int, tuple[Texts, dict[str, Any]]]:
    known = Pair.objects.all() if private else Pair.objects.published()
    found = known.filter(pk__in=list(pairs)).select_related("prompt", "first", "second").order_by()
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
    """The turns; one empty turn where the text is known to be empty."""
    return completion.turns or ([""] if completion.is_empty else [])


JSON: Final = "json"

TYPES: Final = {**MEDIA_TYPES, JSON: "application/json"}
FORM_NAMES: Final = {JSON: "JSON", "csv": "CSV", "jsonl": "JSON Lines", "parquet": "Parquet"}

Rows = Callable[[Study, Selection, Counter[str]], Iterator[Row]]

VOTES: Final[Mapping[str, Rows]] = {
    "arena": arena,
    "consensus": consensus_labels,
    "evalica": evalica,
    "preferences": preferences,
}

OF_USUAL_RATERS: Final = ("leaderboard", "preferences", "evalica")
"""Files by those raters whom the leaderboard shows first, unless others are asked for."""

OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    "leaderboard": (*WRITERS, JSON),
    **dict.fromkeys(("arena", "preferences", "consensus", "evalica"), tuple(WRITERS)),
}
"""The forms of each file, the usual one first."""


@dataclass
class VoteFile:
    """A file read while it is taken; only then ``rows`` and ``left_out`` are known."""

    what: str
    wanted: Selection
    pieces: Iterator[bytes]
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def note(self) -> bytes:
        """What the file holds and leaves out, as JSON; reads what was not taken yet."""
        for _ in self.pieces:
            pass
        note = {
            "what": self.what,
            "raters": self.wanted.raters,
            "ties": "on" if self.wanted.ties else "off",
            "category": self.wanted.category or None,
            **({"prompts": self.wanted.prompts} if self.wanted.prompts else {}),
            "rows": self.rows,
            "left_out": dict(sorted((+self.left_out).items())),  # without zeros
        }
        return f"{json.dumps(note, ensure_ascii=False, indent=2)}\n".encode()


def vote_file(
    study: Study, what: str, form: str, asked: Mapping[str, Any], *, private: bool = False
) -> VoteFile:
    """A file of votes. Raises ExportError."""
    _check(what, form)
    # Votes tell who gave them in every row; a ranking or a preference mixes nobody unless asked to.
    whose = {"raters": PEOPLE} if what == CONSENSUS.name else {}
    kind = {"prompts": usual_prompts(study)} if what == "evalica" else {}  # games of the leaderboard
    wanted = Selection.read(study, {**kind, **asked, **whose}, everybody=what == "arena")
    wanted = replace(wanted, private=private)
    found = VoteFile(what, wanted, iter(()))

    def counted() -> Iterator[Row]:
        for row in VOTES[what](study, wanted, found.left_out):
            found.rows += 1
            yield row

    texts = CONVERSATIONS if wanted.conversational else PREFERENCES
    table = {"arena": ARENA, "consensus": CONSENSUS, "evalica": EVALICA, "preferences": texts}[what]
    found.pieces = WRITERS[form](table, counted())
    return found


def leaderboard_pieces(study: Study, form: str, asked: Mapping[str, str]) -> Iterator[bytes]:
    _check("leaderboard", form)
    _, found = published.leaderboard(study, asked)
    if form == JSON:
        return published.text(found)
    rows = (
        {"category": category, "contestant": contestant, **entry}
        for category, entries in found.items()
        for contestant, entry in entries.items()
    )
    return WRITERS[form](published.LEADERBOARD, rows)


def _check(what: str, form: str) -> None:
    if form not in OTHERS[what]:
        raise ExportError(f"{what} cannot be written as {form}, only as {', '.join(OTHERS[what])}.")
    check_form(form)
