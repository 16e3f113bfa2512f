"""FastChat: questions, answers, models and reviews, and MT-bench's judgments. Pure."""

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.reading import NO_REPLY, Build, Companions, Fields, Format, Head, Kind, read_rows
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    Item,
    Note,
    PromptRecord,
    ReferenceRecord,
    ScoreRecord,
)
from arena.data.formats.text_scores import Mentioned, on_scale
from arena.data.formats.values import MAX_SCORE, json_type

DEFAULT_JUDGE: Final = "gpt-4"  # reviewer unless the file is named after another: gpt-3.5-turbo_review_...
NOT_READ: Final = (Decimal(-1), Decimal(-1))  # scores for a reply without any
REFERENCES: Final = "reference_answer"
LOWEST, HIGHEST = 1, 10
"""The scale of MT-bench's grades."""

WINNERS: Final = ("model_1", "model_2", "tie", "error")  # ``error`` is a reply that could not be parsed

_KINDS: Final[tuple[tuple[frozenset[str], Kind], ...]] = (
    (frozenset({"question_id", "model_1", "model_2", "g1_winner", "g2_winner"}), Kind.COMPARISONS),
    (frozenset({"question_id", "answer1_id", "answer2_id", "score"}), Kind.COMPARISONS),
    (frozenset({"question_id", "model", "judgment", "score"}), Kind.SCORES),
    (frozenset({"question_id", "answer_id", "model_id", "choices"}), Kind.COMPLETIONS),
    (frozenset({"question_id", "answer_id", "model_id", "text"}), Kind.COMPLETIONS),
    (frozenset({"question_id", "turns"}), Kind.PROMPTS),
    (frozenset({"question_id", "text", "category"}), Kind.PROMPTS),
    (frozenset({"model_id", "model_name", "model_version"}), Kind.CONTESTANTS),
    (frozenset({"reviewer_id", "prompt_id"}), Kind.NOTHING),
    (frozenset({"prompt_template", "system_prompt"}), Kind.NOTHING),
)

LAST_TURN: Final = 1000

GRADED_ALONE: Final = frozenset({"m1_score", "m2_score"})
"""Fields of winners computed from grades of single answers: no comparisons."""


def recognise(head: Head) -> Kind | None:
    kind = next((kind for fields, kind in _KINDS if fields <= head.fields), None)
    if kind is Kind.COMPLETIONS and _holds_references(head.file):
        return Kind.PROMPTS
    return Kind.NOTHING if kind is Kind.COMPARISONS and head.fields >= GRADED_ALONE else kind


def _holds_references(file: InputFile) -> bool:
    """Whether answers are references, which only names of file or folder tell."""
    return "reference" in file.stem or REFERENCES in file.folders[:1]


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if kind is Kind.NOTHING:
        yield Note(
            file.place(), "left out, because it holds texts for judges, or winners that follow from scores"
        )
        return
    judge, marked, _ = file.stem.partition("_review_")
    several: list[Fields] = []
    builders: dict[Kind, Build] = {
        Kind.CONTESTANTS: _model,
        Kind.PROMPTS: partial(_prompt, several),
        Kind.COMPLETIONS: partial(_answer, several),
        Kind.COMPARISONS: partial(_comparison, judge if marked else DEFAULT_JUDGE),
        Kind.SCORES: partial(_grade, Mentioned()),
    }
    yield from read_rows(file, builders[kind])
    if several:
        text = f"{len(several)} answer(s) with several choices; the first of each is imported"
        yield Note(several[0].place, text)


def _model(fields: Fields) -> Iterator[Item]:
    """A model. Several versions share a model_name; answers name the model_id."""
    yield ContestantRecord(
        name=fields.required_text("model_id"),
        family=fields.optional_text("model_name"),
        extra=fields.rest(),
        place=fields.place,
    )


def _prompt(several: list[Fields], fields: Fields) -> Iterator[Item]:
    """A question, or the reference answer to one of another file or the study."""
    if "model_id" in fields:
        author = fields.required_text("model_id")
        yield PromptRecord(
            id=fields.required_text("question_id"),
            turns=(),
            references=(ReferenceRecord(author, _answer_turns(several, fields)),),
            implied=True,
            place=fields.place,
        )
        return
    references = fields.texts("reference")
    if "turns" in fields:
        given = fields.json("turns")
        fields.put("turns", _plain(given) or given)
    yield PromptRecord(
        id=fields.required_text("question_id"),
        turns=fields.turns("text"),
        category=fields.optional_text("category"),
        references=(ReferenceRecord("reference", references),) if references else (),
        extra=fields.rest(),
        place=fields.place,
    )


def _answer(several: list[Fields], fields: Fields) -> Iterator[Item]:
    yield CompletionRecord(
        prompt=fields.required_text("question_id"),
        contestant=fields.required_text("model_id"),
        turns=_answer_turns(several, fields),
        id=fields.text("answer_id"),
        extra=fields.rest(),
        place=fields.place,
    )


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


def _comparison(reviewer: str, fields: Fields) -> Iterator[Item]:
    """A line of reviews, or of MT-bench's pairwise judgments."""
    if "answer1_id" in fields or "review_id" in fields:
        return _review(fields, reviewer)
    return _judgment(fields)


def _review(fields: Fields, judge: str) -> Iterator[Item]:
    scores = _scores(fields)
    first, second = fields.two_names("answer1_id", "answer2_id", "answer")
    read = scores if scores != NOT_READ else None
    yield ComparisonRecord(
        prompt=fields.required_text("question_id"),
        first="",
        second="",
        first_id=first,
        second_id=second,
        rater=judge,
        rater_kind="judge",
        rater_from_path=True,
        points=3,
        rating=_rating(*read) if read else None,
        reason="" if read else "unparsable",
        scores=read,
        raw_reply=fields.text("text"),
        id=fields.text("review_id"),
        extra=fields.rest(),
        place=fields.place,
    )


def _scores(fields: Fields) -> tuple[Decimal, Decimal]:
    value = fields.json("score")
    if isinstance(value, list) and len(value) == 2 and all(_is_score(score) for score in value):
        return Decimal(str(value[0])), Decimal(str(value[1]))
    fields.problem("score", "expected a list of two numbers")
    return NOT_READ


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_SCORE


def _rating(first: Decimal, second: Decimal) -> int:
    return 2 if first == second else 1 if first > second else 3


def _judgment(fields: Fields) -> Iterator[Item]:
    """Both games of a line; model_1 was shown first in the first."""
    models = fields.two_names("model_1", "model_2", "model")
    prompt = fields.required_text("question_id")
    turn = fields.integer("turn", least=1) or 1
    judge, prompt_name = _judge(fields)
    created_at = fields.moment("tstamp")
    games = [_game(fields, number) for number in (1, 2)]
    kept = {**fields.rest(), "judge_prompt": prompt_name, "turn": turn}
    for (winner, reply, asked), order in zip(games, ((0, 1), (1, 0)), strict=True):
        rating = {"tie": 2, f"model_{order[0] + 1}": 1, f"model_{order[1] + 1}": 3}.get(winner)
        yield ComparisonRecord(
            prompt=prompt,
            first=models[order[0]],
            second=models[order[1]],
            # A verdict about the first turn alone is no repeat of one about both.
            rater=judge if turn == 1 else f"{judge}-turn-{turn}",
            rater_kind="judge",
            points=3,
            rating=rating,
            reason="unparsable" if rating is None else "",
            raw_reply=reply,
            created_at=created_at,
            extra={**kept, "user_prompt": asked},
            place=fields.place,
        )


def _game(fields: Fields, number: int) -> tuple[str, str, str]:
    """Winner, reply and question of a game."""
    winner = fields.choice(f"g{number}_winner", WINNERS)
    if winner is None and not any(problem.field == f"g{number}_winner" for problem in fields.problems):
        fields.problem(f"g{number}_winner", "missing")
    return winner or "error", fields.text(f"g{number}_judgment"), fields.text(f"g{number}_user_prompt")


def _grade(mentioned: Mentioned, fields: Fields) -> Iterator[Item]:
    """A grade of a model's answer to one turn; -1 where none could be read."""
    prompt, model = fields.required_text("question_id"), fields.required_text("model")
    turn = fields.integer("turn", least=1, most=LAST_TURN) or 1
    judge, prompt_name = _judge(fields)
    score, reason = on_scale(fields.take("score"), LOWEST, HIGHEST)
    reply = fields.text("judgment")
    created_at = fields.moment("tstamp")
    yield from mentioned.records(prompt, "", model, fields.place)
    yield from mentioned.judge(judge, fields.place)
    yield ScoreRecord(
        prompt=prompt,
        contestant=model,
        turn=turn,
        rater=judge,
        rater_kind="judge",
        score=score,
        reason=reason,
        lowest=LOWEST,
        highest=HIGHEST,
        raw_reply=reply,
        created_at=created_at,
        extra={**fields.rest(), "judge_prompt": prompt_name},
        place=fields.place,
    )


def _judge(fields: Fields) -> tuple[str, str]:
    """The judge's model and the name of its prompt."""
    value = fields.json("judge")
    if isinstance(value, list) and len(value) == 2 and all(isinstance(name, str) and name for name in value):
        return value[0], value[1]
    fields.problem("judge", "expected a list of two texts: the judge's model and the name of its prompt")
    return "", ""


FORMAT = Format(
    "fastchat",
    "FastChat and MT-bench",
    "question_id and turns (questions), answer_id and choices (answers), "
    "answer1_id and score (reviews), g1_winner (judgments), or judgment and score (grades) of FastChat",
    recognise,
    read,
)
