"""Asks the arena for everything, as each role, through Django's test client and ``call_command``."""

import json
import re
import shlex
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from html import unescape
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve

from arena.models import Study
from tests.crawl.walk import walk
from tests.golden import asked, refused
from tests.golden.arena import ROLES
from tests.golden.asked import choices_of, operations_of
from tests.golden.golden import WHOLE, Golden, cut, read_file
from tests.golden.reading import read_frame, read_page
from tests.leaderboard.reading import computed

LONGEST: Final = 250
"""Lines of a page."""

MEMBER: Final = 8
"""Lines of a file in an archive, or of one that a command wrote."""

STUDY: Final = "demo-closed"
"""Asked with every parameter; other studies as they open."""

STARTS: Final = (
    *("/", "/rate/", "/operate/", "/judging/", "/methodology/", "/account/password/", "/admin/"),
    *("/studies/demo/", f"/studies/{STUDY}/", "/studies/nowhere/", f"/studies/{STUDY}/?raters=nobody"),
)

WRONG: Final = """
?raters=nobody ?raters=judge:nobody ?ties=maybe ?method=magic ?category=x ?level=200 ?band=9-1
?resample=dice standings.json?ties=maybe leaderboard.json?raters=x leaderboard.json?ties=x leaderboard.xml
agreement/?coefficient=none agreement/?category=-none agreement/two/?raters=nobody agreement/?band=x
agreement/two/?against=group:none agreement/two/?ties=maybe categories/?raters=nobody categories/?level=5
compare/wren-8b/wren-8b/ compare/wren-8b/nobody/ compare/wren-8b/heron-24b/?method=ordinal
compare/wren-8b/heron-24b/?margin=-1 comparisons/?category=x comparisons/?contestant=x
comparisons/?raters=judge:x comparisons/?answer=x comparisons/?rating=9-8 comparisons/?only=x
comparisons/?sort=x comparisons/?search=haiku comparisons/0/ comparisons/x/ contestants/nobody/
contestants/wren-8b/?raters=judge:nobody contestants/wren-8b/?method=x contestants/wren-8b/?level=x
contestants/wren-8b/?ties=maybe contestants/wren-8b/?contestants=models data/?measure=pages
features/?feature=x figures/nothing.json figures/raters.json figures/win-rates.json?raters=nobody
judges/?with=judge:nobody plan/?contestant=nobody plan/?power=42 plan/?contestant=wren-8b&against=wren-8b
raters/?with=judge:nobody raters/?category=none raters/?method=none raters/judge:nobody/
raters/people/?category=none raters/?band=2-4 raters/?level=x raters/people/?level=5 releases/9/
releases/1/changes/9/ releases/1/citation.x requirements/?raters=nobody requirements/?missing=maybe
requirements/?hour=-1 requirements/texts/0/ results/x.csv results/arena.xml results/arena.csv?raters=judge:x
results/arena.csv?ties=x results/arena.csv?category=y scores/?raters=nobody scores/?turn=7 scores/?turn=x
scores/?category=None scores/?subset=x tables/games.csv?ties=maybe tables/nothing.csv tables/nothing/
trust/?subset=nothing trust/?base=nobody
"""
"""Addresses below a study's that it has no answer to."""

MORE: Final = """
?raters=judge:simulated-judge-c ?category=advice ?search=wren raters/judge:simulated-judge-c/
raters/?with=people&category=advice judges/?with=judge:simulated-judge-c&with=people
agreement/?coefficient=kendall agreement/two/?raters=judge:simulated-judge-c
contestants/siskin-2b/?ties=off compare/wren-8b/siskin-2b/?margin=20 comparisons/?only=flipped
comparisons/?rating=7-8 comparisons/?search=bread trust/?gold=people&unscored=wrong
scores/?raters=judge:simulated-judge-c requirements/?contested=out&missing=no
"""
"""Addresses below a study's to which no page leads first."""

LEFT_OUT: Final = (
    r"^/account/(sign-out|token)|^/admin/(logout|auth|axes|jsi18n|account|mfa|socialaccount|sites|leaderboard)"
    r"|^/api/|^/static/|/changelist/|_popup|/history/|/operate/backup"
)
HEADERS: Final = ("Content-Disposition", "Location", "Allow")


class Recorder:
    """One run over the arena; ``users`` by their role."""

    def __init__(self, golden: Golden, users: dict[str, Any], folder: Path) -> None:
        self._golden, self._folder = golden, folder
        self._clients = {role: Client(raise_request_exception=True) for role in ROLES}
        for role, user in users.items():
            if user:
                self._clients[role].force_login(user)
        self._forms: dict[tuple[str, str], str] = {}
        self._parts: set[str] = set()

    def record(self) -> None:
        """Record all there is."""
        self._rate()
        for role in ROLES:
            walk(STARTS, lambda address, role=role: self._look(role, address))
        for address in MORE.split():
            self._look("visitor", f"/studies/{STUDY}/{address}")
        self._look_at_parts()
        self._look_for_what_is_not_there()
        self._send_forms()
        self._ask_api()
        self._run_commands()

    def _rate(self) -> None:
        """What a rater does with forms."""
        client = self._clients["rater"]
        self._keep_step("reads the guidelines", client.post("/rate/demo/guidelines/"))
        said = ({"rating": "6", "rationale": "<b>Clearer</b>"}, {"rating": "9"}, {})
        aside = (("skip/", {}), ("flag/", {"reason": "display", "comment": "=cut off"}), ("undo/", {}))
        for action, fields in (*(("", each) for each in said), *aside):
            page = client.get("/rate/demo/").content.decode()
            held = re.findall(r'data-assignment="([\w-]+)"', page)[0]
            reply = client.post(f"/rate/demo/{action}", {"assignment": held, **fields})
            self._keep_step(f"sends {fields} to /rate/demo/{action}", reply)

    def _keep_step(self, what: str, reply: HttpResponse) -> None:
        self._golden.add("rating-steps", f"The rater {what}: {reply.status_code}", _answer(reply))

    def _look(self, role: str, address: str) -> list[str]:
        """Record an address and return the links of its page."""
        if re.search(LEFT_OUT, address):
            return []
        path, _, query = address.partition("?")
        reply = self._get(self._clients[role], address)
        title = f"{address} as {role}: {reply.status_code}"
        if query:
            likes = [f"{path} as {role}: 200", f"{path} as visitor: 200"]
        else:
            likes = [f"{path} as {other}: 200" for other in ROLES[: ROLES.index(role)]]
        likes += self._golden.titles(_family(path))[:1]  # of another study
        like = next((each for each in likes if self._golden.has(each)), "")
        lines = _answer(reply)
        if path.startswith(("/admin/", "/methodology/")):
            lines = cut(lines, most=25)
        self._golden.add(_family(path), title, lines, like)
        if not _is_page(reply):
            return []
        page = reply.content.decode()
        if role == "visitor" and path.startswith(f"/studies/{STUDY}/"):
            self._parts |= {urljoin(path, part) for part in _parts(page)}
        for tag in re.findall(r'<form[^>]*method="post"[^>]*>', page):
            action = re.search(r'action="([^"?]+)"', tag)
            place = action[1] if action else path
            self._forms.setdefault((_family(place), role), place)
        if address == ("/" if role == "visitor" else "/rate/"):
            self._golden.add("frame", f"Header and footer of {address} as {role}", read_frame(page))
        return [link for link in _links(page) if self._follows(role, urljoin(path, link))]

    def _look_at_parts(self) -> None:
        """Record every table and figure of the pages as they open."""
        for address in sorted(part for part in self._parts if part.count("=") < 2):
            reply = self._get(self._clients["visitor"], address)
            is_figure = reply.headers["Content-Type"] == "application/json"
            lines = read_file("figure.json", reply.content, MEMBER) if is_figure else _answer(reply)
            path = address.partition("?")[0]
            title = f"{address}: {reply.status_code}"
            self._golden.add(f"parts-{_family(path)}", title, lines, f"{path}: 200")

    def _look_for_what_is_not_there(self) -> None:
        for wrong in WRONG.split():
            reply = self._get(self._clients["visitor"], f"/studies/{STUDY}/{wrong}")
            family = f"wrong-{wrong.partition('/')[0] if '/' in wrong else 'study'}"
            title = f"{wrong}: {reply.status_code}"
            self._golden.add(family, title, _answer(reply), next(iter(self._golden.titles(family)), ""))

    def _follows(self, role: str, link: str) -> bool:
        """Public pages differ little from one role to the next: visitors see each, others as it opens."""
        if link.startswith("/studies/") and "?" in link:
            return role == "visitor" and not link.startswith("/studies/demo/")
        return True

    def _get(self, client: Client, address: str) -> HttpResponse:
        reply = client.get(address)
        waits = reply.status_code == 202 or "Retry-After" in reply.headers
        found = re.match(r"/(?:api/v1/)?studies/([\w-]+)/", address)
        if found and (waits or (_is_page(reply) and b'id="computing"' in reply.content)):
            return computed(client, Study.objects.get(slug=found[1]), address)
        return reply

    def _send_forms(self) -> None:
        """Send every form without a word, and undo what that does."""
        for (family, role), action in sorted(self._forms.items()):
            if re.search(rf"{LEFT_OUT}|/probe/|/try/", action):
                continue
            with undone():
                reply = deepcopy(self._clients[role]).post(action)
            page = f"{action} as {role}: 200"
            self._golden.add(
                f"forms-{family}", f"POST {action} as {role}: {reply.status_code}", _answer(reply), page
            )

    def _ask_api(self) -> None:
        visitor = self._clients["visitor"]
        document = visitor.get("/api/v1/openapi.json")
        self._golden.add("api-document", "/api/v1/openapi.json", read_file("api.json", document.content))
        paths = json.loads(document.content)["paths"]
        for path, known in sorted(paths.items()):
            for address in operations_of({path: known}, ("demo", STUDY)):
                if ("/demo/" in address or "/snapshots/" in address) and "?" in address:
                    continue
                reply = self._get(visitor, address)
                title = f"GET {address}: {reply.status_code}"
                like = f"GET {address.partition('?')[0]}: 200"
                self._golden.add(_api_family(path), title, read_file("api.json", reply.content), like)
        token = _printed("api_token", "strict").split()[-1]
        for path, known in sorted(paths.items()):
            address = re.sub(r"{\w+}", "99", path)
            for method in sorted(known.keys() - {"get"}):
                for body in asked.BODIES:
                    given = {"data": json.dumps(body), "content_type": "application/json"}
                    with undone():
                        reply = visitor.generic(
                            method.upper(),
                            address,
                            given["data"],
                            given["content_type"],
                            headers={"Authorization": f"Bearer {token}"},
                        )
                    title = f"{method.upper()} {address} {json.dumps(body)}: {reply.status_code}"
                    self._golden.add(_api_family(path), title, read_file("api.json", reply.content))

    def _run_commands(self) -> None:
        for name, app in sorted(get_commands().items()):
            if app in ("arena", "judging", "leaderboard"):
                self._golden.add("commands-help", name, _described(app, name))
        self._run(asked.COMMANDS.replace("STUDY", STUDY) + asked.COMMANDS_OF_CLOSED)
        for path in sorted(path for path in self._folder.rglob("*") if path.is_file()):
            place = str(path.relative_to(self._folder))
            for name, content in _unpacked(place, path.read_bytes()):
                self._golden.add("command-files", f"OUT/{name}", read_file(name, content, MEMBER))
        for name, content in refused.FILES.items():
            (self._folder / name).write_text(content)
        self._run(refused.COMMANDS, "refused-")

    def _run(self, lines: str, kind: str = "") -> None:
        """Record what commands print, a file for each of them."""
        for line in (choice for each in lines.split("\n") if each for choice in choices_of(each)):
            try:
                with undone():
                    printed = _printed(*shlex.split(line.replace("OUT", str(self._folder))))
            except CommandError as error:
                printed = f"exit {error.returncode}: {error}"
            except SystemExit as end:
                printed = f"exit {end.code}"
            text = printed.replace(str(self._folder), "OUT")
            title = f"manage.py {line}"
            self._golden.add(f"{kind}command-{line.split()[0]}", title, read_file("", text.encode()))


@contextmanager
def undone() -> Iterator[None]:
    """Undo all that is written to the database meanwhile."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _printed(*arguments: str) -> str:
    out = StringIO()
    call_command(arguments[0], *arguments[1:], stdout=out, stderr=out)
    return out.getvalue()


def _described(app: str, name: str) -> list[str]:
    """What a command takes; not as argparse prints it, which differs from one Python to the next."""
    parser = load_command_class(app, name).create_parser("manage.py", name)
    lines = [parser.description or ""]
    for action in parser._actions:
        if action.dest in ("help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color"):
            continue
        names = " ".join(action.option_strings) or action.dest
        more = [
            f"{word}={value}"
            for word, value in (
                ("metavar", action.metavar),
                ("choices", action.choices and list(action.choices)),
                ("default", action.default),
                ("nargs", action.nargs),
                ("required", action.required),
            )
            if value not in (None, False)
        ]
        lines.append(f"{names}: {action.help} [{', '.join(more)}]")
    return lines


def _unpacked(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    if not content.startswith(b"PK"):
        yield name, content
        return
    with zipfile.ZipFile(BytesIO(content)) as opened:
        for member in opened.namelist():
            yield f"{name}/{member}", opened.read(member)


def _is_page(reply: HttpResponse) -> bool:
    return reply.headers.get("Content-Type", "").startswith("text/html")


def _answer(reply: HttpResponse) -> list[str]:
    heads = [f"{name}: {reply.headers[name]}" for name in HEADERS if name in reply.headers]
    body = b"".join(reply.streaming_content) if reply.streaming else reply.content
    if _is_page(reply):
        return [*heads, *cut(read_page(body.decode()), most=LONGEST)]
    kind = reply.headers.get("Content-Type", "")
    lines = [
        line
        for name, content in _unpacked("", body)
        for line in ([f"--- {name}"] if name else [])
        + read_file(name or kind, content, MEMBER if name else WHOLE)
    ]
    return [*heads, kind, *lines]


def _links(page: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'<a [^>]*href="([^"]*)"', page)]


def _parts(page: str) -> list[str]:
    """The addresses of its figures, and of its tables as CSV."""
    found = re.findall(
        r'(?:data-figure|href)="((?:[^"]*/)?(?:figures|tables)/[\w-]+[.](?:json|csv)[^"]*)"', page
    )
    return [unescape(part) for part in found]


def _family(path: str) -> str:
    found = resolve(path)
    name = found.url_name or found.route
    if found.namespace == "admin":
        return f"admin-{path.split('/')[2] or 'index'}"
    return re.sub(r"[^\w-]+", "-", name.replace("_", "-")).strip("-") or "home"


def _api_family(path: str) -> str:
    return "api-" + re.sub(r"[{}]", "", path.removeprefix("/api/v1/")).strip("/").replace("/", "-")
