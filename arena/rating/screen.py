"""What the rating page shows, and its forms. Nothing here tells who wrote a text."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

from django import forms
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString

from arena.models import Assignment, Comparison, Flag, Prompt, Study
from arena.models.settings import asked_about
from arena.rating import scales
from arena.rating.opinions import InvalidAnswerError, Rating, RatingError
from arena.texts.markdown import is_plain
from arena.texts.rendering_cache import rendered
from arena.texts.self_naming import shown_turns

SHORT: Final = 280  # characters of a prompt that are seen while it is folded
FEW_LINES: Final = 3

Html: TypeAlias = dict[str, SafeString]  # HTML by source text


@dataclass(frozen=True)
class Part:
    raw: str
    html: SafeString

    @property
    def is_plain(self) -> bool:
        """Whether the HTML shows the text as written."""
        return is_plain(self.html)


@dataclass(frozen=True)
class ShownPrompt:
    turns: list[Part]
    given: Part | None
    category: str

    @property
    def preview(self) -> str:
        """What is seen of the prompt while it is folded."""
        first = self.turns[0].raw if self.turns else ""
        return first or (self.given.raw if self.given else "")

    @property
    def folds(self) -> bool:
        """Whether folding would hide something."""
        return len(self._texts) > 1 or len(self.preview) > SHORT or self.preview.count("\n") >= FEW_LINES

    @property
    def words(self) -> int:
        return sum(len(text.split()) for text in self._texts)

    @property
    def _texts(self) -> list[str]:
        return [part.raw for part in [*self.turns, *([self.given] if self.given else [])]]


def html_of(*texts: Iterable[str]) -> Html:
    """The HTML of all texts that are not blank, with one query."""
    return rendered(text for some in texts for text in some if text.strip())


def texts_of(prompt: Prompt) -> list[str]:
    return [*prompt.turns, prompt.input]


def parts(turns: Sequence[str], html: Html) -> list[Part]:
    return [Part(turn, html.get(turn, SafeString())) for turn in turns]


def shown_prompt(prompt: Prompt, html: Html) -> ShownPrompt:
    given = parts([prompt.input], html)[0] if prompt.input else None
    return ShownPrompt(parts(prompt.turns, html), given, prompt.category)


LONGEST_COMMENT = 5000
ASKED_OTHERWISE: Final = "What is asked was changed while your page was open. Look again and answer anew."


class AnswerForm(forms.Form):
    """What all answers have."""

    assignment = forms.CharField(max_length=24, widget=forms.HiddenInput)
    asked = forms.CharField(required=False, widget=forms.HiddenInput)
    seconds = forms.CharField(required=False, max_length=40)
    rationale = forms.CharField(
        required=False,
        max_length=LONGEST_COMMENT,
        error_messages={"max_length": f"Please keep the comment under {LONGEST_COMMENT:,} characters."},
    )

    study: Study
    kind: str

    def asks(self) -> list[Any]:
        """Return what an answer is about, beside the texts; operators may change it while a page is open."""
        return asked_about(self.study, self.kind)

    def field_of(self, error: RatingError) -> str:
        """Return the field that a refusal is about; "" if about none."""
        return error.field if isinstance(error, InvalidAnswerError) else ""

    @property
    def fingerprint(self) -> str:
        """Of what is asked; the page sends it back."""
        return hashlib.sha256(json.dumps(self.asks()).encode()).hexdigest()[:16]

    def clean_asked(self) -> str:
        sent: str = self.cleaned_data["asked"]
        if sent and sent != self.fingerprint:  # pages that were open during an update send none
            raise forms.ValidationError(ASKED_OTHERWISE)
        return sent


class RatingForm(AnswerForm):
    kind = Assignment.Kind.COMPARE

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.fields["rating"] = self._choice("Choose a rating first.")
        for name, criterion in self.criterion_fields().items():
            self.fields[name] = self._choice(f"Choose a rating for {criterion}.")
        self.fields["reasons"] = forms.MultipleChoiceField(
            required=False,
            choices=[(reason, reason) for reason in map(str, study.reasons)],
            error_messages={"invalid_choice": "This study does not offer the reason “%(value)s”."},
        )

    def field_of(self, error: RatingError) -> str:
        asked = {f"criteria.{criterion}": name for name, criterion in self.criterion_fields().items()}
        return asked.get(super().field_of(error), super().field_of(error))

    def criterion_fields(self) -> dict[str, str]:
        return {f"criterion-{number}": str(name) for number, name in enumerate(self.study.criteria)}

    def _choice(self, message: str) -> forms.TypedChoiceField:
        points = [(str(point), str(point)) for point in range(1, self.study.points + 1)]
        return forms.TypedChoiceField(
            choices=points,
            coerce=int,
            error_messages={"required": message, "invalid_choice": "Choose one of the buttons."},
        )

    def answer(self, assignment: Assignment | None) -> Rating:
        data = self.cleaned_data
        return Rating(
            points=cast("scales.Points", self.study.points),
            rating=data["rating"],
            criteria={criterion: data[name] for name, criterion in self.criterion_fields().items()},
            rationale=data["rationale"],
            reasons=data["reasons"],
            seconds=believable_seconds(data["seconds"], assignment),
        )


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
    parts: list[Part]


@dataclass(frozen=True)
class Task:
    public_id: str
    asked: str
    prompt: ShownPrompt
    responses: list[Response]
    overall: Row
    criteria: list[Row]
    reasons: list[ReasonChip]
    reason_errors: Sequence[str]
    comment: str
    comment_errors: Sequence[str]
    references: list[list[Part]]
    """By reference its turns; empty where the study does not show them."""
    earlier: int | None
    reopened: bool
    identical: bool
    tie: int | None
    kind: str = Assignment.Kind.COMPARE

    @property
    def is_conversation(self) -> bool:
        return len(self.prompt.turns) > 1 or any(len(response.parts) > 1 for response in self.responses)


QUESTION: Final = "Which answer is better?"


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


def build(assignment: Assignment, form: RatingForm | None) -> Task:
    """What the page shows of an assignment; ``form``: a refused answer to it, if any."""
    pair = assignment.pair
    assert pair is not None  # noqa: S101 - held by a constraint
    shown = pair.shown(assignment.swapped)
    turns = [shown_turns(completion, assignment.study) for completion in shown]
    references = pair.prompt.reference_turns if assignment.study.shows_references else []
    html = html_of(texts_of(pair.prompt), *turns, *references)
    earlier, said = None, {}
    if assignment.finished_at is not None:
        earlier = Comparison.objects.current().filter(assignment=assignment).first()
    if earlier:
        said = dict(earlier.criterion_ratings.values_list("criterion", "rating"))
    blank = form or RatingForm(assignment.study)
    return Task(
        public_id=assignment.public_id,
        asked=blank.fingerprint,
        prompt=shown_prompt(pair.prompt, html),
        responses=[Response(letter, parts(some, html)) for letter, some in zip("AB", turns, strict=True)],
        overall=_row(blank, "rating", QUESTION, earlier.rating if earlier else None),
        criteria=[
            _row(blank, name, label, said.get(label), captions=False)
            for name, label in blank.criterion_fields().items()
        ],
        reasons=_reasons(assignment.study, form, earlier),
        reason_errors=list(map(str, blank["reasons"].errors)),
        comment=sent(form, "rationale") if form else earlier.rationale if earlier else "",
        comment_errors=list(map(str, blank["rationale"].errors)),
        references=[parts(each, html) for each in references],
        earlier=earlier.rating if earlier else None,
        reopened=assignment.finished_at is not None,
        identical=pair.is_identical,
        tie=tie_rating(assignment) if pair.is_identical else None,
    )


def tie_rating(assignment: Assignment) -> int | None:
    """The rating that calls it a tie, if any. Of the two on an even scale a bit of the seed chooses."""
    band = scales.TIE_BAND[assignment.study.points]
    return band[(assignment.seed >> 20) % len(band)] if band else None


def _reasons(study: Study, form: RatingForm | None, earlier: Comparison | None) -> list[ReasonChip]:
    if form:
        chosen = form.data.getlist("reasons") if hasattr(form.data, "getlist") else []
    else:
        chosen = earlier.reasons if earlier else []
    offered = list(map(str, study.reasons))
    keys = [*REASON_KEYS[: len(offered)], *[""] * (len(offered) - len(REASON_KEYS))]
    return [ReasonChip(text, key, text in chosen) for text, key in zip(offered, keys, strict=True)]


def _row(form: RatingForm, name: str, label: str, earlier: int | None, *, captions: bool = True) -> Row:
    errors = tuple(map(str, form[name].errors))
    return Row(name, label, form.study.points, captions, sent(form, name), errors, earlier)


def sent(form: AnswerForm | None, name: str) -> str:
    value: Any = form.data.get(name, "") if form else ""
    return str(value)
