"""An arena of this checkout in processes of its own, and who asks it over HTTP."""

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, Request, build_opener

from tests.answers.recording import CHANCE

ROOT: Final = Path(__file__).parents[2]
BATCH: Final = """
import base64, contextlib, io, json, sys
from django.core.management import execute_from_command_line
for arguments in json.load(sys.stdin):
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            execute_from_command_line(["manage.py", *arguments])
        except SystemExit as end:
            code = end.code or 0
        except Exception as error:
            code = f"{type(error).__name__}: {error}"
    print(json.dumps([code, *(base64.b64encode(each.buffer.getvalue()).decode() for each in (out, err))]))
"""
"""Run by ``manage.py shell``: all commands in one process, since starting one takes longer than most."""


class Arena:
    """An arena of this checkout, with a database of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{probe.getsockname()[1]}"
        (folder / "var").mkdir()
        (folder / "sitecustomize.py").write_text(CHANCE)
        self._environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(folder),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            "VAR_DIR": str(folder / "var"),
            "PORT": self.address.rpartition(":")[2],
            "SECRET_KEY": "pseudonyms are made with it, so it is the same in every recording",
            "LOG_LEVEL": "ERROR",
            "SWEEP_SECONDS": "3600",
            "WORKER_CONCURRENCY": "1",  # so that a judge's answers come in one order
        }

    def manage(self, *arguments: str, given: str = "") -> str:
        """What a command prints. Raises CalledProcessError where it fails."""
        command = [sys.executable, "manage.py", *arguments]
        pipe = subprocess.PIPE
        ended = subprocess.run(command, cwd=ROOT, env=self._environment, input=given, stdout=pipe, text=True)
        ended.check_returncode()
        return ended.stdout

    @contextmanager
    def serving(self) -> Iterator[None]:
        """While the web server and its worker run."""
        command, silence = [sys.executable, "manage.py", "serve"], subprocess.DEVNULL
        server = subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=silence, stderr=silence)
        try:
            while Browser(self).get("/healthz").status != 200:
                if server.poll() is not None:
                    raise RuntimeError("the server has ended")
                time.sleep(0.2)
            yield
        finally:
            server.terminate()
            server.wait(300)

    def settle(self) -> None:
        """Delete the figures, which were computed how often chance would have it, and even out durations."""
        with sqlite3.connect(self.folder / "var" / "arena.sqlite3") as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                if table.startswith("leaderboard_"):
                    database.execute(f"DELETE FROM {table}")  # noqa: S608 - the product's own names
                    database.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
                columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
                for name in columns & {"seconds", "latency"}:  # with one decimal they are the demo's
                    database.execute(f"UPDATE {table} SET {name} = 1 WHERE {name} != round({name}, 1)")  # noqa: S608


class Reply(NamedTuple):
    """An answer over HTTP."""

    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def head(self) -> str:
        """The status, and the headers that are recorded."""
        names = ("Content-Type", "Content-Disposition", "Location", "Allow", "Cache-Control")
        kept = (f"{name}: {self.headers[name]}\n" for name in names if name in self.headers)
        return f"{self.status}\n{''.join(kept)}\n"


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Browser:
    """Somebody who asks an arena, with a session or with a token."""

    def __init__(self, arena: Arena, token: str = "") -> None:
        self._address = arena.address
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._cookies = CookieJar()
        self._opener = build_opener(_NoRedirects, HTTPCookieProcessor(self._cookies))

    def get(self, address: str) -> Reply:
        """The answer, once numbers that are computed on demand are there: waited for five minutes."""
        for _ in range(600):
            reply = self._ask(address)
            if reply.status != 202 and not re.search(rb'id="computing"[^>]* hx-get', reply.body):
                break
            time.sleep(0.5)
        return reply

    def post(self, address: str, /, **fields: Any) -> Reply:
        """Send a form."""
        csrf = next((str(each.value) for each in self._cookies if each.name == "csrftoken"), "")
        return self._ask(address, urlencode(fields, doseq=True).encode(), {"X-CSRFToken": csrf})

    def send(self, address: str, content: Any, method: str = "POST") -> Reply:
        """Send JSON."""
        return self._ask(address, json.dumps(content).encode(), {"Content-Type": "application/json"}, method)

    def _ask(
        self,
        address: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        method: str | None = None,
    ) -> Reply:
        request = Request(self._address + address, body, self._headers | (headers or {}), method=method)  # noqa: S310
        try:
            opened = self._opener.open(request, timeout=900)
        except HTTPError as error:
            opened = error
        except URLError:  # it does not listen yet
            return Reply(0, Message(), b"")
        with opened:
            return Reply(opened.status, opened.headers, opened.read())
