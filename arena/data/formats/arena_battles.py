"""Chatbot Arena battles: model_a, shown first, model_b and the winner. Pure."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from typing import Any, Final, NamedTuple

from arena.data.formats import verdicts
from arena.data.formats.columns import guess
from arena.data.formats.files import InputFile
from arena.data.formats.messages import Turns, conversation, listed
from arena.data.formats.reading import (
    Companions,
    Fields,
    Format,
    Head,
    Kind,
    Mentions,
    digest,
    read_rows,
)
from arena.data.formats.records import ComparisonRecord, CompletionRecord, Item, PromptRecord
from arena.rating.subsets import NO_PROMPT_SUBSET

FLAGS: Final = {"winner_model_a": "first", "winner_tie": "tie", "winner_model_b": "second"}
"""Columns instead of a winner, of which exactly one is 1."""

_GAMES: Final = {"left": "model_a", "right": "model_b", "prompt_id": "question_id"}
"""Columns of games as evalica reads them, and as our own file for it has them, by their names here."""

_NAMED: Final = ("question_id", "judge", "judge_hash")  # columns of prompts and raters that are read

COMMON_PROMPT: Final = "battles"  # prompt of battles without a question
UNNAMED: Final = "anonymous"  # rater of battles that name none


class Texts(NamedTuple):
    """The turns of a battle; empty if the file lacks them."""

    user: Turns = ()
    first: Turns = ()
    second: Turns = ()
    system: str = ""


def recognise(head: Head) -> Kind | None:
    if _is_of_games(head.fields):
        # What other words mean is asked, as of any table.
        cells = head.file.samples()
        rows = zip(*(cells.get(name, ()) for name in ("winner", "left", "right")), strict=False)
        is_told = all(verdicts.side(winner, [left], [right]) for winner, left, right in rows)
        return Kind.COMPARISONS if is_told else None
    verdict = "winner" in head.fields or FLAGS.keys() <= head.fields
    is_battle = verdict and {"model_a", "model_b"} <= head.fields
    return Kind.COMPARISONS if is_battle and not _tells_more(head) else None


def _tells_more(head: Head) -> bool:
    """Tell whether a table can read raters, prompts or answers in columns that battles do not have."""
    cells = head.file.samples() if "winner" in head.fields else {}
    if not cells or "conversation_a" in cells or any(text[:1] == "[" for text in cells.get("response_a", ())):
        return False
    told = guess(list(cells), cells, Kind.COMPARISONS).mapping.columns
    found = {told[name] for name in ("rater", "instruction", "prompt", "first_text") if name in told}
    return not found <= {*_NAMED}


def _is_of_games(columns: Set[str]) -> bool:
    """Tell whether these are columns of games alone; beside other columns left and right may be texts."""
    return columns in ({"left", "right", "winner"}, {*_GAMES, "winner", "prompt"})


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    mentions, names = Mentions(), _GAMES if _is_of_games(set(file.columns())) else {}
    return read_rows(file, lambda fields: _records(fields, mentions, names))


def _records(fields: Fields, mentions: Mentions, names: Mapping[str, str]) -> Iterator[Item]:
    for name, ours in names.items():
        fields.put(ours, fields.take(name))
    texts = _texts(fields)
    comparison = _battle(fields, texts)
    if fields.problems:
        return
    prompt, subset, place = comparison.prompt, comparison.subset, comparison.place
    told = {"system": texts.system} if texts.system else {}
    asked = PromptRecord(id=prompt, subset=subset, turns=texts.user, extra=told, implied=True, place=place)
    yield from mentions.prompt(fields, asked)
    for name, turns in ((comparison.first, texts.first), (comparison.second, texts.second)):
        answer = CompletionRecord(
            prompt=prompt, subset=subset, contestant=name, turns=turns, implied=True, place=place
        )
        yield from mentions.answer(fields, answer)
    yield comparison


def _battle(fields: Fields, texts: Texts) -> ComparisonRecord:
    first, second = fields.two_names("model_a", "model_b", "model")
    word, better = _winner(fields, first, second)
    when = "tstamp" if "tstamp" in fields else "timestamp"
    moment, anony = fields.moment(when), fields.flag("anony")
    prompt = _prompt_id(fields, texts)
    record = ComparisonRecord(
        prompt=prompt or COMMON_PROMPT,
        subset="" if prompt else NO_PROMPT_SUBSET,
        first=first,
        second=second,
        rater=fields.text("judge") or fields.text("judge_hash") or UNNAMED,
        rater_kind=fields.choice("rater_kind", ("person", "judge")) or "",
        points=3,
        rating=verdicts.RATINGS[3][better],
        created_at=None if fields.flag("tstamp_known") is False else moment,
        derived_from=fields.texts("derived_from"),
    )
    # The two kinds of tie are one rating; the file's word for it is kept.
    said: dict[str, Any] = {"winner": word} if better == "tie" and word != "tie" else {}
    if anony is not None:
        said["anony"] = anony
    return replace(record, extra={**fields.rest(), **said}, place=fields.place)


def _prompt_id(fields: Fields, texts: Texts) -> str:
    """The question's id, or for texts the battle's id or a digest; empty where there is neither."""
    named = fields.text("question_id")
    if named or not texts.user:
        return named
    return fields.text("id") or digest(*texts.user)


def _winner(fields: Fields, first: str, second: str) -> tuple[str, str]:
    """The winner in the file's words, and its side; a tie after adding a problem."""
    if "winner" in fields or not any(name in fields for name in FLAGS):
        word = fields.peek("winner")
        return str(word), verdicts.take(fields, "winner", first, second)
    problems = len(fields.problems)
    won = [side for name, side in FLAGS.items() if fields.integer(name, most=1) == 1]
    if len(won) != 1 and len(fields.problems) == problems:
        fields.problem("winner_model_a", f"exactly one of {', '.join(FLAGS)} must be 1")
    return "tie", won[0] if len(won) == 1 else "tie"


def _texts(fields: Fields) -> Texts:
    """The texts of two conversations, or of a prompt and two lists of responses."""
    if "conversation_a" in fields or "conversation_b" in fields:
        # This one repeats both conversations.
        fields.take("full_conversation")
        first, second = conversation(fields, "conversation_a"), conversation(fields, "conversation_b")
        if (first.user, first.system) != (second.user, second.system) and not fields.problems:
            whose = "user's turns are" if first.user != second.user else "system message is"
            fields.problem("conversation_b", f"the {whose} not as in conversation_a")
        return Texts(first.user, first.model, second.model, first.system)
    if "response_a" not in fields and "response_b" not in fields:
        return Texts()
    user, first_turns, second_turns = (
        _turns(fields, name) for name in ("prompt", "response_a", "response_b")
    )
    for name, turns in (("response_a", first_turns), ("response_b", second_turns)):
        if len(turns) != len(user) and not fields.problems:
            fields.problem(name, f"{len(turns)} responses to {len(user)} turns of the prompt")
    return Texts(user, first_turns, second_turns)


def _turns(fields: Fields, name: str) -> Turns:
    """A list of texts; null, where a model said nothing, is an empty text."""
    value = listed(fields, name, "a list of texts")
    if not all(turn is None or isinstance(turn, str) for turn in value):
        fields.problem(name, "expected a list of texts")
        return ()
    return tuple(turn or "" for turn in value)


FORMAT = Format(
    "arena-battles",
    "Chatbot Arena battles",
    "model_a, model_b and winner or winner_model_a, winner_model_b and winner_tie; left, right and winner "
    "(evalica)",
    recognise,
    read,
)
