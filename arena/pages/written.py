"""Fields of texts that operators write."""

from typing import Any

from django import forms

from arena.texts.markdown import LONGEST_WRITTEN


class MarkdownField(forms.CharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "max_length": LONGEST_WRITTEN})
