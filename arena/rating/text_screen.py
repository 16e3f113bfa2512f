"""What the rating page shows of a single text, to be scored or checked, and its forms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms

from arena.models import Answer, Assignment, Question, Score, Study
from arena.rating.opinions import Check, Checks, RatingError, TextScore
from arena.rating.screen import (
    AnswerForm,
    Part,
    ShownPrompt,
    believable_seconds,
    html_of,
    parts,
    sent,
    shown_prompt,
    texts_of,
)
from arena.texts.self_naming import shown_turns

MOST_BUTTONS: Final = 11
"""Scores that have a button each; on a longer scale the score is written."""
VALUE_KEYS: Final = {"yes": "y", "no": "n", "unknown": "u"}


class ScoreForm(AnswerForm):
    kind = Assignment.Kind.SCORE

    def __init__(self, assignment: Assignment, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = assignment.study
        ends = f"{self.study.score_lowest} to {self.study.score_highest}"
        self.fields["value"] = forms.IntegerField(
            min_value=self.study.score_lowest,
            max_value=self.study.score_highest,
            error_messages={
                "required": "Choose a score first.",
                **dict.fromkeys(("invalid", "min_value", "max_value"), f"A score is a number from {ends}."),
            },
        )

    def answer(self, assignment: Assignment | None) -> TextScore:
        data = self.cleaned_data
        return TextScore(
            lowest=self.study.score_lowest,
            highest=self.study.score_highest,
            value=data["value"],
            rationale=data["rationale"],
            seconds=believable_seconds(data["seconds"], assignment),
        )


class ChecksForm(AnswerForm):
    kind = Assignment.Kind.CHECK

    def field_of(self, error: RatingError) -> str:
        return super().field_of(error).replace("answers.", "check-")

    def __init__(self, assignment: Assignment, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = assignment.study
        self.questions = {f"check-{each.position}": each for each in questions(assignment)}
        for number, name in enumerate(self.questions, start=1):
            self.fields[name] = forms.ChoiceField(
                choices=Answer.Value.choices,
                error_messages={
                    "required": f"Requirement {number} has no answer yet.",
                    "invalid_choice": "Choose one of the buttons.",
                },
            )

    def asks(self) -> list[Any]:
        asked = [[each.pk, each.position, each.text] for each in self.questions.values()]
        return super().asks() + asked

    def answer(self, assignment: Assignment | None) -> Checks:
        data = self.cleaned_data
        return Checks(
            # The comment is about the whole text; it is kept with the first answer.
            answers=[
                Check(position=one.position, value=data[name], rationale="" if number else data["rationale"])
                for number, (name, one) in enumerate(self.questions.items())
            ],
            seconds=believable_seconds(data["seconds"], assignment),
        )


def questions(assignment: Assignment) -> list[Question]:
    """What is asked about the text of an assignment."""
    asked = Question.objects.asked().filter(prompt__completions=assignment.completion_id)
    return list(asked.order_by("position"))


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
class TextTask:
    """What the page shows of an assignment about a single text. earlier: what was said before, in words."""

    public_id: str
    asked: str
    kind: str
    prompt: ShownPrompt
    turns: list[Part]
    lines: list[Line]
    comment: str
    comment_errors: Sequence[str]
    references: list[list[Part]]
    earlier: str
    reopened: bool

    @property
    def is_conversation(self) -> bool:
        return len(self.prompt.turns) > 1 or len(self.turns) > 1


TextForm = ScoreForm | ChecksForm


def form_of(assignment: Assignment, data: Any = None) -> TextForm:
    return (ScoreForm if assignment.kind == Assignment.Kind.SCORE else ChecksForm)(assignment, data)


def build(assignment: Assignment, form: TextForm | None) -> TextTask:
    """What the page shows of an assignment; ``form``: a refused answer to it, if any."""
    completion = assignment.completion
    assert completion is not None  # noqa: S101 - held by a constraint
    turns = shown_turns(completion, assignment.study)
    references = completion.prompt.reference_turns if assignment.study.shows_references else []
    html = html_of(texts_of(completion.prompt), turns, *references)
    blank = form or form_of(assignment)
    if isinstance(blank, ScoreForm):
        line, earlier, comment = _score(assignment, blank)
        lines = [line]
    else:
        lines, earlier, comment = _checks(assignment, blank)
    return TextTask(
        public_id=assignment.public_id,
        asked=blank.fingerprint,
        kind=assignment.kind,
        prompt=shown_prompt(completion.prompt, html),
        turns=parts(turns, html),
        lines=lines,
        comment=sent(form, "rationale") if form else comment,
        comment_errors=list(map(str, blank["rationale"].errors)),
        references=[parts(each, html) for each in references],
        earlier=earlier,
        reopened=assignment.finished_at is not None,
    )


def _score(assignment: Assignment, form: ScoreForm) -> tuple[Line, str, str]:
    """The line of a score, the earlier score in words, and its comment."""
    study, given = assignment.study, Score.objects.current().filter(assignment=assignment).first()
    earlier = "" if given is None or given.value is None else f"{given.value:g}"
    chosen = sent(form, "value")
    scores = range(study.score_lowest, study.score_highest + 1)
    choices = [
        Choice(str(score), str(score), score_key(score, study), chosen == str(score), earlier == str(score))
        for score in (scores if len(scores) <= MOST_BUTTONS else ())
    ]
    line = Line("value", "How good is this answer?", choices, list(map(str, form["value"].errors)), chosen)
    return line, earlier, given.rationale if given else ""


def score_key(score: int, study: Study) -> str:
    """The digit that chooses a score: 0 is the lowest if the scale starts there, and otherwise 10."""
    if score == 10:
        return "0" if study.score_lowest else ""
    return str(score) if score < 10 else ""


def _checks(assignment: Assignment, form: ChecksForm) -> tuple[list[Line], str, str]:
    """A line for each requirement, whether they were answered before, and the comment."""
    given = Answer.objects.current().filter(assignment=assignment).select_related("question")
    earlier = {f"check-{each.question.position}": each for each in given.order_by("question__position")}
    lines = []
    for name, question in form.questions.items():
        before = earlier[name].value if name in earlier else ""
        # One of many is changed: the others need not be chosen again.
        chosen = sent(form, name) if form.is_bound else before
        choices = [
            Choice(value, str(caption), VALUE_KEYS[value], chosen == value, before == value)
            for value, caption in Answer.Value.choices
        ]
        lines.append(Line(name, question.text, choices, list(map(str, form[name].errors))))
    comment = next((each.rationale for each in earlier.values() if each.rationale), "")
    return lines, "checked" if earlier else "", comment
