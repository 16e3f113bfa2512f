"""The commands of the program, by who needs them, and what its help says."""

import argparse
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from likert_arena.home import arena_home

PROGRAM: Final = "likert-arena"
OF_FILES: Final = "With a file of ratings, without an arena"

GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    OF_FILES: {
        "rank": "rank the models",
        "compare": "rank them by every method, side by side",
        "plan": "how many more prompts and raters tell two models apart",
        "anchor": "rank them by people with a judge's help",
        "recompute": "compute the numbers of a bundle again",
    },
    "To have an arena": {
        "run": "start it, with a demo on first use",
        "operator": "give the operator a new password",
        "backup": "store the whole arena in one file",
        "restore": "fill an empty arena from such a file",
        "api_token": "make a key for a program or a judge",
        "anonymise_rater": "remove the personal details of a rater",
        "load_demo": "load the demo studies anew",
    },
    "To run a study": {
        "create_study": "make a study, as a draft",
        "import_data": "import prompts, answers and ratings",
        "make_constraints": "make prompts whose answers a program can check",
        "check_constraints": "check such answers",
        "find_names": "find answers that name their model",
        "add_model": "say where a model is asked",
        "generate": "let a model write its answers",
        "protocols": "how judges are asked",
        "add_judge": "configure a judge",
        "judge": "let a judge rate",
        "judge_worker": "run a judge on another machine",
        "adversarial": "make pairs that mislead judges",
        "traces": "read what an endpoint tells of its answers",
        "local_features": "compute features with a model on this machine",
    },
    "To read its numbers": {
        "refresh": "compute what is due",
        "standings": "the leaderboard",
        "decide": "whether one model can replace another",
        "agreement": "how well raters agree",
        "meta_evaluate": "how often judges are right",
        "correlate": "judges' rankings against people's",
        "ablate": "what parts of a protocol are worth",
        "drfr": "requirements that answers meet",
        "scores": "scores of single answers",
    },
    "To publish": {
        "release": "keep the numbers forever",
        "export": "tables as CSV, JSON Lines or Parquet",
        "bundle": "all that computes the numbers again",
    },
    "On servers": {
        "prepare": "create or update tables and static files",
        "serve": "start the web server alone",
        "worker": "take tasks from the queues",
        "flush": "delete everything",
    },
}
"""Every command of the arena; Django's own, such as migrate and createsuperuser, work as well."""


def overview() -> str:
    """What ``--help`` says."""
    width = max(len(name) for names in GROUPS.values() for name in names)
    lines = [
        f"usage: {PROGRAM} COMMAND [OPTIONS]; {PROGRAM} COMMAND --help says what it takes",
        f"data: {arena_home()} (ARENA_HOME names another folder)",
    ]
    for group, names in GROUPS.items():
        lines += ["", f"{group}:", *(f"  {name:{width}}  {meaning}" for name, meaning in names.items())]
    return "\n".join(lines)


def prepare_environment(arguments: Sequence[str]) -> None:
    """Have the settings read the arena of ARENA_HOME."""
    os.environ["ARENA_HOME"] = str(arena_home())
    if arguments[0] in GROUPS[OF_FILES] and "--study" not in arguments:
        os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(50))  # which is kept for an arena alone


def run(arguments: Sequence[str]) -> None:
    """Prepare the arena of ARENA_HOME, become its server, and stay it until stopped."""
    from arena.process.bootstrap import BootstrapError, require_free_port, require_writable

    parser = argparse.ArgumentParser(prog=f"{PROGRAM} run", description="Start an arena and its worker.")
    parser.add_argument("--host", default=os.environ.get("HOST") or "127.0.0.1", help="default: %(default)s")
    parser.add_argument("--port", default=os.environ.get("PORT") or "8000", help="default: %(default)s")
    given = parser.parse_args(arguments)
    os.environ |= {"HOST": given.host, "PORT": given.port}
    folder = Path(os.environ.get("VAR_DIR") or arena_home())
    sys.stdout.write(f"Data: {folder}\n")
    sys.stdout.flush()
    try:
        require_free_port()
        require_writable(folder)
    except BootstrapError as error:
        sys.exit(str(error))
    itself = [sys.executable, "-m", "likert_arena"]
    if code := subprocess.run([*itself, "prepare"], check=False).returncode:  # noqa: S603 - this program
        sys.exit(code)
    os.execv(sys.executable, [*itself, "serve"])  # noqa: S606 - this program
