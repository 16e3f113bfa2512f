"""Start a judge run on the running arena and watch it."""

from argparse import ArgumentParser
from time import monotonic, sleep
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from arena.api.auth import operator_token
from judging.arena_client import ArenaClient, ArenaReply, ArenaUnreachableError

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 60.0
"""The arena may be restarted during a run; it is waited for so long."""


class Command(BaseCommand):
    """See ``help``."""

    help = "Ask a judge about the pairs of a study; the running arena does the asking."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="slug of the study")
        parser.add_argument("--judge", required=True, metavar="SLUG", help="slug of the judge")
        parser.add_argument("--limit", type=int, metavar="N", help="at most so many pairs")
        parser.add_argument("--both-orders", action="store_true", help="ask about every pair in both orders")
        parser.add_argument(
            "--remote", action="store_true", help="judge workers on other machines ask (see judge_worker)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        run = self._start(options)
        self.stdout.write(f"Run {run['id']}: {run['judge']} rates {run['study']}{_label(run)}.")
        try:
            run = self._watch(run)
        except KeyboardInterrupt:
            self.stdout.write(
                f"\nRun {run['id']} goes on in the arena; see {settings.ARENA_URL}/judging/runs/{run['id']}/."
            )
            return
        self.stdout.write(_summary(run))

    def _start(self, options: dict[str, Any]) -> dict[str, Any]:
        wanted = {
            "study": options["study"],
            "judge": options["judge"],
            "limit": options["limit"],
            "both_orders": options["both_orders"],
            "remote": options["remote"],
        }
        try:
            reply = ArenaClient(operator_token()).post("/judge-runs/", wanted)
        except ArenaUnreachableError as error:
            raise CommandError(
                f"{error}; start it with make run, or name another place: "
                "PORT=8001 or ARENA_URL=http://host:port before the command."
            ) from error
        return _body(reply, 201)

    def _watch(self, run: dict[str, Any]) -> dict[str, Any]:
        shown = ""
        silent_since: float | None = None
        while run["state"] in ("queued", "running"):
            sleep(POLL_SECONDS)
            try:
                reply = ArenaClient(operator_token()).get(f"/judge-runs/{run['id']}")
                if reply.status >= 500:  # its database is being restarted, say
                    raise ArenaUnreachableError(f"The arena answers {reply.detail}")
            except ArenaUnreachableError as error:
                silent_since = silent_since or monotonic()
                if monotonic() - silent_since > PATIENCE_SECONDS:
                    raise CommandError(f"{error}; run {run['id']} goes on when it is back.") from error
                continue
            silent_since = None
            run = _body(reply, 200)
            line = _progress(run)
            if line != shown:
                self.stdout.write(line)
                self.stdout.flush()
                shown = line
        return run


def _body(reply: ArenaReply, expected: int) -> dict[str, Any]:
    if reply.status == expected:
        return reply.body
    if reply.status == 401:
        raise CommandError(
            f"The arena at {settings.ARENA_URL} does not accept this command's signature; run it with the "
            "SECRET_KEY (or the VAR_DIR) of the arena."
        )
    raise CommandError(reply.detail)


def _label(run: dict[str, Any]) -> str:
    return " (simulated: no model is asked)" if run["simulated"] else ""


def _progress(run: dict[str, Any]) -> str:
    done = run["assigned"] - run["waiting"]
    return (
        f"{done}/{run['assigned']} done: {run['scored']} scored, {sum(run['unscored'].values())} unscored, "
        f"{run['failed']} failed; {run['in_flight']} in flight"
    )


def _summary(run: dict[str, Any]) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(run["unscored"].items()))
    lines = [
        f"Run {run['id']} is {run['state']}.{' ' + run['error'] if run['error'] else ''}",
        f"Assigned   {run['assigned']}",
        f"Scored     {run['scored']}",
        f"Unscored   {sum(run['unscored'].values())}{f' ({reasons})' if reasons else ''}",
        f"Failed     {run['failed']}",
        f"Abandoned calls {run['abandoned']}, failed attempts {run['attempts_failed']}",
        f"Tokens     {run['prompt_tokens']} in prompts, {run['completion_tokens']} in replies",
    ]
    if run["waiting"]:
        lines.insert(5, f"Not asked  {run['waiting']}")
    return "\n".join(lines)
