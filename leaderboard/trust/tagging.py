"""Operators tag the errors of judges, and say which tags to choose from."""

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from arena.models import Comparison, Pair, Rater
from arena.pages.operating import INVALID
from arena.pages.permissions import OperatorRequest, operator
from leaderboard.pages.pairs import LARGEST_ID
from leaderboard.trust import tags


@require_POST
@operator
def tag(request: OperatorRequest, pair: int) -> HttpResponse:
    """Tag the error of the judge that the address names, or take the tag away where it is empty."""
    name, slug = request.POST.get("tag", ""), request.GET.get("judge", "").replace("\0", "")
    if pair > LARGEST_ID or (name and name not in tags.offered(request.study)):
        raise Http404
    about = get_object_or_404(Pair, pk=pair, prompt__study=request.study)
    said = Comparison.objects.counted(request.study).filter(pair=about, rater__kind=Rater.Kind.JUDGE)
    given = said.filter(rater__slug=slug).order_by("rater").select_related("rater").first()
    if given is None:
        raise Http404
    tags.put(given.rater, about, name, request.user)
    query = request.META.get("QUERY_STRING", "")
    return redirect(f"{reverse('study-instance', args=[request.study.slug, pair])}?{query}#tag")


class NamesForm(forms.Form):
    names = forms.CharField(
        label="Tags",
        help_text="One per line, the most common first: the first nine have the keys 1 to 9.",
        widget=forms.Textarea({"rows": 8}),
        required=False,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def names(request: OperatorRequest) -> HttpResponse:
    form = NamesForm(request.POST or None, initial={"names": "\n".join(tags.offered(request.study))})
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            tags.offer(request.study, form.cleaned_data["names"].splitlines())
        except tags.TagNamesError as error:
            form.add_error("names", str(error))
            status = INVALID
        else:
            messages.success(request, "Saved. Tags that are set stay.")
            return redirect("operate-tags", slug=request.study.slug)
    counted: dict[str, int] = {}
    for own in tags.counts(request.study).values():
        for name, n in own.items():
            counted[name] = counted.get(name, 0) + n
    context = {"study": request.study, "form": form, "counted": counted}
    return render(request, "leaderboard/error_tags.html", context, status=status)
