"""Arena-Hard: questions, answers and a judge's two games of each, against a baseline. Pure."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.messages import dialogue, listed
from arena.data.formats.reading import Companions, Fields, Format, Head, Kind, read_rows
from arena.data.formats.records import ComparisonRecord, CompletionRecord, Item, PromptRecord
from arena.data.formats.text_scores import Mentioned

_QUESTION: Final = frozenset({"uid", "prompt", "category"})
_ANSWER: Final = frozenset({"uid", "model", "messages"})
_JUDGMENT: Final = frozenset({"model", "judge", "games"})

BASELINES: Final = {"creative_writing": "gemini-2.0-flash-001", "": "gpt-4-0314"}
"""Whom a judgment that does not say it compares with, by category; version 1 has no categories."""

BASELINE: Final = "o3-mini-2025-01-31"

RATINGS: Final = {
    **{"A>>B": 1, "A>B": 2, "A=B": 3, "B>A": 4, "B>>A": 5},
    **{"B<<A": 1, "B<A": 2, "B=A": 3, "A<B": 4, "A<<B": 5},
}
"""On five points, by the label at the end of a reply."""


def recognise(head: Head) -> Kind | None:
    if not head.is_typed:
        return None
    if head.fields >= _JUDGMENT and not head.fields.isdisjoint({"uid", "question_id"}):
        return Kind.COMPARISONS
    if head.fields >= _ANSWER:
        return Kind.COMPLETIONS
    return Kind.PROMPTS if head.fields >= _QUESTION else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if kind is Kind.COMPARISONS:
        return read_rows(file, partial(_judgment, Mentioned()))
    return read_rows(file, _question if kind is Kind.PROMPTS else _answer)


def _question(fields: Fields) -> Iterator[Item]:
    yield PromptRecord(
        id=fields.required_text("uid"),
        turns=fields.turns("prompt"),
        category=fields.optional_text("category"),
        domain=fields.optional_text("subcategory"),
        extra=fields.rest(),
        place=fields.place,
    )


def _answer(fields: Fields) -> Iterator[Item]:
    """An answer, whose message may hold it beside the thinking."""
    messages = listed(fields, "messages", "a list of messages")
    thoughts = []
    for number, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, dict):
            messages[number] = {**message, "content": content.get("answer")}
            thoughts += [str(content[name]) for name in ("thought", "thinking") if content.get(name)]
    said = dialogue(fields, "messages", messages)
    told = {"system": said.system} if said.system else {}
    yield CompletionRecord(
        prompt=fields.required_text("uid"),
        contestant=fields.required_text("model"),
        turns=said.model,
        id=fields.text("ans_id"),
        extra={**fields.rest(), **told, **({"thinking": thoughts} if thoughts else {})},
        place=fields.place,
    )


def _judgment(mentioned: Mentioned, fields: Fields) -> Iterator[Item]:
    """Both games; the baseline was shown first in the first."""
    prompt = fields.required_text("uid" if "uid" in fields else "question_id")
    model, judge = fields.required_text("model"), fields.required_text("judge")
    category = fields.text("category")
    baseline = fields.text("baseline") or BASELINES.get(category, BASELINE)
    games = listed(fields, "games", "a list of games")
    extra = {**fields.rest(), **({"category": category} if category else {})}
    if model == baseline:
        fields.problem("model", f'the baseline itself ("{model}")')
    for name in (model, baseline):
        yield from mentioned.records(prompt, "", name, fields.place)
    yield from mentioned.judge(judge, fields.place)
    for number, game in enumerate(games, start=1):
        told: dict[str, Any] = game if isinstance(game, dict) else {}
        label = told.get("score")
        if label is not None and label not in RATINGS:
            fields.problem(f"games[{number}].score", f"expected one of {', '.join(RATINGS)}, or null")
        reply = told.get("judgment")
        text = reply.get("answer") if isinstance(reply, dict) else reply
        shown = (baseline, model) if number % 2 else (model, baseline)
        yield ComparisonRecord(
            prompt=prompt,
            first=shown[0],
            second=shown[1],
            rater=judge,
            rater_kind="judge",
            points=5,
            rating=RATINGS.get(label) if isinstance(label, str) else None,
            reason="" if label is not None else "unparsable" if text else "empty",
            raw_reply=text if isinstance(text, str) else "",
            extra=extra,
            place=fields.place,
        )


FORMAT: Final = Format(
    "arena-hard",
    "Arena-Hard",
    "uid, category and prompt (questions), uid, model and messages (answers), or uid, model, judge and games "
    "(judgments) of Arena-Hard",
    recognise,
    read,
)
