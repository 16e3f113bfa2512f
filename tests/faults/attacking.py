"""Slow and greedy clients against a production arena, at its port and through Caddy, while people rate.

What somebody signs in with while Redis is away is tried at the end.
"""

import json
import os
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from threading import Event, Thread
from typing import Final
from urllib.parse import urlencode, urlsplit

from tests.arena.process.processes import free_port
from tests.faults import services
from tests.faults.drill import Say
from tests.faults.evidence import Line
from tests.faults.places import Production
from tests.faults.raters import STORED, STUDY, Raters, lost, seed
from tests.processes import ROOT

CLIENTS: Final = 50
SECONDS: Final = 30.0
"""Longer than the arena's patience, so that the slow are cut off and come again."""

LONGEST: Final = 2.0
"""Seconds that nobody else may wait for a page: the machine has other work."""

ATTACKER: Final = "127.0.0.2"
RESULTS: Final = "/studies/closed/results/preferences.jsonl"
SCRIPT: Final = "/static/vendor/plotly/plotly.min.js"
HEAD: Final = "{} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}\r\n"
LENGTH: Final = "Content-Length: 1000000\r\nContent-Type: application/json\r\n"
CHUNKS: Final = "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n"

ATTACKS: Final = {
    "a results file read at 64 bytes a second": (HEAD.format(f"GET {RESULTS}", ""), b"", CLIENTS),
    "a script read at 64 bytes a second": (HEAD.format(f"GET {SCRIPT}", ""), b"", CLIENTS),
    "a head, a line a second": ("GET / HTTP/1.1\r\n", b"X: y\r\n", CLIENTS),
    "a body, a byte a second": (HEAD.format("POST /api/v1/comparisons/", LENGTH), b"x", CLIENTS),
    "a body in chunks of a byte": (HEAD.format("POST /api/v1/comparisons/", CHUNKS), b"1\r\nx\r\n", CLIENTS),
    "2,500 connections that stay": (HEAD.format("GET /static/annotation/clock.js", ""), b"", 2_500),
}
"""What is sent first, what each second, and by how many."""

SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
STAFF: Final = f"""
from allauth.mfa.totp.internal.auth import TOTP
from tests.factories import make_user
TOTP.activate(make_user(username="chief", is_staff=True), "{SECRET}")
"""
CODE: Final = f"""
import time
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
print(format_hotp_value(hotp_value("{SECRET}", int(time.time()) // 30)))
"""
CLOSED: Final = "closed"
CLOSE: Final = f"""
from django.utils import timezone
from arena.models import Study
Study.objects.filter(slug="{CLOSED}").update(closed_at=timezone.now())
"""


def missing_here() -> str:
    """Why it cannot be tried here; "" where it can."""
    return services.missing_here() or (
        "" if shutil.which("caddy") else "there is no caddy; apt-get install caddy"
    )


@contextmanager
def caddy(arena: Production, folder: Path) -> Iterator[str]:
    """The proxy with the settings of deploy/, but for HTTPS; its address."""
    address = f"http://127.0.0.1:{free_port()}"
    site = (ROOT / "deploy" / "Caddyfile").read_text().replace("arena.example.org", address)
    file = folder / "Caddyfile"
    file.write_text(f"{{\n\tadmin off\n}}\n{site}")
    environment = os.environ | {"ARENA_WEB": urlsplit(arena.url).netloc, "XDG_DATA_HOME": str(folder)}
    command = ["caddy", "run", "--config", str(file), "--adapter", "caddyfile"]
    with (folder / "caddy.log").open("wb") as log:
        proxy = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(100):
            with suppress(OSError):
                urllib.request.urlopen(f"{address}/healthz", timeout=5).close()  # noqa: S310 - our own
                break
            time.sleep(0.1)
        yield address
    finally:
        proxy.terminate()
        proxy.wait()


class Attackers(Thread):
    """So many connections from one address, each of which comes again when it is cut off."""

    def __init__(self, address: str, first: str, each_second: bytes, number: int) -> None:
        super().__init__(daemon=True)
        self._to = urlsplit(address)
        self._first, self._each_second = first.encode(), each_second
        self._clients: list[socket.socket | None] = [None] * number
        self.over = Event()
        self.cut_off = 0

    def run(self) -> None:
        while not self.over.is_set():
            due = time.monotonic() + 1
            for place, client in enumerate(self._clients):
                if self.over.is_set():
                    break
                try:
                    self._clients[place] = client or self._connected()
                    if client:
                        self._go_on(client)
                except OSError:
                    self.cut_off += 1
                    if client:
                        client.close()
                    self._clients[place] = None
            self.over.wait(max(0.0, due - time.monotonic()))
        for client in filter(None, self._clients):
            client.close()

    def _connected(self) -> socket.socket:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(2)
        client.bind((ATTACKER, 0))
        client.connect((self._to.hostname, self._to.port))
        client.sendall(self._first)
        client.setblocking(False)
        return client

    def _go_on(self, client: socket.socket) -> None:
        if self._each_second:
            client.sendall(self._each_second)
        with suppress(BlockingIOError):
            if not client.recv(64):
                raise ConnectionResetError


class Visitor(Thread):
    """Somebody else, who asks for a page ten times a second on a connection of their own each time."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._host = urlsplit(address).netloc
        self.over = Event()
        self.taken: list[float] = []
        self.failed = 0

    def run(self) -> None:
        while not self.over.wait(0.1):
            started = time.monotonic()
            connection = HTTPConnection(self._host, timeout=30)
            try:
                connection.request("GET", f"/studies/{STUDY}/")
                reply = connection.getresponse()
                reply.read()
                self.failed += reply.status != 200
            except (OSError, HTTPException):
                self.failed += 1
            self.taken.append(time.monotonic() - started)
            connection.close()


def attacking(say: Say) -> list[Line]:
    """Each attack at the port of the arena and through the proxy, then an arena without Redis."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with (
        tempfile.TemporaryDirectory(prefix="arena-faults-attack-") as name,
        services.private_postgresql() as database,
        services.private_redis() as broker,
    ):
        folder = Path(name)
        settings = {"WEB_WORKERS": "2", "TRUSTED_PROXIES": "1", "LOG_LEVEL": "ERROR"}
        arena = Production(folder, 0, database, broker, **settings)
        arena.manage("collectstatic", "--verbosity=0", "--no-input")
        programs = (
            seed(CLOSED, raters=1, prompts=2_000, imported=20_000),
            seed(STUDY, raters=4, prompts=2_000, imported=2_000),
        )
        tokens = json.loads(arena.run("".join([*programs, CLOSE, STAFF])).splitlines()[-1])
        for study in (STUDY, CLOSED):
            arena.manage("refresh", study)
        try:
            arena.start()
            with caddy(arena, folder) as proxied, Raters(arena, tokens) as raters:
                say("the arena and the proxy run")
                report = [
                    _attacked(where, address, what, raters, say)
                    for what in ATTACKS
                    for where, address in (("", arena.url), (", through Caddy", proxied))
                ]
                report.append(_memory(arena))
                report.append(_signs_in_without_redis(arena, proxied, broker))
            stored = lost(arena.query(STORED), raters.acknowledged)
            report.append(
                Line("ratings acknowledged, lost", f"{len(raters.acknowledged):,}, {stored}", not stored)
            )
        finally:
            arena.kill()
    return report


def _attacked(where: str, address: str, what: str, raters: Raters, say: Say) -> Line:
    first, each_second, number = ATTACKS[what]
    before = len(raters.acknowledged)
    attackers, visitor = Attackers(address, first, each_second, number), Visitor(address)
    attackers.start()
    time.sleep(2)
    visitor.start()
    time.sleep(SECONDS)
    for each in (visitor, attackers):
        each.over.set()
        each.join(60)
    taken = sorted(visitor.taken)
    slow = taken[int(0.95 * (len(taken) - 1))]
    rated = len(raters.acknowledged) - before
    value = (
        f"{len(taken) - visitor.failed} of {len(taken)} pages, 95 % in {1000 * slow:.0f} ms, longest "
        f"{1000 * taken[-1]:.0f} ms; {rated} ratings; {attackers.cut_off:,} connections cut off"
    )
    say(f"{what}{where}: {value}")
    return Line(f"{what}{where}", value, not visitor.failed and slow < LONGEST and rated > 0)


def _memory(arena: Production) -> Line:
    asked = ["ps", "-o", "rss=", "--ppid", str(arena.web.pid)]
    most = max(map(int, subprocess.check_output(asked, text=True).split())) / 1000
    return Line("memory of a web process", f"{most:.0f} MB", most < 500)


def _signs_in_without_redis(arena: Production, address: str, broker: services.Redis) -> Line:
    broker.stop()
    # The proxy of this drill speaks plain HTTP.
    cookies = CookieJar(DefaultCookiePolicy(secure_protocols=("http", "https")))
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))

    def post(path: str, **form: str) -> str:
        page = browser.open(f"{address}{path}").read().decode()
        token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[0]
        sent = urlencode({"csrfmiddlewaretoken": token, **form}).encode()
        return str(browser.open(f"{address}{path}", sent).geturl())

    post("/account/sign-in/", username="chief", password="pw")
    time.sleep(30 - time.time() % 30)  # a new code, which lasts until it is typed
    code = arena.run(CODE).split()[-1]
    arrived = urlsplit(post("/account/second-factor/code/", code=code)).path
    return Line("staff sign in with a second factor while Redis is away", arrived, arrived == "/operate/")
