"""The pages of the training, and an operator's try of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_safe

from arena.models import Membership, Pair, Role, Study
from arena.pages import permissions
from arena.pages.permissions import MemberRequest, member
from arena.rating import screen, training
from arena.rating.shown import Answer, ShownPrompt, conversation, html_of, texts_of
from arena.rules import scales

MOST_EXAMPLES: Final = 20


@dataclass(frozen=True)
class Lesson:
    """A training pair with the names that the rating page's templates use."""

    prompt: ShownPrompt
    responses: list[screen.Response]
    overall: screen.Row
    identical: bool
    explanation: SafeString  # HTML, or ''
    better: str  # A or B, or '' for a tie
    tie: int | None = None  # the templates' tie button, which a training does not show


def build(study: Study, pair: Pair, *, swapped: bool, chosen: str = "", errors: Sequence[str] = ()) -> Lesson:
    question = screen.Row("rating", screen.QUESTION, study.points, chosen=chosen, errors=tuple(errors))
    return _lessons(study, {pair: swapped}, question)[0]


def examples(membership: Membership) -> list[Lesson]:
    """The first training pairs as worked examples."""
    pairs = training.examples(membership)[:MOST_EXAMPLES]
    swapped = {pair: training.is_swapped(pair, membership.rater_id, 1) for pair in pairs}
    return _lessons(membership.study, swapped, screen.Row("", "", membership.study.points))


def _lessons(study: Study, swapped: Mapping[Pair, bool], question: screen.Row) -> list[Lesson]:
    """Training pairs, each with the order of its answers."""
    said = {pair: [Answer.of(one, study) for one in pair.shown(by)] for pair, by in swapped.items()}
    around = [[*texts_of(pair.prompt), pair.explanation] for pair in swapped]
    html = html_of(*(one.turns for both in said.values() for one in both), *around)
    shown = {pair: conversation(pair.prompt, both, html) for pair, both in said.items()}
    return [
        Lesson(
            prompt=prompt,
            responses=[screen.Response(*each) for each in zip("AB", answers, strict=True)],
            overall=question,
            identical=pair.is_identical,
            explanation=html.get(pair.explanation, SafeString()),
            better=better_letter(pair, swapped=swapped[pair]),
        )
        for pair, (prompt, answers) in shown.items()
    ]


def better_letter(pair: Pair, *, swapped: bool) -> str:
    """A or B, whichever is better as shown; '' for a tie."""
    if pair.gold == Pair.Gold.TIE:
        return ""
    return "A" if (pair.gold == Pair.Gold.FIRST) is not swapped else "B"


@require_safe
@member
def overview(request: MemberRequest) -> HttpResponse:
    study = request.study
    if request.membership.role == Role.OPERATOR:
        return redirect("training-try", slug=study.slug, number=1)
    if request.membership.guidelines_read_at is None:
        return redirect("guidelines", slug=study.slug)
    course = training.course(request.membership)
    is_through = request.membership.trained_at is not None
    if not course.total or study.is_closed or not study.compares:
        return redirect("rate-study", slug=study.slug)
    if course.next_number and course.has_begun and not is_through:
        return redirect("training-pair", slug=study.slug, attempt=course.attempt, number=course.next_number)
    context = {"study": study, "course": course, "is_through": is_through, "most": training.MAX_ATTEMPTS}
    return render(request, "annotation/training.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member
def pair(request: MemberRequest, attempt: int, number: int) -> HttpResponse:
    """Show a pair of an attempt, with the right answer once it is answered."""
    study = request.study
    course = training.course_at(request.membership, attempt)
    step = course.step(number) if course else None
    if course is None or step is None or study.is_closed:
        return redirect("training", slug=study.slug)
    given = step.answer
    swapped = given.swapped if given else training.is_swapped(step.pair, request.rater.pk, attempt)
    here = _Place(study, step.pair, swapped, number, course.total, attempt)
    if given:
        return _answered(request, here, given.rating, given.points)
    if number != course.next_number or request.membership.trained_at:
        return redirect("training", slug=study.slug)
    if request.method != "POST":
        return _question(request, here)
    sent = request.POST.get("rating", "")
    try:
        training.answer(request.membership, attempt, number, read_rating(sent, study.points))
    except scales.ScaleError as error:
        return _question(request, here, sent, str(error))
    except training.OutOfStepError:
        return redirect("training", slug=study.slug)
    return redirect("training-pair", slug=study.slug, attempt=attempt, number=number)


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.operator
def attempt(request: permissions.OperatorRequest, number: int) -> HttpResponse:
    """A pair for an operator who tries the training: nothing is stored."""
    study = request.study
    pairs = list(training.pairs_of(study))
    if not 1 <= number <= len(pairs):
        return render(request, "annotation/training_tried.html", {"study": study, "total": len(pairs)})
    found = pairs[number - 1]
    here = _Place(study, found, training.is_swapped(found, request.user.pk, 1), number, len(pairs))
    if request.method != "POST":
        return _question(request, here)
    sent = request.POST.get("rating", "")
    try:
        rating = read_rating(sent, study.points)
    except scales.ScaleError as error:
        return _question(request, here, sent, str(error))
    return _answered(request, here, rating, study.points)


class _Place(NamedTuple):
    """Where in a training somebody is. attempt: None in an operator's try."""

    study: Study
    pair: Pair
    swapped: bool
    number: int
    total: int
    attempt: int | None = None

    @property
    def done(self) -> int:
        return self.number - 1

    @property
    def after(self) -> str:
        if self.attempt is None:
            return reverse("training-try", args=[self.study.slug, self.number + 1])
        if self.number == self.total:
            return reverse("training", args=[self.study.slug])
        return reverse("training-pair", args=[self.study.slug, self.attempt, self.number + 1])


def read_rating(sent: str, points: int) -> int:
    """The rating of a form; raises ScaleError with a sentence for the person."""
    if not sent:
        raise scales.ScaleError("Choose a rating first.")
    if not (sent.isascii() and sent.isdecimal() and len(sent) == 1 and 1 <= int(sent) <= points):
        raise scales.ScaleError("Choose one of the buttons.")
    return int(sent)


def _question(request: HttpRequest, here: _Place, sent: str = "", error: str = "") -> HttpResponse:
    shown = build(here.study, here.pair, swapped=here.swapped, chosen=sent, errors=[error] if error else [])
    context = {"study": here.study, "here": here, "task": shown}
    return render(request, "annotation/training_pair.html", context, status=422 if error else 200)


def _answered(request: HttpRequest, here: _Place, rating: int, points: int) -> HttpResponse:
    context = {
        "study": here.study,
        "here": here,
        "task": build(here.study, here.pair, swapped=here.swapped),
        "is_answered": True,
        "rating": rating,
        "said": scales.CAPTIONS[points][rating - 1],
        "is_right": training.is_right(here.pair, rating, points, swapped=here.swapped),
        "any_will_do": here.pair.gold == Pair.Gold.TIE and not scales.TIE_BAND[points],
    }
    return render(request, "annotation/training_answered.html", context)
