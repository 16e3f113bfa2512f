"""Arena-Hard: questions, answers and a judge's two games of each, against a baseline. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from arena.data.formats.messages import dialogue, listed
from arena.data.formats.ours import by_columns, record_of
from arena.data.formats.pairs import Pair, beside
from arena.data.formats.reading import Fields, Format, Kind, Shape, by_row
from arena.data.formats.records import Item, PromptRecord
from arena.data.formats.text_scores import judge_by_model, unknown_texts

BASELINES: Final = {"creative_writing": "gemini-2.0-flash-001", "": "gpt-4-0314"}
"""Whom a judgment that does not say it compares with, by category; version 1 has no categories."""

BASELINE: Final = "o3-mini-2025-01-31"

RATINGS: Final = {
    **{"A>>B": 1, "A>B": 2, "A=B": 3, "B>A": 4, "B>>A": 5},
    **{"B<<A": 1, "B<A": 2, "B=A": 3, "A<B": 4, "A<<B": 5},
}
"""On five points, by the label at the end of a reply."""

_QUESTION: Final = {"id": "uid", "turns": "prompt", "category": "category", "domain": "subcategory"}


def _answer(fields: Fields) -> Iterator[Item | None]:
    """An answer, whose message may hold it beside the thinking."""
    messages = listed(fields, "messages", "a list of messages")
    thoughts = []
    for number, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, dict):
            messages[number] = {**message, "content": content.get("answer")}
            thoughts += [str(content[name]) for name in ("thought", "thinking") if content.get(name)]
    said = dialogue(fields, "messages", messages)
    extra = {**beside((*said.asked, *said.told)), **({"thinking": thoughts} if thoughts else {})}
    contestant, columns = fields.required_text("model"), {"prompt": "uid", "id": "ans_id"}
    yield record_of(Kind.COMPLETIONS, fields, columns, contestant=contestant, turns=said.model, extra=extra)


def _judgment(fields: Fields) -> Iterator[Item]:
    """Both games; the baseline was shown first in the first."""
    prompt = fields.required_text("uid" if "uid" in fields else "question_id")
    model, judge = fields.required_text("model"), fields.required_text("judge")
    category = fields.text("category")
    baseline = fields.text("baseline") or BASELINES.get(category, BASELINE)
    games = listed(fields, "games", "a list of games")
    extra = {**fields.rest(), **({"category": category} if category else {})}
    if model == baseline:
        fields.problem("model", f'the baseline itself ("{model}")')
    yield from unknown_texts(fields, prompt, model, baseline)
    yield from judge_by_model(fields, judge)
    pair = Pair.of(PromptRecord(id=prompt, turns=(), place=fields.place), (baseline, model))
    for number, game in enumerate(games, start=1):
        told: dict[str, Any] = game if isinstance(game, dict) else {}
        label = told.get("score")
        rating = RATINGS.get(label or "")
        if label is not None and rating is None:
            fields.problem(f"games[{number}].score", f"expected one of {', '.join(RATINGS)}, or null")
            continue
        reply = told.get("judgment")
        text = reply.get("answer") if isinstance(reply, dict) else reply
        reason = "" if label is not None else "unparsable" if text else "empty"
        about: dict[str, Any] = {"raw_reply": text if isinstance(text, str) else "", "extra": extra}
        yield pair.rated(judge, "judge", 5, rating, swapped=number % 2 == 0, reason=reason, **about)


FORMAT: Final = Format(
    "arena-hard",
    "Arena-Hard",
    "uid, category and prompt (questions), uid, model and messages (answers), or uid, model, judge and games "
    "(judgments) of Arena-Hard",
    (
        Shape(Kind.COMPARISONS, "uid|question_id model judge games", by_row(_judgment)),
        Shape(Kind.COMPLETIONS, "uid model messages", by_row(_answer)),
        Shape(Kind.PROMPTS, "uid prompt category", by_columns(Kind.PROMPTS, _QUESTION)),
    ),
    is_typed=True,
)
