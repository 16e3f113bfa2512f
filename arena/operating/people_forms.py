"""Forms about people: an invitation link, a role."""

from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from arena.models import Invitation, RaterGroup, Role

MOST_USES = 10_000
"""People one link can let in."""


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]
    """A link by which people join."""

    last_day = forms.DateField(
        label="Last day",
        required=False,
        widget=forms.DateInput({"type": "date"}),
        help_text="The link stops working at the end of this day (UTC). Empty: it does not expire.",
    )

    class Meta:
        model = Invitation
        fields = ("role", "max_uses", "note", "group")
        labels = {"max_uses": "For how many people", "group": "Group of raters"}
        help_texts = {
            "note": "For you: whom the link is for. Nobody else sees it; better no names of people.",
            "group": "Boards can be made of its members alone.",
        }

    def __init__(self, *args: Any, may_group: bool = False, **kwargs: Any) -> None:
        """may_group: whether the link may put people into a group. Groups are shared by all studies."""
        super().__init__(*args, **kwargs)
        self.fields["max_uses"].widget.attrs |= {"min": 1, "max": MOST_USES}
        if not (may_group and RaterGroup.objects.exists()):
            del self.fields["group"]

    def clean_max_uses(self) -> int:
        uses = int(self.cleaned_data["max_uses"])
        if not 1 <= uses <= MOST_USES:
            raise forms.ValidationError(f"A link lets in 1 to {MOST_USES:,} people.")
        return uses

    def clean_last_day(self) -> Any:
        day = self.cleaned_data["last_day"]
        if day and day < timezone.now().date():
            raise forms.ValidationError("This day is over; choose today or a later one.")
        if day and day > timezone.now().date() + timedelta(days=3660):
            raise forms.ValidationError("At most ten years ahead are possible; leave it empty for no end.")
        return day

    def save(self, commit: bool = True) -> Any:
        day = self.cleaned_data["last_day"]
        # The first moment after the day: links work until then, not at it.
        end = (
            datetime.combine(day + timedelta(days=1), time.min, timezone.get_default_timezone())
            if day
            else None
        )
        self.instance.expires_at = end
        return super().save(commit)


class RoleForm(forms.Form):
    """What a member may do."""

    role = forms.ChoiceField(choices=Role.choices)
