"""No worker listens: what would be sent to one is collected, and tests do its work themselves."""

from typing import Any

import pytest

from arena.data.uploads import jobs


@pytest.fixture(autouse=True)
def nudges(
    monkeypatch: pytest.MonkeyPatch, settings: Any, request: pytest.FixtureRequest
) -> list[tuple[int, str]]:
    """The messages to workers: job and state. The cache is this test's own."""
    backend = "django.core.cache.backends.locmem.LocMemCache"
    own = {"progress": {"BACKEND": backend, "LOCATION": request.node.nodeid}}
    settings.CACHES = settings.CACHES | own
    sent: list[tuple[int, str]] = []
    monkeypatch.setattr(jobs, "nudge", lambda job, state: sent.append((job, state)))
    return sent
