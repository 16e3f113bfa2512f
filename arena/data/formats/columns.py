"""Possible meanings of the columns of a table, by their names and first cells. Pure.

A column holds a model's answers only if its name is none that tables usually have and its cells look like
texts. What is in doubt becomes one question, and nothing is read before somebody answers it.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from statistics import median
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from arena.data.formats import verdicts
from arena.data.formats.reading import Fields, Kind
from arena.data.formats.records import NOWHERE, SIDES
from arena.data.formats.table import MOST_VALUES, ColumnMapping, names
from arena.data.formats.values import whole_number
from arena.rules import scales
from arena.texts.author_names import vocabulary
from arena.texts.model_names import names_family

Samples: TypeAlias = Mapping[str, Sequence[str]]  # the first cells by column
NO_SAMPLES: Final[Samples] = MappingProxyType({})


class Known(NamedTuple):
    """Facts of the study: cells that are ids of its prompts, its models, its points, and if it is rated."""

    prompts: Collection[str] = ()
    models: Collection[str] = ()
    points: int | None = None
    is_rated: bool = False


NOTHING_KNOWN: Final = Known()


class Question(NamedTuple):
    """A question about a ``field``, perhaps with ``choices``; without a field, for a confirmation."""

    text: str
    field: str = ""
    choices: tuple[str, ...] = ()


class Reading(NamedTuple):
    """The meaning of the columns, as far as it is known, and the question to answer first."""

    mapping: ColumnMapping
    question: Question | None = None

    @property
    def as_options(self) -> str:
        """The reading as command line options, with a place for what has to be put in."""
        asked = self.question.field if self.question else ""
        is_told = not asked or asked in self.mapping
        return self.mapping.as_options() + ("" if is_told else f" --set {asked}=VALUE")


_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "number": ("prompt", "prompt_id", "question_id", "number", "no", "#", "nr", "idx", "index", "id", "qid"),
    "instruction": (
        *("instruction", "question", "prompt", "query", "prompt_text", "task", "user", "input"),
        *("user_prompt", "question_text", "user_message", "user_input", "user_query"),
    ),
    "input": ("input", "context"),
    "category": ("category", "topic", "type", "task_type"),
    "subset": ("subset", "dataset", "split"),
    "contestant": ("contestant", "model", "system", "generator", "model_name", "model_id", "author"),
    "text": ("text", "answer", "response", "output", "completion", "reply", "generation", "result"),
    "winner": ("winner", "label", "labels", "preference", "preferred", "vote", "choice", "verdict", "better"),
    "rating": ("rating", "likert"),
    "rater": (
        *("rater", "worker", "annotator", "judge", "user_id", "worker_id", "evaluator", "reviewer", "user"),
        *("annotator_id", "rater_id", "judge_id", "respondent", "participant", "your_name", "username"),
    ),
    "rater_kind": ("rater_kind", "kind"),
    "rationale": ("rationale", "reason", "comment", "explanation"),
    "created_at": ("created_at", "timestamp", "tstamp", "date", "time"),
    "name": ("name", "model", "model_name", "system"),
    "organisation": ("organisation", "organization", "org", "company", "maker"),
    "licence": ("licence", "license"),
    "family": ("family",),
    "size": ("size", "parameters"),
    "prompt": ("prompt_id", "prompt"),
    "prompt of pairs": ("prompt", "prompt_id", "question_id", "qid", "instruction_id", "task_id"),
    "requirement": ("requirement", "requirements", "criterion", "questions", "question"),
    "question": ("question", "number", "requirement", "position"),
    "answer": ("answer", "met", "check"),
    "score": ("score", "rating", "grade"),
    "gold": ("gold", "label", "winner", "preference", "better"),
    "labels": ("labels", "label"),
}
"""Well-known column names by meaning; the more telling come first."""

_GUESSED: Final = {
    Kind.COMPLETIONS: ("contestant", "text", "instruction", "input", "category", "subset"),
    Kind.PROMPTS: ("instruction", "input", "category", "subset"),
    Kind.CONTESTANTS: ("name", "organisation", "licence", "family", "size"),
}
"""Fields looked for, by default all."""

_VAGUE: Final = ("user", "task", "input")  # names of prompts, if their cells are texts
_BESIDE_PAIRS: Final = ("rationale", "created_at", "rater_kind", "instruction", "input", "category", "subset")
_NUMBER: Final = {Kind.COMPLETIONS: "prompt", Kind.PROMPTS: "id"}
_OF_KNOWN_PROMPTS: Final = (Kind.QUESTIONS, Kind.SCORES, Kind.ANSWERS)
_TELLS_REQUIREMENTS: Final = frozenset(("requirement", "requirements", "questions"))
_TELLS_OPINIONS: Final = frozenset(
    word for name in ("contestant", "rater", "answer", "text", "score") for word in _WORDS[name]
)
_BY_RATER: Final = re.compile(r"(label|preference|vote|verdict|winner|annotator|rater|worker)_?\d+")
ANONYMOUS: Final = "anonymous"  # rater of a table that names none
PREFERENCES: Final = "preferences"  # source of labels of a table whose columns are the better and the worse

# --- Names that are hardly models.


_NO_MODEL: Final = vocabulary(
    """
    age agreement annotation annotator assessment assessor assignment batch best better category choice
    chosen cluster comment comments confidence consensus cost count country created criteria criterion
    date difficulty domain duration email evaluation evaluator expected explanation extra feedback flag
    gender gold grade grader ground hash hint hit id ideal ids index judge judgement judgment kind label
    labeler labeller labels lang language latency lead length licence license likert link mail margin meta
    metadata note notes observation observations participant password phone points position prefer
    preference preferred price pw rank ranking rater rating rationale reason rejected remark remarks
    respondent reviewer rubric score scores seconds session simulated source split state status style
    subset tag tags target task time timestamp title token tokens topic truth turn turns type updated url
    user username uuid verdict version vote which why winner worker worst
    """
)
"""Words in names of columns that are hardly models."""

_NO_MODEL_ALONE: Final = vocabulary("link name reference references system") | {
    word for words in _WORDS.values() for word in words
}
_RATER: Final = vocabulary(
    "annotator assessor evaluator grader judge labeler labeller participant rater respondent reviewer worker"
)
_ADDRESS: Final = vocabulary("email mail")
_BESIDE_RATER: Final = vocabulary("address code e id name number slug the your")
_WINNER: Final = vocabulary(
    "best better choice favorite favourite prefer preference preferred verdict vote which winner"
)
_PROMPT: Final = vocabulary("instruction prompt query question")
_FACT: Final = vocabulary(
    "category count date difficulty domain hash id index kind lang language length name no number score "
    "source time tokens type url"
)
"""Words for what is known of a prompt or answer, beside its text."""

_SYSTEM: Final = vocabulary("bot contestant engine generator llm model name system")
_ANSWER: Final = vocabulary(
    "answer candidate completion continuation generation output reply response result story summary text "
    "translation"
)

# --- What cells hold.

_NO_TEXT: Final = re.compile(
    r"""
    [-+]?[\d.,:/\ T%$€-]+ (?: Z | \s?[AP]M )? (?: \s? (?:GMT|UTC) (?: [-+][\d:]+ )? )?
  | true | false | yes | no | null | none | nan | n/?a
  | https?://\S+ | [\[{].* | \#(?: REF! | VALUE! | DIV/0! | NAME\? | NUM! | NULL! | N/A )
  | \S+@\S+\.\w+
  | (?: \d{1,2}\.?\s )? [A-Z][a-z]{2,8}\.?,?\s (?: \d{1,2},?\s )? \d{4} (?: ,?\s [\d:]+ (?: \s?[AP]M )? )?
  | [0-9a-f]{8} (?: -?[0-9a-f]{4} ){3} -?[0-9a-f]{12}
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""Numbers, times, addresses, JSON, errors of spreadsheets, dates in words and UUIDs."""

_MAIL: Final = re.compile(r"\S+@\S+\.\w+")
_ID: Final = re.compile(r"(?=\S*\d)[\w.:-]+")
_QUESTION: Final = 12  # characters of a text that may be a prompt, where no name says so
_FEW: Final = 4  # cells from which on it shows whether values repeat
_LABEL: Final = 40  # characters of the longest label
_NAME: Final = 60  # characters of the longest name
_USUAL: Final = 60  # characters of usual answers beside which some short ones are none
_SHORT: Final = 25


def is_no_answer(value: str) -> bool:
    """Returns whether a cell holds what no model answers."""
    return _NO_TEXT.fullmatch(value.strip()) is not None


def _may_be_texts(cells: Sequence[str]) -> bool:
    """Returns whether cells hold more than people's addresses, numbers, times, ids, or few short labels."""
    if not cells or all(map(is_no_answer, cells)) or any(map(_MAIL.fullmatch, cells)):
        return False
    return not all(map(_ID.fullmatch, cells)) and not (_repeat(cells) and max(map(len, cells)) <= _LABEL)


def _repeat(cells: Sequence[str]) -> bool:
    return len(cells) >= _FEW and 2 * len(set(cells)) <= len(cells)


def _may_be_names(cells: Sequence[str]) -> bool:
    return not any(len(cell) > _NAME or len(cell.split()) > 5 or cell[-1] in ".!?" for cell in cells)


def _is_moment(cell: str) -> bool:
    fields = Fields({"when": cell}, NOWHERE, cells=True)
    fields.moment("when")
    return not fields.problems


_FITS: Final[Mapping[str, Callable[[str], bool]]] = {
    "created_at": _is_moment,
    "rater_kind": lambda cell: cell in ("person", "judge"),
    "contestant": lambda cell: len(cell) <= 2 * _NAME,
    "rater": lambda cell: _may_be_names([cell]),
    "rating": lambda cell: whole_number(cell) is not None,
}
"""Patterns of the cells, beside the name of the column."""


class _Table:
    """Columns with their cells, and what the study knows."""

    def __init__(self, columns: Sequence[str], samples: Samples, known: Known) -> None:
        self.columns = columns
        self.known = known
        self.plain = {_plain(column): column for column in reversed(columns)}
        self.cells = {
            column: [cell for text in samples.get(column, ()) if (cell := text.strip())] for column in columns
        }
        self.has_cells = any(self.cells.values())

    def find(self, meaning: str, name: str, found: dict[str, str]) -> None:
        """Add the unused column whose name means this, if its cells fit."""
        fits = _FITS.get(name)
        for word in _WORDS.get(meaning, (meaning,)):
            column = self.plain.get(word)
            if column is None or column in found.values():
                continue
            is_vague = name == "instruction" and word in _VAGUE and self.has_cells
            if (fits is None or all(map(fits, self.cells[column]))) and not (
                is_vague and column not in self.texts(())
            ):
                found[name] = column
                return

    def left(self, used: Collection[str]) -> list[str]:
        return [column for column in self.columns if column not in used]

    def texts(self, used: Collection[str]) -> list[str]:
        """The columns that may be prompts or answers: their cells are texts, and not names of columns."""
        told = {*self.plain, *map(_plain, self.known.models)}
        return [
            column
            for column in self.left(used)
            if _may_be_texts(cells := self.cells[column])
            and not all(_plain(cell) in told or verdicts.side(cell) for cell in cells)
        ]

    def answers(self, used: Collection[str]) -> tuple[list[str], list[str]]:
        """The columns that may hold a model's answers, and those among them of which this is in doubt."""
        found = [column for column in self.texts(used) if not self._is_known(column)]
        if not found and len(alike := self._labels(used)) > 1:
            return alike, alike
        usual = max((median(map(len, self.cells[column])) for column in found), default=0)
        return found, [
            column
            for column in found
            if _is_odd(self.cells[column], usual)
            or not (self.is_model(column) or _ANSWER.isdisjoint(_plain(column).split("_")))
        ]

    def _labels(self, used: Collection[str]) -> list[str]:
        """Columns of the same few short values, as models give that pick one of some answers."""
        few = [
            column
            for column in self.left(used)
            if _repeat(cells := self.cells[column]) and max(map(len, cells)) <= _SHORT
        ]
        unknown = [one for one in few if not self._is_known(one) and not _are_numbers(self.cells[one])]
        values = [set(self.cells[column]) for column in unknown]
        return [
            column
            for number, column in enumerate(unknown)
            if any(values[number] & other for other in values[:number] + values[number + 1 :])
        ]

    def is_model(self, column: str) -> bool:
        return column in self.known.models or names_family(column)

    def _is_known(self, column: str) -> bool:
        plain = _plain(column)
        if self.is_model(column):
            return False
        words = frozenset(plain.split("_"))
        return plain in _NO_MODEL_ALONE or bool(words & _NO_MODEL) or _BY_RATER.fullmatch(plain) is not None


def _is_odd(cells: Sequence[str], usual: float) -> bool:
    """Returns whether all cells are short where answers are usually long, or are the same."""
    is_short = max(map(len, cells)) <= _SHORT
    return is_short and (usual >= _USUAL or (len(cells) > 2 and len(set(cells)) == 1))


def _plain(column: str) -> str:
    """The name in small letters, with underscores between its words and before a number."""
    # Sites for crowd work put a group before the name: Input.prompt, Answer.choice.
    name = re.sub(r"^(?:input|answer|data|metadata|fields?|values?)\.(?=\w)", "", column.strip(), flags=re.I)
    name = re.sub(r"(?<=[a-z])(?=[A-Z]|\d)", "_", name)
    return re.sub(r"[^\w#]+|_+", "_", name.casefold()).strip("_")


# --- Pairs of columns, each about a side.

_MARKS: Final = (
    *(("a", "b", "c"), ("1", "2", "3"), ("first", "second", "third"), ("left", "right", "middle")),
    *(("one", "two", "three"), ("x", "y", "z"), ("0", "1", "2")),
)
"""Marks of both sides, and of what makes them more than two."""

_DECIDED: Final = (
    *(("chosen", "rejected", ""), ("preferred", "rejected", ""), ("preferred", "non_preferred", "")),
    *(("preferred", "dispreferred", ""), ("winner", "loser", ""), ("better", "worse", "")),
    *(("selected", "rejected", ""), ("accepted", "rejected", "")),
)
"""Marks of the better and the worse side."""


class _Sides(NamedTuple):
    """The column of each field about a side; ``is_decided`` if the first is the better one by its name."""

    columns: Mapping[str, str]
    is_decided: bool = False
    unread: tuple[str, ...] = ()  # sides by name, with cells that are no texts


def _sides(table: _Table) -> _Sides:
    found: dict[str, str] = {}
    unread: list[str] = []
    decided = list(_marked(table, _DECIDED))
    for first, second, about in decided or _marked(table, _MARKS):
        cells = [table.cells[first], table.cells[second]]
        both = [*cells[0], *cells[1]]
        if any(cell[0] in "[{" for cell in both):
            unread += [first, second]
            continue
        if not about & _ANSWER and all(map(is_no_answer, both or ["text"])):
            continue
        end = "" if _are_models(about, *cells, is_decided=bool(decided)) else "_text"
        if f"first{end}" not in found:
            found |= {f"first{end}": first, f"second{end}": second}
    return _Sides(found, bool(decided), () if found else tuple(unread))


def _marked(
    table: _Table, marks: Sequence[tuple[str, str, str]]
) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Columns whose names differ in their mark alone, and the words that they share."""
    for first, second, third in marks:
        mark = re.compile(rf"(?<![a-z\d]){first}(?![a-z\d])")
        for plain, column in reversed(table.plain.items()):
            other = table.plain.get(mark.sub(second, plain, count=1))
            about = frozenset(mark.sub("", plain, count=1).split("_")) - {""}
            is_third = bool(third) and mark.sub(third, plain, count=1) in table.plain
            if not mark.search(plain) or other is None or is_third or about & (_NO_MODEL - {"label"}):
                continue
            if not _BY_RATER.fullmatch(plain) and not (about - _ANSWER - _SYSTEM and table.is_model(column)):
                yield column, other, about


def _are_models(
    about: frozenset[str], first: Sequence[str], second: Sequence[str], *, is_decided: bool
) -> bool:
    """Returns whether the cells of two sides name models, and are not their answers."""
    if about & _ANSWER:
        return False
    both = [*first, *second]
    if about & _SYSTEM or not both:
        return bool(about & _SYSTEM or not is_decided) and all(len(cell) <= 2 * _NAME for cell in both)
    if is_decided:
        return _may_be_names(both) and not set(first).isdisjoint(second)
    return _may_be_names(both) and (_repeat(both) or (not about and len(both) <= 2 * _FEW))


def _verdicts(table: _Table, sides: _Sides, used: Collection[str]) -> list[str]:
    """The columns that say which is better: one by its name or cells, or several by their cells alone."""
    cells = [table.cells.get(sides.columns.get(side, ""), []) for side in SIDES]
    models = set(map(verdicts.plain, chain(*cells)))
    called = [[column for name, column in sides.columns.items() if name.startswith(side)] for side in SIDES]

    def tells(column: str) -> bool:
        return bool(table.cells[column]) and all(
            verdicts.plain(cell) in models or verdicts.side(cell, *called) for cell in table.cells[column]
        )

    rater = _rater(table, used)
    left = [column for column in table.left(used) if column != rater]
    by_word = [column for word in _WORDS["winner"] if (column := table.plain.get(word)) in left]
    by_name = [*by_word, *(one for one in left if not _WINNER.isdisjoint(_plain(one).split("_")))]
    if named := next(filter(tells, by_name), by_word[0] if by_word and not table.has_cells else None):
        return [named]
    if telling := [column for column in left if tells(column) and not _are_numbers(table.cells[column])]:
        return telling
    return [column for column in by_name if _may_be_values(table.cells[column])][:1]


def _are_numbers(cells: Sequence[str]) -> bool:
    return all(whole_number(cell) is not None for cell in cells)


def _may_be_values(cells: Sequence[str]) -> bool:
    return bool(cells) and len(set(cells)) <= MOST_VALUES and max(map(len, cells)) <= _LABEL


def _rater(table: _Table, used: Collection[str]) -> str:
    """The column of raters, or an empty text."""
    fits = _FITS["rater"]
    left = [column for column in table.left(used) if all(map(fits, table.cells[column]))]
    by_word = (column for word in _WORDS["rater"] if (column := table.plain.get(word)) in left)
    by_name = (column for column in left if _names_a_rater(frozenset(_plain(column).split("_"))))
    return next((column for column in (*by_word, *by_name) if column), "")


def _names_a_rater(words: frozenset[str]) -> bool:
    return bool(words & _ADDRESS) or bool(words & _RATER and words <= _RATER | _BESIDE_RATER)


# --- Readings, in the order of trying.


def suggest(
    columns: Sequence[str],
    samples: Samples = NO_SAMPLES,
    kind: Kind | None = None,
    known: Known = NOTHING_KNOWN,
) -> ColumnMapping | None:
    """Returns the mapping that names and first cells of the columns tell beyond doubt, or None.

    ``kind`` is what the rows are, if somebody said so.
    """
    found = guess(columns, samples, kind, known)
    return None if found.question or found.mapping.faults() else found.mapping


def guess(
    columns: Sequence[str],
    samples: Samples,
    kind: Kind | None = None,
    known: Known = NOTHING_KNOWN,
    prompt: str = "",
) -> Reading:
    """Returns what is suggested, or else the best guess with what has to be asked.

    ``prompt`` is the column of the prompts, if somebody said so.
    """
    table = _Table(columns, samples, known)
    if kind is not None:
        of_two = _two_answers(table, prompt) if kind is Kind.COMPARISONS else None
        mapping = of_two.mapping if of_two and of_two.mapping.kind is kind else _as(kind, table, prompt)
        return Reading(_with_ids(mapping, table))
    readings = (read(table, prompt) for read in _READINGS)
    found = next(filter(None, readings), None) or _unknown(table)
    return found._replace(mapping=_with_ids(found.mapping, table))


def _complete(kind: Kind, table: _Table, prompt: str) -> Reading | None:
    """Rows of this kind, if there is a column for all that it needs."""
    mapping = _as(kind, table, prompt)
    return None if mapping.faults() else Reading(mapping)


def _two_answers(table: _Table, prompt: str) -> Reading | None:
    """Two answers, and which of them is better."""
    sides = _sides(table)
    mapping = _of_two(Kind.COMPARISONS, table, sides, prompt)
    if sides.is_decided and "first_text" in mapping and mapping.constants.get("rater") == ANONYMOUS:
        mapping = _of_two(Kind.PAIRS, table, sides, prompt)
    if not sides.columns:
        return _two_models(table, prompt)
    if not mapping.verdict:
        return None
    used = [*mapping.columns.values(), *mapping.further]
    telling = _verdicts(table, sides, sides.columns.values()) if "winner" in mapping.columns else []
    if len(telling) > 1 and "rater" in mapping.columns:
        return Reading(mapping, Question(f"Does {mapping.columns['winner']} say which answer is better?"))
    if further := telling[1:]:
        raters = [mapping.columns["winner"], *further]
        asked = Question(f"Are {listed(raters)} raters, and their cells what they said?")
        constants = {name: value for name, value in mapping.constants.items() if name != "rater"}
        return Reading(replace(mapping, constants=constants, further=tuple(further)), asked)
    if mapping.verdict == "rating" and "points" not in mapping.columns and not table.known.is_rated:
        points = sorted(scales.POINTS, key=lambda points: points != table.known.points)
        asked = Question("On how many points were the ratings given?", "points", tuple(map(str, points)))
        return Reading(mapping, asked)
    may_be, _ = table.answers(used)
    if "first_text" in mapping and not mapping.columns.keys() & {"instruction", "prompt"} and may_be:
        mapping = replace(mapping, columns={**mapping.columns, "instruction": may_be[0]})
        return Reading(mapping, _which_prompt(may_be))
    return Reading(mapping)


def _two_models(table: _Table, prompt: str) -> Reading | None:
    """A column for each of two models, and a verdict that names one of them."""
    used = _as(Kind.COMPLETIONS, table, prompt).columns.values()
    answers, _ = table.answers(used)
    told = set(map(_plain, answers))
    for column in table.left(answers) if len(answers) == 2 else ():
        cells = set(map(_plain, table.cells[column]))
        if cells & told and all(cell in told or verdicts.side(cell) for cell in cells):
            first, second = answers
            sides = _Sides({"first_text": first, "second_text": second})
            mapping = _of_two(Kind.COMPARISONS, table, sides, prompt)
            return Reading(
                replace(mapping, constants={"first": first, "second": second, **mapping.constants})
            )
    return None


def _requirements(table: _Table, prompt: str) -> Reading | None:
    # Beside a model or a rater, a requirement is what was checked.
    tells = table.plain.keys() & _TELLS_REQUIREMENTS or _asks_again_of_a_prompt(table)
    if not tells or table.plain.keys() & _TELLS_OPINIONS:
        return None
    return _complete(Kind.QUESTIONS, table, prompt)


def _asks_again_of_a_prompt(table: _Table) -> bool:
    """Returns whether columns of prompts and of questions have several questions of a prompt."""
    prompts, questions = (
        set(table.cells.get(table.plain.get(name, ""), ())) for name in ("prompt", "question")
    )
    return 0 < len(prompts) < len(questions)


def _scores(table: _Table, prompt: str) -> Reading | None:
    """Numbers that raters gave to single answers."""
    found = _as(Kind.SCORES, table, prompt)
    cells = table.cells.get(found.columns.get("score", ""), ())
    if found.faults() or not cells or not all(map(is_no_answer, cells)):
        return None
    asked = f"Are the numbers in {found.columns['score']} scores that raters gave to single answers?"
    return Reading(found, Question(asked))


def _column_for_each_model(table: _Table, prompt: str) -> Reading | None:
    found = _as(Kind.COMPLETIONS, table, prompt)
    used = found.columns.values()
    answers, doubtful = table.answers(used)
    if "instruction" not in found or found.columns.keys() & {"text", "contestant"} or not answers:
        return None
    sides = _sides(table)
    opinions = _verdicts(table, sides, [*used, *answers]) or _rater(table, used) or "rating" in table.plain
    if len(answers) > 1 and not (doubtful or opinions or sides.columns):
        return Reading(_spread(found, answers))
    are = "Are {} models, and their cells the" if len(answers) > 1 else "Is {} a model, and are its cells the"
    return Reading(_spread(found, answers), Question(f"{are.format(listed(answers))} answers?"))


def _answers_without_models(table: _Table, prompt: str) -> Reading | None:
    found = _as(Kind.COMPLETIONS, table, prompt)
    text = found.columns.get("text", "")
    if "contestant" in found or "instruction" not in found or text not in table.texts(()):
        return None
    return Reading(found, Question(f"Which model wrote the answers in the column {text}?", "contestant"))


def _only_prompts(table: _Table, prompt: str) -> Reading | None:
    found = _complete(Kind.PROMPTS, table, prompt)
    if found and (unread := _sides(table).unread):
        asked = f"No answers can be read from {listed(unread)}. Is this a file of prompts alone?"
        return found._replace(question=Question(asked))
    return found


_READINGS: Final = (
    _two_answers,
    _requirements,
    _scores,
    partial(_complete, Kind.COMPLETIONS),
    _column_for_each_model,
    _answers_without_models,
    _only_prompts,
    partial(_complete, Kind.CONTESTANTS),
)


def _unknown(table: _Table) -> Reading:
    """The best guess where no reading fits; asks for the prompts if there are texts and none by name."""
    kinds = (Kind.COMPLETIONS, Kind.COMPARISONS, Kind.PROMPTS)
    guesses = [_as(kind, table, "") for kind in kinds]
    best = max(guesses, key=lambda mapping: ("first_text" not in mapping, len(mapping.columns)))
    texts = table.texts(best.columns.values())
    if not texts or best.columns.keys() & {"instruction", "prompt"}:
        return Reading(best)
    prompt = next((one for one in texts if max(map(len, table.cells[one])) >= _QUESTION), texts[0])
    answers, _ = table.answers([prompt])
    columns = {**best.columns, "instruction": prompt}
    if answers and best.kind is Kind.COMPLETIONS and "text" not in best:
        return Reading(_spread(replace(best, columns=columns), answers), _which_prompt(texts))
    return Reading(replace(best, columns=columns), _which_prompt(texts))


def _which_prompt(columns: Sequence[str]) -> Question:
    return Question("Which column is the prompt?", "instruction", tuple(columns))


def _as(kind: Kind, table: _Table, prompt: str) -> ColumnMapping:
    """Return what the columns mean where rows are of this kind."""
    if kind in (Kind.COMPARISONS, Kind.PAIRS):
        return _of_two(kind, table, _sides(table), prompt)
    found = {"instruction": prompt} if prompt else {}
    for name in _GUESSED.get(kind) or names(kind):
        if name not in found:
            table.find("requirement" if (kind, name) == (Kind.QUESTIONS, "text") else name, name, found)
        if name == "instruction" and kind in _GUESSED:
            _find_prompt(table, found)
    # A prompt's text is the more telling, so a column "prompt" beside no other text is the text.
    if number := _NUMBER.get(kind):
        table.find("number", number, found)
    return ColumnMapping(kind, found)


def _spread(mapping: ColumnMapping, answers: Sequence[str]) -> ColumnMapping:
    """The mapping with these columns as models."""
    columns = {**mapping.columns, "text": answers[0]}
    constants = {} if len(answers) > 1 else {"contestant": answers[0]}
    return replace(mapping, columns=columns, constants=constants, further=tuple(answers[1:]))


def _find_prompt(table: _Table, found: dict[str, str]) -> None:
    """Add a column of texts whose name speaks of a prompt, unless there is one."""
    for column in table.texts(found.values()) if "instruction" not in found else ():
        words = frozenset(_plain(column).split("_"))
        if words & _PROMPT and not words & (_FACT | _ANSWER | _RATER | _WINNER | _SYSTEM):
            found["instruction"] = column
            return


def _of_two(kind: Kind, table: _Table, sides: _Sides, prompt: str) -> ColumnMapping:
    """Return what the columns mean where rows are about two answers."""
    found, constants, further = dict(sides.columns), {}, list[str]()
    if prompt:
        found["instruction"] = prompt
    verdict = "gold" if kind is Kind.PAIRS else "winner"
    if sides.is_decided:
        constants[verdict] = "first"
    elif telling := _verdicts(table, sides, found.values()):
        found[verdict] = telling[0]
    if kind is Kind.COMPARISONS:
        _find_rating(table, found, constants)
        by_rater = [column for column in table.left(found.values()) if _BY_RATER.fullmatch(_plain(column))]
        if rater := _rater(table, found.values()):
            found["rater"] = rater
        elif not {"winner", "rating"} & {*found, *constants} and len(by_rater) > 1:
            found["winner"], *further = by_rater
        else:
            constants["rater"] = ANONYMOUS
    else:
        constants["gold_source"] = PREFERENCES
    for name in _BESIDE_PAIRS:
        if name in names(kind) and name not in found:
            table.find(name, name, found)
        if name == "instruction":
            _find_prompt(table, found)
    # The number of a row of ratings is hardly that of its prompt.
    table.find("number" if kind is Kind.PAIRS else "prompt of pairs", "prompt", found)
    return ColumnMapping(kind, found, constants, further=tuple(further))


def _find_rating(table: _Table, found: dict[str, str], constants: dict[str, str]) -> None:
    """Add the ratings with their points, in place of a winner where the points are known."""
    rating: dict[str, str] = {}
    table.find("rating", "rating", rating)
    table.find("points", "points", rating)
    points = {"points": str(table.known.points)} if "points" not in rating and table.known.points else {}
    if "rating" in rating and ("points" in rating or points or not {"winner"} & {*found, *constants}):
        found.pop("winner", None)
        constants.pop("winner", None)
        found |= rating
        constants |= points


def _with_ids(mapping: ColumnMapping, table: _Table) -> ColumnMapping:
    """The mapping, with a column of ids as the prompt's id where its name says that it is the prompt."""
    column = mapping.columns.get("instruction", "")
    if _plain(column) != "prompt" or "prompt" in mapping or "prompt" not in names(mapping.kind):
        return mapping
    cells = table.cells[column]
    is_known = any(cell in table.known.prompts for cell in cells) or (
        cells and all(map(_ID.fullmatch, cells))
    )
    if not is_known and (mapping.kind not in _OF_KNOWN_PROMPTS or any(" " in cell for cell in cells)):
        return mapping
    others = {name: other for name, other in mapping.columns.items() if name != "instruction"}
    return replace(mapping, columns={**others, "prompt": column})


def listed(columns: Sequence[str]) -> str:
    """Returns the columns as a part of a sentence."""
    *before, last = columns
    return f"{', '.join(before)} and {last}" if before else last
