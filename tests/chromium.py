"""The browser of the tests; importable without Django's settings."""

import os
import shutil

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is Chromium without windows, which takes a fifth less of the processor."""

_UNWANTED = ("gpu", "quic", "background-networking", "component-update", "sync")
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in _UNWANTED)]
WITHOUT_OPTIMISING = "--js-flags=--single-threaded,--no-opt,--no-maglev"
"""For tests, whose scripts have ended before it pays: it takes a tenth of the processor. Not for timings."""


def find_chromium() -> str | None:
    """The browser named by CHROMIUM, or the first one on PATH."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for name in BROWSERS if (path := shutil.which(name))), None)
