"""Staff pages: judges, the protocols they can use, and panels."""

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from judging.catalogue.describing import calls, described
from judging.judges.forms import JudgeForm, PanelForm
from judging.judges.staff import staff_only
from judging.models import Judge, Panel
from judging.protocols.catalogue import PROTOCOLS


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def judge_form(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Configure a new judge, or change one."""
    judge = get_object_or_404(Judge.objects.select_related("rater"), rater__slug=slug) if slug else None
    form = JudgeForm(request.POST or None, request.FILES or None, instance=judge)
    if request.method == "POST" and form.is_valid():
        stored = form.store()
        if stored:
            messages.success(request, f"{stored.name} is saved.")
            return redirect("judging")
    context = {"form": form, "judge": judge, **_about(str(form["protocol"].value()))}
    return render(request, "judging/judge_form.html", context, status=422 if form.errors else 200)


@require_safe
@staff_only
def about_protocol(request: HttpRequest) -> HttpResponse:
    """What the chosen protocol is and leaves open, and its answer scales, as parts of the judge's form."""
    name = request.GET.get("protocol", "")
    context = _about(name)
    if context:
        form = JudgeForm(initial={"form": request.GET.get("form", "")})
        form.offer_scales_of(name)
        context["answer_scales"] = form["form"]
    return render(request, "judging/_protocol.html", context)


def _about(name: str) -> dict[str, object]:
    protocol = PROTOCOLS.get(name)
    if protocol is None:
        return {}
    parameters = [
        {**each, "default": json.dumps(each["default"], ensure_ascii=False)}
        for each in described(protocol)["parameters"]
    ]
    return {"protocol": protocol, "calls": calls(protocol).words, "parameters": parameters}


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def panel_form(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Put a new panel together, or change one."""
    panel = get_object_or_404(Panel.objects.select_related("rater"), rater__slug=slug) if slug else None
    form = PanelForm(request.POST or None, panel=panel)
    if request.method == "POST" and form.is_valid():
        stored = form.store()
        if stored:
            messages.success(request, f"{stored} is saved.")
            return redirect("judging")
    context = {"form": form, "panel": panel}
    return render(request, "judging/panel_form.html", context, status=422 if form.errors else 200)
