"""No worker listens: what would be sent to one is collected, and tests do its work themselves."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache

from arena.uploads import queue


@pytest.fixture(autouse=True)
def nudges(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, str]]]:
    """The messages to workers: job and state."""
    sent: list[tuple[int, str]] = []
    monkeypatch.setattr(queue, "nudge", lambda job, state: sent.append((job, state)))
    cache.clear()
    yield sent
    cache.clear()
