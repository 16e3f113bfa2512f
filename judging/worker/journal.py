"""Calls under way and replies not yet delivered, one file each: a paid reply outlives its process."""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from judging.endpoints.client import NoReplyError, Reply, Token
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.protocol import ConfiguredProtocol

ASSIGNMENT: Final = re.compile(r"[A-Za-z0-9_-]{1,24}")  # ids of assignments; they name files here


class JournalError(Exception):
    """The message is a sentence that names the folder or file."""


@dataclass(frozen=True)
class Failure:
    """The fields of judging.endpoints.client.NoReplyError."""

    kind: str
    detail: str
    retryable: bool = True
    retry_after: str = ""

    @classmethod
    def of(cls, error: NoReplyError) -> "Failure":
        return cls(error.kind[:50], str(error)[:600], error.retryable, error.retry_after[:100])


CUT_OFF: Final = Failure("abandoned", "the judge worker ended before the model replied")
"""What became of a call whose process died."""


@dataclass(frozen=True)
class Entry:
    assignment: str
    attempt: int
    key: str
    protocol: str
    prompt_hash: str
    form: str
    points: int
    model: str
    kind: str = "compare"  # of the assignment
    reply: Reply | None = None
    failure: Failure = CUT_OFF
    seconds: float | None = None  # until the reply or the failure

    @property
    def configured_protocol(self) -> ConfiguredProtocol:
        """Raises ValueError if protocol or answer scale is unknown here."""
        return ConfiguredProtocol.of(PROTOCOLS.named(self.protocol), self.form, self.points)

    def replied(self, reply: Reply, seconds: float) -> "Entry":
        return replace(self, reply=reply, seconds=seconds)

    def failed(self, failure: Failure, seconds: float) -> "Entry":
        return replace(self, failure=failure, seconds=seconds)

    @classmethod
    def from_json(cls, text: str) -> "Entry":
        """Inverse of ``Journal.write``; raises ValueError, KeyError or TypeError."""
        fields: dict[str, Any] = json.loads(text)
        reply = _reply(fields.pop("reply")) if fields["reply"] else None
        return cls(**{**fields, "reply": reply, "failure": Failure(**fields.pop("failure"))})


def _reply(fields: dict[str, Any]) -> Reply:
    tokens = tuple(
        Token(one["text"], one["logprob"], tuple((text, logprob) for text, logprob in one["alternatives"]))
        for one in fields.get("tokens", [])
    )
    return Reply(**{**fields, "tokens": tokens})


class Journal:
    """For one process at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise JournalError(
                f"Cannot write to {folder} ({error.strerror}). Set another VAR_DIR."
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise JournalError(
                f"Another judge worker uses {folder}. Raise its --concurrency, or set another VAR_DIR."
            ) from error

    def close(self) -> None:
        os.close(self._lock)

    def write(self, entry: Entry) -> None:
        """Store an entry in place of its call's former one, synced to disk; raises JournalError."""
        path = self._path(entry)
        draft = path.with_suffix(".draft")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(asdict(entry), file)
                file.flush()
                os.fsync(file.fileno())
            draft.rename(path)
            self._sync_folder()
        except OSError as error:
            raise JournalError(f"Cannot write to {self.folder} ({error.strerror}).") from error

    def entries(self) -> Iterator[Entry]:
        """What an earlier process left; raises JournalError naming a file that is no entry."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                yield Entry.from_json(path.read_text(encoding="utf-8"))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise JournalError(
                    f"{path} is no entry of a judge worker ({error}). Move it away."
                ) from error

    def remove(self, entry: Entry) -> None:
        self._path(entry).unlink(missing_ok=True)

    def refuse(self, entry: Entry) -> Path:
        """Set a reply aside that the arena refuses; returns its new path."""
        path = self._path(entry)
        try:
            refused = self.folder / "refused"
            refused.mkdir(exist_ok=True, mode=0o700)
            return path.rename(refused / path.name)
        except OSError as error:
            raise JournalError(f"Cannot move {path} away ({error.strerror}).") from error

    def _path(self, entry: Entry) -> Path:
        if not ASSIGNMENT.fullmatch(entry.assignment):
            raise JournalError(f"{entry.assignment[:50]!r} is not an assignment id.")
        question = hashlib.sha256(entry.key.encode()).hexdigest()[:16]
        return self.folder / f"{entry.assignment}.{question}.{int(entry.attempt)}.json"

    def _sync_folder(self) -> None:
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
