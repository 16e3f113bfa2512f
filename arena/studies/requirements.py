"""The operators' pages of the requirements of a study's prompts."""

import re
from typing import Final

from django import forms
from django.contrib import messages
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from arena.models import Answer, Prompt, Question, Study
from arena.pages.counts import is_number
from arena.pages.operating import INVALID, paged, refuse, show
from arena.pages.permissions import OperatorRequest, operator
from arena.pages.written import LinesField
from arena.studies import questions
from arena.studies.questions import QuestionError, Wording


def by_prompt(study: Study, which: str = "") -> QuerySet[Prompt]:
    """The prompts with how many requirements they ask, how many wait, and how many checks there are."""
    asked = Q(questions__is_current=True, questions__is_accepted=True)
    proposed = Q(questions__is_current=True, questions__is_accepted=False)
    checks = (
        Answer.objects.current()
        .filter(study=study, question__prompt=OuterRef("pk"))
        .order_by()
        .values("question__prompt")
        .annotate(n=Count("pk"))
        .values("n")
    )
    found = (
        Prompt.objects.rated()
        .filter(study=study)
        .annotate(
            asked=Count("questions", filter=asked),
            proposed=Count("questions", filter=proposed),
            checks=Coalesce(Subquery(checks), 0),
        )
        .order_by("external_id", "pk")
    )
    if which == "without":
        return found.filter(asked=0)
    return found.filter(proposed__gt=0) if which == "proposed" else found


class QuestionForm(forms.Form):
    text = forms.CharField(
        label="Requirement",
        max_length=questions.LONGEST,
        widget=forms.Textarea({"rows": 2}),
        help_text="A question that yes or no answers, for example “Is the answer a list?”",
    )
    labels = LinesField(
        label="Kinds of requirement (optional)",
        widget=forms.Textarea({"rows": 2}),
        help_text="One per line, for example Format. The share of requirements met is also shown by kind.",
    )
    required = forms.BooleanField(
        label="An answer must meet it",
        required=False,
        initial=True,
        help_text="The share of answers that meet all such requirements is shown, too.",
    )

    @property
    def wording(self) -> Wording:
        given = self.cleaned_data
        return Wording(given["text"].replace("\r\n", "\n"), tuple(given["labels"]), given["required"])


SHOWN = {"": "All", "without": "Without requirements", "proposed": "With proposals"}


@require_safe
@operator
def requirements(request: OperatorRequest) -> HttpResponse:
    study, which = request.study, request.GET.get("show", "")
    which = which if which in SHOWN else ""
    rows = Question.objects.filter(prompt__study=study, is_current=True)
    waiting = rows.filter(is_accepted=False)
    context = {
        "page": paged(request, by_prompt(study, which)),
        "choices": SHOWN.items(),
        "which": which,
        "query": f"&show={which}" if which else "",
        "prompts": Prompt.objects.rated().filter(study=study).count(),
        "asked": rows.filter(is_accepted=True).count(),
        "waiting": waiting.count(),
        "without": by_prompt(study, "without").count(),
        "checks": Answer.objects.current().filter(study=study).count(),
    }
    return show(request, "requirements.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def prompt(request: OperatorRequest, prompt: int) -> HttpResponse:
    """The requirements of one prompt; POST adds, moves, retires, accepts or drops some."""
    row = get_object_or_404(Prompt.objects.select_related("study"), pk=prompt, study=request.study)
    form = QuestionForm(request.POST if "add" in request.POST else None)
    back = redirect("operate-prompt-requirements", slug=request.study.slug, prompt=row.pk)
    try:
        if request.method == "POST" and (not form.is_bound or form.is_valid()):
            messages.success(request, _done(request, row, form))
            return back
    except QuestionError as error:
        if not form.is_bound:
            messages.error(request, str(error))
            return back
        refuse(form, error.field, str(error))
    answered = Answer.objects.filter(question=OuterRef("pk"))
    rows = row.questions.order_by("position", "pk").annotate(
        checks=Count("answers", filter=Q(answers__is_current=True)), has_answers=Exists(answered)
    )
    asked = [one for one in rows if one.is_current and one.is_accepted]
    places = [None, *(each.position for each in asked), None]
    context = {
        "prompt": row,
        "asked": [*zip(asked, places, places[2:], strict=False)],  # each with those before and after it
        "waiting": sorted((one for one in rows if not one.is_accepted), key=lambda one: one.pk),
        "retired": [each for each in rows if not each.is_current and each.is_accepted],
        "checked": Answer.objects.filter(question__prompt=row).exists(),
        "form": form,
    }
    return show(request, "prompt_requirements.html", context, status=INVALID if form.is_bound else 200)


NOTHING: Final = "Nothing was changed."


def _done(request: OperatorRequest, prompt: Prompt, form: QuestionForm) -> str:
    """Do what was posted, and say what was done; 404 for what no button of the page sends."""
    by = request.user
    if form.is_bound:
        added = questions.add(prompt, by, form.wording)
        return "Requirement added." if added else "The prompt already has this requirement."
    action = next((name for name in ("move", "retire", "accept", "drop") if name in request.POST), "")
    numbers = re.split("[:,]", request.POST.get(action, ""))
    if action and not all(map(is_number, numbers)):
        raise Http404
    match action, numbers:
        case "", _:
            return NOTHING
        case "move", [question, position]:
            return "Moved." if questions.move(prompt, by, int(question), int(position)) else NOTHING
        case "retire", [question]:
            removed = questions.retire(prompt, by, int(question))
            return "The requirement is no longer asked." if removed else NOTHING
        case "accept", _:
            count = questions.accept(prompt, by, [*map(int, numbers)])
            return f"{questions.in_words(count)} accepted." if count else NOTHING
        case "drop", _:
            count = questions.drop(prompt, [*map(int, numbers)])
            return f"{questions.in_words(count)} dropped." if count else NOTHING
    raise Http404


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def requirement(request: OperatorRequest, prompt: int, question: int) -> HttpResponse:
    """Change one requirement, or a proposal before it is accepted."""
    found = Question.objects.select_related("prompt__study").filter(prompt__study=request.study)
    row = get_object_or_404(found, pk=question, prompt=prompt)
    initial = {"text": row.text, "labels": row.labels, "required": row.required}
    form = QuestionForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            changed = questions.change(row.prompt, request.user, row.pk, form.wording)
            if "accept" in request.POST:
                changed |= bool(questions.accept(row.prompt, request.user, [row.pk]))
            messages.success(request, "Saved." if changed else NOTHING)
            return redirect("operate-prompt-requirements", slug=request.study.slug, prompt=prompt)
        except QuestionError as error:
            refuse(form, error.field, str(error))
    checks = row.answers.filter(is_current=True).count()
    context = {"question": row, "prompt": row.prompt, "checks": checks, "form": form}
    return show(request, "requirement.html", context, status=INVALID if form.errors else 200)
