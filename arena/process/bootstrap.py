"""From a bare Python to a running arena, without Django; run by make.

Whatever goes wrong ends in one sentence on stderr and exit code 1.
"""

import argparse
import hashlib
import os
import re
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
UNREACHABLE = re.compile(
    r"NewConnectionError|Name or service not known|name resolution|Connection refused|Network is unreachable"
    r"|ConnectTimeout|ReadTimeout|ProxyError|Max retries exceeded|No matching distribution found",
    re.IGNORECASE,
)


class BootstrapError(Exception):
    """Something on this machine is in the way; the message is one sentence."""


REQUIREMENTS = {
    "install": "requirements.txt",
    "install-dev": "requirements-dev.txt",
    "install-bench": "requirements-bench.txt",
    "parquet": "requirements-parquet.txt",
    "local": "requirements-local.txt",
}
"""The file that a step installs."""

UNHASHED = {"requirements-local.txt"}
"""Files that say themselves why."""


def main() -> None:
    steps = {"run": run, "operator": operator} | {
        step: partial(install, name) for step, name in REQUIREMENTS.items()
    }
    parser = argparse.ArgumentParser(prog="python -m arena.process.bootstrap")
    parser.add_argument("step", choices=sorted(steps))
    step = parser.parse_args().step
    try:
        steps[step]()
    except BootstrapError as error:
        sys.stderr.write(f"{error}\n")
        leave(1)
    except KeyboardInterrupt:
        forget_status_file()
        sys.exit(130)


def run() -> None:
    """Install what is missing, prepare the arena and become its server."""
    require_free_port()
    require_writable(var_dir())
    install()
    manage("prepare")
    forget_status_file()
    os.execv(VENV_PYTHON, [str(VENV_PYTHON), "manage.py", "serve"])


def operator() -> None:
    require_writable(var_dir())
    install()
    manage("migrate", "--verbosity=0")
    manage("operator")


def install(name: str = "requirements.txt") -> None:
    """Install into .venv, made if none works, unless the same requirements were installed before."""
    requirements = ROOT / name
    stamp = VENV / f".installed-{requirements.stem}"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    works = venv_works()
    if works and stamp.exists() and stamp.read_text() == wanted:
        return
    require_writable(ROOT)
    if not works:
        make_venv()
    tell(f"Installing {requirements.name} into .venv (about ten seconds).")
    if not uv_install(requirements):
        pip_install(requirements)
    stamp.write_text(wanted)


def venv_works() -> bool:
    """Whether .venv is there and its interpreter runs, which a system upgrade or a move can break."""
    try:
        done = subprocess.run([VENV_PYTHON, "-c", "import pip"], capture_output=True)
    except OSError:  # missing, or made by somebody whose files this user may not read
        return False
    return done.returncode == 0


def make_venv() -> None:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise BootstrapError(
            "Python's venv module is missing; install it "
            f"(on Debian and Ubuntu: apt install python{version}-venv) and try again."
        ) from None
    tell("Creating .venv.")
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True
    )
    if made.returncode:
        raise BootstrapError(f"Cannot create {VENV}: {last_line(made.stdout + made.stderr)}")


def uv_install(requirements: Path) -> bool:
    """Install as ``pip_install`` does, in a quarter of the time; whether that was possible.

    uv knows nothing of pip's settings on this machine (a mirror, certificates) but PIP_INDEX_URL, so where it
    fails pip may still succeed, and says what is wrong where it does not.
    """
    if not UV.exists():
        with suppress(BootstrapError):
            pip_install(ROOT / "requirements-uv.txt")
    settings = {"UV_HTTP_RETRIES": "1", **os.environ}
    if mirror := os.environ.get("PIP_INDEX_URL"):
        settings.setdefault("UV_DEFAULT_INDEX", mirror)
    command = [str(UV), "pip", "install", "--python", str(VENV_PYTHON), *what_to_install(requirements)]
    try:
        return subprocess.run(command, env=settings, capture_output=True).returncode == 0
    except OSError:  # not there, or not for this machine
        return False


def what_to_install(requirements: Path) -> list[str]:
    """The arguments that name a file of requirements, every hash of which is checked, save for UNHASHED."""
    hashes = [] if requirements.name in UNHASHED else ["--require-hashes"]
    return [*hashes, "-r", str(requirements)]


def pip_install(requirements: Path) -> None:
    """Install with pip, whose output goes to a log."""
    # Python compiles the modules that are imported when they are; pip would compile all of them, for 10 s.
    options = ["--no-compile", "--no-input", "--retries", "1", *what_to_install(requirements)]
    command = [str(VENV_PYTHON), "-m", "pip", "install", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return
    log = VENV / "install.log"
    log.write_text(done.stdout + done.stderr)
    if UNREACHABLE.search(done.stdout + done.stderr):
        raise BootstrapError(
            "Cannot reach the Python package index; connect this machine to the network, or name a mirror in "
            f"PIP_INDEX_URL, and try again (details in {log})."
        )
    raise BootstrapError(
        f"pip could not install {requirements.name}: {last_line(done.stderr)} (details in {log})."
    )


def manage(*arguments: str) -> None:
    """Run a manage.py command, which tells itself what is wrong."""
    if subprocess.run([VENV_PYTHON, "manage.py", *arguments], cwd=ROOT).returncode:
        leave(1)


def require_writable(folder: Path) -> None:
    """Raise BootstrapError if no file can be made in the folder."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BootstrapError(
            f"Cannot write to {folder} ({error.strerror}); change its owner or mode, or work in another "
            "folder (VAR_DIR names the one for data)."
        ) from None


def require_free_port() -> None:
    """Raise BootstrapError if somebody else uses the port."""
    host, port = os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise BootstrapError(f'PORT is "{port}"; use a number from 1 to 65535, such as PORT=8001.')
    try:
        family, _, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise BootstrapError(
            f"Cannot listen on {host}:{port} ({error.strerror}); stop what runs there or choose another "
            "port, such as: make run PORT=8001"
        ) from None


def var_dir() -> Path:
    """The folder of the data, as arena/settings.py reads it."""
    return Path(os.environ.get("VAR_DIR") or ROOT / "var")


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no reason given")


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def leave(code: int) -> None:
    """Exit with ``code``. Under make, whose own exit code would be 2, leave it in a file for the Makefile."""
    status = os.environ.get("ARENA_STATUS_FILE")
    if status:
        Path(status).write_text(str(code))
    sys.exit(0 if status else code)


def forget_status_file() -> None:
    if status := os.environ.pop("ARENA_STATUS_FILE", None):
        Path(status).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
