"""The form that takes files to import."""

from typing import Any, Final

from django import forms

from arena.formats import CATALOGUE
from arena.uploads.staging import Upload

MAX_BYTES: Final = 25 * 1024 * 1024
"""All files of one upload together. What is larger goes through the command line."""


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files, at least one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=FilesInput(), allow_empty_file=True, **options)

    def clean(self, data: Any, initial: Any = None) -> list[Upload]:
        uploads = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(upload, initial) for upload in uploads or [None]]


class UploadForm(forms.Form):
    uploads = FilesField(
        label="Files",
        help_text="JSON Lines or CSV, also gzipped: prompts, contestants, completions and comparisons, "
        "in any order.",
    )
    format_name = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "Told by content"), *((entry.name, entry.title) for entry in CATALOGUE.values())],
    )

    def clean_uploads(self) -> list[Upload]:
        uploads: list[Upload] = self.cleaned_data["uploads"]
        total = sum(upload.size or 0 for upload in uploads)
        if total > MAX_BYTES:
            limit, size = MAX_BYTES // 1024 // 1024, total / 1024 / 1024
            raise forms.ValidationError(
                f"These files have {size:.1f} MiB together; at most {limit} MiB can be uploaded here. "
                "Please use: python manage.py import_data STUDY PATH"
            )
        return uploads
