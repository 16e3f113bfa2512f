"""Follows docs/deploy.md word by word on a copy of this machine, then hurts what came of it.

The copy is this machine's file system under a layer that is thrown away, in namespaces of its own: what runs
there has its own processes, its own /run and its own network, in which only apt and pip reach the world.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.faults.evidence import Line
from tests.faults.places import BEHIND, PAIRS_OF_A_PROMPT, SEED
from tests.faults.supervisor import Postgres, Service
from tests.processes import ROOT

HOST = "arena.example.org"
MODEL_PORT = 8143
PAIRS = 400
DELAY = 1.0
TIMEOUT = 5.0
REACHES_OUT = ("apt-get", "make")
"""Commands that download something."""

SECRET = "a-secret-that-nobody-may-read"
"""The key of the judge, looked for in the logs."""

UPGRADED = "+upgraded"
PATIENCE = 300.0
REMEMBERED = 10.5
"""Seconds after which /readyz asks the workers again."""

TOOLS = ("unshare", "nsenter", "setpriv", "ip", "apt-get", "runuser")


def missing_here() -> str:
    """Why this machine cannot play the bare one; "" where it can."""
    if os.geteuid() != 0:
        return "it needs root"
    if not Path("/etc/debian_version").exists():
        return "it needs Debian"
    return next((f"{tool} is not here" for tool in TOOLS if not shutil.which(tool)), "")


def deploy(say: Callable[[str], None]) -> list[Line]:
    """Everything, in a process whose end ends all that it started."""
    with tempfile.TemporaryDirectory(prefix="arena-deploy-") as folder:
        result = Path(folder) / "result.json"
        result.touch()
        command = [
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            sys.executable,
            "-m",
            __name__,
            folder,
        ]
        inside = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert inside.stdout
            for line in inside.stdout:
                say(line.rstrip())
            inside.wait()
        finally:
            inside.kill()
            inside.wait()
        if inside.returncode or not result.read_text():
            return [Line("drill", f"ended with {inside.returncode}", False)]
        return [Line(**line) for line in json.loads(result.read_text())]


def statements(*sections: str) -> Iterator[str]:
    """The commands in the grey boxes of these sections of the document, in their order."""
    text = (ROOT / "docs" / "deploy.md").read_text()
    for section in sections:
        body = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        if not body:
            raise LookupError(f"docs/deploy.md has no section {section}")
        for box in re.findall(r"^```sh\n(.*?)^```", body[1], re.MULTILINE | re.DOTALL):
            yield from (line for line in box.splitlines() if line.strip())


class Machine:
    """The copy, from the inside."""

    def __init__(self, folder: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        self._environment = {
            **kept,
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        _enter_copy(folder)
        self.network = _own_network()
        self.logs = Path(tempfile.mkdtemp(prefix="arena-deploy-logs-"))
        self.services: dict[str, Service] = {}
        self.postgres = Postgres(self.network)
        self.done = 0

    def follow(self, *sections: str) -> None:
        """Run what the document says; raises CalledProcessError at the first command that fails."""
        for line in statements(*sections):
            print(line, flush=True)
            if line.startswith("export "):
                name, _, _ = line.removeprefix("export ").partition("=")
                self._environment[name] = {"ARENA_SOURCE": "/srv/source.git", "ARENA_HOST": HOST}[name]
            elif line.startswith("systemctl "):
                self.systemctl(*line.split()[1:])
            else:
                self.run(line)
            self.done += 1

    def run(self, line: str) -> str:
        """What a command of the shell prints."""
        network = [] if line.startswith(REACHES_OUT) else self.network
        done = subprocess.run(
            [*network, "bash", "-ec", line],
            env=self._environment,
            cwd="/root",
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(
                f"{line} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        return done.stdout

    def systemctl(self, *arguments: str) -> None:
        """What systemd would do, for the actions of the document."""
        action, *names = [each for each in arguments if each != "--now"]
        for name in names:
            service = self._service(name.removesuffix(".timer"))  # which goes off at once
            if action in ("stop", "restart") or (action == "reload" and name == "caddy"):
                service.stop()
            if action in ("start", "restart", "reload", "enable"):
                service.start()

    def _service(self, name: str) -> Any:
        if name == "postgresql":
            return self.postgres
        if name not in self.services:
            self.services[name] = Service(name, self.network, self.logs / f"{name}.log")
        return self.services[name]

    def curl(self, *arguments: str) -> str:
        """What curl prints; "" where it failed."""
        done = subprocess.run(
            [*self.network, "curl", "--silent", "--max-time", "35", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def status(self, address: str, *arguments: str) -> str:
        return self.curl("--output", "/dev/null", "--write-out", "%{http_code}", *arguments, address)

    def sql(self, query: str) -> str:
        command = ["runuser", "-u", "postgres", "--", "psql", "-At", "-F", " ", "arena", "-c", query]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True)
        return done.stdout.strip()

    def trust_own_certificates(self) -> None:
        """The proxy signs for itself, because no authority can reach it here."""
        file = Path("/etc/caddy/Caddyfile")
        file.write_text("{\n\tlocal_certs\n\tskip_install_trust\n}\n" + file.read_text())
        root = "/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt"
        self._environment["CURL_CA_BUNDLE"] = root

    def wait(self, holds: Callable[[], bool], seconds: float = PATIENCE) -> float | None:
        """Seconds until something holds; None where it does not in time."""
        started = time.monotonic()
        while not holds():
            if time.monotonic() - started > seconds:
                return None
            time.sleep(0.3)
        return time.monotonic() - started

    def ready(self) -> bool:
        return '"ready": true' in self.curl(f"https://{HOST}/readyz")


def _enter_copy(folder: Path) -> None:
    """Make a copy of the machine whose changes stay in memory, and go into it."""
    layer, root = folder / "layer", folder / "root"
    for each in (layer, root):
        each.mkdir()
    _call("mount", "--make-rprivate", "/")
    _call("mount", "-t", "tmpfs", "-o", "mode=755", "arena", str(layer))
    for each in ("upper", "work"):
        (layer / each).mkdir()
    layers = f"lowerdir=/,upperdir={layer}/upper,workdir={layer}/work"
    _call("mount", "-t", "overlay", "-o", layers, "arena", str(root))
    _call("mount", "-t", "proc", "proc", str(root / "proc"))
    for each in ("dev", "sys"):
        _call("mount", "--rbind", f"/{each}", str(root / each))
    _call("mount", "-t", "tmpfs", "-o", "mode=755", "run", str(root / "run"))
    _call("git", "clone", "--quiet", "--bare", str(ROOT), str(root / "srv" / "source.git"))
    resolver = Path("/etc/resolv.conf").read_text()
    os.chroot(root)
    os.chdir("/")
    Path("/etc/resolv.conf").write_text(resolver)
    # Nothing that apt installs may start in the network of the real machine.
    Path("/usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    Path("/usr/sbin/policy-rc.d").chmod(0o755)
    with Path("/etc/hosts").open("a") as hosts:
        hosts.write(f"\n127.0.0.1 {HOST}\n")


def _own_network() -> list[str]:
    """What to put before a command that shall see nothing but this copy."""
    holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    network = ["nsenter", f"--net=/proc/{holder.pid}/ns/net", "--"]
    while os.readlink(f"/proc/{holder.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
        time.sleep(0.05)
    _call(*network, "ip", "link", "set", "lo", "up")
    return network


def _call(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


class Visitor:
    """Asks for the first page all the time, as people do."""

    def __init__(self, machine: Machine) -> None:
        self.statuses: Counter[str] = Counter()
        self._machine, self._leaves = machine, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._leaves.wait(0.2):
            self.statuses[self._machine.status(f"https://{HOST}/")] += 1

    def leave(self) -> str:
        """What was answered, by status."""
        self._leaves.set()
        self._thread.join(60)
        return ", ".join(f"{count} x {status}" for status, count in sorted(self.statuses.items()))


def drill(machine: Machine) -> Iterator[Line]:
    """Follow, check, hurt, upgrade."""
    machine.follow("Install")
    with Path("/etc/arena/arena.env").open("a") as settings:
        settings.write(f"LOOPBACK_API_KEY={SECRET}\nJUDGE_ENDPOINTS=http://127.0.0.1:{MODEL_PORT}\n")
    machine.trust_own_certificates()
    machine.follow("Start", "Check")
    yield Line("commands of Install, Start and Check", str(machine.done), True)
    yield from _checked(machine)
    yield from _hurt(machine)
    before = machine.done
    visitor = _new_version(machine)
    started = time.monotonic()
    machine.follow("Upgrade")
    seconds = time.monotonic() - started
    version = _version(machine)
    seen = visitor.leave()
    yield Line("commands of Upgrade", f"{machine.done - before} in {seconds:.0f} s", True)
    yield Line("pages asked for during the upgrade", seen, set(visitor.statuses) == {"200"})
    yield Line("version afterwards", version, version.endswith(UPGRADED))
    yield from _finished(machine, "judge run meanwhile")
    machine.follow("Go back")
    version = _version(machine)
    yield Line("version after going back", version, version != "" and not version.endswith(UPGRADED))
    yield from _finished(machine, "judge run of the backup")
    yield from _stopped(machine)


def _version(machine: Machine) -> str:
    """What the arena says that it is, once it is ready; "" where it is not in time."""
    if machine.wait(machine.ready) is None:
        return ""
    return str(json.loads(machine.curl(f"https://{HOST}/readyz"))["version"])


def _checked(machine: Machine) -> Iterator[Line]:
    yield Line("/readyz over HTTPS", "ready" if machine.ready() else "not ready", machine.ready())
    plain = machine.status(f"http://{HOST}/")
    yield Line("plain HTTP", plain, plain == "308")
    page = machine.curl(f"https://{HOST}/")
    style = re.search(r'href="(/static/[^"]+\.css)"', page)
    kept = machine.curl("--head", f"https://{HOST}{style[1]}") if style else ""
    yield Line("static files", "kept" if "immutable" in kept else kept[:20], "immutable" in kept)
    outside, inside = (
        machine.status(f"https://{HOST}/metrics"),
        machine.status("http://127.0.0.1:8000/metrics"),
    )
    yield Line(
        "/metrics from outside, from inside", f"{outside}, {inside}", (outside, inside) == ("404", "200")
    )
    modes = [
        f"{path.stat().st_mode & 0o777:o}" for path in (Path("/etc/arena/arena.env"), Path("/etc/arena"))
    ]
    backups = Path("/var/backups/arena")
    made = machine.wait(lambda: any(backups.glob("*.zip")), 60) is not None
    yield Line("the backup of every night", "made" if made else "not made", made)
    yield Line("mode of the settings and their folder", ", ".join(modes), modes == ["640", "750"])


def _hurt(machine: Machine) -> Iterator[Line]:
    """A judge run during which every service ends once."""
    model = [
        sys.executable,
        "-m",
        "tests.judging.endpoints.server",
        "--port",
        str(MODEL_PORT),
        "--delay",
        str(DELAY),
    ]
    subprocess.Popen(
        [*machine.network, *model], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    seed = SEED.format(
        prompts=-(-PAIRS // PAIRS_OF_A_PROMPT),
        contestants=5,
        url=f"http://127.0.0.1:{MODEL_PORT}/v1",
        timeout=TIMEOUT,
        pairs=PAIRS,
        protocol="likert",
    ).replace('model="loopback"', 'model="loopback", api_key_env="LOOPBACK_API_KEY"')
    Path("/srv/seed.py").write_text(seed)
    machine.run('arena shell -v0 -c "$(cat /srv/seed.py)"')
    for name in ("arena-web", "arena-judging@1", "arena-statistics", "redis-server"):
        machine.services[name].kill()
        seconds = machine.wait(lambda name=name: machine.services[name].starts == 2)  # type: ignore[misc]
        time.sleep(REMEMBERED)
        is_back = seconds is not None and machine.wait(machine.ready) is not None
        yield Line(f"{name} killed", f"started again after {seconds or PATIENCE:.0f} s", is_back)
    machine.systemctl("restart", "postgresql")
    seconds = machine.wait(machine.ready)
    yield Line("postgresql restarted", f"ready after {seconds or PATIENCE:.0f} s", seconds is not None)


def _new_version(machine: Machine) -> Visitor:
    """Publish a version to upgrade to; whoever looks meanwhile."""
    commit = (
        "git clone --quiet /srv/source.git /srv/next && cd /srv/next"
        ' && sed -i \'0,/^__version__ = "\\(.*\\)"/s//__version__ = "\\1'
        f"{UPGRADED}\"/' arena/__init__.py"
        " && git -c user.name=drill -c user.email=drill@localhost commit --quiet -am upgrade"
        " && git push --quiet origin HEAD"
    )
    machine.run(commit)
    return Visitor(machine)


def _finished(machine: Machine, run: str) -> Iterator[Line]:
    state = "SELECT state FROM judging_judgerun"
    machine.wait(lambda: machine.sql(state) == "finished" and machine.sql(BEHIND) == "0")
    yield Line(run, machine.sql(state), machine.sql(state) == "finished")
    counted = "SELECT count(*), count(DISTINCT assignment_id) FROM arena_comparison"
    rated = machine.sql(counted)
    yield Line(f"{run}: rated, of them once", rated, rated == f"{PAIRS} {PAIRS}")
    lost = machine.sql(
        "SELECT state, count(*) FROM judging_judgecall WHERE state != 'replied' GROUP BY state"
    )
    yield Line(f"{run}: calls without a reply", lost.replace("\n", ", ") or "0")
    behind = machine.sql(BEHIND)
    yield Line(f"{run}: ratings that the leaderboard lacks", behind, behind == "0")


def _stopped(machine: Machine) -> Iterator[Line]:
    took = {name: service.stop() for name, service in machine.services.items()}
    slowest = max(took, key=lambda name: took[name])
    yield Line("seconds to stop, at most", f"{took[slowest]:.1f} ({slowest})")
    yield from _logged(machine)


def _logged(machine: Machine) -> Iterator[Line]:
    logs = [log for log in machine.logs.glob("arena-*.log") if log.stem != "arena-backup"]  # speaks to people
    text = "".join(log.read_text(errors="replace") for log in logs)
    lines = [line for line in text.splitlines() if line and not line.startswith("Likert Arena runs on")]
    others = [line for line in lines if not line.startswith("{")]
    yield Line("lines of the log, of them not JSON", f"{len(lines)}, {len(others)}", not others)
    key = re.search(r"^SECRET_KEY=(.+)$", Path("/etc/arena/arena.env").read_text(), re.MULTILINE)
    found = [
        name
        for name, value in (("key of the arena", key and key[1]), ("key of the judge", SECRET))
        if value and value in text
    ]
    yield Line("secrets in the log", ", ".join(found) or "none", key is not None and not found)
    errors = Counter(json.loads(line)["message"][:80] for line in lines if '"level": "error"' in line)
    for message, count in errors.most_common(5):
        print(f"{count} x {message}", flush=True)
    for line in others[:5]:
        print(line, flush=True)


def main() -> None:
    """Inside the namespaces: the folder to work in stands as the argument."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(sys.argv[1])
    with (folder / "result.json").open("w") as result:
        report: list[Line] = []
        try:
            for line in drill(Machine(folder)):
                print(f"{line.what}: {line.value}", flush=True)
                report.append(line)
        except (RuntimeError, subprocess.SubprocessError, OSError) as error:
            print(error, flush=True)
            report.append(Line("drill", str(error).splitlines()[0][:200], False))
        json.dump([vars(line) for line in report], result)


if __name__ == "__main__":
    main()
