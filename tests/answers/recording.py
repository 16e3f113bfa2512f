"""Answers as files, without what differs between two recordings of the same code."""

import hashlib
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Final

CHANCE: Final = """
import random, secrets
token_urlsafe = secrets.token_urlsafe
secrets.token_urlsafe = lambda nbytes=32: "drawn" + token_urlsafe(nbytes)[5:]
secrets.randbits = lambda bits: 1
token_hex = secrets.token_hex
secrets.token_hex = lambda nbytes=8: ("d0a" + token_hex(nbytes)[3:])
class Random(random.Random):
    def __init__(self, seed=None):
        super().__init__(0 if seed is None else seed)
random.Random = Random
"""
"""Run by Python at the start of every command. What is drawn about pairs is always the same; tokens have to
differ, and are marked."""

RULES: Final = (
    (r"\bdrawn[\w-]{11,}|\barena_drawn[\w-]+", "DRAWN"),  # tokens, names of assignments, links to join by
    (r'((?:csrfmiddlewaretoken|X-CSRFToken|csrf|"token")\W{1,4}(?:value=\W{1,3})?)\w{64}', r"\1DRAWN"),
    (r"(/static/[\w./-]+?)\.[0-9a-f]{12}(\.\w+)", r"\1.HASH\2"),  # of what stands in a static file
    (r'("commit": "|commit )[0-9a-f]{40}', r"\1COMMIT"),  # of the checkout
    (r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT"),  # a free one
    (r"\b[\w.-]+:\d+:[0-9a-f]{8}\b", "HOST:PROCESS:DRAWN"),  # the worker that asked
    (r'("lease_seconds": |"seed": 0, "seconds": |computed in )[\d.]+', r"\1SECONDS"),  # by the clock
    (r"\w+__day=[^<]+", "DAY"),  # links of the admin
    (r"(zip, )[\d.]+ (?=[KM]B)", r"\1SIZE "),  # of an archive with times in it
    (r"(As of|Updated) \d\d:\d\d:\d\d UTC", r"\1 TIME"),  # now
    (r"\bd0a[0-9a-f]{13}\b|former rater \w+", "DRAWN"),  # numbers of requests, names of those who left
    (
        r'(digest">|"sha256": ")[0-9a-f]{64}((?:",\s+"size": \d+)?)',
        r"\1DIGEST",
    ),  # of a bundle with times in it
)
"""Patterns, and what takes the place of what they find. Dates and times are found by ``Recording``."""


class Recording:
    """Answers as files below a folder, without what differs between two recordings of the same code."""

    def __init__(self, folder: Path, places: dict[Path, str]) -> None:
        """``places``: what folders are called in place of their paths."""
        self._folder, self._places = folder, places
        started = datetime.now(UTC)
        self._epochs = started.timestamp() - 60, started.timestamp() + 7200
        days = started, started + timedelta(hours=2)
        forms = ("%Y-%m-%d", "%-d %b %Y", "%-d %B %Y", "%b. %-d, %Y", "%B %-d, %Y")
        dates = "|".join({re.escape(day.strftime(form)) for day, form in product(days, forms)})
        clock = r"\d\d?(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?: [ap]\.m\.)?|noon|midnight"
        self._now = re.compile(rf"(?:{dates})(?:(?:[T ]|, )(?:{clock}))?")

    def write(self, name: str, content: bytes, head: str = "") -> None:
        """Store an answer; an archive or a Parquet file as what is in it."""
        if content.startswith(b"PK\x03\x04"):
            content = self._unpacked(name, content)
        elif content.startswith(b"PAR1"):
            content = _rows(content)
        path = self._folder / self._clean(name.encode()).decode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._clean(head.encode() + content))

    def _unpacked(self, name: str, archive: bytes) -> bytes:
        """The names in an archive, whose files are written. Digests of what had to be cleaned say nothing."""
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            files = {member: opened.read(member) for member in opened.namelist()}
        for content in [content for content in files.values() if self._clean(content) != content]:
            digest = rb'"bytes": \d+,\s+"sha256": "%s"' % hashlib.sha256(content).hexdigest().encode()
            files = {member: re.sub(digest, b'"bytes": 0', text) for member, text in files.items()}
        for member, content in files.items():
            self.write(f"{name}.unpacked/{member}", content)
        return "\n".join(files).encode()

    def _clean(self, content: bytes) -> bytes:
        text = content.decode("utf-8", "surrogateescape")
        for path, instead in self._places.items():
            text = text.replace(str(path), instead)
        for pattern, instead in RULES:
            text = re.sub(pattern, instead, text)
        # Only times of the recording itself: all others are data.
        text = self._now.sub(_zeros, text)
        return re.sub(r"\b1\d{9}(?:\.\d+)?\b", self._epoch, text).encode("utf-8", "surrogateescape")

    def _epoch(self, found: re.Match[str]) -> str:
        earliest, latest = self._epochs
        return "EPOCH" if earliest < float(found[0]) < latest else found[0]


def _zeros(found: re.Match[str]) -> str:
    """A date and perhaps a time, in its own form, with zeros."""
    moment = re.sub(r"\d+(?::\d+)? [ap]\.m\.|noon|midnight", "0:0 a.m.", found[0])
    return re.sub(r"\d+", "0", re.sub(r"[A-Z][a-z]{2,}", "Mon", moment))


def _rows(content: bytes) -> bytes:
    """What a Parquet file holds: its columns, then a line of JSON for every row."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(content))
    rows = (json.dumps(row, default=str) for row in table.to_pylist())
    return "\n".join([str(table.schema), *rows]).encode()


def file_name(text: str) -> str:
    """A name for a file that says as much of the text as it can."""
    name = re.sub(r"[^\w.,=:?&%+-]+", "_", text).strip("_")
    return name if len(name) < 180 else f"{name[:160]}~{hashlib.sha256(text.encode()).hexdigest()[:12]}"
