"""compar:IA: conversations with two models at once, and the user's vote. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from arena.data.formats import verdicts
from arena.data.formats.arena_battles import UNNAMED
from arena.data.formats.files import InputFile
from arena.data.formats.messages import conversation
from arena.data.formats.reading import Companions, Fields, Format, Head, Kind, Mentions, digest, read_rows
from arena.data.formats.records import ComparisonRecord, CompletionRecord, Item, PromptRecord
from arena.data.formats.verdicts import RATINGS

_VOTES: Final = frozenset({"model_a_name", "model_b_name", "chosen_model_name"})
_TURNS: Final = frozenset({"model_a", "model_b", "full_conversation_a", "full_conversation_b", "choice"})


def recognise(head: Head) -> Kind | None:
    return Kind.COMPARISONS if head.fields >= _VOTES or head.fields >= _TURNS else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    mentions = Mentions()
    return read_rows(file, lambda fields: _vote(fields, mentions))


def _vote(fields: Fields, mentions: Mentions) -> Iterator[Item]:
    """The conversations of a row and the vote; a row without a vote has texts alone."""
    is_turn = "full_conversation_a" in fields
    for name in "ab" if is_turn else "":
        fields.put(f"conversation_{name}", fields.take(f"full_conversation_{name}"))
        fields.put(f"model_{name}_name", fields.take(f"model_{name}"))
    models = fields.two_names("model_a_name", "model_b_name", "model")
    texts = [conversation(fields, f"conversation_{name}") for name in "ab"]
    if texts[0].user != texts[1].user and not fields.problems:
        fields.problem("conversation_b", "the user's turns are not as in conversation_a")
    side = _side(fields, *models)
    names = ("comparison_id", "conversation_pair_id")
    prompt = next((fields.text(name) for name in names if name in fields), "") or digest(*texts[0].user)
    category = fields.optional_text("selected_category")
    rater = next((fields.text(name) for name in ("visitor_id", "session_hash") if name in fields), UNNAMED)
    moment = fields.moment("timestamp")
    extra = fields.rest()
    if fields.problems:
        return
    about: dict[str, Any] = {"implied": True, "place": fields.place}
    yield from mentions.prompt(
        fields, PromptRecord(id=prompt, turns=texts[0].user, category=category, **about)
    )
    for name, said in zip(models, texts, strict=True):
        answer = CompletionRecord(prompt=prompt, contestant=name, turns=said.model, **about)
        yield from mentions.answer(fields, answer)
    if side:
        yield ComparisonRecord(
            prompt=prompt,
            first=models[0],
            second=models[1],
            rater=rater,
            rater_kind="person",
            points=3,
            rating=RATINGS[3][side],
            created_at=moment,
            extra=extra,
            place=fields.place,
        )


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
    recognise,
    read,
)
