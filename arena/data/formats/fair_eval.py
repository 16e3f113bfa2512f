"""FairEval: a judge's mean scores of two models' answers, over samples and both orders. Pure.

Only the name of the file tells models and judge: review_MODEL_MODEL_JUDGE_mecK_bpcB.json.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from arena.data.formats.files import InputFile
from arena.data.formats.pairs import Pair, by_scores, score
from arena.data.formats.reading import SUBSET_AND_JUDGE, Fields, Format, Kind, Shape, judge_of, read_rows
from arena.data.formats.records import Item, Note, PromptRecord, RaterRecord

_NAME: Final = re.compile(r"review_([^_]+)_([^_]+)_(.+?)_(mec\d+_bpc(\d))")


def _read(file: InputFile) -> Iterator[Item]:
    found = _NAME.fullmatch(file.cased_stem)
    if found is None:
        example = "review_gpt35_vicuna-13b_gpt-4_mec3_bpc1.json"
        yield file.problem(0, f"the name tells models and judge; call the file as in {example}")
        return
    first, second, model, protocol, both = found.groups()
    if first == second:
        yield file.problem(0, f'the name has the model "{first}" twice')
        return
    how = protocol.replace("_", "-")
    judge = judge_of(file, f"{model}-{how}", model=model, protocol=how, order_free=both == "1")
    yield judge
    yield from read_rows(file, partial(_review, judge, (first, second)))
    if both == "1":
        yield Note(file.place(), "the scores are means over both orders, so each pair has one rating")


def _review(judge: RaterRecord, models: tuple[str, str], fields: Fields) -> Iterator[Item]:
    question, turns = fields.required_text("question_id"), (fields.required_text("question"),)
    pair = Pair.of(PromptRecord(id=question, turns=turns, implied=True, place=fields.place), models)
    yield from pair.records()
    scores = fields.json("score")
    scores = scores if isinstance(scores, list) and len(scores) == 2 else ["", ""]
    means = [None if mean in (None, -1) else score(str(mean)) for mean in scores]
    if any(mean is None and given not in (None, -1) for mean, given in zip(means, scores, strict=True)):
        fields.problem("score", "expected a list of two scores")
    replies = [text for name in ("review", "review_bpc") for text in fields.texts(name)]
    yield pair.judged(judge, by_scores(*means)._replace(raw_reply="\n\n".join(replies)))


FORMAT: Final = Format(
    "fair-eval",
    "FairEval reviews",
    "question_id, question, review, review_bpc and score",
    (Shape(Kind.COMPARISONS, "question_id question review review_bpc score", _read),),
    is_typed=True,
    told=SUBSET_AND_JUDGE,
)
