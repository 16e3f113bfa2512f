"""Runs services as their unit files say, for a machine on which systemd does not run."""

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

UNITS = (Path("/etc/systemd/system"), Path("/lib/systemd/system"))
CAPABILITIES = {"CAP_NET_BIND_SERVICE": "net_bind_service"}
Options = dict[str, list[str]]


class UnitError(Exception):
    """A unit that is not there, or that says what is not known here."""


def find(name: str) -> tuple[Path, str]:
    """The file of a unit, and what stands for %i in it."""
    template, at, instance = name.removesuffix(".service").partition("@")
    for folder in UNITS:
        if (file := folder / f"{template}{at}.service").exists():
            return file, instance
    raise UnitError(f"there is no unit {name}")


def options(file: Path, instance: str) -> Options:
    """What a unit file says, all sections together; a name may stand there several times."""
    found: Options = {}
    for line in file.read_text().replace("\\\n", " ").splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith(("#", ";")):
            found.setdefault(name, []).append(value.strip().replace("%i", instance).replace("%%", "%"))
    return found


class Service:
    """One service: started, started again when it ends, stopped."""

    def __init__(self, name: str, network: Sequence[str], log: Path) -> None:
        self.name, self._network, self.log = name, network, log
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self._wanted = False

    def start(self) -> None:
        """Start it, and again whenever it ends, if its unit says so."""
        self._wanted = True
        self._spawn(options(*find(self.name)))

    def _spawn(self, unit: Options) -> None:
        user = unit.get("User", ["root"])[-1]
        for kind, above in (("State", "/var/lib"), ("Cache", "/var/cache"), ("Runtime", "/run")):
            for folder in unit.get(f"{kind}Directory", []):
                (Path(above) / folder).mkdir(exist_ok=True, parents=True)
                shutil.chown(Path(above) / folder, user, user)
        with self.log.open("ab") as log:
            self.process = process = subprocess.Popen(
                [*self._network, *_as_user(user, unit), *shlex.split(unit["ExecStart"][-1])],
                cwd=unit.get("WorkingDirectory", ["/"])[-1],
                env=_environment(unit, user),
                umask=int(unit.get("UMask", ["0022"])[-1], 8),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.starts += 1
        threading.Thread(target=self._watch, args=(process, unit), daemon=True).start()

    def _watch(self, process: "subprocess.Popen[bytes]", unit: Options) -> None:
        process.wait()
        time.sleep(float(unit.get("RestartSec", ["0.1"])[-1]))
        if self._wanted and self.process is process and unit.get("Restart", ["no"])[-1] == "always":
            self._spawn(unit)

    def kill(self) -> None:
        """End every process of it at once, as if it had crashed."""
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)

    def stop(self) -> float:
        """SIGTERM, and SIGKILL after TimeoutStopSec; the seconds that it took."""
        self._wanted = False
        started = time.monotonic()
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            unit = options(*find(self.name))
            try:
                self.process.wait(float(unit.get("TimeoutStopSec", ["90"])[-1].removesuffix("s")))
            except subprocess.TimeoutExpired:
                self.kill()
                self.process.wait()
        return time.monotonic() - started


class Postgres:
    """Debian's clusters, which units of Debian start with pg_ctlcluster."""

    def __init__(self, network: Sequence[str]) -> None:
        self._network = network

    def start(self) -> None:
        """Start the newest cluster."""
        Path("/run/postgresql").mkdir(exist_ok=True)
        shutil.chown("/run/postgresql", "postgres", "postgres")
        self._control("start")

    def stop(self) -> float:
        """Stop it, with what is connected cut off."""
        self._control("stop", "-m", "fast")
        return 0.0

    def _control(self, *action: str) -> None:
        version = max(os.listdir("/etc/postgresql"), key=int)
        subprocess.run(
            [*self._network, "pg_ctlcluster", version, "main", *action], check=True, capture_output=True
        )


def _as_user(user: str, unit: Options) -> list[str]:
    bounds = [CAPABILITIES[name] for name in unit.get("AmbientCapabilities", [])]
    granted = "".join(f",+{name}" for name in bounds)
    command = ["setpriv", f"--reuid={user}", f"--regid={unit.get('Group', [user])[-1]}", "--init-groups"]
    command += [f"--inh-caps=-all{granted}", f"--ambient-caps=-all{granted}"]
    if "yes" in unit.get("NoNewPrivileges", []):
        command.append("--no-new-privs")
    return [*command, "--"]


def _environment(unit: Options, user: str) -> dict[str, str]:
    found = {"PATH": os.defpath, "HOME": os.path.expanduser(f"~{user}"), "USER": user, "LANG": "C.UTF-8"}
    for line in unit.get("Environment", []):
        found |= dict(each.split("=", 1) for each in shlex.split(line))
    for file in unit.get("EnvironmentFile", []):
        path = Path(file.removeprefix("-"))
        if path.exists() or not file.startswith("-"):
            lines = path.read_text().splitlines()
            found |= dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return found
