"""The settings of a study, as an operator fills them in."""

from typing import Any

from django import forms

from arena.models import Pair, Study
from arena.people.permissions import Visitor
from arena.studies import settings
from arena.studies.addresses import AddressedForm

# Inputs in plain words: lists as lines, shares as percent.


LONGEST_LINE = 100
"""Characters of one entry of a list."""


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
    """A share, typed and shown as percent, kept as a number from 0 to 1."""

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
        """Write what was changed, on record; whether anything was."""
        return bool(settings.store(self.instance, by, self.changed_data))


class NewStudyForm(AddressedForm):
    """A name is enough to begin with."""

    class Meta:
        model = Study
        fields = ("name", "slug", "description")
        labels = {"slug": "Address"}
        help_texts = {
            "slug": "The last part of its address: letters, digits and hyphens, for example "
            "summer-2026. Empty: made of the name. Links break when it is changed, so it stays.",
            "description": "What the study is about; Markdown. It stands on the study's page.",
        }


class GuidelinesForm(SettingForm):
    class Meta:
        model = Study
        fields = ("guidelines",)
        labels = {"guidelines": "Guidelines"}
        help_texts = {
            "guidelines": "Markdown. What makes an answer better here, what does not matter, when to call a "
            "tie. Raters read this before they start, and with G at any time."
        }
        widgets = {"guidelines": forms.Textarea({"rows": 16})}


class RatingForm(SettingForm):
    """How people rate, how often, and which pairs they get."""

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
            *("points", "ratings_per_pair_people", "ratings_per_pair_judges"),
            *("criteria", "reasons", "reveal_names", "training_threshold"),
            *("pairing", "control_share", "repeat_share", "gold_share"),
        )
        labels = {
            "points": "Scale",
            "ratings_per_pair_people": "Ratings per pair by people",
            "ratings_per_pair_judges": "Ratings per pair by each judge",
            "reveal_names": "Tell raters who wrote the answers once they have rated them",
            "pairing": "Choice of pairs",
        }
        help_texts = {
            "points": "Ratings given already keep the scale they were given on.",
            "ratings_per_pair_people": "By how many different people each pair is to be rated.",
            "reveal_names": "Motivates some raters, and lets them recognise styles: better left off. Each "
            "rater then gets every answer in one pair only, and no repeats: others would not be blind.",
        }

    GROUPS = {
        "The scale": ("points", "criteria", "reasons", "reveal_names"),
        "How much": ("ratings_per_pair_people", "ratings_per_pair_judges"),
        "Which pairs people get": ("pairing", "control_share", "repeat_share", "gold_share"),
        "Training": ("training_threshold",),
    }

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields under their headings."""
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
    """Who sees what."""

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
