"""Setting a study up: the list of studies, a new one, its steps and settings."""

from itertools import count
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.models import Pair, Study
from arena.people.permissions import OperatorRequest, Visitor, is_staff, operable, operator
from arena.studies import changes, pages
from arena.studies.pages import next_of, show
from arena.texts import markdown

TAKEN: Final = {"new", "raters", "groups", "keys"}  # addresses of pages about no study
UNNAMED: Final = "study"

ROOM: Final = 10  # characters kept free for a number


def free_address(name: str) -> str:
    """An address that no study has, made of the name."""
    longest = Study._meta.get_field("slug").max_length or 0
    base = slugify(name)[:longest].strip("-_") or UNNAMED
    short = base[: longest - ROOM].rstrip("-_")
    alike = Study.objects.filter(slug__startswith=short).values_list("slug", flat=True)
    taken = TAKEN | set(alike)
    numbered = (f"{short}-{number}" for number in count(2))
    return base if base not in taken else next(address for address in numbered if address not in taken)


class AddressedForm(forms.ModelForm):  # type: ignore[type-arg]
    """A study's name and address. An empty address is made of the name, or stays as it is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if {"name", "slug"} <= self.fields.keys():
            self.fields["slug"].required = False
            self.fields["slug"].widget.attrs["data-made-of"] = self["name"].auto_id

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"]) or self.instance.slug or self._made_of_name()
        if slug in TAKEN and slug != self.instance.slug:
            raise forms.ValidationError("This address is taken by a page for operators.")
        if Study.objects.filter(slug=slug).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("Another study has this address.")
        return slug

    def _made_of_name(self) -> str:
        name = self.cleaned_data.get("name", "")  # not there where it is wrong, which is said
        return free_address(name) if name else ""


LONGEST_LINE = 100


class LinesField(forms.CharField):
    """A list of short texts, one on each line, each once."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "widget": forms.Textarea({"rows": 5}), **options})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(str(one) for one in value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = [line.strip() for line in (super().to_python(value) or "").splitlines()]
        return [line for line in lines if line]

    def validate(self, value: Any) -> None:
        for number, line in enumerate(value, start=1):
            if "\0" in line:
                raise forms.ValidationError(f"Entry {number} holds a NUL character, which cannot be stored.")
            if len(line) > LONGEST_LINE:
                raise forms.ValidationError(
                    f"Entry {number} has {len(line)} characters; at most {LONGEST_LINE} are possible."
                )
            if line in value[: number - 1]:
                raise forms.ValidationError(f"“{line}” stands there twice; each entry is named once.")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


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
    """Some settings of one study; only what was changed is written."""

    def store(self, by: Visitor) -> bool:
        return bool(changes.store(self.instance, by, self.changed_data))


class NewStudyForm(AddressedForm):
    class Meta:
        model = Study
        fields = ("name", "slug", "description")
        labels = {"slug": "Address"}
        help_texts = {
            "slug": "The last part of its address: letters, digits and hyphens, for example "
            "summer-2026. Empty: made of the name. Links break when it is changed, so it stays.",
            "description": "What the study is about; Markdown. It stands on the study's page.",
        }


class AddressForm(AddressedForm, SettingForm):
    class Meta:
        model = Study
        fields = ("slug",)
        labels = {"slug": "Address"}
        help_texts = {"slug": "Letters, digits, hyphens and underscores."}


class GuidelinesForm(SettingForm):
    class Meta:
        model = Study
        fields = ("guidelines", "consent")
        labels = {"guidelines": "Guidelines", "consent": "Consent and privacy (optional)"}
        help_texts = {
            "guidelines": "Markdown. What makes an answer better here, what does not matter, when to call a "
            "tie. Raters read this before they start, and with G at any time.",
            "consent": "Markdown. What you record, why, for how long, and whom to ask. Raters agree to it "
            "when they join; the text and the time are kept.",
        }
        widgets = {"guidelines": forms.Textarea({"rows": 16}), "consent": forms.Textarea({"rows": 6})}


class RatingForm(SettingForm):
    criteria = LinesField(
        label="Criteria beside the overall rating",
        help_text="One on each line, for example helpfulness. Each adds a row of buttons, on the same scale.",
    )
    reasons = LinesField(
        label="Reasons offered after the choice",
        help_text="One on each line. Raters may tick some; empty: none are offered.",
    )
    training_threshold = PercentField(
        label="Training to pass, in percent",
        required=False,
        help_text="How many of the training pairs somebody has to get right before rating. "
        "Empty: the training only explains.",
    )
    control_share = PercentField(
        label="Chosen at random all the same, in percent",
        help_text="With adaptive choice only: pairs drawn without it, so that it can be audited.",
    )
    repeat_share = PercentField(
        label="Hidden repeats, in percent",
        most=50,
        help_text="Pairs a rater gets once more in the other order, to see how consistent they are.",
    )
    gold_share = PercentField(
        label="Hidden checks, in percent",
        most=50,
        help_text="Pairs whose right answer is known, mixed in without saying so.",
    )

    class Meta:
        model = Study
        fields = (
            *("points", "ratings_per_pair_people", "ratings_per_pair_judges", "goal"),
            *("criteria", "reasons", "reveal_names", "show_references", "training_threshold"),
            *("pairing", "control_share", "repeat_share", "gold_share", "stop_margin"),
        )
        labels = {
            "points": "Scale",
            "ratings_per_pair_people": "Ratings per pair by people",
            "ratings_per_pair_judges": "Ratings per pair by each judge",
            "goal": "Goal per rater, in pairs (optional)",
            "reveal_names": "Tell raters who wrote the answers once they have rated them",
            "show_references": "Reference answers",
            "pairing": "Choice of pairs",
            "stop_margin": "Pause once it is known who is first: points that may be lost",
        }
        help_texts = {
            "points": "Ratings given already keep the scale they were given on.",
            "ratings_per_pair_people": "By how many different people each pair is to be rated.",
            "goal": "Raters see how far they have come, for example 20 of 50. They may rate more.",
            "show_references": "Of prompts that have some; nobody is told who wrote them.",
            "stop_margin": "0: the first is better than every other contestant. 10: it is worse than none by "
            "more than 10 points. From people's votes, with intervals that hold however often one looks. "
            "Empty: never.",
            "reveal_names": "Motivates some raters, and lets them recognise styles: better left off. Each "
            "rater then gets every answer in one pair only, and no repeats: others would not be blind.",
        }

    GROUPS = {
        "The scale": ("points", "criteria", "reasons", "show_references", "reveal_names"),
        "How much": ("ratings_per_pair_people", "ratings_per_pair_judges", "goal", "stop_margin"),
        "Which pairs people get": ("pairing", "control_share", "repeat_share", "gold_share"),
        "Training": ("training_threshold",),
    }

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [(title, [self[name] for name in names]) for title, names in self.GROUPS.items()]

    def clean_gold_share(self) -> float:
        share = float(self.cleaned_data["gold_share"])
        known = Pair.objects.filter(prompt__study=self.instance).exclude(gold="").exclude(use="train")
        if share and not known.exists():
            raise forms.ValidationError(
                "This study has no pairs whose right answer is known; import some first, or give 0."
            )
        return share


class PublishForm(SettingForm):
    class Meta:
        model = Study
        fields = ("name", "description", "visibility", "sign_up_open", "licence", "simulated")
        labels = {
            "sign_up_open": "Anyone may sign up and rate",
            "simulated": "It holds simulated votes, and says so on every page",
        }
        widgets = {"description": forms.Textarea({"rows": 6}), "visibility": forms.RadioSelect}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["sign_up_open"].help_text = "Without an invitation, with an account they make themselves."
        self.fields["simulated"].help_text = ""
        self.fields["visibility"].choices = [  # type: ignore[attr-defined]
            (Study.Visibility.PRIVATE, "Private: operators and viewers alone see the board"),
            (Study.Visibility.PUBLIC, "Public: everybody sees the board"),
        ]


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
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            study = form.save()
        messages.success(request, "The study is made. It is private until you publish it.")
        return redirect("operate-study", slug=study.slug)
    status = INVALID if form.errors else 200
    return render(request, "operating/new.html", {"form": form}, status=status)


@require_safe
@operator
def study(request: OperatorRequest) -> HttpResponse:
    found = pages.steps(request.study)
    return show(request, "study.html", {"steps": found, "next": pages.next_step(found)})


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def guidelines(request: OperatorRequest) -> HttpResponse:
    if request.method == "POST" and "preview" in request.POST:
        typed = {name: request.POST.get(name, "") for name in GuidelinesForm.Meta.fields}
        text = typed["guidelines"]
        form = GuidelinesForm(instance=request.study, initial=typed)
        return show(request, "guidelines.html", {"form": form, "preview": _html(text), "unsaved": True})
    return _setting(request, GuidelinesForm, "guidelines.html", preview=_html(request.study.guidelines))


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def rating(request: OperatorRequest) -> HttpResponse:
    return _setting(request, RatingForm, "rating.html")


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def publish(request: OperatorRequest) -> HttpResponse:
    return _setting(request, PublishForm, "publish.html")


def _setting(
    request: OperatorRequest, form_class: type[SettingForm], template: str, **context: object
) -> HttpResponse:
    """Show a form of settings, or store it and go on where the button says."""
    if request.method != "POST":
        return show(request, template, {"form": form_class(instance=request.study), **context})
    with transaction.atomic():
        form = form_class(request.POST, instance=request.study)
        if form.is_valid():
            messages.success(request, "Saved." if form.store(request.user) else "Nothing was changed.")
            following = next_of(request)
            return redirect(following if "next" in request.POST and following else request.path)
    request.study.refresh_from_db()  # the heading shows what is stored, the form what was typed
    return show(request, template, {"form": form, **context}, status=INVALID)


def _html(text: str) -> SafeString:
    return mark_safe(markdown.render(text)) if text.strip() else SafeString("")  # noqa: S308 - sanitised
