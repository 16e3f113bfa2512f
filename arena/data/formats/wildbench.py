"""WildBench: judges' scores of single answers from 1 to 10, as released or in a table. Pure.

Of a released file only the folder (``eval=JUDGE``) tells the judge.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.reading import Companions, DataSet, Fields, Format, Head, Kind, judge_of, read_rows
from arena.data.formats.records import CompletionRecord, Item, PromptRecord, RaterRecord, ScoreRecord
from arena.data.formats.text_scores import Mentioned, on_scale

LOWEST, HIGHEST = 1, 10
DATA_SET: Final = DataSet(
    "WildBench",
    "Apache-2.0",
    "Judges score each answer from 1 to 10.\n\n"
    "Lin and others published the scores in 2024 as [WildBench](https://github.com/allenai/WildBench), with "
    "the paper [WildBench: Benchmarking LLMs with Challenging Tasks from Real Users in the Wild]"
    "(https://arxiv.org/abs/2406.04770).",
)

_RELEASED: Final = frozenset({"session_id", "parsed_result", "model_output", "score"})
_TABLE: Final = frozenset({"prompt", "model", "judge", "score", "output_characters"})
_FOLDER: Final = re.compile(r"eval=(.+)")


def recognise(head: Head) -> Kind | None:
    return Kind.SCORES if head.fields >= _RELEASED or head.fields >= _TABLE else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if frozenset(file.columns()) >= _RELEASED:
        named = next((found[1] for name in file.folders if (found := _FOLDER.fullmatch(name))), "")
        if not (named or file.about.judge):
            reason = "only its folder, such as eval=gpt-4o, says who the judge is; name the judge"
            yield file.problem(0, reason)
            return
        judge = judge_of(file, named, model=named)
        yield judge
        yield from read_rows(file, partial(_released, file.cased_stem, judge))
    else:
        yield from read_rows(file, partial(_row, Mentioned()))


def _released(model: str, judge: RaterRecord, fields: Fields) -> Iterator[Item]:
    prompt = fields.required_text("session_id")
    place = fields.place
    yield PromptRecord(id=prompt, turns=(), implied=True, place=place)
    turns = fields.turns("model_output")
    yield CompletionRecord(prompt=prompt, contestant=model, turns=turns, implied=True, place=place)
    said = fields.mapping("parsed_result") or {}
    score, reason = on_scale(fields.take("score"), LOWEST, HIGHEST)
    yield ScoreRecord(
        prompt=prompt,
        contestant=model,
        rater=judge.slug,
        rater_kind="judge",
        score=score,
        reason=reason,
        lowest=LOWEST,
        highest=HIGHEST,
        raw_reply=json.dumps(said, ensure_ascii=False),
        extra=fields.rest(),
        place=place,
    )


def _row(mentioned: Mentioned, fields: Fields) -> Iterator[Item]:
    judge = fields.required_text("judge")
    about: dict[str, Any] = {
        "prompt": fields.required_text("prompt"),
        "subset": fields.text("subset"),
        "contestant": fields.required_text("model"),
        "place": fields.place,
    }
    yield from mentioned.records(**about)
    yield from mentioned.judge(judge, fields.place)
    score, reason = on_scale(fields.take("score"), LOWEST, HIGHEST)
    yield ScoreRecord(
        **about,
        rater=judge,
        rater_kind="judge",
        score=score,
        reason=reason,
        lowest=LOWEST,
        highest=HIGHEST,
        extra=fields.rest(),
    )


FORMAT: Final = Format(
    "wildbench",
    "Scores of WildBench",
    "session_id, parsed_result, model_output and score, or prompt, model, judge, score and output_characters",
    recognise,
    read,
    told=frozenset({"judge"}),
    data_set=DATA_SET,
)
