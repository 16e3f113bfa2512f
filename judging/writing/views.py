"""The operators' pages of models that write; models cost money."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena.models import Contestant, Study
from arena.pages.operating import refuse
from arena.pages.permissions import Visitor, staff_only
from judging.judges.forms import AmountField, AskedForm, values_of
from judging.judges.rights import may_ask_models
from judging.judges.services import JudgeError, missing_key
from judging.models import Author, WritingProgress, WritingRun
from judging.models.writing import errors_of, progress_of
from judging.writing import reading, services
from judging.writing.probing import gifts, probe
from judging.writing.second import offered
from judging.writing.services import SAMPLING
from judging.writing.wanted import Kind, Wanted

LAST_RUNS = 10
MOST_ERRORS = 20

REFERENCES, AGAIN, SECOND = "references", "again", "second"
KINDS = [
    (Kind.WRITE.value, "writes the answers that are missing"),
    (AGAIN, "writes them, and is asked again where its reply was refused, filtered or empty"),
    (SECOND, "writes second answers to its weakest"),
    (Kind.READ.value, "reads its answers, for their probabilities"),
    (REFERENCES, "reads its answers and the reference answers"),
]


class AuthorForm(AskedForm[Author]):
    MAIN = ("name", "model", "base_url", "api_key_env", "prompt_price", "reply_price")
    ADVANCED = {
        "What it writes": ("writes",),
        "Sampling": SAMPLING,
        "Price": ("currency",),
        "Probabilities": ("vocabulary",),
        "Pace": ("timeout", "concurrency", "requests_per_minute", "tokens_per_minute"),
    }

    name = forms.CharField(
        max_length=200, help_text="As in the study. A name that is not there yet is added to its models."
    )

    class Meta:
        model = Author
        fields = (*SAMPLING, "writes")
        field_classes = AskedForm.SAMPLING

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._study = study
        if self.instance.pk:
            self.fields["name"].disabled = True
            known = values_of(self.instance.endpoint)
            self.initial.update(known, name=self.instance.contestant.name)

    def is_stored(self) -> bool:
        # An author, under whatever address.
        name = self.cleaned_data["name"]
        return Author.objects.filter(contestant__study=self._study, contestant__name=name).exists()

    @property
    def wanted(self) -> Author:
        return Author(
            endpoint=self.endpoint(), **{name: self.cleaned_data[name] for name in self.Meta.fields}
        )

    def stored(self, by: Visitor) -> Author:
        return services.configure_author(self._study, self.cleaned_data["name"], self.wanted, by)


class StartForm(forms.Form):
    """What to show the cost of, and then to start."""

    kind = forms.ChoiceField(choices=KINDS, initial=Kind.WRITE, label="The model", required=False)
    limit = forms.IntegerField(
        label="Number of answers",
        required=False,
        min_value=1,
        max_value=1_000_000_000,
        help_text="At most. Leave empty for all.",
    )
    budget = AmountField(
        label="Budget",
        help_text="The run ends before it spends more, in the currency of the price. Optional.",
    )

    weakest_by = forms.ChoiceField(
        label="Weakest by",
        required=False,
        help_text="They are written after the first answer and what raters said of it, as another model’s.",
    )

    def __init__(self, *args: Any, features: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._features = features
        self._choices_of("weakest_by", list(features.items()))
        if not features:
            del self.fields["weakest_by"]
            self._choices_of("kind", [each for each in KINDS if each[0] != SECOND])

    def _choices_of(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared so
        field.choices = choices

    @property
    def wanted(self) -> Wanted:
        chosen, limit, budget = (self.cleaned_data[name] for name in ("kind", "limit", "budget"))
        kind = Kind.READ if chosen in (Kind.READ, REFERENCES) else Kind.WRITE
        second = (self.cleaned_data["weakest_by"] or next(iter(self._features))) if chosen == SECOND else ""
        return Wanted(kind, limit, budget, chosen == AGAIN, chosen == REFERENCES, second)


@require_safe
@staff_only
def writing(request: HttpRequest, slug: str) -> HttpResponse:
    """The models of a study that have an endpoint."""
    study = get_object_or_404(Study, slug=slug)
    authors = Author.objects.filter(contestant__study=study).select_related("contestant__study", "endpoint")
    rows = [
        (author, services.holes(author).count(), _last_runs(author, 1))
        for author in authors.order_by("contestant__name")
    ]
    return render(request, "judging/writing.html", {"study": study, "rows": rows})


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def author_form(request: HttpRequest, slug: str, contestant: str = "") -> HttpResponse:
    study = get_object_or_404(Study, slug=slug)
    author = _author(study, contestant) if contestant else None
    wanted = {name: request.GET.get(name, "") for name in ("name", "writes")} if author is None else None
    form = AuthorForm(request.POST or None, study=study, instance=author, initial=wanted)
    if request.method == "POST" and form.is_valid() and (stored := form.store(request.user)):
        messages.success(request, f"Saved {stored.contestant.name}.")
        if why := missing_key(stored.endpoint):
            messages.warning(request, why)
        return redirect("judge_author", slug, stored.contestant.slug)
    known = study.contestants.filter(author=None, kind=Contestant.Kind.MODEL).values_list("name", flat=True)
    context = {"study": study, "form": form, "author": author, "known": () if author else known}
    return render(request, "judging/author_form.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def author_page(request: HttpRequest, slug: str, contestant: str) -> HttpResponse:
    """What a model could write, at which cost (GET); have it do so (POST)."""
    study = get_object_or_404(Study, slug=slug)
    author = _author(study, contestant)
    features = {} if author.second_to_id else offered(author.contestant)
    asked = request.POST or (request.GET if "limit" in request.GET else None)
    form = StartForm(asked, features=features)
    context: dict[str, Any] = {"study": study, "author": author, "form": form}
    if form.is_valid():
        try:
            if request.method == "POST":
                run = form.wanted.start(author, request.user)
                return redirect("judge_author", slug, run.author.contestant.slug)
            form.wanted.check(author)
            context["rows"] = form.wanted.in_words(author)
        except JudgeError as error:
            refuse(form, error.field, str(error))
    context |= {
        "holes": services.holes(author).count(),
        "unanswered": services.unanswered(author),
        "runs": _last_runs(author, LAST_RUNS),
        "may_start": may_ask_models(request.user),
        "gifts": gifts(author),
        "probed_at": parse_datetime(author.endpoint.gives.get("at", "")),
        "reads": reading.way(author.endpoint) is not None,
    }
    return render(request, "judging/author.html", context, status=422 if form.errors else 200)


@require_POST
@staff_only
def probe_endpoint(request: HttpRequest, slug: str, contestant: str) -> HttpResponse:
    author = _author(get_object_or_404(Study, slug=slug), contestant)
    try:
        probe(author, request.user)
    except JudgeError as error:
        messages.error(request, str(error))
    return redirect("judge_author", slug, contestant)


@require_safe
@staff_only
def run_progress(request: HttpRequest, run_id: int) -> HttpResponse:
    """The progress alone, polled while there is anything left; the end reloads the page."""
    run = _run(run_id)
    progress = run.progress
    response = render(request, "judging/_writing_run.html", _shown(run, progress))
    if not progress.left:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@staff_only
def cancel_run(request: HttpRequest, run_id: int) -> HttpResponse:
    run = _run(run_id)
    services.cancel(run, request.user)
    messages.success(request, "Cancelled. Answers that are being written now are kept when they come.")
    return redirect("judge_author", run.study.slug, run.author.contestant.slug)


def _author(study: Study, contestant: str) -> Author:
    found = Author.objects.select_related("contestant__study", "endpoint")
    return get_object_or_404(found, contestant__study=study, contestant__slug=contestant)


def _run(run_id: int) -> WritingRun:
    found = WritingRun.objects.select_related("study", "author__contestant", "author__endpoint")
    return get_object_or_404(found, pk=run_id)


def _last_runs(author: Author, count: int) -> list[dict[str, Any]]:
    runs = list(author.runs.all()[:count])
    told = progress_of(runs)
    return [_shown(run, told[run.pk]) for run in runs]


def _shown(run: WritingRun, progress: WritingProgress) -> dict[str, Any]:
    return {"run": run, "progress": progress, "errors": errors_of(run)[:MOST_ERRORS]}
