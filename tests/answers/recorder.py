"""Records everything that an arena answers."""

import base64
import csv
import html
import json
import re
import shlex
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from tests.answers import asked
from tests.answers.arena import BATCH, Arena, Browser, Reply
from tests.answers.recording import Recording, file_name

PASSWORD: Final = "Four-Words-And-1-Number"
PARTS: Final = ("pages", "api", "commands", "closed", "forms")
"""What can be recorded by itself; ``closed``: what is said otherwise once the studies are closed."""


class Recorder:
    """One recording: an arena, who asks it, and where the answers go."""

    def __init__(self, arena: Arena, recording: Recording, data: Path, studies: Iterable[str]) -> None:
        """``data``: the folder of public data, for those of ``studies`` that are made of it."""
        self._arena, self._recording, self._data = arena, recording, data
        self._public = [study for study in asked.PUBLIC if study.slug in studies]
        self._studies = (*asked.DEMOS, *(study.slug for study in self._public))
        self._recorded = [study for study in self._studies if study in studies]
        self._rated = [study for study in asked.RATED if study in self._studies]
        self._people = {role: Browser(arena) for role in asked.CAPS}
        self._forms: dict[str, list[str]] = {role: [] for role in asked.CAPS}
        self._steps = 0
        self.failed: list[str] = []

    def record(self, parts: Iterable[str]) -> None:
        """Ask for these parts of everything; ``failed`` names the answers that failed."""
        self._set_up()
        with self._arena.serving():
            if "pages" in parts:
                self._crawl("open", asked.STARTS.split())
            if "api" in parts:
                self._ask_api("open")
                self._refuse()
            if "commands" in parts:
                self._run_commands()
            if "closed" in parts:
                self._close()
                self._ask_api("closed", only="comparisons")
                starts = " ".join(asked.STARTS_CLOSED.replace("STUDY", study) for study in self._rated)
                self._crawl("closed", starts.split(), only=asked.CLOSED)
            if "forms" in parts:
                self._send_empty_forms()
            if "commands" in parts:
                self._run("last", asked.LAST)

    def _set_up(self) -> None:
        """The studies; a rater and an operator of all; answers by the rater and by a judge; two releases."""
        printed = self._arena.manage("prepare")
        for study in self._public:
            path = str(self._data.parent / study.files)
            self._arena.manage("import_data", study.slug, path, *study.more.split())
        (password,) = re.findall(r"password (\S+)", printed)
        out = self._arena.folder / "out"
        out.mkdir()
        printed_texts = self._arena.manage(
            "export", "demo-closed", "--what", "completions", "--format", "jsonl"
        )
        _write_files(out, list(map(json.loads, printed_texts.splitlines())))
        self._arena.manage("import_data", "demo-closed", str(out / "features.jsonl"))
        for what in ("contestants", "prompts", "completions"):
            place = str(self._arena.folder / f"{what}.jsonl")
            self._arena.manage("export", "demo", "--what", what, "--format", "jsonl", "--out", place)
        texts = [str(path) for path in sorted(self._arena.folder.glob("*.jsonl"))]
        self._arena.manage("import_data", asked.COPY, *texts)
        if "llmfao" in self._studies:
            _write_votes(out, self._data / "llmfao")
        with self._arena.serving():
            self._people["staff"].get("/account/sign-in/")
            self._people["staff"].post("/account/sign-in/", username="operator", password=password)
            for study in self._public:
                publish = f"/operate/{study.slug}/publish/"
                self._post("staff", publish, name=study.name, visibility="public")
            copied = {"name": "Rated", "visibility": "public", "simulated": "on"}
            self._post("staff", f"/operate/{asked.COPY}/publish/", **copied)
            for role, slug in product(("rater", "operator"), (*self._studies, asked.COPY)):
                if slug != "demo-closed":  # nobody can join it any more
                    self._join(role, slug)
            if "llmbar" in self._studies:
                self._close_one("llmbar")
            self._rate()
            self._judge()
        self._arena.settle()
        for slug in (*self._studies, asked.COPY):
            self._arena.manage("refresh", slug)
        for version in ("0.1", "0.2"):
            self._arena.manage("release", "demo-closed", "--version", version, "--author", "Ada Example")

    def _keep(self, name: str, reply: Reply) -> None:
        if reply.status in (0, 202) or reply.status >= 500 or b'id="computing"' in reply.body:
            self.failed.append(name)
        self._recording.write(name, reply.body, reply.head)

    def _step(self, what: str, reply: Reply) -> Reply:
        self._steps += 1
        self._keep(f"steps/{self._steps:02}-{file_name(what)}", reply)
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
        for study in (*self._rated, asked.COPY):
            self._post("rater", f"/rate/{study}/guidelines/")
        if "llmfao" in self._studies:
            self._post("rater", "/rate/llmfao/training/1/1/", rating="1")
        answers = [{"rating": "6", "rationale": "<b>Clearer</b>"}, {"rating": "9"}, {"rating": "1"}]
        aside = [("skip/", {}), ("flag/", {"reason": "display", "comment": "=cut off"}), ("undo/", {})]
        for action, fields in [*(("", answer) for answer in answers), *aside]:
            page = self._people["rater"].get(f"/rate/{asked.COPY}/").text
            held = re.findall(r'data-assignment="([\w-]+)"', page)[0]
            self._post("rater", f"/rate/{asked.COPY}/{action}", assignment=held, **fields)
        program = Browser(self._arena, self._token("the-rater"))
        claimed = self._step("claim", program.send("/api/v1/assignments/", {"study": asked.COPY}))
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
        self._arena.manage("judge", asked.COPY, "--judge", "strict", "--limit", "12")

    def _token(self, *arguments: str) -> str:
        return self._arena.manage("api_token", *arguments).split()[-1]

    def _crawl(self, phase: str, starts: list[str], only: str = "") -> None:
        """Record the pages that each role comes to from the starts, of one shape as many as CAPS says."""
        for role, most in asked.CAPS.items():
            waiting, known, looked = deque(starts), set(starts), Counter[str]()
            while waiting:
                address = waiting.popleft()
                left_out = re.search("|".join(asked.LEFT_OUT), address) or not re.search(only, address)
                if left_out or not self._concerns(address):
                    continue
                looked[_shape(address)] += 1
                if looked[_shape(address)] > most:
                    continue
                reply = self._people[role].get(address)
                self._keep(f"pages-{phase}/{role}{_place(address)}", reply)
                self._forms[role] += re.findall(r'<form[^>]*method="post"[^>]*action="([^"?]+)"', reply.text)
                fresh = [link for link in _links(address, reply) if link not in known]
                known.update(fresh)
                waiting.extend(fresh)

    def _concerns(self, address: str) -> bool:
        """Return True for an address of a study that is recorded, or of none."""
        about = re.match(r"/(?:studies|operate|rate|judging/\w+)/([\w-]+)/", address)
        return not about or about[1] in self._recorded or about[1] not in self._studies

    def _askers(self) -> dict[str, Browser]:
        operator = self._token("--user", "operator", "--scope", "read", "--scope", "runs", "--scope", "rate")
        judge = self._token("strict")
        return {
            "visitor": Browser(self._arena),
            "operator": Browser(self._arena, operator),
            "judge": Browser(self._arena, judge),
        }

    def _ask_api(self, phase: str, only: str = "") -> None:
        """Record every GET operation of the API; a visitor asks for each value of each parameter."""
        askers, operations = self._askers(), operations_of(self._described(), self._recorded)
        for address, asker in product(sorted(operations), askers):
            if only in address and (asker == "visitor" or "?" not in address):
                self._keep(f"api-{phase}/{asker}{_place(address)}", askers[asker].get(address))

    def _refuse(self) -> None:
        """Record what is said to bodies that none of the other operations of the API can take."""
        askers = self._askers()
        for path, known in sorted(self._described().items()):
            address = re.sub(r"{\w+}", "99", path)
            for method, asker in product(sorted(known.keys() - {"get"}), askers):
                for number, body in enumerate(asked.BODIES):
                    reply = askers[asker].send(address, body, method.upper())
                    self._keep(f"api-refused/{asker}{_place(address)}-{method}-{number}", reply)

    def _described(self) -> dict[str, Any]:
        document = json.loads(self._people["visitor"].get("/api/v1/openapi.json").body)
        return dict(document["paths"])

    def _run_commands(self) -> None:
        """Record what commands print, and the files they write."""
        ours = re.findall(
            r"\[(?:arena|judging|leaderboard)\]\n((?: +\w+\n)+)", self._arena.manage("help") + "\n"
        )
        self._run("commands", "\n".join(f"{name} --help" for name in " ".join(ours).split()))
        for study in self._recorded:
            self._run("commands", asked.COMMANDS.replace("STUDY", study))
        for study in self._recorded:
            self._run("commands", asked.COMMANDS_OF[study])
        out = self._arena.folder / "out"
        for path in (path for path in out.rglob("*") if path.is_file()):
            self._recording.write(f"commands/OUT/{path.relative_to(out)}", path.read_bytes())

    def _run(self, place: str, commands: str) -> None:
        """Record what these commands print."""
        lines = [choice for line in commands.split("\n") if line for choice in choices_of(line)]
        folder = self._arena.folder
        places = {"OUT": str(folder / "out"), "DATA": str(self._data), "AWAY": str(folder)}
        filled = (re.sub("OUT|DATA|AWAY", lambda found: places[found[0]], line) for line in lines)
        given = json.dumps([shlex.split(line) for line in filled])
        printed = self._arena.manage("shell", "-v", "0", "-c", BATCH, given=given)
        for line, found in zip(lines, printed.splitlines(), strict=True):
            code, *texts = json.loads(found)
            text = b"\n--- standard error\n".join(map(base64.b64decode, texts))
            head = f"$ manage.py {line}\nexit {code}\n--- standard output\n"
            self._recording.write(f"{place}/{file_name(line)}", text, head)

    def _close_one(self, study: str) -> None:
        self._post("staff", f"/operate/{study}/state/", kind="closed", sure="yes", note="All is rated.")

    def _close(self) -> None:
        """Close the rated studies and wait for their snapshots; votes and names may be seen from then on."""
        for study in self._rated:
            self._close_one(study)
            while self._newest_snapshot(study) <= len(self._studies) + 1:
                time.sleep(1)

    def _newest_snapshot(self, study: str) -> int:
        items = json.loads(self._people["visitor"].get("/api/v1/studies/").body)["items"]
        return next(int(each["snapshot"]) for each in items if each["slug"] == study)

    def _send_empty_forms(self) -> None:
        """Record what is said to forms that are sent without a word, of one shape and role one."""
        for role, found in self._forms.items():
            by_shape = {_shape(address): address for address in reversed(found)}
            for address in sorted(by_shape.values()):
                if not re.search("|".join(asked.LEFT_OUT), address):
                    reply = self._people[role].post(html.unescape(address))
                    self._keep(f"forms/{role}{_place(address)}", reply)


def _shape(address: str) -> str:
    """What addresses of one kind of page have in common: of files and of the admin all but the query."""
    path, _, query = address.partition("?")
    path = re.sub(r"/\d+(?=/|$)", "/#", path)
    path = re.sub(r"(/contestants/|/studies/[\w-]+/raters/)(?!tables|figures)[^/]+/", r"\1#/", path)
    path = re.sub(r"(/compare/)[^/]+/[^/]+/", r"\1#/#/", path)
    if re.search(r"^/admin/|/tables/|\.\w+$", path):
        return path
    names = sorted({name for name, _ in parse_qsl(query, keep_blank_values=True)})
    return f"{path}?{','.join(names) if len(names) < 3 else 'many'}"


def _place(address: str) -> str:
    """Where the answer at an address is stored."""
    path, _, query = address.partition("?")
    folder, _, last = path.rpartition("/")
    return f"{folder}/{file_name(f'{last}?{query}' if query else last or 'index')}"


def _links(address: str, reply: Reply) -> Iterator[str]:
    """The addresses of this site that a page names, with parameters in the order of their names."""
    named = re.findall(r'\b(?:href|src|action|hx-get|data-[a-z-]+)="([/?][^"]*)"', reply.text)
    for link in [*named, *reply.headers.get_all("Location", [])]:
        parts = urlsplit(urljoin(address, html.unescape(link)))
        if not parts.netloc:
            query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
            yield f"{parts.path}?{query}" if query else parts.path


def operations_of(paths: dict[str, Any], studies: Iterable[str]) -> Iterator[str]:
    """An address for each GET operation and each value of a parameter."""
    for path in (path for path, known in paths.items() if "get" in known):
        found = paths[path]["get"].get("parameters", [])
        names = [each["name"] for each in found if each["in"] == "query"]
        values_of = ((name, asked.PARAMETERS.get(name, asked.OTHERS)) for name in names)
        queries = [
            "?nonsense=1",
            *(f"?{urlencode({name: value})}" for name, values in values_of for value in values),
        ]
        slugs = ("strict", "nobody") if "judges" in path else (*studies, "nowhere")
        inside = re.findall(r"{(\w+)}", path)
        for values in product(
            *(asked.PLACES.get(name, asked.OTHERS) if name != "slug" else slugs for name in inside)
        ):
            filled = path.format(**dict(zip(inside, values, strict=True)))
            yield filled
            if not {"nowhere", "nobody"} & set(values):  # one refusal is enough
                yield from (filled + query for query in queries)


def choices_of(line: str) -> list[str]:
    """The commands that a line of COMMANDS stands for."""
    found = re.search(r"\[[^\]]*\]", line)
    if found is None:
        return [line]
    choices = found[0][1:-1].split("|")
    return [each for choice in choices for each in choices_of(line.replace(found[0], choice))]


def _write_files(out: Path, completions: list[dict[str, Any]]) -> None:
    """Files that commands read: some that cannot be read, features of answers, texts to check."""
    (out / "bad.csv").write_text("left,right,winner\nA,B,left\nA,B,both\n")
    (out / "empty.csv").write_text("")
    features = [
        {
            "prompt": each["prompt"],
            "contestant": each["contestant"],
            "name": name,
            "variant": "paper",
            "value": value,
        }
        for place, each in enumerate(completions)
        for name, value in (("entropy", place * 37 % 100 / 100), ("mean_logprob", -(place * 53 % 100) / 100))
    ]
    (out / "features.jsonl").write_text("\n".join(map(json.dumps, features)))
    (out / "more.jsonl").write_text(json.dumps(features[0] | {"value": 1.5}))
    texts = [
        {"id": n, "text": "Rain taps on the roof.", "constraint": {"kind": "words", "count": n}}
        for n in (4, 5)
    ]
    (out / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))


def _write_votes(out: Path, llmfao: Path) -> None:
    """Votes of people and a judge in one file, in three forms."""
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
