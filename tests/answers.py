"""Record everything the product answers as files, before a refactoring and after it, and compare.

    python -m tests.answers record FOLDER [--data DATA]
    python -m tests.answers compare BEFORE AFTER

The product is known by its commands and addresses alone, so this file records any checkout that it stands in.
DATA holds the public data sets (default: ARENA_REFERENCE_DATA, or ../shared/data beside the project).
"""

import argparse
import base64
import csv
import hashlib
import html
import io
import json
import os
import re
import shlex
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from difflib import unified_diff
from email.message import Message
from http.cookiejar import CookieJar
from itertools import product, takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, Request, build_opener

ROOT: Final = Path(__file__).parents[1]
STUDIES: Final = ("demo", "llmfao")
PASSWORD: Final = "Four-Words-And-1-Number"

# --- What is asked ------------------------------------------------------------------------------------------
CAPS: Final = {"visitor": 4, "rater": 1, "operator": 1, "staff": 2}
"""Who looks, and at how many pages of one shape (see ``_shape``)."""

STARTS: Final = """
/ /rate/ /operate/ /judging/ /admin/ /methodology/ /healthz /api/v1/openapi.json
/account/token/ /account/password/ /account/remove-details/ /rate/demo/report/
/studies/nowhere/ /studies/demo/?raters=nobody /join/nowhere/ /operate/nowhere/ /nowhere/
"""
STARTS_CLOSED: Final = """
/studies/STUDY/ /operate/STUDY/ /rate/STUDY/ /studies/STUDY/comparisons/?search=the
/studies/STUDY/comparisons/?only=flipped /studies/STUDY/comparisons/?only=judges
/studies/STUDY/comparisons/?answer=unscored /studies/STUDY/comparisons/?answer=nothing
/studies/STUDY/comparisons/?rating=7-8 /studies/STUDY/comparisons/?sort=disagreement
"""
CLOSED: Final = r"^/\w+/[^/]+/($|comparisons|data|results|leaderboard|state|contestants/[^/]+/$)"
"""Addresses that answer otherwise once a study is closed."""

LEFT_OUT: Final = {
    r"^/static/": "files, which are no answers",
    r"^/account/sign-out/|^/admin/logout/": "ends the session",
    r"^/admin/(auth|axes|jsi18n)/": "not ours: hashes of passwords, times of signing in",
    r"^/admin/leaderboard/": "lists how long every computation took; the pages and the API show the same",
    r"__fk__": "a gap that a script fills",
    r"__day=": "the admin's links to single days, of which there is another one every day",
}
"""Addresses that are not asked for, and why."""

PARAMETERS: Final = {
    "raters": ("people", "judge:strict", "judge:gpt-4", "group:simulated-judges", "nobody"),
    "category": ("coding", "-coding", "nothing"),
    "method": ("bradley-terry", "davidson", "ordinal", "magic"),
    "ties": ("off", "maybe"),
    "band": ("3-6", "9-1"),
    "level": ("80", "200"),
    "contestants": ("models",),
    "resample": ("games", "dice"),
    "limit": ("2", "0"),
    "offset": ("1", "-1"),
    "after": ("10", "x"),
    "slug": (*STUDIES, "nowhere"),
    "run_id": ("1", "nowhere"),
    "snapshot_id": ("1", "2", "nowhere"),
    "kind": ("standings", "matrices", "ratings", "length", "correlation", "agreement", "data", "nowhere"),
}
"""What the API is asked for, by the name of the parameter."""

COMMANDS: Final = """
help
[ablate|anchor|anonymise_rater|api_token|bundle|compare|export|find_names|import_data|judge|judge_worker|\
load_demo|operator|plan|prepare|protocols|rank|recompute|refresh|serve|standings] --help
export demo --what [contestants|raters|prompts|completions|pairs|comparisons|standings|leaderboard|arena|\
preferences|evalica] --format [json|csv|jsonl|parquet] --out OUT/demo-[contestants|raters|prompts|\
completions|pairs|comparisons|standings|leaderboard|arena|preferences|evalica].[json|csv|jsonl|parquet]
export demo --what all --format [csv|jsonl|parquet] --out OUT/all-[csv|jsonl|parquet]
export demo --what [preferences --conversational|arena --raters all|evalica --raters judge:strict --ties off|\
standings --method ordinal|comparisons --ties off|nothing|all]
export llmfao --what [comparisons|standings|leaderboard|arena|preferences|evalica|raters]
bundle [demo|llmfao] --out OUT/bundle-[demo|llmfao].zip
bundle demo --with-texts --out OUT/bundle-texts.zip
bundle nowhere --out OUT/none.zip
recompute OUT/[bundle-demo.zip|bad.csv]
rank DATA/evalica/[food|simple].csv --method [elo|bradley-terry|davidson|ordinal] --format [table|json]
rank OUT/votes.[csv|json|jsonl] --rounds 50 --format json
rank OUT/votes.csv --rounds 50 --format json [--ties off|--resample games|--resample raters|--k 4|--seed 7|\
--interval 90|--pairwise|--no-bootstrap|--method ordinal --adjust raters]
rank DATA/llmfao/[crowd|gpt3|gpt4-crowd]-comparisons.csv --format json --intervals sandwich --method \
[bradley-terry|davidson|ordinal]
rank OUT/demo-[arena|evalica].[csv|jsonl] --method bradley-terry --rounds 100
rank OUT/demo-arena.csv --method ordinal --tie-band 3-6 --rounds 20 --format json
rank [OUT/bad.csv|OUT/empty.csv|OUT/none.csv|DATA/evalica/food-golden.csv]
rank DATA/evalica/food.csv [--k none|--method magic|--rounds 0|--adjust length|--tie-band 3-6]
compare [DATA/evalica/food.csv|DATA/llmfao/gpt4-crowd-comparisons.csv|OUT/bad.csv|\
--study demo|--study none] --rounds 100 --format [table|json]
compare --study demo --rounds 100 [--raters judge:simulated-judge-b|--raters nobody|--category coding]
plan --study [demo --gap 30|demo --between "Redshank 13B" "Dunnock 7B"|llmfao --gap 30|demo|\
demo --between A B] --format [table|json]
plan [OUT/votes.csv --gap 30 --ties off|DATA/evalica/food.csv --between Pizza Sushi|--gap 30|--gap none|\
--gap 20 --power 90 --tie-share 0.4]
anchor OUT/votes.csv --judges [gpt-4|gpt-4 --format json|gpt-4 --ties off --interval 90|nobody]
anchor --study [demo --judges simulated-judge-b|demo --judges strict|llmfao --judges gpt-4,gpt-3.5|\
demo --judges nobody] --format [table|json]
standings [demo|llmfao] --method [elo|bradley-terry|davidson] --rounds 100 --format [table|json]
standings [demo|llmfao] --method ordinal --adjust length,markdown --intervals sandwich --format json
standings demo --rounds 50 [--raters judge:strict|--raters group:simulated-judges|--raters nobody|\
--category coding|--category nothing|--tie-band 3-6|--ties off|--resample raters]
standings llmfao --rounds 50 --format json [--raters judge:gpt-4|--raters judge:gpt-3.5|--no-bootstrap|\
--resample prompts-and-raters]
standings nowhere
ablate demo --judges simulated-judge-a,simulated-judge-b,people [--json -|--ties on|--tie-band 3-6]
ablate [demo --judges nobody|demo --judges strict,simulated-judge-b|llmfao --judges gpt-4,gpt-3.5] --rounds 50
import_data [demo OUT/all-jsonl|copy OUT/all-csv|demo OUT/bad.csv] --dry-run
import_data trial DATA/[vicuna-blog-eval|self-instruct|fastchat|infobench|evalica|\
llmbar/Natural/dataset.json|llmbar/Adversarial/Manual/dataset.json] --dry-run
import_data trial DATA/evalica/food.csv --format table --kind comparisons --map first=left --map \
second=right --map winner=winner --set rater=x --dry-run
protocols
protocols [--json|--markdown|likert --write OUT/likert|nothing]
protocols [likert|likert-explanation-first|likert-debias|scores|vanilla|rules|cot|metrics|reference|\
metrics-reference|swap|swap-cot|chateval|rating|rubric|fine-grained-diff|multi-role|multi-aspect-two|\
multi-aspect-single|strong-reference|prepair|cot-self-consistency|protocol-consistency|\
protocol-consistency-released|arena-hard|wildbench|alpaca-eval] [--json|]
find_names [demo|llmfao --json|nowhere]
judge [demo --judge strict --dry-run|demo --judge nobody|demo|--cancel 99]
api_token [the-rater --list|nobody]
anonymise_rater nobody --yes
load_demo
"""
"""One command a line. [a|b] is first a, then b; the same brackets again in a line are the same choice."""

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

# --- What differs between two recordings of the same code ---------------------------------------------------
CHANCE: Final = """
import random, secrets
token_urlsafe = secrets.token_urlsafe
secrets.token_urlsafe = lambda nbytes=32: "drawn" + token_urlsafe(nbytes)[5:]
secrets.randbits = lambda bits: 1
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
    (r"As of \d\d:\d\d:\d\d UTC", "As of TIME"),  # now
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


def _file_name(text: str) -> str:
    """A name for a file that says as much of the text as it can."""
    name = re.sub(r"[^\w.,=:?&%+-]+", "_", text).strip("_")
    return name if len(name) < 180 else f"{name[:160]}~{hashlib.sha256(text.encode()).hexdigest()[:12]}"


# --- Who answers --------------------------------------------------------------------------------------------
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

    def send(self, address: str, content: Any) -> Reply:
        """Send JSON."""
        return self._ask(address, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _ask(self, address: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Reply:
        request = Request(self._address + address, body, self._headers | (headers or {}))  # noqa: S310
        try:
            opened = self._opener.open(request, timeout=900)
        except HTTPError as error:
            opened = error
        except URLError:  # it does not listen yet
            return Reply(0, Message(), b"")
        with opened:
            return Reply(opened.status, opened.headers, opened.read())


# --- Recording ----------------------------------------------------------------------------------------------
class Recorder:
    """One recording: an arena, who asks it, and where the answers go."""

    def __init__(self, arena: Arena, recording: Recording, data: Path) -> None:
        self._arena, self._recording, self._data = arena, recording, data
        self._people = {role: Browser(arena) for role in CAPS}
        self._steps = 0
        self.failed: list[str] = []

    def record(self) -> None:
        """Ask for everything; ``failed`` then names the answers that the server did not have."""
        self._set_up()
        with self._arena.serving():
            self._crawl("open", STARTS.split())
            self._ask_api("open")
            self._run_commands(self._arena.folder / "out")
            self._close()
            self._ask_api("closed", only="comparisons")
            starts = " ".join(STARTS_CLOSED.replace("STUDY", study) for study in STUDIES)
            self._crawl("closed", starts.split(), only=CLOSED)

    def _set_up(self) -> None:
        """Two studies; a rater and an operator of both; answers by the rater and by a judge."""
        printed = self._arena.manage("prepare")
        self._arena.manage("import_data", "llmfao", str(self._data / "llmfao"))
        (password,) = re.findall(r"password (\S+)", printed)
        with self._arena.serving():
            self._people["staff"].get("/account/sign-in/")
            self._people["staff"].post("/account/sign-in/", username="operator", password=password)
            self._post("staff", "/operate/llmfao/publish/", name="LLMFAO", visibility="public")
            for role, study in product(("rater", "operator"), STUDIES):
                self._join(role, study)
            self._rate()
            self._judge()
        self._arena.settle()
        for study in STUDIES:
            self._arena.manage("refresh", study)

    def _keep(self, name: str, reply: Reply) -> None:
        if reply.status in (0, 202) or reply.status >= 500 or b'id="computing"' in reply.body:
            self.failed.append(name)
        self._recording.write(name, reply.body, reply.head)

    def _step(self, what: str, reply: Reply) -> Reply:
        self._steps += 1
        self._keep(f"steps/{self._steps:02}-{_file_name(what)}", reply)
        return reply

    def _post(self, role: str, address: str, /, **fields: Any) -> Reply:
        return self._step(f"{role} posts {address}", self._people[role].post(address, **fields))

    def _join(self, role: str, study: str) -> None:
        self._post("staff", f"/operate/{study}/people/", role=role, max_uses=5, note=f"for a {role}")
        link = re.findall(r"/join/[\w-]+/", self._people["staff"].get(f"/operate/{study}/people/").text)[0]
        self._people[role].get(link)
        answer = self._people[role].post(link, username=f"the-{role}", password1=PASSWORD, password2=PASSWORD)
        self._step(f"{role} joins {study}", answer)

    def _rate(self) -> None:
        """What a rater does: with forms, in the training, over the API."""
        for study in STUDIES:
            self._post("rater", f"/rate/{study}/guidelines/")
        self._post("rater", "/rate/llmfao/training/1/1/", rating="1")
        answers = [{"rating": "6", "rationale": "<b>Clearer</b>"}, {"rating": "9"}, {"rating": "1"}]
        aside = [("skip/", {}), ("flag/", {"reason": "display", "comment": "=cut off"}), ("undo/", {})]
        for action, fields in [*(("", answer) for answer in answers), *aside]:
            page = self._people["rater"].get("/rate/demo/").text
            held = re.findall(r'data-assignment="([\w-]+)"', page)[0]
            self._post("rater", f"/rate/demo/{action}", assignment=held, **fields)
        program = Browser(self._arena, self._token("the-rater"))
        claimed = self._step("claim", program.send("/api/v1/assignments/", {"study": "demo"}))
        for rating in (9, 3, 3, 4):
            answer = {"assignment": json.loads(claimed.body)["assignment"], "rating": rating}
            self._step(f"submit {rating}", program.send("/api/v1/comparisons/", answer))

    def _judge(self) -> None:
        """A run of a judge whose opinions are simulated."""
        names = ("lapwing-34b", "human-demonstrations", "redshank-13b", "dunnock-7b", "turnstone-3b")
        strengths = {name: 1200 - 100 * place for place, name in enumerate(names)}
        fields = parse_qsl(
            "name=Strict&slug=strict&active=on&provider=simulated&model=simulated&protocol=likert&form=likert"
            "&points=8&samples=1&timeout=60&concurrency=1"
        )
        simulation = json.dumps({"strengths": strengths})
        self._post("staff", "/judging/judges/new/", simulation=simulation, **dict(fields))
        self._arena.manage("judge", "demo", "--judge", "strict", "--limit", "12")

    def _token(self, *arguments: str) -> str:
        return self._arena.manage("api_token", *arguments).split()[-1]

    def _crawl(self, phase: str, starts: list[str], only: str = "") -> None:
        """Record the pages that each role comes to from the starts, of one shape as many as CAPS says."""
        for role, most in CAPS.items():
            waiting, known, looked = deque(starts), set(starts), Counter[str]()
            while waiting:
                address = waiting.popleft()
                if re.search("|".join(LEFT_OUT), address) or not re.search(only, address):
                    continue
                looked[_shape(address)] += 1
                if looked[_shape(address)] > most:
                    continue
                reply = self._people[role].get(address)
                self._keep(f"pages-{phase}/{role}{_place(address)}", reply)
                fresh = [link for link in _links(address, reply) if link not in known]
                known.update(fresh)
                waiting.extend(fresh)

    def _ask_api(self, phase: str, only: str = "") -> None:
        """Record every GET operation of the API, with each value of each parameter by itself."""
        paths = json.loads(self._people["visitor"].get("/api/v1/openapi.json").body)["paths"]
        operator = self._token("--user", "operator", "--scope", "read", "--scope", "runs", "--scope", "rate")
        askers = {
            "visitor": Browser(self._arena),
            "operator": Browser(self._arena, operator),
            "judge": Browser(self._arena, self._token("strict")),
        }
        for address, asker in product(sorted(_operations(paths)), askers):
            if only in address:
                self._keep(f"api-{phase}/{asker}{_place(address)}", askers[asker].get(address))

    def _run_commands(self, out: Path) -> None:
        """Record what commands print, and the files they write."""
        out.mkdir()
        _write_votes(out, self._data / "llmfao")
        lines = [choice for line in COMMANDS.split("\n") if line for choice in _choices(line)]
        places = {"OUT": str(out), "DATA": str(self._data)}
        filled = (re.sub("OUT|DATA", lambda found: places[found[0]], line) for line in lines)
        given = json.dumps([shlex.split(line) for line in filled])
        printed = self._arena.manage("shell", "-v", "0", "-c", BATCH, given=given)
        for line, found in zip(lines, printed.splitlines(), strict=True):
            code, *texts = json.loads(found)
            text = b"\n--- standard error\n".join(map(base64.b64decode, texts))
            head = f"$ manage.py {line}\nexit {code}\n--- standard output\n"
            self._recording.write(f"commands/{_file_name(line)}", text, head)
        for path in (path for path in out.rglob("*") if path.is_file()):
            self._recording.write(f"commands/OUT/{path.relative_to(out)}", path.read_bytes())

    def _close(self) -> None:
        """Close both studies and wait for their new snapshots; votes and names may be seen from then on."""
        for study in STUDIES:
            self._post("staff", f"/operate/{study}/state/", kind="closed", sure="yes", note="All is rated.")
        while True:
            items = json.loads(self._people["visitor"].get("/api/v1/studies/").body)["items"]
            if all(study["snapshot"] > len(STUDIES) for study in items):
                return
            time.sleep(1)


def _shape(address: str) -> str:
    """What addresses of one kind of page have in common: of files and of the admin all but the query."""
    path, _, query = address.partition("?")
    path = re.sub(r"/\d+(?=/|$)", "/#", path)
    path = re.sub(r"(/contestants/|/studies/\w+/raters/)(?!tables|figures)[^/]+/", r"\1#/", path)
    if re.search(r"^/admin/|/tables/|\.\w+$", path):
        return path
    names = sorted({name for name, _ in parse_qsl(query, keep_blank_values=True)})
    return f"{path}?{','.join(names) if len(names) < 3 else 'many'}"


def _place(address: str) -> str:
    """Where the answer at an address is stored."""
    path, _, query = address.partition("?")
    folder, _, last = path.rpartition("/")
    return f"{folder}/{_file_name(f'{last}?{query}' if query else last or 'index')}"


def _links(address: str, reply: Reply) -> Iterator[str]:
    """The addresses of this site that a page names, with parameters in the order of their names."""
    named = re.findall(r'\b(?:href|src|action|hx-get|data-[a-z-]+)="([/?][^"]*)"', reply.text)
    for link in [*named, *reply.headers.get_all("Location", [])]:
        parts = urlsplit(urljoin(address, html.unescape(link)))
        if not parts.netloc:
            query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
            yield f"{parts.path}?{query}" if query else parts.path


def _operations(paths: dict[str, Any]) -> Iterator[str]:
    """An address for each GET operation and each value of a parameter."""
    for path in (path for path, known in paths.items() if "get" in known):
        found = paths[path]["get"].get("parameters", [])
        names = [each["name"] for each in found if each["in"] == "query"]
        queries = ["?nonsense=1", *(f"?{name}={value}" for name in names for value in PARAMETERS[name])]
        inside = re.findall(r"{(\w+)}", path)
        for values in product(*(("strict",) if "judges" in path else PARAMETERS[name] for name in inside)):
            filled = path.format(**dict(zip(inside, values, strict=True)))
            yield filled
            if "nowhere" not in values:  # one refusal is enough
                yield from (filled + query for query in queries)


def _choices(line: str) -> list[str]:
    """The commands that a line of COMMANDS stands for."""
    found = re.search(r"\[[^\]]*\]", line)
    if found is None:
        return [line]
    choices = found[0][1:-1].split("|")
    return [each for choice in choices for each in _choices(line.replace(found[0], choice))]


def _write_votes(out: Path, llmfao: Path) -> None:
    """Votes of people and a judge in one file, in three forms; and files that cannot be read."""
    rows = []
    for name, rater in (("crowd", ""), ("gpt4-crowd", "gpt-4")):
        with (llmfao / f"{name}-comparisons.csv").open() as file:
            rows += [row | {"rater": rater or f"worker-{row['worker']}"} for row in csv.DictReader(file)]
    rows = [{name: row[name] for name in ("prompt", "left", "right", "winner", "rater")} for row in rows]
    with (out / "votes.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (out / "votes.json").write_text(json.dumps(rows))
    (out / "votes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (out / "bad.csv").write_text("left,right,winner\nA,B,left\nA,B,both\n")
    (out / "empty.csv").write_text("")


# --- Comparing ----------------------------------------------------------------------------------------------
def compare(before: Path, after: Path) -> bool:
    """Print every difference once, with the files that have it; whether there is any."""
    old, new = (
        {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        for folder in (before, after)
    )
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(old ^ new):
        found["This file is in BEFORE only." if name in old else "This file is in AFTER only."].append(name)
    for name in sorted(old & new):
        for difference in _differences((before / name).read_bytes(), (after / name).read_bytes()):
            found[difference].append(name)
    for difference, names in sorted(found.items(), key=lambda each: -len(each[1])):
        files = "1 file" if len(names) == 1 else f"{len(names):,} files, among them"
        print(f"=== {files}: {', '.join(names[:5])}\n{difference}\n")
    print(f"{len(old):,} files before, {len(new):,} after, {len(found):,} differences")
    return bool(found)


def _differences(old: bytes, new: bytes, lines: int = 4000, places: int = 20) -> set[str]:
    """The first places in which two answers differ, each as the lines that changed."""
    if old == new:
        return set()
    texts = [_lines(content) for content in (old, new)]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    before, after = (text[same : same + lines] for text in texts)
    changed = "\n".join(line[:200] for line in list(unified_diff(before, after, n=0, lineterm=""))[2:])
    hunks = [hunk.strip("\n") for hunk in re.split(r"^@@.*@@$", changed, flags=re.MULTILINE) if hunk]
    return {"\n".join(hunk.split("\n")[:16]) for hunk in hunks[:places]} or {"Line ends differ."}


def _lines(content: bytes) -> list[str]:
    """The lines of an answer; long ones, as of JSON, are broken where a value or a tag ends."""
    lines = content.decode("utf-8", "replace").splitlines()
    pieces = (re.split(r"(?<=[,>}\]]) ?(?=\S)", line) if len(line) > 300 else [line] for line in lines)
    return [piece for found in pieces for piece in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recorded = commands.add_parser("record", help="record what this checkout answers")
    recorded.add_argument("folder", type=Path)
    data = os.environ.get("ARENA_REFERENCE_DATA", ROOT.parent / "shared" / "data")
    recorded.add_argument("--data", type=Path, default=data, help="folder of the public data sets")
    compared = commands.add_parser("compare", help="print what differs; exit with 1 where something does")
    compared.add_argument("before", type=Path)
    compared.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "compare":
        return int(compare(options.before, options.after))
    options.folder.mkdir(parents=True)
    options.data = options.data.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arena = Arena(folder)
        places = {folder / "out": "OUT", folder: "FOLDER", options.data: "DATA", ROOT: "CHECKOUT"}
        recorder = Recorder(arena, Recording(options.folder, places), options.data)
        recorder.record()
    print("\n".join([*recorder.failed, f"{len(recorder.failed)} answers failed"]))
    return int(bool(recorder.failed))


if __name__ == "__main__":
    sys.exit(main())
