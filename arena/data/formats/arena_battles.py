"""Chatbot Arena battles: model_a, shown first, model_b and the winner. Pure."""

from collections.abc import Iterator, Mapping, Set
from functools import partial
from typing import Any, Final, NamedTuple

from arena.data.formats import verdicts
from arena.data.formats.columns import guess
from arena.data.formats.files import InputFile
from arena.data.formats.messages import conversation, listed
from arena.data.formats.pairs import Asides, Pair, Turns, beside
from arena.data.formats.reading import Fields, Format, Head, Kind, Shape, digest, read_rows
from arena.data.formats.records import Item, PromptRecord
from arena.rules.subsets import NO_PROMPT_SUBSET
from arena.rules.verdicts import NEITHER

FLAGS: Final = {"winner_model_a": "first", "winner_tie": "tie", "winner_model_b": "second"}
"""Columns instead of a winner, of which exactly one is 1."""

_GAMES: Final = {"left": "model_a", "right": "model_b", "prompt_id": "question_id"}
"""Columns of games as evalica reads them, and as our own file for it has them, by their names here."""

_NAMED: Final = ("question_id", "judge", "judge_hash")  # columns of prompts and raters that are read

OF_BATTLES: Final = ("tstamp", "timestamp", "anony")

COMMON_PROMPT: Final = "battles"  # prompt of battles without a question
UNNAMED: Final = "anonymous"  # rater of battles that name none


class Texts(NamedTuple):
    """The turns of a battle; empty if the file lacks them."""

    user: Turns = ()
    first: Turns = ()
    second: Turns = ()
    asked: Asides = ()
    told: tuple[Asides, Asides] = ((), ())


def _is_told_game(head: Head) -> bool:
    """Tell whether a table is one of games whose verdicts are known; what other words mean is asked."""
    if not _is_of_games(head.fields):
        return False
    cells = head.file.samples()
    rows = zip(*(cells.get(name, ()) for name in ("winner", "left", "right")), strict=False)
    return all(verdicts.side(winner, [left], [right]) for winner, left, right in rows)


def _is_of_games(columns: Set[str]) -> bool:
    """Tell whether these are columns of games alone; beside other columns left and right may be texts."""
    return columns in ({"left", "right", "winner"}, {*_GAMES, "winner", "prompt"})


def _tells_no_more(head: Head) -> bool:
    """Tell whether no raters, prompts or answers can be read in columns that battles do not have."""
    cells = head.file.samples() if "winner" in head.fields else {}
    if not cells or "conversation_a" in cells or any(text[:1] == "[" for text in cells.get("response_a", ())):
        return True
    told = guess(list(cells), cells, Kind.COMPARISONS).mapping.columns
    found = {told[name] for name in ("rater", "instruction", "prompt", "first_text") if name in told}
    return found <= {*_NAMED}


def _read(file: InputFile) -> Iterator[Item]:
    names = _GAMES if _is_of_games(set(file.columns())) else {}
    return read_rows(file, partial(_records, names))


def _records(names: Mapping[str, str], fields: Fields) -> Iterator[Item]:
    for name, ours in names.items():
        fields.put(ours, fields.take(name))
    is_of_turns = _is_of_turns(fields)
    texts = _texts(fields)
    models = fields.two_names("model_a", "model_b", "model")
    word, better = _winner(fields, *models)
    moment, anony = fields.moment("tstamp" if "tstamp" in fields else "timestamp"), fields.flag("anony")
    pair = Pair.of(_prompt(fields, texts), models, texts.first, texts.second).with_asides(*texts.told)
    said: dict[str, Any] = {
        "created_at": None if fields.flag("tstamp_known") is False else moment,
        "derived_from": fields.texts("derived_from"),
        "neither": verdicts.accepts_neither(word) or None,
    }
    rater, rater_kind = (
        fields.text("judge") or fields.text("judge_hash") or UNNAMED,
        fields.choice("rater_kind", ("person", "judge")) or "",
    )
    if is_of_turns:
        said["turn"] = fields.integer("turn", least=1, most=len(texts.user) or 1) or 0
    # The two kinds of tie are one rating; the file's word for it is kept.
    told: dict[str, Any] = {"winner": word} if better == "tie" and word != "tie" else {}
    extra = {**fields.rest(), **told, **({} if anony is None else {"anony": anony})}
    rating: int | None = verdicts.RATINGS[3][better]
    if said["neither"] and _has_no_rating(extra):
        rating, said["reason"] = None, NEITHER
    if not fields.problems:
        yield from pair.news(fields)
        yield pair.rated(rater, rater_kind, 3, rating, extra=extra, **said)


def _has_no_rating(extra: Mapping[str, Any]) -> bool:
    """Tell whether our own file for it says that the rater gave no rating."""
    return "points" in extra and extra.get("rating") in (None, "")


def _is_of_turns(fields: Fields) -> bool:
    """Tell whether a turn is the one that was rated, as of MT-bench's votes; battles count their turns."""
    told = ("conversation_a", "judge", "turn")
    return all(name in fields for name in told) and not any(name in fields for name in OF_BATTLES)


def _prompt(fields: Fields, texts: Texts) -> PromptRecord:
    """The question by its id, or for texts by the battle's id or a digest; without either, one for all."""
    named = fields.text("question_id")
    if texts.user and not named:
        named = fields.text("id") or digest(*texts.user)
    subset, extra = "" if named else NO_PROMPT_SUBSET, beside(texts.asked)
    about: dict[str, Any] = {"subset": subset, "extra": extra, "implied": True, "place": fields.place}
    return PromptRecord(id=named or COMMON_PROMPT, turns=texts.user, **about)


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
        if (first.user, first.asked) != (second.user, second.asked) and not fields.problems:
            whose = "user's turns are" if first.user != second.user else "system message is"
            fields.problem("conversation_b", f"the {whose} not as in conversation_a")
        return Texts(first.user, first.model, second.model, first.asked, (first.told, second.told))
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
    (
        Shape(Kind.COMPARISONS, "left right winner", _read, _is_told_game),
        Shape(Kind.COMPARISONS, "model_a model_b winner", _read, _tells_no_more),
        Shape(Kind.COMPARISONS, f"model_a model_b {' '.join(FLAGS)}", _read, _tells_no_more),
    ),
)
