import json
from itertools import chain, groupby
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from arena.models import Study
from arena.pages.counts import up_to
from arena.pages.permissions import Visitor, staff_only
from judging.judges.forms import AskedForm, ObjectField, values_of
from judging.judges.services import (
    SETTINGS,
    configure_judge,
    create_judge,
    missing_key,
    slug_of,
)
from judging.models import Endpoint, Judge
from judging.protocols.answer_scales import FORMS, POINTS
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.customization import MOST_SAMPLES, text_name
from judging.protocols.description import calls, described
from judging.protocols.protocol import Task

CONFIG_FIELDS = [name for name in SETTINGS if name != "wording"]
NOT_COPIED = {"protocol", "form", "points", "parameters", "active"}
"""Fields that another judge of the same model sets anew."""


class TaskChoice(NamedTuple):
    """A task that a judge can have, in a word and as a question, and the protocol to begin with."""

    word: str
    question: str
    protocol: str
    why: str


TASKS = {
    Task.COMPARE: TaskChoice(
        "Compare",
        "Which of two answers is better?",
        "likert",
        "likert is recommended: the judge gives the same rating from 1 to 8 as people, in one call.",
    ),
    Task.SCORE: TaskChoice(
        "Score",
        "How good is one answer?",
        "direct-score",
        "direct-score is recommended for a score from 1 to 5, the others for one from 1 to 10.",
    ),
    Task.CHECK: TaskChoice(
        "Check",
        "Which requirements of its prompt does one answer meet?",
        "requirements",
        "requirements is recommended: it asks about one requirement after the other, as InFoBench does.",
    ),
}
UNCHOSEN = "likert"  # the answer scale of a page that nobody has touched
OF_PAIRS = ("form", "points", "rates_criteria", "both_orders")  # fields of judges that compare

LONGEST_WORDING = 100_000  # bytes of a file with the wording of one text


class ManyFiles(forms.FileField):
    def __init__(self, **options: Any) -> None:
        widget = type("ManyFilesInput", (forms.FileInput,), {"allow_multiple_selected": True})()
        super().__init__(**{"widget": widget, **options})

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) else [data]
        return [super(ManyFiles, self).clean(one, initial) for one in given if one]


class JudgeForm(AskedForm[Judge]):
    MAIN = ("name", "model", "base_url", "api_key_env", "prompt_price", "reply_price", "protocol")
    ADVANCED = {
        "Name and price": ("slug", "currency"),
        "How it is asked": (
            "form",
            "points",
            "parameters",
            "samples",
            "replies",
            "rates_criteria",
            "wording_files",
            "own_wording",
        ),
        "Sampling": ("temperature", "max_tokens", "options", "logprobs"),
        "Pace": ("timeout", "concurrency", "requests_per_minute", "tokens_per_minute"),
        "Runs": ("both_orders", "active"),
        "Simulation": ("provider", "simulation"),
    }

    name = forms.CharField(max_length=200, help_text="Readers see it on the leaderboard.")
    slug = forms.SlugField(
        max_length=120, required=False, help_text="Leave empty to use the name. It cannot be changed later."
    )
    wording_files = ManyFiles(
        label="Own wording",
        required=False,
        help_text="Text files that replace texts of the protocol, each named like its text, e.g. rate.txt. "
        "The only text of a protocol can come from a file of any name. "
        'Write "__" for the slash of a text such as prepair/compare.',
    )

    class Meta:
        model = Judge
        fields = CONFIG_FIELDS
        field_classes = {
            **AskedForm.SAMPLING,
            "simulation": ObjectField,
            "parameters": ObjectField,
            "samples": up_to(MOST_SAMPLES),
        }
        labels = {"provider": "Kind"}
        help_texts = {
            "parameters": 'Those that differ from the protocol\'s defaults, e.g. {"rules": false}.',
            "simulation": "Strengths in Elo points by the short names of all models, noise, position bias, "
            'e.g. {"noise": 200, "position_bias": -100, "strengths": {"model-a": 1100, "model-b": 900}}.',
        }

    def __init__(self, *args: Any, task: str = Task.COMPARE, **kwargs: Any) -> None:
        """The protocol decides the task of a judge; ``task`` is that of a new one without a protocol."""
        super().__init__(*args, **kwargs)
        del self.fields["vocabulary"]  # of models that write
        self.fields["base_url"].required = False  # of simulated judges
        self.fields["replies"].required = False
        self.fields["model"].required = self.data.get("provider") != Judge.Provider.SIMULATED
        chosen = self.instance.protocol if self.instance.pk else ""
        protocol_chosen = PROTOCOLS.get(str(self.data.get("protocol", chosen)))
        self.task = protocol_chosen.task if protocol_chosen else Task(task)
        for name in OF_PAIRS if self.task is not Task.COMPARE else ():
            del self.fields[name]
        offered = [each for each in PROTOCOLS.values() if each.task is self.task]
        self.fields["protocol"] = forms.ChoiceField(
            choices=[
                (family, [(each.name, f"{each.name}: {each.title}") for each in members])
                for family, members in groupby(offered, key=lambda each: each.family)
            ],
            help_text=TASKS[self.task].why,
        )
        self.initial.setdefault("protocol", TASKS[self.task].protocol)
        if self.instance.pk:
            self.fields["slug"].disabled = True
            known = {"name": self.instance.name, "slug": self.instance.slug, **values_of(self.instance.asks)}
            self.initial.update(known)
        if own := list(self.instance.wording):
            self.fields["own_wording"] = forms.MultipleChoiceField(
                label="Texts with your own wording",
                choices=[(name, name) for name in own],
                initial=own,
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text="Untick a text to use the protocol's again.",
            )
        self.order_fields([*self.MAIN, *chain.from_iterable(self.ADVANCED.values())])

    def offer_scales_of(self, protocol: str) -> None:
        """Offer only this protocol's answer scales, replacing the field on the page."""
        scales, offered = self.fields["form"], PROTOCOLS[protocol].forms
        assert isinstance(scales, forms.ChoiceField)  # noqa: S101 - of a column with choices
        scales.choices = [(name, words) for name, words in FORMS.items() if name in offered]
        scales.widget.attrs["hx-swap-oob"] = "true"

    @property
    def tasks(self) -> list[tuple[Task, str, str]]:
        """The tasks that a new judge can have."""
        return [] if self.instance.pk else [(task, one.word, one.question) for task, one in TASKS.items()]

    def clean_slug(self) -> str:
        """The given one; for a new judge without one, made of the name."""
        slug: str = self.cleaned_data["slug"]
        return slug if slug or self.instance.pk else slug_of(self.cleaned_data.get("name", ""))

    def clean_replies(self) -> str:
        return self.cleaned_data["replies"] or Judge.Replies.WORDS

    def clean_points(self) -> int:
        """The only choice where the answer scale leaves one."""
        points: int = self.cleaned_data["points"]
        offered = POINTS.get(self.cleaned_data.get("form", "likert"), (points,))
        return offered[0] if len(offered) == 1 else points

    def clean_wording_files(self) -> dict[str, str]:
        wording = {}
        files = self.cleaned_data["wording_files"]
        protocol = PROTOCOLS.get(str(self.data.get("protocol")))
        texts = list(protocol.texts) if protocol else []
        for file in files:
            # The only file for the only text may be called as its paper calls it.
            name = texts[0] if len(files) == len(texts) == 1 else text_name(file.name)
            if file.size > LONGEST_WORDING:
                raise forms.ValidationError(f"{file.name} is longer than {LONGEST_WORDING:,} bytes.")
            try:
                wording[name] = file.read().decode("utf-8-sig").strip()
            except UnicodeDecodeError as error:
                raise forms.ValidationError(f"{file.name} is not a text file in UTF-8.") from error
        return wording

    def endpoint(self) -> Endpoint | None:
        is_simulated = self.cleaned_data["provider"] == Judge.Provider.SIMULATED
        return None if is_simulated else super().endpoint()

    def wanted(self) -> Judge:
        """The judge as the valid form describes it, not stored."""
        given = self.cleaned_data
        kept = {name: self.instance.wording[name] for name in given.get("own_wording", ())}
        return Judge(
            **{name: given[name] for name in CONFIG_FIELDS if name in given},
            endpoint=self.endpoint(),
            wording=kept | given["wording_files"],
        )

    @property
    def sharing(self) -> list[str]:
        """The other judges whose endpoint this one asks, by name."""
        endpoint = self.instance.endpoint if self.instance.pk else None
        others = Judge.objects.filter(endpoint=endpoint).exclude(pk=self.instance.pk) if endpoint else ()
        return [judge.name for judge in others]

    def stored(self, by: Visitor) -> Judge:
        slug, name = self.cleaned_data["slug"], self.cleaned_data["name"]
        if not self.instance.pk:
            return create_judge(slug, name, self.wanted(), by)
        fresh = Judge.objects.whole().get(pk=self.instance.pk)
        return configure_judge(fresh, name, self.wanted(), by)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def judge_form(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """A new judge, or the settings of one. ``?like=`` copies a judge; ``?study=`` is who wants a new one."""
    judge = get_judge(slug) if slug else None
    form = JudgeForm(
        request.POST or None,
        request.FILES or None,
        instance=judge,
        initial=_like(request.GET.get("like")),
        task=_task(request),
    )
    if request.method == "POST" and form.is_valid() and (stored := form.store(request.user)):
        messages.success(request, f"Saved the judge {stored.name}.")
        if why := missing_key(stored.endpoint):
            messages.warning(request, why)
        study = request.GET.get("study")
        if study and not judge:
            chosen = {"study": study, "judge": str(stored.pk)}
            return redirect(f"{reverse('judge_run_new')}?{urlencode(chosen)}")
        return redirect("judging")
    return show_form(request, form)


def _task(request: HttpRequest) -> str:
    """The one asked for, else that of the judge that is copied, or the first of the study."""
    chosen = request.GET.get("task", "")
    if chosen in TASKS:
        return chosen
    like = Judge.objects.filter(rater__slug=request.GET.get("like", "")).first()
    if like:
        return like.task
    study = Study.objects.filter(slug=request.GET.get("study", "")).first()
    return str(study.tasks[0]) if study and study.tasks else Task.COMPARE


def get_judge(slug: str) -> Judge:
    return get_object_or_404(Judge.objects.whole(), rater__slug=slug)


def show_form(request: HttpRequest, form: JudgeForm, **context: object) -> HttpResponse:
    judge = form.instance if form.instance.pk else None
    place = {"query": request.GET.urlencode(), "study": request.GET.get("study", "")}
    rest = request.GET.copy()
    rest.pop("task", None)
    place["rest"] = rest.urlencode()
    context |= {"form": form, "judge": judge, **place}
    context |= _about(str(form["protocol"].value()))
    return render(request, "judging/judge_form.html", context, status=422 if form.errors else 200)


def _like(slug: str | None) -> dict[str, object]:
    """Initial values that a new judge takes over from another."""
    other = Judge.objects.whole().filter(rater__slug=slug).first() if slug else None
    if other is None:
        return {}
    copied = {name: getattr(other, name) for name in CONFIG_FIELDS if name not in NOT_COPIED}
    return {"name": f"{other.name} (2)", **copied, **values_of(other.asks)}


@require_safe
@staff_only
def about_protocol(request: HttpRequest) -> HttpResponse:
    name = request.GET.get("protocol", "")
    context = _about(name)
    if context and PROTOCOLS[name].task is Task.COMPARE:
        chosen = request.GET.get("form", "")
        if chosen == UNCHOSEN and any(step.published for step in PROTOCOLS[name].steps):
            chosen = PROTOCOLS[name].forms[0]  # a paper's file seldom asks for the rating scale of a study
        form = JudgeForm(initial={"form": chosen})
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
