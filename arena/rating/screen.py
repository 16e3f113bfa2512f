"""What the rating page shows, and its forms. Nothing here tells who wrote a text."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, cast

from django import forms
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString

from arena.models import Answer, Assignment, Completion, Flag, Question, Study
from arena.models.settings import asked_about
from arena.rating.opinions import Check, Checks, InvalidAnswerError, Rating, RatingError, Said, TextScore
from arena.rating.shown import Answer as ShownAnswer
from arena.rating.shown import Block, Part, ShownPrompt, conversation, html_of, parts, texts_of
from arena.rating.tasks import TASKS
from arena.rules import scales

LONGEST_COMMENT = 5000
MOST_BUTTONS: Final = 11
"""Scores that have a button each; on a longer scale the score is written."""
VALUE_KEYS: Final = {"yes": "y", "no": "n", "unknown": "u"}
ASKED_OTHERWISE: Final = "What is asked was changed while your page was open. Look again and answer anew."


class AnswerForm(forms.Form):
    """The answer to a task, and what is asked. ``about``: its assignment, None if the rater has none."""

    kind: ClassVar[str]

    assignment = forms.CharField(max_length=24, widget=forms.HiddenInput)
    asked = forms.CharField(required=False, widget=forms.HiddenInput)
    seconds = forms.CharField(required=False, max_length=40)
    rationale = forms.CharField(
        required=False,
        max_length=LONGEST_COMMENT,
        error_messages={"max_length": f"Please keep the comment under {LONGEST_COMMENT:,} characters."},
    )

    def __init__(self, study: Study, about: Assignment | None = None, data: Any = None) -> None:
        super().__init__(data)
        self.study, self.about = study, about
        self.fields |= self.questions()

    def questions(self) -> dict[str, forms.Field]:
        """Returns a field for each thing that is asked."""
        raise NotImplementedError

    def asks(self) -> list[Any]:
        """Return what an answer is about, beside the texts; operators may change it while a page is open."""
        return asked_about(self.study, self.kind)

    def field_of(self, error: RatingError) -> str:
        """Return the field that a refusal is about; "" if about none."""
        return error.field if isinstance(error, InvalidAnswerError) else ""

    def answer(self) -> Said:
        """Returns what a valid form says."""
        raise NotImplementedError

    @property
    def fingerprint(self) -> str:
        """Return a digest of what is asked; the page sends it back."""
        return hashlib.sha256(json.dumps(self.asks()).encode()).hexdigest()[:16]

    def clean_asked(self) -> str:
        sent: str = self.cleaned_data["asked"]
        if sent and sent != self.fingerprint:  # pages that were open during an update send none
            raise forms.ValidationError(ASKED_OTHERWISE)
        return sent

    @cached_property
    def stored(self) -> list[Any]:
        """The rows of what was said before the task was brought back."""
        if self.about is None or self.about.finished_at is None:
            return []
        rows = TASKS[self.about.kind].model._default_manager.filter(assignment=self.about, is_current=True)
        return list(rows)

    @property
    def earlier(self) -> str:
        """Return what was said before, in words; empty if nothing."""
        verdict = self.stored[0].verdict if self.stored else None
        return "" if verdict is None else f"{verdict:g}"

    @property
    def comment(self) -> str:
        stored = next((row.rationale for row in self.stored if row.rationale), "")
        return self.sent("rationale") if self.is_bound else stored

    def sent(self, name: str) -> str:
        return str(self.data.get(name, ""))

    def took(self) -> float | None:
        return believable_seconds(self.cleaned_data["seconds"], self.about)

    def errors_of(self, name: str) -> tuple[str, ...]:
        return tuple(map(str, self[name].errors))


class RatingForm(AnswerForm):
    kind = Assignment.Kind.COMPARE

    def questions(self) -> dict[str, forms.Field]:
        reasons = forms.MultipleChoiceField(
            required=False,
            choices=[(reason, reason) for reason in map(str, self.study.reasons)],
            error_messages={"invalid_choice": "This study does not offer the reason “%(value)s”."},
        )
        criteria = {
            name: self._choice(f"Choose a rating for {criterion}.")
            for name, criterion in self.criteria.items()
        }
        return {"rating": self._choice("Choose a rating first."), **criteria, "reasons": reasons}

    def _choice(self, message: str) -> forms.TypedChoiceField:
        points = [(str(point), str(point)) for point in range(1, self.study.points + 1)]
        return forms.TypedChoiceField(
            choices=points,
            coerce=int,
            error_messages={"required": message, "invalid_choice": "Choose one of the buttons."},
        )

    def field_of(self, error: RatingError) -> str:
        asked = {f"criteria.{criterion}": name for name, criterion in self.criteria.items()}
        return asked.get(super().field_of(error), super().field_of(error))

    @property
    def criteria(self) -> dict[str, str]:
        """The criteria by the name of their field."""
        return {f"criterion-{number}": str(name) for number, name in enumerate(self.study.criteria)}

    def answer(self) -> Rating:
        data = self.cleaned_data
        return Rating(
            points=cast("scales.Points", self.study.points),
            rating=data["rating"],
            criteria={criterion: data[name] for name, criterion in self.criteria.items()},
            rationale=data["rationale"],
            reasons=data["reasons"],
            seconds=self.took(),
        )

    @cached_property
    def lines(self) -> "list[Row]":
        """The question about the pair as a whole, and one by each criterion."""
        earlier = self.stored[0] if self.stored else None
        said = {each.criterion: each.rating for each in earlier.criterion_ratings.all()} if earlier else {}
        turn = self.about.turn if self.about else 0
        question = QUESTION_OF_A_TURN.format(turn) if turn else QUESTION
        overall = self._row("rating", question, earlier.rating if earlier else None)
        more = [self._row(name, one, said.get(one), captions=False) for name, one in self.criteria.items()]
        return [overall, *more]

    def _row(self, name: str, label: str, earlier: int | None, *, captions: bool = True) -> "Row":
        errors = self.errors_of(name)
        return Row(name, label, self.study.points, captions, self.sent(name), errors, earlier)

    @property
    def chips(self) -> "list[ReasonChip]":
        chosen = self.stored[0].reasons if self.stored else []
        if self.is_bound:
            chosen = self.data.getlist("reasons") if hasattr(self.data, "getlist") else []
        offered = list(map(str, self.study.reasons))
        keys = [*REASON_KEYS[: len(offered)], *[""] * (len(offered) - len(REASON_KEYS))]
        return [ReasonChip(text, key, text in chosen) for text, key in zip(offered, keys, strict=True)]


class ScoreForm(AnswerForm):
    kind = Assignment.Kind.SCORE

    def questions(self) -> dict[str, forms.Field]:
        lowest, highest = self.ends
        wrong = f"A score is a number from {lowest} to {highest}."
        value = forms.IntegerField(
            min_value=lowest,
            max_value=highest,
            error_messages={
                "required": "Choose a score first.",
                **dict.fromkeys(("invalid", "min_value", "max_value"), wrong),
            },
        )
        return {"value": value}

    @property
    def ends(self) -> tuple[int, int]:
        return self.study.score_lowest, self.study.score_highest

    def answer(self) -> TextScore:
        lowest, highest = self.ends
        value, comment = self.cleaned_data["value"], self.cleaned_data["rationale"]
        return TextScore(lowest=lowest, highest=highest, value=value, rationale=comment, seconds=self.took())

    @property
    def lines(self) -> "list[Line]":
        lowest, highest = self.ends
        scores, chosen = range(lowest, highest + 1), self.sent("value")
        choices = [
            Choice(each, each, score_key(int(each), lowest), chosen == each, self.earlier == each)
            for each in (map(str, scores) if len(scores) <= MOST_BUTTONS else ())
        ]
        return [Line("value", "How good is this answer?", choices, self.errors_of("value"), chosen)]


class ChecksForm(AnswerForm):
    kind = Assignment.Kind.CHECK

    def questions(self) -> dict[str, forms.Field]:
        return {
            name: forms.ChoiceField(
                choices=Answer.Value.choices,
                error_messages={
                    "required": f"Requirement {number} has no answer yet.",
                    "invalid_choice": "Choose one of the buttons.",
                },
            )
            for number, name in enumerate(self.requirements, start=1)
        }

    @cached_property
    def requirements(self) -> dict[str, Question]:
        """Return what is asked about the text, by the name of its field."""
        assert self.about is not None  # noqa: S101 - the form of a task that the rater has
        asked = Question.objects.asked().filter(prompt__completions=self.about.completion_id)
        return {f"check-{each.position}": each for each in asked.order_by("position")}

    def asks(self) -> list[Any]:
        asked = [[each.pk, each.position, each.text] for each in self.requirements.values()]
        return super().asks() + asked

    def field_of(self, error: RatingError) -> str:
        return super().field_of(error).replace("answers.", "check-")

    def answer(self) -> Checks:
        data = self.cleaned_data
        comments = [data["rationale"], *[""] * len(self.requirements)]  # about the text: kept with the first
        answers = [
            Check(position=one.position, value=data[name], rationale=comment)
            for (name, one), comment in zip(self.requirements.items(), comments, strict=False)
        ]
        return Checks(answers=answers, seconds=self.took())

    @cached_property
    def stored(self) -> list[Any]:
        rows = Answer.objects.current().filter(assignment=self.about).select_related("question")
        return list(rows.order_by("question__position"))

    @property
    def earlier(self) -> str:
        return "checked" if self.stored else ""

    @property
    def lines(self) -> "list[Line]":
        """Return a line for each requirement."""
        earlier = {f"check-{row.question.position}": row.value for row in self.stored}
        return [
            self._line(name, question, earlier.get(name, "")) for name, question in self.requirements.items()
        ]

    def _line(self, name: str, question: Question, before: str) -> "Line":
        # One of many is changed: the others need not be chosen again.
        chosen = self.sent(name) if self.is_bound else before
        choices = [
            Choice(value, str(caption), VALUE_KEYS[value], chosen == value, before == value)
            for value, caption in Answer.Value.choices
        ]
        return Line(name, question.text, choices, self.errors_of(name))


FORMS: Final[Mapping[str, type[AnswerForm]]] = {
    "compare": RatingForm,
    "score": ScoreForm,
    "check": ChecksForm,
}
"""By kind of assignment."""


class FlagForm(forms.Form):
    assignment = forms.CharField(max_length=24, widget=forms.HiddenInput)
    reason = forms.ChoiceField(
        choices=Flag.Reason.choices,
        error_messages={
            "required": "Choose what is wrong first.",
            "invalid_choice": "Choose one of the reasons.",
        },
    )
    comment = forms.CharField(
        required=False,
        max_length=LONGEST_COMMENT,
        error_messages={"max_length": f"Please keep the comment under {LONGEST_COMMENT:,} characters."},
    )


def said_seconds(sent: str) -> float | None:
    """The time that the page sent; None if it is none."""
    try:
        seconds = float(sent)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def believable_seconds(sent: str, assignment: Assignment | None) -> float | None:
    """The time that the page sent, at most the time since the pair was shown, or else handed out.

    Never below 0: the clock may have been set back since, or another machine's may be behind.
    """
    seconds = said_seconds(sent)
    if seconds is None or assignment is None:
        return None
    since = assignment.shown_at or assignment.created_at
    return round(min(seconds, max(0.0, (timezone.now() - since).total_seconds())), 1)


REASON_KEYS = "qwedxvnmhjkl"  # keys that choose a reason, in order; the page uses them for nothing else


@dataclass(frozen=True)
class Point:
    """One button of the scale. side: a, b, or tie for the exact middle; gap: space before it."""

    rating: int
    caption: str
    side: str
    gap: bool


@dataclass(frozen=True)
class Row:
    """A question and its scale. earlier: the rating that was chosen before the pair was brought back."""

    name: str
    label: str
    points: int
    captions: bool = True  # beside the buttons
    chosen: str = ""
    errors: tuple[str, ...] = ()
    earlier: int | None = None

    @property
    def html(self) -> SafeString:
        is_blank = not (self.chosen or self.errors or self.earlier)
        return _blank_scale(self) if is_blank else _scale(self)


def _scale(row: Row) -> SafeString:
    return render_to_string("annotation/_scale.html", {"row": row, "points": scale_points(row.points)})


_blank_scale = lru_cache(maxsize=256)(_scale)
"""A study asks the same questions about every pair."""


@dataclass(frozen=True)
class ReasonChip:
    """A reason to choose. key: the letter that chooses it, or ''."""

    text: str
    key: str
    chosen: bool


@dataclass(frozen=True)
class Response:
    letter: str
    blocks: list[Block]


@dataclass(frozen=True)
class Choice:
    """A button. key: what chooses it, or ''; earlier: it was chosen before the text was brought back."""

    value: str
    caption: str
    key: str
    chosen: bool
    earlier: bool


@dataclass(frozen=True)
class Line:
    """One thing that is asked. choices: its buttons; without any, ``written`` is what stands in its field."""

    name: str
    label: str
    choices: list[Choice]
    errors: Sequence[str]
    written: str = ""


@dataclass(frozen=True)
class Task:
    """What the page shows of an assignment. texts: what was said, by answer; references: turns, if shown."""

    assignment: Assignment
    form: AnswerForm
    prompt: ShownPrompt
    texts: list[list[Block]]
    references: list[list[Part]]

    @property
    def responses(self) -> list[Response]:
        """Both answers of a pair."""
        return (
            [Response(*each) for each in zip("AB", self.texts, strict=True)] if self.assignment.pair else []
        )

    @property
    def identical(self) -> bool:
        pair = self.assignment.pair
        return pair is not None and pair.is_identical_at(self.assignment.turn)

    @property
    def tie(self) -> int | None:
        return tie_rating(self.assignment) if self.identical else None


QUESTION: Final = "Which answer is better?"
QUESTION_OF_A_TURN: Final = "Which answer to turn {} is better?"


def scale_points(points: int) -> list[Point]:
    sides = {rating: scales.preference(rating, points) for rating in range(1, points + 1)}
    return [
        Point(
            rating=rating,
            caption=scales.CAPTIONS[points][rating - 1],
            side="a" if side < 0 else "b" if side > 0 else "tie",
            gap=rating > 1 and sides[rating - 1] < 0 < side,
        )
        for rating, side in sides.items()
    ]


def build(assignment: Assignment, form: AnswerForm | None = None) -> Task:
    """Return what the page shows of an assignment; ``form``: a refused answer to it, if any."""
    study, pair, completion = assignment.study, assignment.pair, assignment.completion
    shown = pair.shown(assignment.swapped) if pair else (cast("Completion", completion),)
    prompt = pair.prompt if pair else shown[0].prompt
    answers = [ShownAnswer.of(each, study) for each in shown]
    references = prompt.reference_turns if study.shows_references else []
    html = html_of(texts_of(prompt), *(each.turns for each in answers), *references)
    return Task(
        assignment,
        form or FORMS[assignment.kind](study, assignment),
        *conversation(prompt, answers, html, assignment.turn),
        [parts(each[: assignment.turn or None], html) for each in references],
    )


def tie_rating(assignment: Assignment) -> int | None:
    """The rating that calls it a tie, if any. Of the two on an even scale a bit of the seed chooses."""
    band = scales.TIE_BAND[assignment.study.points]
    return band[(assignment.seed >> 20) % len(band)] if band else None


def score_key(score: int, lowest: int) -> str:
    """The digit that chooses a score: 0 is the lowest if the scale starts there, and otherwise 10."""
    if score == 10:
        return "0" if lowest else ""
    return str(score) if score < 10 else ""
