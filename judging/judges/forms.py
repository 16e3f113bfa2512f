"""Forms for judges and panels."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django import forms
from django.db import transaction
from django.forms import BoundField

from arena.data.json_input import JSONInput
from arena.models import Rater
from judging.judges.panels import configure_panel, create_panel
from judging.judges.services import JudgeConfig, JudgeError, configure_judge, create_judge
from judging.models import Judge, Panel
from judging.protocols.answer_scales import FORMS, POINTS
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.wording import text_name

GROUPS: dict[str, tuple[str, ...]] = {
    "The model": ("provider", "model", "base_url", "api_key_env"),
    "How it is asked": (
        "protocol",
        "form",
        "points",
        "parameters",
        "samples",
        "wording_files",
        "own_wording",
    ),
    "Sampling": ("temperature", "max_tokens", "timeout", "options", "logprobs"),
    "Pace": ("concurrency", "requests_per_minute", "tokens_per_minute"),
    "Runs": ("both_orders", "active"),
    "Simulation": ("simulation",),
}
"""The fields below name and slug, as the page groups them."""

NOT_OF_THE_MODEL = {"wording_files", "own_wording"}
CONFIG_FIELDS = [name for names in GROUPS.values() for name in names if name not in NOT_OF_THE_MODEL]

LONGEST_WORDING = 100_000
"""Bytes of a file with the wording of one text."""


class ManyFiles(forms.FileField):
    """Several files at once, cleaned to a list."""

    def __init__(self, **options: Any) -> None:
        widget = type("ManyFilesInput", (forms.FileInput,), {"allow_multiple_selected": True})()
        super().__init__(**{"widget": widget, **options})

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) else [data]
        return [super(ManyFiles, self).clean(one, initial) for one in given if one]


class JudgeForm(forms.ModelForm):  # type: ignore[type-arg]
    """A judge with the name of its rater. Rules live in judging.services; this only shows them."""

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
        """Offer only the answer scales of this protocol, in a choice that replaces the one on the page."""
        scales, offered = self.fields["form"], PROTOCOLS[protocol].forms
        assert isinstance(scales, forms.ChoiceField)  # noqa: S101 - of a column with choices
        scales.choices = [(name, words) for name, words in FORMS.items() if name in offered]
        scales.widget.attrs["hx-swap-oob"] = "true"

    @property
    def groups(self) -> Iterator[tuple[str, list[BoundField]]]:
        """The fields under their headings, after name and slug."""
        for title, names in GROUPS.items():
            yield title, [self[name] for name in names if name in self.fields]

    def clean_slug(self) -> str:
        """A new judge needs a slug of its own."""
        slug: str = self.cleaned_data["slug"]
        taken = Rater.objects.filter(kind=Rater.Kind.JUDGE, slug=slug, study=None)
        if not self.instance.pk and taken.exists():
            raise forms.ValidationError(f'There is a judge "{slug}" already.')
        return slug

    def clean_points(self) -> int:
        """Forms that are stored on one scale only have no choice."""
        points: int = self.cleaned_data["points"]
        offered = POINTS.get(self.cleaned_data.get("form", "likert"), (points,))
        return offered[0] if len(offered) == 1 else points

    def clean_options(self) -> dict[str, Any]:
        """An object, empty by default."""
        return self._object("options")

    def clean_simulation(self) -> dict[str, Any]:
        """An object, empty by default."""
        return self._object("simulation")

    def clean_parameters(self) -> dict[str, Any]:
        """An object, empty by default."""
        return self._object("parameters")

    def _object(self, name: str) -> dict[str, Any]:
        value = self.cleaned_data[name] or {}
        if not isinstance(value, dict):
            raise forms.ValidationError('Enter a JSON object such as {"top_p": 0.9}.')
        return value

    def clean_wording_files(self) -> dict[str, str]:
        """Their texts by the names of what they replace."""
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
        """Create or change the judge; None, with the reason among the form's errors, where that cannot be."""
        kept = {name: self.instance.wording[name] for name in self.cleaned_data.get("own_wording", ())}
        config = JudgeConfig(
            **{name: self.cleaned_data[name] for name in CONFIG_FIELDS},
            wording=kept | self.cleaned_data["wording_files"],
        )
        try:
            with transaction.atomic():
                if self.instance.pk:
                    fresh = Judge.objects.select_related("rater").get(pk=self.instance.pk)
                    return configure_judge(fresh, self.cleaned_data["name"], config)
                return create_judge(self.cleaned_data["slug"], self.cleaned_data["name"], config)
        except JudgeError as error:
            self.add_error(None, str(error))
            return None


class PanelForm(forms.Form):
    """Several judges as one rater."""

    name = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=120, help_text="Used in addresses and commands. It never changes.")
    rule = forms.ChoiceField(
        choices=Panel.Rule.choices,
        widget=forms.RadioSelect,
        initial=Panel.Rule.MAJORITY,
        help_text="The majority says first, second or tie; the mean is put on 8 points.",
    )
    members = forms.ModelMultipleChoiceField(
        Judge.objects.select_related("rater"),
        widget=forms.CheckboxSelectMultiple,
        help_text="At least two. The panel speaks about a pair once all of them have, in the same order.",
    )
    active = forms.BooleanField(
        required=False, initial=True, help_text="An inactive panel gives no further verdicts."
    )

    def __init__(self, *args: Any, panel: Panel | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.panel = panel
        if panel:
            self.fields["slug"].disabled = True
            self.initial = {
                "name": panel.rater.name,
                "slug": panel.rater.slug,
                "rule": panel.rule,
                "members": panel.members.all(),
                "active": panel.active,
            }
        else:
            del self.fields["active"]

    def store(self) -> Panel | None:
        """Create or change the panel; None, with the reason among the form's errors, where that cannot be."""
        given = self.cleaned_data
        try:
            if self.panel:
                return configure_panel(
                    self.panel, given["name"], given["rule"], given["members"], active=given["active"]
                )
            return create_panel(given["slug"], given["name"], given["rule"], given["members"])
        except JudgeError as error:
            self.add_error(None, str(error))
            return None
