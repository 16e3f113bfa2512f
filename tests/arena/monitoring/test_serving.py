"""A real web server in production's form: processes that count together, and lines with ids."""

import json
import re
import signal
import urllib.request
from functools import partial
from pathlib import Path

import pytest

from tests.arena.process.processes import Server, manage
from tests.migrated import migrate

REQUESTS = 40


@pytest.mark.processes
def test_processes_count_together_and_write_lines_with_ids(tmp_path: Path) -> None:
    database = tmp_path / "arena.sqlite3"
    migrate(database, partial(manage, VAR_DIR=str(tmp_path)))
    folder = tmp_path / "counts"
    folder.mkdir()
    (folder / "counter_1.db").write_bytes(b"of a process that is gone")
    (tmp_path / "static").mkdir()
    server = Server(
        ARENA_ENV="production",
        SECRET_KEY="only-for-this-test-and-nothing-else-at-all",
        ALLOWED_HOSTS="127.0.0.1",
        SECURE_SSL_REDIRECT="false",
        DATABASE_URL=f"sqlite:///{database}",
        BROKER_URL="redis://127.0.0.1:9/0",
        VAR_DIR=str(tmp_path),
        PROMETHEUS_MULTIPROC_DIR=str(folder),
        WEB_WORKERS="2",
    )
    server.get("/healthz")
    given = set()
    for _ in range(REQUESTS):
        asked = urllib.request.Request(
            f"http://127.0.0.1:{server.port}/healthz", headers={"X-Request-ID": f"of-the-proxy-{len(given)}"}
        )
        with urllib.request.urlopen(asked) as reply:  # noqa: S310 - our own
            given.add(reply.headers["X-Request-ID"])
    text = server.get("/metrics")
    printed = server.end(signal.SIGTERM)
    counted = re.search(r'arena_http_requests_total\{.*view="healthz"\} (\S+)', text)
    assert counted, text
    assert float(counted[1]) == REQUESTS + 1
    assert len(list(folder.glob("counter_*.db"))) >= 1
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    told = {line["request_id"] for line in lines if line.get("view") == "healthz"}
    assert given == {f"of-the-proxy-{number}" for number in range(REQUESTS)}
    assert given <= told
