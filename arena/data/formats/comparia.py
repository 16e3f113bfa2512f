"""compar:IA: conversations with two models at once, and the user's vote. Pure."""

from collections.abc import Iterator
from typing import Final

from arena.data.formats import verdicts
from arena.data.formats.arena_battles import UNNAMED
from arena.data.formats.messages import conversation
from arena.data.formats.pairs import Pair
from arena.data.formats.reading import Fields, Format, Kind, Shape, by_row, digest
from arena.data.formats.records import Item, PromptRecord
from arena.data.formats.verdicts import RATINGS


def _vote(fields: Fields) -> Iterator[Item]:
    """The conversations of a row and the vote; a row without a vote has texts alone."""
    is_turn = "full_conversation_a" in fields
    for name in "ab" if is_turn else "":
        fields.put(f"conversation_{name}", fields.take(f"full_conversation_{name}"))
        fields.put(f"model_{name}_name", fields.take(f"model_{name}"))
    models = fields.two_names("model_a_name", "model_b_name", "model")
    first, second = (conversation(fields, f"conversation_{name}") for name in "ab")
    if first.user != second.user and not fields.problems:
        fields.problem("conversation_b", "the user's turns are not as in conversation_a")
    side = _side(fields, *models)
    prompt = PromptRecord(
        id=fields.first_text("comparison_id", "conversation_pair_id") or digest(*first.user),
        turns=first.user,
        category=fields.optional_text("selected_category"),
        implied=True,
        place=fields.place,
    )
    rater = fields.first_text("visitor_id", "session_hash", default=UNNAMED)
    moment, extra = fields.moment("timestamp"), fields.rest()
    if fields.problems:
        return
    # Each model has a system message of its own.
    told = [(*each.asked, *each.told) for each in (first, second)]
    pair = Pair.of(prompt, models, first.model, second.model).with_asides(*told)
    yield from pair.news(fields)
    if side:
        yield pair.rated(rater, "person", 3, RATINGS[3][side], created_at=moment, extra=extra)


def _side(fields: Fields, first: str, second: str) -> str:
    """The side that the user voted for, or a tie; empty without a vote."""
    if fields.flag("both_equal"):
        fields.take("chosen_model_name")
        return "tie"
    name = "chosen_model_name" if "chosen_model_name" in fields else "choice"
    return verdicts.take(fields, name, first, second) if name in fields else ""


FORMAT: Final = Format(
    "comparia",
    "compar:IA votes",
    "model_a_name, model_b_name and chosen_model_name (votes), or model_a, model_b, full_conversation_a, "
    "full_conversation_b and choice (turns) of compar:IA",
    (
        Shape(Kind.COMPARISONS, "model_a_name model_b_name chosen_model_name", by_row(_vote)),
        Shape(
            Kind.COMPARISONS, "model_a model_b full_conversation_a full_conversation_b choice", by_row(_vote)
        ),
    ),
)
