import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from arena.data.json_input import JSONInput
from arena.models import Rater
from arena.people.permissions import staff_only
from judging.judges.services import JudgeError, configure_judge, create_judge
from judging.models import Judge
from judging.protocols.answer_scales import FORMS, POINTS
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.customization import text_name
from judging.protocols.description import calls, described

GROUPS: dict[str, tuple[str, ...]] = {
    "The model": ("provider", "model", "base_url", "api_key_env"),
    "How it is asked": (
        "protocol",
        "form",
        "points",
        "parameters",
        "samples",
        "rates_criteria",
        "wording_files",
        "own_wording",
    ),
    "Sampling": ("temperature", "max_tokens", "timeout", "options", "logprobs"),
    "Pace": ("concurrency", "requests_per_minute", "tokens_per_minute"),
    "Runs": ("both_orders", "active"),
    "Simulation": ("simulation",),
}

NOT_OF_THE_MODEL = {"wording_files", "own_wording"}
CONFIG_FIELDS = [name for names in GROUPS.values() for name in names if name not in NOT_OF_THE_MODEL]

LONGEST_WORDING = 100_000  # bytes of a file with the wording of one text


class ManyFiles(forms.FileField):
    def __init__(self, **options: Any) -> None:
        widget = type("ManyFilesInput", (forms.FileInput,), {"allow_multiple_selected": True})()
        super().__init__(**{"widget": widget, **options})

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) else [data]
        return [super(ManyFiles, self).clean(one, initial) for one in given if one]


class JudgeForm(forms.ModelForm):  # type: ignore[type-arg]
    """Rules live in judging.judges.services; this only shows them."""

    name = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=120, help_text="Used in commands and in judge:SLUG. It never changes.")
    protocol = forms.ChoiceField(initial="likert")
    api_key_env = forms.RegexField(
        r"^[A-Za-z_][A-Za-z0-9_]*$",
        label="Key variable",
        max_length=100,
        required=False,
        help_text="Name of the environment variable that holds the key, e.g. OPENAI_API_KEY. Never the key "
        "itself. Leave empty where no key is needed.",
        error_messages={
            "invalid": "Give the name of an environment variable (letters, digits, underscores)."
        },
    )
    wording_files = ManyFiles(
        label="Own wording",
        required=False,
        help_text="Text files that replace prompt texts of the protocol, each named like its text, "
        'e.g. rate.txt. Write "__" for the slash of a text such as prepair/compare.',
    )
    own_wording = forms.MultipleChoiceField(
        label="Texts with a wording of their own",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Untick one to go back to the protocol's text.",
    )

    field_order = ["name", "slug", *(name for names in GROUPS.values() for name in names)]

    class Meta:
        model = Judge
        fields = CONFIG_FIELDS
        field_classes = {"options": JSONInput, "simulation": JSONInput, "parameters": JSONInput}
        help_texts = {
            "parameters": 'Where they differ from the defaults above, e.g. {"rules": false}.',
            "points": "Of a verdict that is one number; the other answer scales have their own.",
            "simulation": "Strengths in Elo points by the slugs of all contestants, noise and position bias, "
            'e.g. {"noise": 200, "position_bias": -100, "strengths": {"model-a": 1100, "model-b": 900}}.',
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        protocol, own = self.fields["protocol"], self.fields["own_wording"]
        assert isinstance(protocol, forms.ChoiceField)  # noqa: S101 - declared above
        assert isinstance(own, forms.MultipleChoiceField)  # noqa: S101 - declared above
        families = groupby(PROTOCOLS.values(), key=lambda each: each.family)
        protocol.choices = [
            (family, [(each.name, f"{each.name}: {each.title}") for each in members])
            for family, members in families
        ]
        for name in ("options", "simulation", "parameters"):
            self.fields[name].widget = forms.Textarea(attrs={"rows": 3, "class": "mono"})
        if self.instance.pk:
            self.fields["slug"].disabled = True
            self.initial.update({"name": self.instance.name, "slug": self.instance.slug})
        if self.instance.wording:
            own.choices = [(name, name) for name in self.instance.wording]
            self.initial["own_wording"] = list(self.instance.wording)
        else:
            del self.fields["own_wording"]

    def offer_scales_of(self, protocol: str) -> None:
        """Offer only this protocol's answer scales, replacing the field on the page."""
        scales, offered = self.fields["form"], PROTOCOLS[protocol].forms
        assert isinstance(scales, forms.ChoiceField)  # noqa: S101 - of a column with choices
        scales.choices = [(name, words) for name, words in FORMS.items() if name in offered]
        scales.widget.attrs["hx-swap-oob"] = "true"

    @property
    def groups(self) -> Iterator[tuple[str, list[BoundField]]]:
        for title, names in GROUPS.items():
            yield title, [self[name] for name in names if name in self.fields]

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        taken = Rater.objects.filter(kind=Rater.Kind.JUDGE, slug=slug, study=None)
        if not self.instance.pk and taken.exists():
            raise forms.ValidationError(f'There is a judge "{slug}" already.')
        return slug

    def clean_points(self) -> int:
        """The only choice where the answer scale leaves one."""
        points: int = self.cleaned_data["points"]
        offered = POINTS.get(self.cleaned_data.get("form", "likert"), (points,))
        return offered[0] if len(offered) == 1 else points

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        for name in ("options", "simulation", "parameters"):
            cleaned[name] = cleaned.get(name) or {}
            if not isinstance(cleaned[name], dict):
                self.add_error(name, 'Enter a JSON object such as {"top_p": 0.9}.')
        return cleaned

    def clean_wording_files(self) -> dict[str, str]:
        wording = {}
        for file in self.cleaned_data["wording_files"]:
            name = text_name(file.name)
            if file.size > LONGEST_WORDING:
                raise forms.ValidationError(f"{file.name} is longer than {LONGEST_WORDING:,} bytes.")
            try:
                wording[name] = file.read().decode("utf-8-sig").strip()
            except UnicodeDecodeError as error:
                raise forms.ValidationError(f"{file.name} is not a text file in UTF-8.") from error
        return wording

    def _post_clean(self) -> None:
        """Nothing: the service checks the whole judge, and a form must not change the row before it has."""

    def store(self) -> Judge | None:
        """The stored judge; None, with an error of the form, if that cannot be."""
        kept = {name: self.instance.wording[name] for name in self.cleaned_data.get("own_wording", ())}
        wanted = Judge(
            **{name: self.cleaned_data[name] for name in CONFIG_FIELDS},
            wording=kept | self.cleaned_data["wording_files"],
        )
        try:
            with transaction.atomic():
                if self.instance.pk:
                    fresh = Judge.objects.select_related("rater").get(pk=self.instance.pk)
                    return configure_judge(fresh, self.cleaned_data["name"], wanted)
                return create_judge(self.cleaned_data["slug"], self.cleaned_data["name"], wanted)
        except JudgeError as error:
            self.add_error(None, str(error))
            return None


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def judge_form(request: HttpRequest, slug: str | None = None) -> HttpResponse:
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
