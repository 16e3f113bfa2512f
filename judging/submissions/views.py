"""The page on which anybody proposes a model for a study, and those on which operators decide."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from arena.data.importing.import_report import ImportReport
from arena.data.uploads import jobs
from arena.data.uploads.forms import FilesField, QuotaHandler, too_much, within_bounds
from arena.data.uploads.views import within_quota
from arena.models import Contestant, Study
from arena.pages.operating import paged, refuse
from arena.pages.permissions import OperatorRequest, Visitor, is_staff, operator
from arena.pages.written import LineField
from arena.process.proof import is_proven, origin_of
from judging.judges.forms import AmountField
from judging.judges.rights import may_ask_models
from judging.judges.services import JudgeError
from judging.models import Author, Submission
from judging.models.writing import errors_of
from judging.submissions import proof, services
from judging.writing.services import holes
from judging.writing.views import AuthorForm
from judging.writing.wanted import Wanted

UNPROVEN = "Sign in, or let this page run its script, which proves that a person sends the form."


class ProposeForm(forms.Form):
    name = LineField(max_length=200, label="Name of the model", help_text="As the leaderboard is to show it.")
    base_url = LineField(
        max_length=500,
        required=False,
        label="Address",
        help_text="Of an OpenAI-compatible endpoint, e.g. https://api.example.com/v1. Without a key: if it "
        "needs one, the operators ask you for it.",
    )
    model = LineField(
        max_length=200, required=False, label="Model at this address", help_text="As the endpoint names it."
    )
    uploads = FilesField(
        label="Or files of answers",
        help_text="A row for each answer, with the columns prompt (the id of a prompt of this study), "
        "contestant (the name above) and text: CSV, JSON Lines, Excel or Parquet.",
    )
    licence = LineField(max_length=100, help_text="Of the model or its answers, for example Apache-2.0.")
    contact = forms.EmailField(
        label="Email address", help_text="For the decision. Only the operators see it."
    )
    consent = forms.BooleanField(label=services.CONSENT)
    token = forms.CharField(widget=forms.HiddenInput)
    proof = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean_uploads(self) -> list[jobs.Upload]:
        return within_bounds(self.cleaned_data["uploads"])

    def propose(self, study: Study, request: HttpRequest) -> Submission | None:
        """The stored proposal; None, with an error of the form, if there is none."""
        given = self.cleaned_data
        try:
            wanted = Submission(
                **{name: given[name] for name in ("name", "base_url", "model", "licence", "contact")},
                token=proof.read_token(given["token"]),
                account=request.user if request.user.is_authenticated else None,
                origin=origin_of(request, proof.SALT),
            )
            return services.propose(study, wanted, given["uploads"])
        except JudgeError as error:
            refuse(self, error.field, str(error))
            return None


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def _propose(request: HttpRequest, slug: str) -> HttpResponseBase:
    study = get_object_or_404(Study, slug=slug, takes_models=True, is_draft=False)

    def show(form: ProposeForm, why: str = "") -> HttpResponse:
        if why:
            form.errors.clear()
            form.add_error(None, why)
        if form.is_bound:
            form.data = {**form.data, "token": proof.new_token(), "proof": ""}
        context = {"study": study, "form": form, "bits": proof.BITS}
        return render(request, "judging/propose.html", context, status=422 if form.is_bound else 200)

    def take(request: HttpRequest, quota: QuotaHandler) -> HttpResponse:
        sent, form = request.POST, ProposeForm(request.POST.dict(), request.FILES)
        if quota.exceeded:
            return show(form, too_much())
        shown = sent.get("token", ""), sent.get("proof", "")
        if request.user.is_anonymous and not is_proven(*shown, proof.BITS):
            return show(form, UNPROVEN)
        if form.is_valid() and (row := form.propose(study, request)):
            messages.success(request, f"Received. The operators know it as proposal {row.pk}.")
            return redirect(request.path)
        return show(form)

    if request.method == "POST":
        return within_quota(request, take, lambda request, why: show(ProposeForm({}), why))
    return show(ProposeForm(initial={"token": proof.new_token()}))


propose = csrf_exempt(_propose)  # within_quota checks it instead


class AcceptForm(AuthorForm):
    """How the proposed model is asked; operators enter key and prices."""

    def __init__(self, data: Any, row: Submission) -> None:
        told = {name: getattr(row, name) for name in ("name", "model", "base_url")}
        super().__init__(data, study=row.study, initial=told)
        self._row = row

    def stored(self, by: Visitor) -> Author:
        return services.accept(self._row, self.wanted, by, self.cleaned_data["name"]).author


class ActionForm(forms.Form):
    budget = AmountField()
    reason = forms.CharField(required=False, max_length=2000)


@require_safe
@operator
def submissions(request: OperatorRequest) -> HttpResponse:
    rows = request.study.submissions.select_related("decided_by", "contestant").order_by("-state", "-pk")
    context = {"study": request.study, "page": paged(request, rows)}
    return render(request, "judging/submissions.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def submission(request: OperatorRequest, number: int) -> HttpResponse:
    """A proposal: decide, then have its answers written or imported, and judged."""
    rows = Submission.objects.select_related("study", "job", "account", "decided_by", "contestant__study")
    row = get_object_or_404(rows, study=request.study, pk=number)
    decides = row.base_url and "model" in request.POST
    form, staff = AcceptForm(request.POST if decides else None, row), is_staff(request.user)
    if request.method == "POST":
        if not staff and (form.is_bound or {"write", "judge"} & request.POST.keys()):
            raise PermissionDenied
        for why in [] if form.is_bound else _act(request, row):
            messages.error(request, why)
        if not form.is_bound or (form.is_valid() and form.store(request.user)):
            return redirect(row)
    context = {"study": row.study, "row": row, "form": form, "staff": staff}
    if row.contestant:
        context |= _steps(row, row.contestant, request.user)
    return render(request, "judging/submission.html", context, status=422 if form.errors else 200)


def _act(request: OperatorRequest, row: Submission) -> list[str]:
    """Decide, or do the next step; why it was not done."""
    form, asked, by = ActionForm(request.POST), request.POST, request.user
    try:
        if not form.is_valid():
            return [f"{name.capitalize()}: {errors[0]}" for name, errors in form.errors.items()]
        if "decline" in asked:
            services.decline(row, form.cleaned_data["reason"], by)
        elif "accept" in asked and not row.base_url:
            services.accept(row, None, by)
        elif "import" in asked and row.job:
            return list(filter(None, [jobs.request_seen(row.job, asked.get("seen", ""))]))
        elif "write" in asked and row.contestant:
            Wanted(budget=form.cleaned_data["budget"]).start(row.contestant.author, by)
        elif "judge" in asked and row.contestant:
            return services.start_runs(row.contestant, form.cleaned_data["budget"], by)
    except (JudgeError, Author.DoesNotExist) as error:
        return [str(error)]
    return []


def _steps(row: Submission, contestant: Contestant, by: Visitor) -> dict[str, Any]:
    """What has become of an accepted proposal, and what the next step costs."""
    answers = contestant.completions.filter(is_current=True, is_empty=False).count()
    found: dict[str, Any] = {"answers": answers, "may_start": may_ask_models(by)}
    found["runs"] = contestant.judge_runs.whole()
    if job := row.job:
        found |= {"progress": jobs.progress_of(job.pk), "waiting": not jobs.has_runner(job.pk)}
        found["report"] = ImportReport.from_dict(job.report) if job.report and not job.has_ended else None
    if not is_staff(by) or (job and job.is_running):
        return found
    author = (
        Author.objects.filter(contestant=contestant).select_related("contestant__study", "endpoint").first()
    )
    if author and (run := author.runs.first()):
        found["last"] = {"run": run, "progress": run.progress, "errors": errors_of(run)}
        if found["last"]["progress"].left:
            return found
    try:
        found["writing"] = Wanted().in_words(author) if author and holes(author).exists() else None
    except JudgeError as error:
        found["why_not"] = str(error)
    found["planned"] = services.planned(contestant) if answers else ()
    return found
