"""Checks of requirements, scores and features of single texts in a bundle."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from arena.data.importing.texts import digest_of
from arena.data.interchange import question
from arena.files.writing import GUARDED
from arena.models import Completion, CompletionFeature, Question, Study
from arena.rules.feature_names import LARGEST, fault
from leaderboard.answers.requirements.reading import VALUES, Checked, Requirement, Said, gathered
from leaderboard.answers.scores.reading import ScoreRow, ScoreRows
from leaderboard.files.bundle.archive import sha256, valid
from leaderboard.files.bundle.arrays import AT_MOST, AT_ONCE, lines_csv
from leaderboard.files.selection import rater_names
from leaderboard.snapshots.canonical import canonical
from leaderboard.snapshots.reading import Choice
from leaderboard.stats.sides import NOT_ASKED


class Files(NamedTuple):
    """What is known beside the rows, as JSON, and the rows, as CSV."""

    facts: bytes
    rows: bytes


UNKNOWN_TEXT: Final = digest_of(())

# --- As files. Ids become numbers from 0 in the order of the database's.


@dataclass(frozen=True)
class _Numbers:
    raters: Mapping[int, int]
    texts: Mapping[int, int]
    prompts: Mapping[int, int]
    contestants: Mapping[str, int]

    @classmethod
    def of(
        cls, raters: Iterable[int], texts: Iterable[int], prompts: Iterable[int], names: Iterable[str]
    ) -> _Numbers:
        def numbers(values: Iterable[Any]) -> dict[Any, int]:
            return {value: number for number, value in enumerate(sorted(set(values)))}

        return cls(numbers(raters), numbers(texts), numbers(prompts), numbers(names))

    def facts(self, study: Study, choices: Iterable[Choice]) -> dict[str, Any]:
        names = rater_names(study)
        prompts = study.prompts.in_bulk(list(self.prompts))
        texts = Completion.objects.filter(pk__in=list(self.texts)).values_list("pk", "prompt", "digest")
        return {
            "study": study.slug,
            "contestants": list(self.contestants),
            "raters": [[names[pk].name, names[pk].kind, names[pk].simulated] for pk in self.raters],
            "choices": [
                {**vars(one), "ids": sorted(self.raters[pk] for pk in one.ids if pk in self.raters)}
                for one in choices
            ],
            "prompts": [question(prompts[pk].external_id, prompts[pk].subset) for pk in self.prompts],
            "texts": [
                [self.prompts[prompt], "" if digest == UNKNOWN_TEXT else digest]
                for _, prompt, digest in texts.order_by("pk")
            ],
        }


REQUIREMENT: Final = ("name", "position", "required", "subset", "domain", "category")
CHECK_COLUMNS: Final = ("rater", "repeat", "text", "contestant", "requirement", "answer", "seconds")
_OF_WORDS: Final[dict[str, int]] = {value or "": number for value, number in VALUES.items()}
_WORDS: Final = {number: word for word, number in _OF_WORDS.items()}


def _wordings(questions: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The texts of questions by id; empty for those of private prompts."""
    found = Question.objects.filter(pk__in=list(questions)).order_by("pk")
    for pk, text, private in found.values_list("pk", "text", "prompt__is_private"):
        yield pk, "" if private else text


def checks_files(study: Study, given: Checked, *, with_texts: bool = False) -> Files:
    answers = given.answers
    told = answers.value != NOT_ASKED
    numbers = _Numbers.of(
        given.ids.tolist(),
        given.text[told].tolist(),
        (each.prompt for each in given.asked),
        given.names,
    )
    repeats = _repeats(given.ids.tolist())
    rows = zip(
        answers.rater[told].tolist(),
        given.text[told].tolist(),
        answers.contestant[told].tolist(),
        answers.question[told].tolist(),
        answers.value[told].tolist(),
        given.seconds[told].tolist(),
        strict=True,
    )
    lines = (
        (
            numbers.raters[int(given.ids[rater])],
            repeats[rater],
            numbers.texts[text],
            contestant,
            asked,
            _WORDS[value],
            "" if seconds != seconds else repr(seconds),
        )
        for rater, text, contestant, asked, value, seconds in rows
    )
    wording = dict(_wordings(each.number for each in given.asked))
    facts = numbers.facts(study, given.raters)
    facts["requirements"] = [
        {
            "prompt": numbers.prompts[each.prompt],
            "labels": list(each.labels),
            **{name: getattr(each, name) for name in REQUIREMENT},
            "sha256": sha256(wording[each.number].encode("utf-8", "surrogatepass"))
            if wording[each.number]
            else "",
            **({"text": wording[each.number]} if with_texts else {}),
        }
        for each in given.asked
    ]
    return Files(canonical(facts).encode(), lines_csv([CHECK_COLUMNS, *lines]))


def _repeats(raters: Sequence[int]) -> list[int]:
    """The repeat of each rater's place: raters follow each other by id."""
    return [number - raters.index(rater) for number, rater in enumerate(raters)]


SCORE_COLUMNS: Final = ScoreRow._fields


def scores_files(study: Study, given: ScoreRows) -> Files:
    rows = given.rows
    numbers = _Numbers.of(
        (row.rater for row in rows),
        (row.text for row in rows),
        (row.prompt for row in rows),
        (row.contestant for row in rows),
    )
    lines = (
        (
            numbers.raters[row.rater],
            row.repeat,
            numbers.texts[row.text],
            numbers.prompts[row.prompt],
            numbers.contestants[row.contestant],
            row.turn,
            *("" if value is None else repr(value) for value in row[6:10]),
            row.reason,
            *("" if value is None else repr(value) for value in row[11:]),
        )
        for row in rows
    )
    facts = numbers.facts(study, given.raters)
    return Files(canonical(facts).encode(), lines_csv([SCORE_COLUMNS, *lines]))


class FeatureRow(NamedTuple):
    """``text``: the number of an answer in the list of answers."""

    text: int
    turn: int
    name: str
    variant: str
    source: str
    value: float


def features_csv(study: Study, texts: Mapping[int, int]) -> Iterator[bytes]:
    """The features of the answers that have a number; nothing where there are none."""
    columns = ("completion", *FeatureRow._fields[1:])
    stored = CompletionFeature.objects.of(study).order_by(*columns[:-1])
    header = [FeatureRow._fields]
    for text, *more, value in stored.values_list(*columns).iterator(AT_ONCE):
        if text in texts:
            yield lines_csv([*header, (texts[text], *more, repr(value))])
            header = []


# --- From files, which may come from a stranger.


def features_from(rows: bytes) -> list[FeatureRow]:
    """Raises BundleError for a file that holds none."""
    with valid("features"):
        return [_feature_row(row) for row in _rows(rows, FeatureRow._fields)]


def _feature_row(row: Sequence[str]) -> FeatureRow:
    text, turn, name, variant, source, value = row
    number = _number(value)
    if number is None or abs(number) > LARGEST:
        raise ValueError(f"{value[:20]!r} is no value of a feature")
    if reason := fault(name, variant):
        raise ValueError(reason)
    plain = source[1:] if source.startswith("'") and GUARDED.match(source) else source
    return FeatureRow(_whole(text), _whole(turn), name, variant, plain, number)


def checks_from(files: Files) -> Checked:
    """Raises BundleError for files that hold none."""
    with valid("checks"):
        facts = _facts(files)
        asked = [
            Requirement(
                number=number,
                prompt=_place(each["prompt"], facts["prompts"]),
                position=_whole(each["position"]),
                labels=tuple(map(str, each["labels"])),
                required=bool(each["required"]),
                **{name: str(each[name]) for name in ("name", "subset", "domain", "category")},
            )
            for number, each in enumerate(facts["requirements"])
        ]
        said = [
            Said(
                rater=_place(rater, facts["raters"]),
                repeat=_whole(repeat),
                text=_place(text, facts["texts"]),
                contestant=str(facts["contestants"][_place(contestant, facts["contestants"])]),
                question=_place(requirement, asked),
                value=_OF_WORDS[answer],
                seconds=_number(seconds),
            )
            for rater, repeat, text, contestant, requirement, answer, seconds in _rows(
                files.rows, CHECK_COLUMNS
            )
        ]
        return gathered(str(facts["study"]), asked, said, _choices(facts))


def scores_from(files: Files) -> ScoreRows:
    """Raises BundleError for files that hold none."""
    with valid("scores"):
        facts = _facts(files)
        rows = tuple(_score_row(facts, row) for row in _rows(files.rows, SCORE_COLUMNS))
        return ScoreRows(str(facts["study"]), rows, _choices(facts))


def _score_row(facts: Mapping[str, Any], row: Sequence[str]) -> ScoreRow:
    rater, repeat, text, prompt, contestant, turn, *numbers, reason, seconds, length, moment = row
    lowest, highest, score, expected = map(_number, numbers)
    if lowest is None or highest is None or not lowest < highest:
        raise ValueError("a scale has no two ends")
    if any(value is not None and not lowest <= value <= highest for value in (score, expected)):
        raise ValueError("a score leaves its scale")
    return ScoreRow(
        rater=_place(rater, facts["raters"]),
        repeat=_whole(repeat),
        text=_place(text, facts["texts"]),
        prompt=_place(prompt, facts["prompts"]),
        contestant=str(facts["contestants"][_place(contestant, facts["contestants"])]),
        turn=_whole(turn),
        lowest=lowest,
        highest=highest,
        score=score,
        expected=expected,
        reason=reason,
        seconds=_number(seconds),
        length=_number(length),
        moment=None if moment == "" else _whole(moment),
    )


def _facts(files: Files) -> dict[str, Any]:
    facts = json.loads(files.facts)
    if not all(isinstance(facts[name], list) for name in ("contestants", "raters", "prompts", "texts")):
        raise ValueError("a list is missing")
    return dict(facts)


def _choices(facts: Mapping[str, Any]) -> tuple[Choice, ...]:
    return tuple(
        Choice(
            str(one["selector"]),
            str(one["label"]),
            frozenset(_place(each, facts["raters"]) for each in one["ids"]),
            bool(one["simulated"]),
        )
        for one in facts["choices"]
    )


def _rows(content: bytes, columns: Sequence[str]) -> Iterator[list[str]]:
    rows = csv.reader(io.StringIO(content.decode(), newline=""))
    if tuple(next(rows, ())) != tuple(columns):
        raise ValueError(f"the columns are not {', '.join(columns)}")
    for number, row in enumerate(rows):
        if len(row) != len(columns) or number >= AT_MOST:
            raise ValueError(f"row {number + 1} has {len(row)} cells")
        yield row


def _whole(text: Any) -> int:
    number = int(text)
    if not 0 <= number < 2**31:
        raise ValueError(f"{number} is no number of a row")
    return number


def _place(text: Any, things: Sequence[Any]) -> int:
    number = _whole(text)
    if number >= len(things):
        raise ValueError(f"{number} names something that is not there")
    return number


def _number(text: str) -> float | None:
    if text == "":
        return None
    number = float(text.removeprefix("'"))  # as guarded from spreadsheets
    if not np.isfinite(number):
        raise ValueError(f"{text[:20]} is not a number")
    return number
