"""Run a judge on a machine without a database, through the arena's API alone."""

import os
import re
import signal
import socket
import time
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from judging.endpoints.keys import KeyVariableError, check_sendable
from judging.endpoints.openai_client import OpenAIClient
from judging.endpoints.reaching import RefusedAddressError, is_address
from judging.worker.arena import Arena, JudgeInfo, WorkerError, key_of
from judging.worker.arena_client import ArenaClient
from judging.worker.worker import AwayError, Worker

MOST_THREADS = 256
PAUSE = 2.0  # seconds between two looks for the arena


class Command(ArenaCommand):
    help = "Ask a judge's model from this machine for an arena on another machine. Needs no database."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--judge", required=True, metavar="SLUG", help="slug of the judge")
        parser.add_argument("--arena-url", required=True, metavar="URL", help="address of the arena")
        parser.add_argument(
            "--concurrency", type=int, default=4, metavar="N", help="simultaneous calls (default: 4)"
        )
        parser.add_argument("--drain", action="store_true", help="exit when no run is left")
        parser.add_argument(
            "--key-variable", default="", metavar="NAME", help="variable with the key, if not the judge's own"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        check_options(options)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        client = ArenaClient(settings.ARENA_TOKEN, options["arena_url"].rstrip("/"))
        name = f"{socket.gethostname()}:{os.getpid()}"
        arena = Arena(client, options["judge"], name, self._tell, options["key_variable"])
        try:
            self._run(arena, options)
        except (WorkerError, RefusedAddressError) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self._tell("Stopped. The arena asks again what was in flight.")

    def _run(self, arena: Arena, options: dict[str, Any]) -> None:
        judge = look_up_patiently(arena, self._tell)
        variable = options["key_variable"] or judge.key_variable
        OpenAIClient(judge.base_url, key_of(judge.name, variable, os.environ))
        self._tell(introduction(judge, variable, options))
        worker = Worker(arena, options["concurrency"], tell=self._tell)
        try:
            worker.run(lambda: arena.was_refused or (options["drain"] and not arena.look_up().runs))
        except KeyboardInterrupt:
            self._tell(f"Stopping after {worker.in_flight} calls (press Ctrl-C again to stop now).")
            worker.stop()
            worker.run()
        self._tell(f"Done: {arena.progress()}.")
        if arena.was_refused:
            raise SystemExit(1)

    def _tell(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def check_options(options: dict[str, Any]) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,120}", options["judge"]):
        raise CommandError(f'"{options["judge"]}" is not the slug of a judge.')
    if not (options["arena_url"].isascii() and is_address(options["arena_url"])):
        raise CommandError(
            f'"{options["arena_url"]}" is not the address of an arena. Use one like https://arena.org.'
        )
    if not 1 <= options["concurrency"] <= MOST_THREADS:
        raise CommandError(f"The concurrency must be from 1 to {MOST_THREADS}.")
    if not settings.ARENA_TOKEN:
        raise CommandError(
            "ARENA_TOKEN, the judge's token, is not set. Create one where the arena runs: "
            f"{settings.COMMAND} api_token {options['judge']} --label WHERE."
        )
    try:
        check_sendable("ARENA_TOKEN", settings.ARENA_TOKEN)
    except KeyVariableError as error:
        raise CommandError(str(error)) from error


def look_up_patiently(arena: Arena, tell: Callable[[str], None]) -> JudgeInfo:
    """The judge, once the arena answers; raises WorkerError."""
    known = ""
    while True:
        try:
            return arena.look_up()
        except AwayError as error:
            if str(error) != known:
                tell(f"{error}; trying again.")
            known = str(error)
        time.sleep(PAUSE)


def introduction(judge: JudgeInfo, variable: str, options: dict[str, Any]) -> str:
    key = f"the key in {variable}" if variable else "no key"
    return (
        f"{judge.name} asks {judge.model} at {judge.base_url} with {key}, {options['concurrency']} at "
        f"a time, for {options['arena_url']}."
    )
