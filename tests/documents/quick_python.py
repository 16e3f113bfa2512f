"""A stand-in for ``python manage.py`` that has everything loaded: a dozen commands take as long as one.

It is a server that is forked for each command, and a short script in place of the interpreter, which hands
over arguments, folder and streams. The script runs the real interpreter for other programs, and where a
variable of the arena is another one.
"""

import json
import os
import runpy
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SCRIPT: Final = """#!{python} -SE
import json, os, socket, sys
given = {given!r}
if sys.argv[1:2] != ["manage.py"] or any(os.environ.get(name) != value for name, value in given.items()):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = json.dumps([sys.argv[1:], os.getcwd()]).encode()
    socket.send_fds(server, [asked], [0, 1, 2])
    sys.exit(int(server.recv(8) or b"70"))
"""
READY: Final = "ready"
LONGEST: Final = 2**16  # bytes of the arguments


@contextmanager
def quick_python(folder: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the script, in this folder, for an arena with this environment."""
    address = folder / "socket"
    given = {name: environment[name] for name in ("DATABASE_URL", "VAR_DIR", "PORT")}
    script = folder / "python"
    script.write_text(SCRIPT.format(python=sys.executable, given=given, address=str(address)))
    script.chmod(0o755)
    command = [sys.executable, "-m", __name__, str(address)]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            assert server.stdout.readline().strip() == READY
            yield script
        finally:
            server.kill()


def serve(address: str) -> None:
    """Run commands as they come, one after the other."""
    import django
    from django.core.management import get_commands, load_command_class

    django.setup()
    for name, app in get_commands().items():
        if str(app).split(".")[0] in ("arena", "judging", "leaderboard"):
            load_command_class(str(app), name)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        sys.stdout.write(f"{READY}\n")
        sys.stdout.flush()
        while True:
            connection, _ = listening.accept()
            with connection:
                asked, streams, _, _ = socket.recv_fds(connection, LONGEST, 3)
                child = os.fork()
                if not child:
                    _run(*json.loads(asked), streams)
                for each in streams:
                    os.close(each)
                connection.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _run(arguments: list[str], folder: str, streams: list[int]) -> None:
    """Become this command."""
    code = 70
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(folder)
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
        code = 0
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
    serve(sys.argv[1])
