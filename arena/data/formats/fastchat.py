"""FastChat: questions, answers, models and reviews, and MT-bench's judgments. Pure."""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.ours import by_columns, record_of
from arena.data.formats.pairs import Pair, Said, Side, by_scores
from arena.data.formats.reading import (
    NO_REPLY,
    Fields,
    Format,
    Head,
    Kind,
    Read,
    Shape,
    by_row,
    left_out,
    read_rows,
)
from arena.data.formats.records import Item, Note, PromptRecord, ReferenceRecord
from arena.data.formats.text_scores import graded, judge_by_model, unknown_texts
from arena.data.formats.values import MAX_SCORE, json_type

DEFAULT_JUDGE: Final = "gpt-4"  # reviewer unless the file is named after another: gpt-3.5-turbo_review_...
NOT_READ: Final = Decimal(-1)  # both scores for a reply without any
REFERENCES: Final = "reference_answer"
WINNERS: Final = ("model_1", "model_2", "tie", "error")  # ``error`` is a reply that could not be parsed

LAST_TURN: Final = 1000
_MODEL: Final = {"name": "model_id", "family": "model_name"}
"""Several versions share a model_name; answers name the model_id."""


def _is_reference(head: Head) -> bool:
    """Tell whether answers are references, which only names of file or folder tell."""
    return "reference" in head.file.stem or REFERENCES in head.file.folders[:1]


def _with_answers(build: Callable[[list[Fields], Fields], Iterable[Item | None]]) -> Read:
    """Reading of rows that may hold answers of several choices, with a note about these."""

    def read(file: InputFile) -> Iterator[Item]:
        several: list[Fields] = []
        yield from read_rows(file, partial(build, several))
        if several:
            text = f"{len(several)} answer(s) with several choices; the first of each is imported"
            yield Note(several[0].place, text)

    return read


def _prompt(several: list[Fields], fields: Fields) -> Iterator[Item | None]:
    """A question, or the reference answer to one of another file or the study."""
    if "model_id" in fields:
        author, prompt = fields.required_text("model_id"), fields.required_text("question_id")
        reference = ReferenceRecord(author, _answer_turns(several, fields))
        yield PromptRecord(id=prompt, turns=(), references=(reference,), implied=True, place=fields.place)
        return
    texts = fields.texts("reference")
    if "turns" in fields:
        given = fields.json("turns")
        fields.put("turns", _plain(given) or given)
    references = (ReferenceRecord("reference", texts),) if texts else ()
    columns = {"id": "question_id", "turns": "text", "category": "category"}
    yield record_of(Kind.PROMPTS, fields, columns, references=references)


def _answer(several: list[Fields], fields: Fields) -> Iterator[Item | None]:
    turns, contestant = _answer_turns(several, fields), fields.required_text("model_id")
    columns = {"prompt": "question_id", "id": "answer_id"}
    yield record_of(Kind.COMPLETIONS, fields, columns, contestant=contestant, turns=turns)


def _answer_turns(several: list[Fields], fields: Fields) -> tuple[str, ...]:
    """The turns; an answer with more than one choice is added to ``several``."""
    if "choices" not in fields:
        return fields.answer("text")
    choices = fields.json("choices")
    if isinstance(choices, list) and len(choices) > 1:
        several.append(fields)
    return _first_choice(fields, choices)


def _first_choice(fields: Fields, choices: Any) -> tuple[str, ...]:
    """The turns of the choice with the lowest index."""
    if not isinstance(choices, list) or not choices:
        found = "an empty list" if choices == [] else json_type(choices)
        fields.problem("choices", f"expected a list of choices, found {found}")
        return ()
    for number, choice in enumerate(choices, start=1):
        turns = _plain(choice.get("turns")) if isinstance(choice, dict) else None
        if not turns or not all(isinstance(turn, str | None) for turn in turns):
            fields.problem(f"choices[{number}].turns", "expected a list of texts")
            return ()
    first = min(choices, key=lambda choice: index if isinstance(index := choice.get("index"), int) else 0)
    return tuple(NO_REPLY if turn is None else turn for turn in _plain(first["turns"]))


def _plain(turns: Any) -> list[Any]:
    """The turns as texts, each of which Arena-Hard writes as an object with its content."""
    if not isinstance(turns, list):
        return []
    return [turn["content"] if isinstance(turn, dict) and "content" in turn else turn for turn in turns]


def _read_reviews(file: InputFile) -> Iterator[Item]:
    judge, marked, _ = file.stem.partition("_review_")
    return read_rows(file, partial(_review, judge if marked else DEFAULT_JUDGE))


def _review(judge: str, fields: Fields) -> Iterator[Item]:
    said = _scored(fields)._asdict()
    first, second = fields.two_names("answer1_id", "answer2_id", "answer")
    prompt = PromptRecord(id=fields.required_text("question_id"), turns=(), place=fields.place)
    said |= {"raw_reply": fields.text("text"), "id": fields.text("review_id"), "extra": fields.rest()}
    yield Pair(prompt, Side(id=first), Side(id=second)).rated(judge, "judge", rater_from_path=True, **said)


def _scored(fields: Fields) -> Said:
    """The verdict of two scores."""
    value = fields.json("score")
    if not (isinstance(value, list) and len(value) == 2 and all(map(_is_score, value))):
        fields.problem("score", "expected a list of two numbers")
        return by_scores(None, None)
    first, second = (Decimal(str(score)) for score in value)
    return by_scores(None, None) if first == second == NOT_READ else by_scores(first, second)


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_SCORE


def _judgment(fields: Fields) -> Iterator[Item]:
    """Both games of a line; model_1 was shown first in the first."""
    models = fields.two_names("model_1", "model_2", "model")
    prompt = PromptRecord(id=fields.required_text("question_id"), turns=(), place=fields.place)
    turn = fields.integer("turn", least=1, most=LAST_TURN) or 1
    judge, prompt_name = _judge(fields)
    created_at = fields.moment("tstamp")
    games = [_game(fields, number) for number in (1, 2)]
    kept = {**fields.rest(), "judge_prompt": prompt_name}
    for (winner, reply, asked), shown in zip(games, (WINNERS[:2], WINNERS[1::-1]), strict=True):
        rating = {"tie": 2, shown[0]: 1, shown[1]: 3}.get(winner)
        said: dict[str, Any] = {
            "reason": "unparsable" if rating is None else "",
            "raw_reply": reply,
            "created_at": created_at,
            "turn": turn,
            "extra": {**kept, "user_prompt": asked},
        }
        swapped = shown[0] == "model_2"
        yield Pair.of(prompt, models).rated(judge, "judge", 3, rating, swapped=swapped, **said)


def _game(fields: Fields, number: int) -> tuple[str, str, str]:
    """Winner, reply and question of a game."""
    winner = fields.choice(f"g{number}_winner", WINNERS)
    if winner is None and not any(problem.field == f"g{number}_winner" for problem in fields.problems):
        fields.problem(f"g{number}_winner", "missing")
    return winner or "error", fields.text(f"g{number}_judgment"), fields.text(f"g{number}_user_prompt")


def _grade(fields: Fields) -> Iterator[Item]:
    """A grade of a model's answer to one turn; -1 where none could be read."""
    prompt, model = fields.required_text("question_id"), fields.required_text("model")
    turn = fields.integer("turn", least=1, most=LAST_TURN) or 1
    judge, prompt_name = _judge(fields)
    yield from unknown_texts(fields, prompt, model)
    yield from judge_by_model(fields, judge)
    said = {"raw_reply": fields.text("judgment"), "created_at": fields.moment("tstamp"), "turn": turn}
    yield graded(fields, prompt, model, judge, extra={"judge_prompt": prompt_name}, **said)


def _judge(fields: Fields) -> tuple[str, str]:
    """The judge's model and the name of its prompt."""
    value = fields.json("judge")
    if isinstance(value, list) and len(value) == 2 and all(isinstance(name, str) and name for name in value):
        return value[0], value[1]
    fields.problem("judge", "expected a list of two texts: the judge's model and the name of its prompt")
    return "", ""


_LEFT_OUT: Final = left_out(", because it holds texts for judges, or winners that follow from scores")
_GAMES: Final = "question_id model_1 model_2 g1_winner g2_winner"
_ANSWER: Final = "question_id answer_id model_id choices|text"

FORMAT = Format(
    "fastchat",
    "FastChat and MT-bench",
    "question_id and turns (questions), answer_id and choices (answers), "
    "answer1_id and score (reviews), g1_winner (judgments), or judgment and score (grades) of FastChat",
    (
        Shape(Kind.NOTHING, f"{_GAMES} m1_score m2_score", _LEFT_OUT),
        Shape(Kind.COMPARISONS, _GAMES, by_row(_judgment)),
        Shape(Kind.COMPARISONS, "question_id answer1_id answer2_id score", _read_reviews),
        Shape(Kind.SCORES, "question_id model judgment score", by_row(_grade)),
        Shape(Kind.PROMPTS, _ANSWER, _with_answers(_prompt), _is_reference),
        Shape(Kind.COMPLETIONS, _ANSWER, _with_answers(_answer)),
        Shape(Kind.PROMPTS, "question_id turns", _with_answers(_prompt)),
        Shape(Kind.PROMPTS, "question_id text category", _with_answers(_prompt)),
        Shape(Kind.CONTESTANTS, "model_id model_name model_version", by_columns(Kind.CONTESTANTS, _MODEL)),
        Shape(Kind.NOTHING, "reviewer_id prompt_id", _LEFT_OUT),
        Shape(Kind.NOTHING, "prompt_template system_prompt", _LEFT_OUT),
    ),
)
