"""Scores by reward models and other judges that see each answer alone: of answers, or of pairs. Pure.

The order of two answers cannot change such a verdict; the judge is marked as free of it.
"""

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from itertools import combinations
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.pairs import OUTPUTS, Pair, Side, by_scores, score
from arena.data.formats.reading import (
    SUBSET_AND_JUDGE,
    Fields,
    Format,
    Head,
    Kind,
    Shape,
    judge_of,
    read_rows,
)
from arena.data.formats.records import CompletionRecord, ContestantRecord, Item, PromptRecord, RaterRecord
from arena.data.formats.values import MAX_SCORE

_OTHERS: Final = "winner rating text turns label contestant rater lowest highest turn output_characters"
"""Fields of rows with other verdicts, and of scores on a scale."""


def _is_ours(head: Head) -> bool:
    return head.fields.isdisjoint(_OTHERS.split())


def _judge(file: InputFile, name: str) -> RaterRecord:
    return judge_of(file, name, model=name, order_free=True)


def _read_pairs(file: InputFile) -> Iterator[Item]:
    judge = _judge(file, file.cased_stem)
    yield judge
    yield from read_rows(file, partial(_pair, judge))


def _pair(judge: RaterRecord, fields: Fields) -> Iterator[Item]:
    pair = Pair.read(fields, *OUTPUTS.split(), implied=True)
    yield from pair.records()
    if "score" in fields:
        # One number for the pair: above 0 the first is better.
        margin = _score(fields, "score")
        sides = (None, None) if margin is None else (margin, Decimal(0))
        yield pair.judged(judge, by_scores(*sides)._replace(scores=None))
    else:
        yield pair.judged(judge, by_scores(_score(fields, "score_1"), _score(fields, "score_2")))


def _score(fields: Fields, name: str) -> Decimal | None:
    """A number, or None if the reply was none: null or another text."""
    value = fields.peek(name)
    if isinstance(value, str):
        fields.take(name)
        return score(value)
    return fields.number(name, least=float(-MAX_SCORE), most=float(MAX_SCORE))


def _read_answers(file: InputFile) -> Iterator[Item]:
    scored = Scored(file)
    yield from read_rows(file, scored.read)
    yield from scored.comparisons()


class Scored:
    """Scores of answers, which make a pair of every two of one prompt."""

    def __init__(self, file: InputFile) -> None:
        self._file = file
        self._from_path = False
        self._judges: dict[str, RaterRecord] = {}
        self._scores: dict[tuple[str, str, str], dict[Side, Decimal | None]] = {}
        """By judge, subset and prompt, then by answer."""

    def read(self, fields: Fields) -> Iterator[Item]:
        prompt, subset = fields.required_text("prompt"), self._file.about.subset or fields.text("subset")
        own_id = fields.text("completion")
        model = "" if own_id else fields.required_text("model")
        named = fields.text("judge")
        name = named or self._file.cased_stem
        if name not in self._judges:
            self._judges[name] = _judge(self._file, name)
            yield self._judges[name]
        self._from_path |= not named and not self._file.about.judge
        found = self._scores.setdefault((self._judges[name].slug, subset, prompt), {})
        if (side := Side(model, own_id)) in found:
            fields.problem("score", "the second score of this answer by this judge")
        found[side] = _score(fields, "score")
        about: dict[str, Any] = {"subset": subset, "turns": (), "implied": True, "place": fields.place}
        yield PromptRecord(id=prompt, **about)
        if model:
            yield ContestantRecord(name=model, implied=True, place=fields.place)
            yield CompletionRecord(prompt=prompt, contestant=model, **about)

    def comparisons(self) -> Iterator[Item]:
        for (judge, subset, prompt), answers in self._scores.items():
            asked = PromptRecord(id=prompt, subset=subset, turns=(), place=self._file.place())
            for (one, first), (other, second) in combinations(answers.items(), 2):
                said = by_scores(first, second)._asdict()
                pair = Pair(asked, one, other)
                yield pair.rated(judge, "judge", rater_from_path=self._from_path, **said)


FORMAT: Final = Format(
    "rewards",
    "Scores of a reward model",
    "prompt, score and model or completion (of answers); instruction, output_1, output_2 and score_1 with "
    "score_2 or score (of pairs)",
    (
        Shape(Kind.COMPARISONS, f"{OUTPUTS} score|score_1 score|score_2", _read_pairs, _is_ours),
        Shape(Kind.COMPARISONS, "prompt score model|completion", _read_answers, _is_ours),
    ),
    told=SUBSET_AND_JUDGE,
)
