"""Choosing the tasks of a study, and what opinions forbid to change of them."""

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.template.defaultfilters import pluralize

from arena.models import Score, Study
from arena.rating.tasks import TASKS


def why_kept(study: Study, tasks: Sequence[str]) -> str:
    """Say why the study must keep a task that these leave out; "" if it need not."""
    for kind in study.tasks:
        task = TASKS[kind]
        stored = task.model._default_manager.filter(study=study, is_current=True)
        if kind not in tasks and (count := stored.count()):
            return f"Keep “{task.name}”: the study has {count:,} {task.said.format(pluralize(count))}."
    return ""


def why_fixed(study: Study) -> str:
    """Say why the ends of the scale of scores must stay; "" if they may change."""
    ends = {"lowest": study.score_lowest, "highest": study.score_highest}
    count = Score.objects.current().filter(study=study, **ends).count()
    if not count:
        return ""
    scores = f"{count:,} score{pluralize(count, ' was,s were')}"
    return f"The scale must stay {ends['lowest']} to {ends['highest']}: {scores} given on it."


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
