"""Scores of single answers, and what their rows name in passing, shared by formats. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from arena.data.formats.reading import Fields
from arena.data.formats.records import CompletionRecord, Item, PromptRecord, RaterRecord, ScoreRecord

NO_SCORE: Final = -1
"""In files of others: no score could be read."""

LOWEST, HIGHEST = 1, 10
"""The scale of the grades of MT-bench and WildBench."""


def graded(
    fields: Fields, prompt: str, model: str, judge: str, *, extra: Mapping[str, Any] = {}, **more: Any
) -> ScoreRecord:
    """A judge's grade of a model's answer, with what nobody read of the row."""
    score = _on_scale(fields.take("score"))
    whose: dict[str, Any] = {"contestant": model, "rater": judge, "rater_kind": "judge"}
    more["extra"] = {**fields.rest(), **extra}
    return ScoreRecord(prompt=prompt, **whose, **score, **more, place=fields.place)


def _on_scale(value: Any) -> dict[str, Any]:
    """The score that a program read from a judge's reply, or why there is none, with its scale."""
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, bool) or number == NO_SCORE or number != number:
        number, reason = None, "unparsable"
    elif LOWEST <= number <= HIGHEST:
        reason = ""
    else:
        number, reason = None, "out_of_range"
    return {"score": number, "reason": reason, "lowest": LOWEST, "highest": HIGHEST}


def unknown_texts(fields: Fields, prompt: str, *contestants: str, subset: str = "") -> Iterator[Item]:
    """The prompt and its completions by contestants, unless they were named before."""
    about: dict[str, Any] = {"subset": subset, "turns": (), "implied": True, "place": fields.place}
    yield from fields.news(PromptRecord(id=prompt, **about))
    for name in filter(None, contestants):
        yield from fields.news(CompletionRecord(prompt=prompt, contestant=name, **about))


def judge_by_model(fields: Fields, model: str) -> Iterator[Item]:
    """The judge that is named after its model, unless it was named before."""
    facts = {"model": model}
    return fields.news(RaterRecord(model, "judge", facts=facts, implied=True, place=fields.place))
