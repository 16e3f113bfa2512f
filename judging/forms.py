"""Forms of the staff pages."""

from typing import Any

from django import forms
from django.db import transaction

from arena.json_input import JSONInput
from arena.models import Rater, Study
from judging.models import Judge
from judging.protocols import PROTOCOLS
from judging.services import JudgeConfig, JudgeError, configure_judge, create_judge

CONFIG_FIELDS = [
    "provider",
    "model",
    "base_url",
    "api_key_env",
    "protocol",
    "points",
    "temperature",
    "max_tokens",
    "timeout",
    "options",
    "simulation",
    "active",
]


class JudgeForm(forms.ModelForm):  # type: ignore[type-arg]
    """A judge with the name of its rater. Rules live in judging.services; this only shows them."""

    name = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=120, help_text="Used in commands and in judge:SLUG. It never changes.")
    protocol = forms.ChoiceField()
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

    field_order = ["name", "slug", *CONFIG_FIELDS]

    class Meta:
        model = Judge
        fields = CONFIG_FIELDS
        field_classes = {"options": JSONInput, "simulation": JSONInput}
        help_texts = {
            "simulation": "Strengths in Elo points by the slugs of all contestants, noise and position bias, "
            'e.g. {"noise": 200, "position_bias": -100, "strengths": {"model-a": 1100, "model-b": 900}}.'
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        protocol = self.fields["protocol"]
        assert isinstance(protocol, forms.ChoiceField)  # noqa: S101 - declared above
        protocol.choices = [(name, each.title) for name, each in PROTOCOLS.items()]
        for name in ("options", "simulation"):
            self.fields[name].widget = forms.Textarea(attrs={"rows": 3, "class": "mono"})
        if self.instance.pk:
            self.fields["slug"].disabled = True
            self.initial.update({"name": self.instance.name, "slug": self.instance.slug})

    def clean_slug(self) -> str:
        """A new judge needs a slug of its own."""
        slug: str = self.cleaned_data["slug"]
        taken = Rater.objects.filter(kind=Rater.Kind.JUDGE, slug=slug, study=None)
        if not self.instance.pk and taken.exists():
            raise forms.ValidationError(f'There is a judge "{slug}" already.')
        return slug

    def clean_options(self) -> dict[str, Any]:
        """An object, empty by default."""
        return self._object("options")

    def clean_simulation(self) -> dict[str, Any]:
        """An object, empty by default."""
        return self._object("simulation")

    def _object(self, name: str) -> dict[str, Any]:
        value = self.cleaned_data[name] or {}
        if not isinstance(value, dict):
            raise forms.ValidationError('Enter a JSON object such as {"top_p": 0.9}.')
        return value

    def _post_clean(self) -> None:
        """Nothing: the service checks the whole judge, and a form must not change the row before it has."""

    def store(self) -> Judge | None:
        """Create or change the judge; None, with the reason among the form's errors, where that cannot be."""
        config = JudgeConfig(**{name: self.cleaned_data[name] for name in CONFIG_FIELDS})
        try:
            with transaction.atomic():
                if self.instance.pk:
                    fresh = Judge.objects.select_related("rater").get(pk=self.instance.pk)
                    return configure_judge(fresh, self.cleaned_data["name"], config)
                return create_judge(self.cleaned_data["slug"], self.cleaned_data["name"], config)
        except JudgeError as error:
            self.add_error(None, str(error))
            return None


class RunForm(forms.Form):
    """Which judge is to rate which study, and how much of it."""

    study = forms.ModelChoiceField(Study.objects.filter(closed_at=None), to_field_name="slug")
    judge = forms.ModelChoiceField(Judge.objects.filter(active=True).select_related("rater"))
    limit = forms.IntegerField(
        label="At most this many pairs",
        min_value=1,
        max_value=2**31 - 1,
        required=False,
        help_text="Empty: all.",
    )
    both_orders = forms.BooleanField(
        label="Ask about every pair in both orders",
        required=False,
        help_text="Twice the calls; shows how much the judge is swayed by the order.",
    )
    remote = forms.ChoiceField(
        label="Asked by",
        choices=[("", "this arena's workers"), ("elsewhere", "judge workers on other machines")],
        required=False,
        help_text="On the other machine: python manage.py judge_worker --judge SLUG --arena-url URL.",
    )

    def clean_remote(self) -> bool:
        """Whether workers elsewhere are to ask."""
        return bool(self.cleaned_data["remote"])
