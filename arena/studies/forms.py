"""The forms of a study's settings, made of what arena/models/settings.py declares."""

import json
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, Final
from zlib import crc32

from django import forms
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import BooleanField, Field, FloatField, IntegerField, JSONField, TextField
from django.forms.models import model_to_dict
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arena.features import stored
from arena.models import Completion, Pair, Reference, Study
from arena.models.settings import FORMS, SETTINGS
from arena.pages.addresses import is_reserved, why_not
from arena.pages.names import NamedForm
from arena.pages.operating import refuse
from arena.pages.permissions import Visitor
from arena.pages.written import LineField, LinesField, MarkdownField
from arena.rating.progress import why_nothing
from arena.rating.tasks import TASKS
from arena.rules.feature_names import Named
from arena.studies import changes
from arena.texts.slugs import free_slug, slug_from

UNNAMED: Final = "study"
ROOM: Final = 10  # characters kept free for a number


def free_address(name: str) -> str:
    """An address that no study has, made of the name."""
    longest = Study._meta.get_field("slug").max_length or 0
    base = slug_from(name, UNNAMED, longest)
    short = base[: longest - ROOM].rstrip("-_")
    alike = Study.objects.filter(slug__istartswith=short).values_list("slug", flat=True)
    taken = {slug.lower() for slug in alike} | ({base} if is_reserved(base) else set())
    return free_slug(base, taken, short)


class PercentField(forms.FloatField):
    """A share from 0 to 1, typed and shown as percent."""

    def __init__(self, *, most: float = 1, **options: Any) -> None:
        super().__init__(min_value=0, max_value=round(100 * most), **options)
        self.widget.attrs |= {"step": "any", "inputmode": "decimal"}

    def prepare_value(self, value: Any) -> Any:
        return f"{100 * value:.10g}" if isinstance(value, float | int) else value

    def clean(self, value: Any) -> Any:
        percent = super().clean(value)
        return None if percent is None else percent / 100

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


PLACES: Final = ("First task", "Second task", "Third task")


class TasksWidget(forms.MultiWidget):
    use_fieldset = True

    def decompress(self, value: Any) -> list[str]:
        return [*(value or []), "", "", ""][: len(PLACES)]


class TasksField(forms.MultiValueField):
    """The tasks in their order: a choice for the first, the second and the third."""

    def __init__(self, **options: Any) -> None:
        choices = [("", "None"), *((kind, task.name) for kind, task in TASKS.items())]
        fields = [forms.ChoiceField(choices=choices, required=False) for _ in PLACES]
        widgets = [forms.Select({"aria-label": place}, choices=choices) for place in PLACES]
        super().__init__(
            fields, widget=TasksWidget(widgets), require_all_fields=False, required=False, **options
        )

    def compress(self, data_list: list[str]) -> list[str]:
        return [kind for kind in data_list if kind]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.widget.decompress(initial), data)  # a stored list is short of places

    def clean(self, value: Any) -> list[str]:
        tasks: list[str] = super().clean(value) or []
        if not tasks:
            raise forms.ValidationError("Choose at least one task.")
        for kind in tasks:
            if tasks.count(kind) > 1:
                raise forms.ValidationError(f"“{TASKS[kind].name}” is chosen twice.")
        return tasks


class TickBox(forms.CheckboxInput):
    """A check box that is sent without a tick, too: a page that does not have it changes nothing."""

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return name not in data

    def render(self, name: str, *args: Any, **kwargs: Any) -> SafeString:
        return format_html('<input type="hidden" name="{}">{}', name, super().render(name, *args, **kwargs))


def field_of(column: "Field[Any, Any]", **options: Any) -> forms.Field | None:
    """Return the field of a form for a setting, by the kind of its column."""
    setting, required = SETTINGS[column.name], not column.blank
    lines = forms.Textarea({"rows": setting.rows})
    if column.choices:
        return column.formfield(**options)
    if isinstance(column, JSONField):
        return LinesField(widget=lines)
    if isinstance(column, TextField):
        return MarkdownField(required=required, widget=lines)
    lowest = [each.limit_value for each in column.validators if isinstance(each, MinValueValidator)]
    highest = [each.limit_value for each in column.validators if isinstance(each, MaxValueValidator)]
    if isinstance(column, FloatField) and setting.unit:
        return PercentField(most=min(highest), required=required)
    if isinstance(column, BooleanField):
        return forms.BooleanField(required=False, widget=TickBox)
    if isinstance(column, IntegerField):
        return forms.IntegerField(required=required, min_value=max(lowest), max_value=min(highest))
    return column.formfield(**options)


CHANGED_SINCE: Final = (
    "Nothing was saved: this was changed after you opened this page. Save again to overwrite the change, or "
    "open the page again to see it."
)


def _mark(value: Any) -> str:
    return str(crc32(repr(value).encode()))


class SharedForm(forms.ModelForm):  # type: ignore[type-arg]
    """Columns of a row that several people change; only what was changed is written. ``done``: said then.

    A column that the page sent nothing for stays as it is: the page was opened before there was one.
    """

    done = "Saved."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.instance.pk is not None
        for name, field in [*self.fields.items()]:
            if stored and field.widget.value_omitted_from_data(self.data, self.files, name) and self.is_bound:
                del self.fields[name]
        known = model_to_dict(self.instance, [*self.fields])
        self._stored = {name: _mark(value) for name, value in known.items()}

    @property
    def seen(self) -> str:
        """Fingerprints of the columns as the page shows them, so that it undoes no change made since."""
        if not self.instance.pk:
            return ""
        shown = self._stored | {name: self._opened[name] for name in self._left}
        return " ".join(f"{name}:{shown[name]}" for name in self.fields if name in shown)

    @cached_property
    def _opened(self) -> dict[str, str]:
        """Fingerprints of what was stored when the page was opened."""
        sent = (each.partition(":") for each in self.data.get("seen", "").split())
        return {name: mark for name, _, mark in sent if name in self._stored}

    @cached_property
    def _left(self) -> list[str]:
        """The columns that somebody has changed since, and that this page leaves as it was opened."""
        since = [name for name, mark in self._opened.items() if mark != self._stored[name]]
        return [name for name in since if _mark(self.cleaned_data.get(name)) == self._opened[name]]

    @property
    def changed_data(self) -> list[str]:
        return [name for name in super().changed_data if name not in self._left]

    def clean(self) -> dict[str, Any] | None:
        for name, mark in self._opened.items():
            if mark != self._stored[name] and name in self.changed_data and name in self.cleaned_data:
                refuse(self, name, CHANGED_SINCE)
        for name in self._left:
            self.cleaned_data[name] = getattr(self.instance, name)
        return super().clean()


class SettingForm(SharedForm):
    """Some settings of one study."""

    class Meta:
        model = Study
        fields: Sequence[str] = ()
        formfield_callback = field_of

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label, field.help_text = SETTINGS[name].label, field.help_text or SETTINGS[name].help
            if conditions := SETTINGS[name].conditions:
                field.widget.attrs["data-when"] = json.dumps(conditions)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        wanted = copy(self.instance)
        for name, value in self.cleaned_data.items():
            setattr(wanted, name, value)
        for name, why in changes.problems(self.instance, wanted, self._meta.fields or ()):
            refuse(self, name, why)
        return cleaned

    def store(self, by: Visitor) -> bool:
        return bool(changes.store(self.instance, by, self.changed_data))


class AddressForm(SettingForm):
    """The address of a study; an empty one is made of the name."""

    class Meta(SettingForm.Meta):
        fields = tuple(FORMS["address"])

    def clean_slug(self) -> str:
        name = self.cleaned_data.get("name", "")  # not there where it is wrong, which is said
        slug = str(self.cleaned_data["slug"]) or self.instance.slug or (free_address(name) if name else "")
        if problem := why_not(slug, self.instance):
            raise forms.ValidationError(problem)
        return slug


class NewStudyForm(NamedForm, AddressForm):
    class Meta(AddressForm.Meta):
        fields = ("name", "slug", "description")
        help_texts = {
            "slug": "The last part of its address, for example summer-2026. Leave empty to use the name."
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False
        self.fields["slug"].widget.attrs["data-made-of"] = self["name"].auto_id


class GuidelinesForm(SettingForm):
    class Meta(SettingForm.Meta):
        fields = tuple(FORMS["guidelines"])


class NamingForm(SettingForm):
    class Meta(SettingForm.Meta):
        fields = tuple(FORMS["names"])

    def store(self, by: Visitor) -> bool:
        self.done = f"Saved: {Study.Naming(self.instance.naming).label.lower()}."
        return super().store(by)


HOW_TO_GET_FEATURES: Final = (
    "Disagreement needs features of the answers, and there are none yet. Import them, have the model's "
    "endpoint tell them, or compute them with a model on this machine: "
    f"{settings.COMMAND} import_data, traces or local_features (docs/self-evaluation.md)."
)


class RatingForm(SettingForm):
    tasks = TasksField()
    pairing_feature = forms.ChoiceField(required=False)

    class Meta(SettingForm.Meta):
        fields = (*FORMS["rating"], *FORMS["advanced"])

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
                self.fields.pop(name, None)

    def _offer_features(self) -> bool:
        """Offer the features that answers have; False if they have none."""
        names, chosen = stored.names(self.instance), self.instance.pairing_feature
        offered = [(name, Named.read(name).whole_label) for name in names]
        if chosen and chosen not in names:
            offered.append((chosen, f"{chosen} (no answer has it)"))
        if field := self.fields.get("pairing_feature"):
            field.choices = [("", "The first that answers have"), *offered]  # type: ignore[attr-defined]
        if not names and "pairing" in self.fields:
            self.fields["pairing"].help_text = HOW_TO_GET_FEATURES
        return bool(names)

    def _is_default(self, name: str) -> bool:
        return bool(getattr(self.instance, name) == getattr(Study(), name))

    @property
    def usual(self) -> list[forms.BoundField]:
        return [each for each in self if each.name in FORMS["rating"]]

    @property
    def advanced(self) -> list[forms.BoundField]:
        return [each for each in self if each.name in FORMS["advanced"]]

    @property
    def is_advanced(self) -> bool:
        """True if a setting of the lower part differs from its default, or is wrong."""
        return any(field.errors or not self._is_default(field.name) for field in self.advanced)


class PublishForm(NamedForm, SettingForm):
    """Saving it publishes a draft."""

    class Meta(SettingForm.Meta):
        fields = tuple(FORMS["publish"])
        field_classes = {"licence": LineField}
        widgets = {"visibility": forms.RadioSelect}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if field := self.fields.get("visibility"):
            field.choices = [  # type: ignore[attr-defined]
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
