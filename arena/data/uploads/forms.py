"""The form that takes data to import, as files or as text, and the limit of how much."""

from io import BytesIO
from typing import Any, Final

from django import forms
from django.conf import settings
from django.core.files.base import File
from django.core.files.uploadhandler import FileUploadHandler, StopUpload

from arena.data.uploads.storage import Upload

MIB: Final = 1024 * 1024


def max_bytes() -> int:
    """All files of one upload together. What is larger goes through the command line."""
    return int(settings.IMPORT_MAX_MB) * MIB


def too_much() -> str:
    """What is said of an upload above the limit."""
    return (
        f"At most {settings.IMPORT_MAX_MB} MB can be uploaded at a time. "
        "Please send larger files gzipped or in parts, or use: python manage.py import_data STUDY PATH"
    )


class QuotaHandler(FileUploadHandler):
    """Stops keeping an upload as soon as it is above the limit; reads the rest, so that we can answer."""

    def __init__(self) -> None:
        super().__init__()
        self.received = 0

    @property
    def exceeded(self) -> bool:
        return self.received > max_bytes()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received += len(raw_data)
        if self.exceeded:
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=FilesInput(), required=False, allow_empty_file=True, **options)

    def clean(self, data: Any, initial: Any = None) -> list[Upload]:
        uploads = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(upload, initial) for upload in uploads if upload]


class UploadForm(forms.Form):
    uploads = FilesField(label="Files")
    pasted = forms.CharField(
        label="Or paste text",
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 6, "spellcheck": "false", "wrap": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        """With ``uploads``: the files, and the pasted text as one more."""
        data = self.cleaned_data
        uploads = list(data.get("uploads") or [])
        if data.get("pasted", "").strip():
            uploads.append(_as_file(data["pasted"]))
        if not uploads:
            raise forms.ValidationError("Choose at least one file, or paste text.")
        if sum(upload.size for upload in uploads) > max_bytes():
            raise forms.ValidationError(too_much())
        return {**data, "uploads": uploads}


def _as_file(text: str) -> Upload:
    ending = "jsonl" if text.lstrip().startswith(("{", "[")) else "csv"
    return File(BytesIO(text.encode("utf-8", "replace")), name=f"pasted.{ending}")
