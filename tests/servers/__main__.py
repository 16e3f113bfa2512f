"""Real servers of models judge, write and battle: LiteLLM's proxy, llama.cpp and ``transformers serve``.

    python -m tests.servers                          all three
    python -m tests.servers llama.cpp --pairs 10     a quick look at one

Each is installed into an environment of its own (3 GB together) and asked by an arena of ``make run``. The
models are written on the spot. Prints one table of what came of it; exits with 1 where anything fails.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.arena.process.processes import free_port
from tests.faults.evidence import Line, in_a_folder
from tests.faults.places import Embedded
from tests.faults.report import plain
from tests.judging.endpoints.server import Answer, ChatServer, Script, Streamed, counting
from tests.servers import battles

TINY: Final = Path(__file__).with_name("tiny.py")
STARTING_SECONDS: Final = 180
KEY: Final = "sk-only-for-a-drill-and-nothing-else-at-all"
CALLS_OF_A_PAIR: Final = 1.2  # at most

SEED: Final = """
from arena.models import Prompt
from tests.factories import make_author, make_completion, make_contestant, make_judge, make_study
study = make_study(slug="servers")
prompts = Prompt.objects.bulk_create(
    Prompt(study=study, external_id=str(n), turns=[f"Prompt {{n}}."]) for n in range({pairs})
)
other = make_contestant(study=study, slug="other", name="Other")
for prompt in prompts:
    make_completion(prompt=prompt, contestant=other)
asked = dict(base_url="{url}", model={model!r}, api_key_env="TINY_API_KEY", timeout=60)
asked |= dict(concurrency={concurrency}, max_tokens=20)
make_author(contestant=make_contestant(study=study, slug="tiny", name="Tiny"), **asked)
make_judge(slug="tiny", name="Tiny judge", temperature=1.0, logprobs={logprobs}, options={options}, **asked)
"""


class Server(NamedTuple):
    """A server of models; ``model`` is the name it knows the model by, from the path of the written one."""

    packages: Sequence[str]
    command: Sequence[str]
    model: str = "tiny"
    form: str = ""  # in which the model is written
    concurrency: int = 4
    options: Mapping[str, Any] = {}
    logprobs: bool = True


SERVERS: Final = {
    "litellm": Server(
        ("litellm[proxy]==1.108.7",),
        ("{bin}/litellm", "--config", "{path}", "--port", "{port}", "--host", "127.0.0.1"),
        logprobs=False,
    ),
    "llama.cpp": Server(
        ("llama-cpp-python[server]==0.3.36", "gguf==0.19.0"),
        (
            *("{bin}/python", "-m", "llama_cpp.server", "--model", "{path}", "--model_alias", "tiny"),
            *("--port", "{port}", "--n_ctx", "8192", "--logits_all", "true"),
        ),
        form="gguf",
        concurrency=1,
        options={"grammar": "root ::= [1-8]"},
    ),
    "transformers": Server(
        ("torch==2.13.0", "transformers[serving]==5.24.0"),
        ("{bin}/transformers", "serve", "--port", "{port}", "--host", "127.0.0.1", "--device", "cpu"),
        model="{path}",
        form="transformers",
        concurrency=1,
    ),
}


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__)
    parser.add_argument("servers", nargs="*", metavar="SERVER", help=f"of {', '.join(SERVERS)} (all)")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--environments", type=Path, default=Path("var/servers"), help="where to install")
    given = parser.parse_args()
    if unknown := sorted(set(given.servers) - set(SERVERS)):
        parser.error(f"there is no server {unknown[0]}; there are {', '.join(SERVERS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    reports = {}
    for name in given.servers or SERVERS:
        environment = (given.environments / name).absolute()
        if why := installed(environment, SERVERS[name].packages):
            print(f"{name} is left out, as it cannot be installed: {why}", file=sys.stderr)
            continue
        started = time.monotonic()
        lines = asked(SERVERS[name], environment, given.pairs)
        reports[name] = [*lines, Line("minutes", f"{(time.monotonic() - started) / 60:.1f}")]
    print(plain(reports))
    if broken := [line.what for report in reports.values() for line in report if line.holds is False]:
        sys.exit(f"Does not hold: {', '.join(broken)}.")


def installed(environment: Path, packages: Sequence[str]) -> str:
    """Install into an environment of its own; why that cannot be, else ""."""
    if not (environment / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
    lean = {"CMAKE_ARGS": "-DLLAVA_BUILD=OFF"}  # llama.cpp without what reads pictures
    done = subprocess.run(pip, capture_output=True, text=True, env={**lean, **os.environ})
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""


def asked(server: Server, environment: Path, pairs: int) -> list[Line]:
    """What came of it."""
    return in_a_folder("servers", lambda folder: _asked(server, environment, pairs, folder))


def _asked(server: Server, environment: Path, pairs: int, folder: Path) -> list[Line]:
    with ExitStack() as stack:
        path = folder / "model"
        if server.form:
            written = [environment / "bin" / "python", TINY, server.form, path]
            subprocess.run(written, check=True)
        else:
            behind = stack.enter_context(ChatServer(rating_or_streaming()))
            behind_it = {"model": "openai/loopback", "api_base": behind.url, "api_key": "none"}
            listed = {"model_list": [{"model_name": "tiny", "litellm_params": behind_it}]}
            path.write_text(json.dumps({**listed, "general_settings": {"master_key": KEY}}))
        url = stack.enter_context(serving(server, environment, path, folder / "server.log"))
        arena = Embedded(folder, SWEEP_SECONDS="1", TINY_API_KEY=KEY)
        stack.callback(arena.kill)
        model = server.model.format(path=path)
        seed = SEED + battles.SEED
        known = server._asdict() | {"model": model, "system": battles.SYSTEM}
        arena.run(seed.format(pairs=pairs, url=url, **known))
        arena.manage("collectstatic", "--noinput", "-v0")
        arena.start()
        said = [
            arena.command("generate", "servers", "--contestant", "tiny", ARENA_URL=arena.url),
            arena.command("judge", "servers", "--judge", "tiny", ARENA_URL=arena.url),
        ]
        lines = report(arena, pairs) + battles.play(arena)
    if any(line.holds is False for line in lines):
        print(f"See {folder}.", *(each.stdout + each.stderr for each in said), sep="\n", file=sys.stderr)
    return lines


def rating_or_streaming() -> Script:
    """A model behind the proxy: in battles it streams sentences, else it rates."""
    rates = counting()

    def script(body: dict[str, Any]) -> Answer:
        sentences = Streamed(pieces=["The sky ", "is blue. ", "It looks ", "red, too."])
        return sentences if body.get("stream") else rates(body)

    return script


@contextmanager
def serving(server: Server, environment: Path, path: Path, log: Path) -> Iterator[str]:
    """The address of the started server."""
    port = free_port()
    known = {"bin": str(environment / "bin"), "path": str(path), "port": str(port)}
    command = [part.format(**known) for part in server.command]
    offline = {"HF_HUB_OFFLINE": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, env=os.environ | offline, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/models", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + STARTING_SECONDS
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {KEY}"})  # noqa: S310 - our own
    while True:
        with suppress(OSError):
            urllib.request.urlopen(request, timeout=5).close()  # noqa: S310
            return
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"the server did not start; see {log}")
        time.sleep(0.5)


CALLS: Final = """
SELECT count(*), sum(status = 'scored'), sum(status = 'unscored'), sum(state = 'failed'),
       sum(logprobs IS NOT NULL), sum(expected IS NOT NULL)
FROM judging_judgecall
"""
TEXTS: Final = "SELECT count(*) FROM arena_completion c JOIN arena_contestant m ON m.id = c.contestant_id"
ERRORS: Final = """
SELECT error_kind || ': ' || error FROM judging_judgecall WHERE error != ''
UNION SELECT error_kind || ': ' || error FROM judging_writingcall WHERE error != ''
"""


def report(arena: Embedded, pairs: int) -> list[Line]:
    [(written,)] = arena.query(f"{TEXTS} WHERE m.slug = 'tiny' AND c.turns != '[]'")
    [(calls, rated, unscored, failed, told, expected)] = arena.query(CALLS)
    [(identical,)] = arena.query("SELECT count(*) FROM arena_comparison WHERE status = 'identical'")
    ended = (rated or 0) + (unscored or 0) + identical
    errors = "; ".join(str(error) for (error,) in arena.query(ERRORS))
    return [
        Line("answers written", f"{written} of {pairs}", written == pairs),
        Line("pairs rated", f"{rated or 0} of {pairs}", ended == pairs and bool(rated)),
        Line("pairs not rated", str(unscored or 0)),
        Line("calls of the judge", str(calls), calls <= CALLS_OF_A_PAIR * pairs),
        Line("failed calls", str(failed or 0)),
        Line("replies with log-probabilities", str(told or 0)),
        Line("expected ratings", str(expected or 0)),
        Line("errors", errors or "none"),
    ]


if __name__ == "__main__":
    main()
