"""The operators' page of candidates, of what judges get wrong, and of what people decide."""

import json
from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_http_methods

from arena.models import Contestant, Rater, Study
from arena.pages.operating import INVALID, refuse
from arena.pages.permissions import OperatorRequest, Visitor, is_staff, operator
from arena.rules.subsets import NEIGHBOUR, SIMILAR, WORSE
from judging.judges.services import JudgeError
from leaderboard.adversarial.filtering import STILL_RATED, Keep, take_out, tells, told
from leaderboard.adversarial.making import AdversarialError, Candidates, wanted

MOST = 1000  # candidates of each way that a page makes
WAYS = {
    NEIGHBOUR: "Neighbor: the answer to a near prompt",
    SIMILAR: "GPTInst: a model writes a similar prompt and answers that",
    WORSE: "GPTOut: a model writes a worse answer that looks good",
}


class NewForm(forms.Form):
    study = forms.SlugField(label="Address of the new study", max_length=80)

    def given(self) -> dict[str, Any]:
        """What was entered, as the API takes it."""
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}


class CandidatesForm(NewForm):
    ways = forms.MultipleChoiceField(
        label="Wrong answers", choices=WAYS.items(), initial=[NEIGHBOUR], widget=forms.CheckboxSelectMultiple
    )
    right = forms.ModelChoiceField(Contestant.objects.none(), label="Right answers by")
    wrong = forms.ModelChoiceField(
        Contestant.objects.none(),
        label="Answers to near prompts by",
        required=False,
        empty_label="The same model",
    )
    n = forms.IntegerField(label="Candidates of each kind", min_value=1, max_value=MOST, initial=100)
    below = forms.FloatField(
        label="Similarity of near prompts, less than",
        initial=0.9,
        help_text="Cosine, at most 1. Nearer prompts may have the same right answer.",
    )
    vectors = forms.FileField(
        label="Embeddings of the prompts",
        required=False,
        help_text='JSON such as {"p1": [0.1, 0.2]}, by id. Without them, TF-IDF of the words.',
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("right", "wrong"):
            self.fields[name].queryset = study.contestants.all()  # type: ignore[attr-defined]

    def clean_vectors(self) -> Any:
        try:
            return (json.load(self.cleaned_data["vectors"]) or {}) if self.cleaned_data["vectors"] else None
        except (ValueError, RecursionError):
            raise forms.ValidationError("The file is no JSON.") from None

    def make(self, source: Study, by: Visitor) -> Study:
        given = self.given()
        given |= {name: given[name].slug for name in ("right", "wrong") if name in given}
        return wanted(Candidates, given | {"source": source.slug}).make(by)


class KeepForm(NewForm):
    judges = forms.MultipleChoiceField(widget=forms.MultipleHiddenInput)
    wrong = forms.TypedChoiceField(label="Keep pairs with", coerce=int)

    def __init__(self, *args: Any, judges: Sequence[str], kept: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = [
            (least, f"{least} or more of {len(kept)} verdicts wrong: {count:,} pair{pluralize(count)}")
            for least, count in enumerate(kept, start=1)
        ]
        self.fields["judges"].choices = [(slug, slug) for slug in judges]  # type: ignore[attr-defined]
        self.fields["wrong"].choices = offered  # type: ignore[attr-defined]
        self.initial = {"judges": judges, "wrong": len(judges)}

    def make(self, source: Study, by: Visitor) -> Study:
        return wanted(Keep, self.given() | {"source": source.slug}).make(by)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def adversarial(request: OperatorRequest) -> HttpResponse:
    """What is known of the study as candidates, and of what it was made of; POST makes a study of it."""
    study, posted = request.study, request.POST
    if "take_out" in posted:
        try:
            changed = take_out(study, request.user)
        except AdversarialError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"Right answers changed: {changed:,}.")
        return redirect(request.path)
    if posted and not is_staff(request.user):
        raise PermissionDenied
    judges = (told(study)["candidates"] or {}).get("judges", {})
    named = {*request.GET.getlist("judge"), *posted.getlist("keep-judges")}
    chosen = [slug for slug in judges if slug in named] or list(judges)
    known = told(study, chosen)
    making = CandidatesForm(
        posted if "make" in posted else None, request.FILES or None, study=study, prefix="make"
    )
    kept = (known["candidates"] or {}).get("kept", ())
    keeping = KeepForm(posted if "keep" in posted else None, judges=chosen, kept=kept, prefix="keep")
    for form in (making, keeping):
        if form.is_bound and form.is_valid():
            try:
                made = form.make(study, request.user)
            except JudgeError as error:
                refuse(form, error.field, str(error))
            else:
                messages.success(request, "Study created. It is a draft until you publish it.")
                return redirect("operate-adversarial", slug=made.slug)
    raters = Rater.objects.filter(Q(study=study) | Q(study=None), kind=Rater.Kind.JUDGE, slug__in=judges)
    names = dict(raters.values_list("slug", "name"))
    unwritten = study.prompts.rated().filter(pairs=None)  # their wrong answer makes a pair of them
    context = {
        "study": study,
        "told": known,
        "making": making,
        "keeping": keeping,
        "may_make": is_staff(request.user),
        "judges": [(slug, names.get(slug, slug), count) for slug, count in judges.items()],
        "chosen": chosen,
        "still_rated": STILL_RATED if tells(study) else "",
        "models": study.contestants.exists(),
        "writes": [way for way in (SIMILAR, WORSE) if unwritten.filter(subset=way).exists()],
    }
    is_wrong = making.errors or keeping.errors
    return render(request, "leaderboard/adversarial.html", context, status=INVALID if is_wrong else 200)
