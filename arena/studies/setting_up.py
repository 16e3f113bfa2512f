"""Setting a study up: the list of studies, a new one, its steps and settings."""

from pathlib import Path
from typing import Any, Final
from zlib import crc32

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.audit.recording import Kind, record
from arena.features import stored
from arena.features.known import Named
from arena.models import Completion, Pair, Reference, Study
from arena.pages.addresses import OTHER_STUDY, is_reserved, why_not
from arena.pages.counts import CountField, up_to
from arena.pages.names import NamedForm
from arena.pages.operating import refused_if_taken, show
from arena.pages.permissions import OperatorRequest, Visitor, is_staff, operable, operator
from arena.pages.written import LineField, LinesField, MarkdownField
from arena.rating.progress import why_nothing
from arena.rating.publication import LEAST_ANSWERS, LEAST_RATERS
from arena.studies import changes, steps, tasks
from arena.studies.steps import next_of
from arena.texts import markdown
from arena.texts.slugs import free_slug

UNNAMED: Final = "study"

USUAL_GUIDELINES: Final = {
    kind: Path(__file__).with_name(f"usual_guidelines_{kind}.md").read_text(encoding="utf-8")
    for kind in tasks.TASKS
}
"""By task."""

ROOM: Final = 10  # characters kept free for a number


def free_address(name: str) -> str:
    """An address that no study has, made of the name."""
    longest = Study._meta.get_field("slug").max_length or 0
    base = slugify(name)[:longest].strip("-_") or UNNAMED
    short = base[: longest - ROOM].rstrip("-_")
    alike = Study.objects.filter(slug__istartswith=short).values_list("slug", flat=True)
    taken = {slug.lower() for slug in alike} | ({base} if is_reserved(base) else set())
    return free_slug(base, taken, short)


class AddressedForm(forms.ModelForm):  # type: ignore[type-arg]
    """A study's name and address. An empty address is made of the name, or stays as it is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if {"name", "slug"} <= self.fields.keys():
            self.fields["slug"].required = False
            self.fields["slug"].widget.attrs["data-made-of"] = self["name"].auto_id

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"]) or self.instance.slug or self._made_of_name()
        if problem := why_not(slug, self.instance):
            raise forms.ValidationError(problem)
        return slug

    def _made_of_name(self) -> str:
        name = self.cleaned_data.get("name", "")  # not there where it is wrong, which is said
        return free_address(name) if name else ""


MOST_RATINGS: Final = 1_000  # of one pair


class PercentField(forms.FloatField):
    """A share from 0 to 1, typed and shown as percent."""

    def __init__(self, *, most: int = 100, **options: Any) -> None:
        super().__init__(min_value=0, max_value=most, **options)
        self.widget.attrs |= {"step": "any", "inputmode": "decimal"}

    def prepare_value(self, value: Any) -> Any:
        return f"{100 * value:.10g}" if isinstance(value, float | int) else value

    def clean(self, value: Any) -> Any:
        percent = super().clean(value)
        return None if percent is None else percent / 100

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


class SettingForm(forms.ModelForm):  # type: ignore[type-arg]
    """Some settings of one study; only what was changed is written. ``done`` is said once it is."""

    done = "Saved."

    @property
    def seen(self) -> str:
        """What is stored, so that a page that was opened before a change cannot undo it."""
        return str(crc32(repr(model_to_dict(self.instance, self._meta.fields)).encode()))

    def clean(self) -> dict[str, Any] | None:
        if self.data.get("seen", self.seen) != self.seen:
            raise forms.ValidationError(
                "Nothing was saved: these settings were changed after you opened this page. Save again to "
                "overwrite the change, or open the page again to see it."
            )
        return super().clean()

    def store(self, by: Visitor) -> bool:
        return bool(changes.store(self.instance, by, self.changed_data))


class NewStudyForm(NamedForm, AddressedForm):
    class Meta:
        model = Study
        fields = ("name", "slug", "description")
        labels = {"slug": "Address"}
        field_classes = {"description": MarkdownField}
        widgets = {"description": forms.Textarea({"rows": 4})}
        help_texts = {
            "slug": "The last part of its address, for example summer-2026. Leave empty to use the name.",
            "description": "What the study is about. Markdown, shown on the study's page.",
        }

    def save(self, commit: bool = True) -> Any:
        self.instance.is_draft = True
        return super().save(commit)


class AddressForm(AddressedForm, SettingForm):
    class Meta:
        model = Study
        fields = ("slug",)
        labels = {"slug": "Address"}
        help_texts = {"slug": "Letters, digits, hyphens and underscores; a letter or a digit first."}


class GuidelinesForm(SettingForm):
    class Meta:
        model = Study
        fields = ("guidelines", "consent")
        labels = {"guidelines": "Guidelines", "consent": "Consent and privacy (optional)"}
        help_texts = {
            "guidelines": "Markdown.",
            "consent": "Markdown. What you record, why, for how long, and whom to ask. Raters agree to it "
            "when they join.",
        }
        field_classes = dict.fromkeys(("guidelines", "consent"), MarkdownField)
        widgets = {"guidelines": forms.Textarea({"rows": 12}), "consent": forms.Textarea({"rows": 4})}


HOW_TO_GET_FEATURES: Final = (
    "Disagreement needs features of the answers, and there are none yet. Import them, have the model's "
    "endpoint tell them, or compute them with a model on this machine: manage.py import_data, traces or "
    "local_features (docs/self-evaluation.md)."
)


class RatingForm(SettingForm):
    tasks = tasks.TasksField(label="What raters do, in this order")
    reasons = LinesField(
        label="Reasons offered after the choice",
        help_text="One per line. Leave empty to offer none.",
    )
    criteria = LinesField(
        label="Criteria beside the overall rating",
        help_text="One per line, for example helpfulness. Each adds a row of buttons on the same scale.",
        widget=forms.Textarea({"rows": 3}),
    )
    pairing_feature = forms.ChoiceField(
        label="Feature that judges are held against",
        required=False,
        help_text="Pairs come first about which judges and this feature of the answers disagree.",
    )
    control_share = PercentField(
        label="Random share (%)",
        help_text="Pairs drawn at random in between, so that the choice of the others can be audited.",
    )
    repeat_share = PercentField(
        label="Hidden repeats (%)",
        most=50,
        help_text="Raters get these pairs again in the other order, which shows how consistent they are.",
    )
    gold_share = PercentField(
        label="Hidden checks (%)",
        most=50,
        help_text="Pairs with a known right answer, mixed in unmarked.",
    )
    training_threshold = PercentField(
        label="Training pairs to get right (%)",
        required=False,
        help_text="Leave empty if the training only explains.",
    )

    class Meta:
        model = Study
        fields = (
            *("tasks", "points", "score_lowest", "score_highest"),
            *("ratings_per_pair_people", "ratings_per_pair_judges", "goal", "reasons", "criteria"),
            *("rater_limit", "daily_limit"),
            *("pairing", "pairing_feature", "control_share", "repeat_share", "gold_share"),
            *("training_threshold",),
            *("show_references", "thinking", "reveal_names", "stop_margin"),
        )
        field_classes = {
            **dict.fromkeys(("goal", "rater_limit", "daily_limit"), CountField),
            "ratings_per_pair_people": up_to(MOST_RATINGS),
            "ratings_per_pair_judges": up_to(MOST_RATINGS),
        }
        labels = {
            "points": "Scale for pairs",
            "score_lowest": "Lowest score of an answer",
            "score_highest": "Highest score of an answer",
            "ratings_per_pair_people": "Ratings per pair or answer by people",
            "ratings_per_pair_judges": "Ratings per pair or answer by each judge",
            "goal": "Goal per rater (optional)",
            "rater_limit": "Limit per rater (optional)",
            "daily_limit": "Limit per rater and day (optional)",
            "reveal_names": "Show raters who wrote the answers after they have rated them",
            "show_references": "Reference answers",
            "pairing": "Pairing",
            "stop_margin": "Pause when the leader is known: margin in points",
        }
        help_texts = {
            "points": "Earlier ratings keep their scale.",
            "score_highest": "You cannot change the scale once answers have scores.",
            "ratings_per_pair_people": "How many different people rate each pair, and score or check each "
            "answer.",
            "goal": "Raters see how far they have come, for example 20 of 50. They may do more.",
            "rater_limit": "How many pairs, scores and checks one person can submit. Hidden repeats and "
            "checks count; skips do not.",
            "daily_limit": "How many on one day. Days begin at 00:00 UTC.",
            "show_references": "Raters do not learn who wrote them.",
            "thinking": "Imports set the thinking of a model apart: raters and judges read the answer alone. "
            "Exports tell it.",
            "stop_margin": "0 pauses when the leader is better than every other model; 10 when it is at most "
            "10 points worse. Only people's ratings count. Leave empty to continue until you pause.",
            "reveal_names": "Raters may then recognise a model's style. To keep them blind, each gets only "
            "one pair of a prompt, no single answers of it after that, and no repeats. So you need more "
            "raters.",
        }

    USUAL = 8  # fields that are always open
    OF_PAIRS: Final = {
        *("points", "reasons", "criteria", "pairing", "pairing_feature", "control_share"),
        *("repeat_share", "gold_share", "training_threshold", "stop_margin"),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Settings that would change nothing here are left out."""
        super().__init__(*args, **kwargs)
        known = Pair.objects.filter(prompt__study=self.instance).exclude(gold="")
        acts = {
            "gold_share": known.exclude(use="train").exists(),
            "training_threshold": known.filter(use="train").exists(),
            "show_references": Reference.objects.filter(prompt__study=self.instance).exists(),
            "pairing_feature": self._offer_features(),
            "thinking": Completion.objects.filter(prompt__study=self.instance).exclude(thinking=[]).exists(),
        }
        for name, is_used in acts.items():
            if not is_used and self._is_default(name):
                del self.fields[name]
        for name in ("score_lowest", "score_highest"):  # shown where answers are scored
            self.fields[name].widget.attrs |= {"data-task": "score", "min": 0, "max": tasks.HIGHEST}
        for name in self.OF_PAIRS & self.fields.keys():
            self.fields[name].widget.attrs["data-task"] = "compare"

    def _offer_features(self) -> bool:
        """Whether answers have features to choose from."""
        names, chosen = stored.names(self.instance), self.instance.pairing_feature
        offered = [(name, Named.read(name).whole_label) for name in names]
        if chosen and chosen not in names:
            offered.append((chosen, f"{chosen} (no answer has it)"))
        self.fields["pairing_feature"].choices = [("", "The first that answers have"), *offered]  # type: ignore[attr-defined]
        if not names:
            self.fields["pairing"].help_text = HOW_TO_GET_FEATURES
        return bool(names)

    def clean_tasks(self) -> list[str]:
        chosen: list[str] = self.cleaned_data["tasks"]
        if problem := tasks.why_kept(self.instance, chosen):
            raise forms.ValidationError(problem)
        return chosen

    def clean_score_highest(self) -> int:
        lowest, highest = self.cleaned_data.get("score_lowest"), int(self.cleaned_data["score_highest"])
        if highest > tasks.HIGHEST:
            raise forms.ValidationError(f"The highest score can be {tasks.HIGHEST} at most.")
        if lowest is not None and lowest >= highest:
            raise forms.ValidationError("The highest score must be above the lowest.")
        stored = self.instance.score_lowest, self.instance.score_highest
        if (lowest, highest) != stored and (problem := tasks.why_fixed(self.instance)):
            raise forms.ValidationError(problem)
        return highest

    def clean_rater_limit(self) -> int | None:
        limit: int | None = self.cleaned_data["rater_limit"]
        goal = self.cleaned_data.get("goal")
        if limit is not None and goal is not None and limit < goal:
            raise forms.ValidationError(f"The limit must not be below the goal, which is {goal:,}.")
        return limit

    def clean_daily_limit(self) -> int | None:
        limit: int | None = self.cleaned_data["daily_limit"]
        in_all = self.cleaned_data.get("rater_limit")
        if limit is not None and in_all is not None and limit > in_all:
            raise forms.ValidationError(
                f"The limit of a day must not be above that in all, which is {in_all:,}."
            )
        return limit

    def _is_default(self, name: str) -> bool:
        return bool(getattr(self.instance, name) == getattr(Study(), name))

    @property
    def usual(self) -> list[forms.BoundField]:
        return [self[name] for name in list(self.fields)[: self.USUAL]]

    @property
    def advanced(self) -> list[forms.BoundField]:
        return [self[name] for name in list(self.fields)[self.USUAL :]]

    @property
    def is_advanced(self) -> bool:
        """Whether a setting below the usual ones differs from its default, or is wrong."""
        return any(field.errors or not self._is_default(field.name) for field in self.advanced)


class PublishForm(NamedForm, SettingForm):
    """Saving it publishes a draft."""

    class Meta:
        model = Study
        fields = ("name", "description", "visibility", "sign_up_open", "licence", "simulated")
        labels = {
            "visibility": "Who sees the leaderboard",
            "sign_up_open": "Anyone may sign up and rate",
            "simulated": "Contains simulated ratings",
        }
        field_classes = {"description": MarkdownField, "licence": LineField}
        widgets = {"description": forms.Textarea({"rows": 6}), "visibility": forms.RadioSelect}
        help_texts = {
            "description": "What the study is about. Markdown.",
            "visibility": "A private leaderboard keeps raters blind. While a public study is open, "
            f"ratings count in groups of at least {LEAST_ANSWERS} by at least {LEAST_RATERS} people, so the "
            "numbers reveal little about who wrote an answer. With fewer people the leaderboard can stay "
            "empty until you close the study.",
            "sign_up_open": "Without an invitation.",
            "simulated": "Every page then says so.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["visibility"].choices = [  # type: ignore[attr-defined]
            (Study.Visibility.PRIVATE, "Only operators and viewers"),
            (Study.Visibility.PUBLIC, "Everybody"),
        ]

    def store(self, by: Visitor) -> bool:
        changed = list(self.changed_data)
        if self.instance.is_draft:
            self.instance.is_draft = False
            self.done = f"Study published. {why_nothing(self.instance) or 'People can rate now.'}"
            changed.append("is_draft")
        return bool(changes.store(self.instance, by, changed))


INVALID = 422  # HTTP status of a form with errors, which htmx shows


@require_safe
@never_cache
@login_required
def studies(request: HttpRequest) -> HttpResponse:
    found = operable(request.user).order_by("closed_at", "name")
    return render(request, "operating/studies.html", {"studies": found, "may_make": is_staff(request.user)})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def new(request: HttpRequest) -> HttpResponse:
    if not is_staff(request.user):
        raise PermissionDenied
    form = NewStudyForm(request.POST or None)
    if request.method == "POST":
        with refused_if_taken(form, "slug", OTHER_STUDY):
            if form.is_valid():
                study = form.save()
                record(Kind.CREATED, request.user, f"With the address {study.slug}.", study=study)
    if request.method == "POST" and form.is_valid():
        messages.success(request, "Study created. It is a draft until you publish it.")
        return redirect("operate-guidelines", slug=study.slug)
    status = INVALID if form.errors else 200
    return render(request, "operating/new.html", {"form": form}, status=status)


@require_safe
@operator
def study(request: OperatorRequest) -> HttpResponse:
    found = steps.steps(request.study)
    return show(request, "study.html", {"steps": found, "next": steps.next_step(found)})


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def guidelines(request: OperatorRequest) -> HttpResponse:
    """The guidelines; POST saves them, or shows the usual ones or a preview of what was typed."""
    if request.method == "POST" and {"usual", "preview"} & request.POST.keys():
        typed = {name: request.POST.get(name, "") for name in GuidelinesForm.Meta.fields}
        if "usual" in request.POST:
            chosen = request.POST["usual"]
            typed["guidelines"] = USUAL_GUIDELINES[
                chosen if chosen in USUAL_GUIDELINES else request.study.tasks[0]
            ]
        template = "_guidelines_preview.html" if request.htmx else "guidelines.html"
        form = GuidelinesForm(instance=request.study, initial=typed)
        context = {"form": form, "preview": _html(typed["guidelines"]), "unsaved": True}
        return show(request, template, context)
    return _setting(request, GuidelinesForm, "guidelines.html", preview=_html(request.study.guidelines))


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def rating(request: OperatorRequest) -> HttpResponse:
    return _setting(request, RatingForm, "rating.html")


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def publish(request: OperatorRequest) -> HttpResponse:
    address = request.build_absolute_uri(request.study.get_absolute_url())
    missing = [step for step in steps.steps(request.study)[:-1] if step.state == "open"]
    context = {"address": address, "open_steps": missing, "misfit": _is_misfit(request.study)}
    context["nothing"] = why_nothing(request.study)
    return _setting(request, PublishForm, "publish.html", **context)


def _is_misfit(study: Study) -> bool:
    """Whether the guidelines are the unchanged text for a task that the study does not have."""
    text = study.guidelines.split()
    return any(text == usual.split() for kind, usual in USUAL_GUIDELINES.items() if kind not in study.tasks)


def _setting(
    request: OperatorRequest, form_class: type[SettingForm], template: str, **context: object
) -> HttpResponse:
    """Show a form of settings, or store it; a step of a set-up then leads to the next."""
    if request.method != "POST":
        return show(request, template, {"form": form_class(instance=request.study), **context})
    with transaction.atomic():
        # Two who save at once take turns, so that the second hears of what the first has changed.
        request.study = Study.objects.select_for_update(no_key=True).get(pk=request.study.pk)
        form = form_class(request.POST, instance=request.study)
        if form.is_valid():
            changed, following = form.store(request.user), next_of(request) if "next" in request.POST else ""
            if changed or not following:
                messages.success(request, form.done if changed else "Nothing was changed.")
            return redirect(following or request.path)
    request.study.refresh_from_db()  # the heading shows what is stored, the form what was typed
    return show(request, template, {"form": form, **context}, status=INVALID)


def _html(text: str) -> SafeString:
    return mark_safe(markdown.render(text)) if text.strip() else SafeString("")  # noqa: S308 - sanitised
