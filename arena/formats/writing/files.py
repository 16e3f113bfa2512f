"""Putting a written table into a file: whole, or not at all. Pure."""

import gzip
import secrets
from collections.abc import Iterable
from pathlib import Path


def save(path: Path, pieces: Iterable[bytes]) -> int:
    """Write the file beside its place and rename it there; a name ending in ``.gz`` is compressed.

    Returns its size in bytes. Raises OSError; then whatever stood there before is unchanged.
    """
    part = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            if path.name.lower().endswith(".gz"):
                with gzip.GzipFile(path.name[:-3], "wb", fileobj=file) as packed:
                    packed.writelines(pieces)
            else:
                file.writelines(pieces)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path.stat().st_size
