"""Files that hold no text to import, told by their first bytes. Pure."""

from typing import Final

_BEGINNINGS: Final = {
    b"\xff\xfe\x00\x00": "the file is UTF-32; please save it as UTF-8",
    b"\x00\x00\xfe\xff": "the file is UTF-32; please save it as UTF-8",
    b"\xff\xfe": "the file is UTF-16; please save it as UTF-8",
    b"\xfe\xff": "the file is UTF-16; please save it as UTF-8",
    b"PK\x03\x04": (
        "the file is a zip archive or an office document; "
        "please unpack the archive, or save the spreadsheet as CSV (UTF-8)"
    ),
    b"\xd0\xcf\x11\xe0": "the file is an old office document; please save the spreadsheet as CSV (UTF-8)",
    b"%PDF-": "the file is a PDF document, which holds no table to read",
    b"\x89PNG": "the file is a picture, which holds no table to read",
    b"\xff\xd8\xff": "the file is a picture, which holds no table to read",
    b"SQLite format 3\x00": "the file is an SQLite database; please export its tables as CSV",
    b"\xfd7zXZ\x00": "the file is packed with xz; please unpack it, or pack it with gzip",
    b"BZh": "the file is packed with bzip2; please unpack it, or pack it with gzip",
    b"\x28\xb5\x2f\xfd": "the file is packed with Zstandard; please unpack it, or pack it with gzip",
    b"7z\xbc\xaf\x27\x1c": "the file is a 7z archive; please unpack it",
    b"\x1f\x8b": "the file was packed with gzip twice; please unpack it once",
}
"""What such files begin with, the longer first where one begins like another, and what is said of them."""


def reason(start: bytes) -> str:
    """Why a file that, unpacked, begins like this cannot be read; empty where nothing speaks against it."""
    found = next((said for beginning, said in _BEGINNINGS.items() if start.startswith(beginning)), "")
    if not found and b"\x00" in start[:4]:
        return "the file is UTF-16 or holds no text; please save it as UTF-8"
    return found
