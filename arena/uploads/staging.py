"""Uploaded files between the preview and the import, under names that cannot be guessed."""

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from arena.formats.files import InputFile

Upload: TypeAlias = "UploadedFile[Any]"

KEPT_SECONDS: Final = 24 * 3600
"""How long files wait for somebody to apply or cancel."""

_TOKEN: Final = re.compile(r"[-\w]{32}", re.ASCII)


@dataclass(frozen=True)
class Staged:
    """Files that wait for their import, and what was said about them."""

    token: str
    folder: Path
    study: int
    user: int
    format_name: str
    names: list[str]

    def files(self) -> list[InputFile]:
        """The files under the names they had on the operator's machine."""
        return [InputFile(self.folder / str(number), name) for number, name in enumerate(self.names)]

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _root() -> Path:
    root = Path(settings.MEDIA_ROOT) / "imports"
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return root


def stage(study: int, user: int, format_name: str, uploads: Iterable[Upload]) -> Staged:
    """Write uploaded files down, and throw away those that nobody came back for."""
    _discard_old()
    token = secrets.token_urlsafe(24)
    folder = _root() / token
    folder.mkdir(mode=0o700)
    names: list[str] = []
    for number, upload in enumerate(uploads):
        names.append(Path(upload.name or "upload").name)
        with (folder / str(number)).open("wb") as target:
            for chunk in upload.chunks():
                target.write(chunk)
    about = {"study": study, "user": user, "format_name": format_name, "names": names}
    (folder / "about.json").write_text(json.dumps(about))
    return Staged(token, folder, **about)  # type: ignore[arg-type]


def find(token: str, study: int, user: int) -> Staged | None:
    """The files behind a token, for the operator who uploaded them to this study only."""
    if not _TOKEN.fullmatch(token):
        return None
    folder = _root() / token
    try:
        about = json.loads((folder / "about.json").read_text())
    except OSError:
        return None
    staged = Staged(token, folder, **about)
    return staged if (staged.study, staged.user) == (study, user) else None


def _discard_old() -> None:
    before = time.time() - KEPT_SECONDS
    for folder in _root().iterdir():
        if folder.is_dir() and folder.stat().st_mtime < before:
            shutil.rmtree(folder, ignore_errors=True)
