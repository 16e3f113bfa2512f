"""Start a judge run on the running arena and watch it, or estimate its cost."""

from argparse import ArgumentParser, BooleanOptionalAction
from decimal import Decimal, InvalidOperation
from time import monotonic, sleep
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from arena.api.auth import operator_token
from arena.management.command import ArenaCommand
from judging.models import JudgeRun
from judging.runs import summary as runs_text
from judging.worker.arena_client import ArenaClient, ArenaReply, ArenaUnreachableError

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 60.0  # how long a run is watched while the arena does not answer
GOES_ON = ("queued", "running")


class Command(ArenaCommand):
    help = "Let a judge compare, score or check the answers of a study. Needs a running arena."
    requires_system_checks = []  # the running arena made them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", nargs="?", help="slug of the study")
        parser.add_argument("--judge", metavar="SLUG", help="slug of the judge")
        parser.add_argument("--limit", type=int, metavar="N", help="maximum number of pairs or answers")
        parser.add_argument(
            "--both-orders",
            action=BooleanOptionalAction,
            help="ask about every pair in both orders, or in one (default: the judge's setting)",
        )
        parser.add_argument(
            "--kind",
            choices=JudgeRun.Kind.values,
            default=JudgeRun.Kind.ALL.value,
            help="what to ask about: all without a reply (all, the default), never asked about (extend), "
            "failed (failures), or with a reply that had no rating (unscored)",
        )
        parser.add_argument(
            "--controls", action="store_true", help="also ask about pairs of identical answers"
        )
        parser.add_argument(
            "--budget", metavar="AMOUNT", help="maximum cost, in the currency of the model's price"
        )
        parser.add_argument(
            "--remote", action="store_true", help="let judge workers on other machines ask (see judge_worker)"
        )
        parser.add_argument("--dry-run", action="store_true", help="only estimate calls and cost")
        existing = parser.add_mutually_exclusive_group()
        existing.add_argument(
            "--resume", type=int, metavar="RUN", help="resume a paused run; --budget sets its total budget"
        )
        existing.add_argument("--pause", type=int, metavar="RUN", help="pause a run")
        existing.add_argument("--cancel", type=int, metavar="RUN", help="cancel a run")

    def handle(self, *args: Any, **options: Any) -> None:
        budget = amount(options["budget"])
        for verb in ("pause", "cancel"):
            if options[verb] is not None:
                self.stdout.write(runs_text.summary(_change(options[verb], verb)))
                return
        if options["resume"] is not None:
            if budget is not None:
                _ask("PATCH", f"/judge-runs/{options['resume']}", {"budget": budget})
            self._watch(_change(options["resume"], "resume"))
            return
        if not (options["study"] and options["judge"]):
            raise CommandError("Name a study and a judge (STUDY --judge SLUG), or a run (--resume RUN).")
        wanted = {
            name: options[name]
            for name in ("study", "judge", "limit", "both_orders", "kind", "controls", "remote")
        }
        wanted["budget"] = budget
        if options["dry_run"]:
            self._estimate(wanted)
        else:
            self._watch(_ask("POST", "/judge-runs/", wanted, expected=201))

    def _estimate(self, wanted: dict[str, Any]) -> None:
        found = _ask("POST", "/judge-runs/estimate/", wanted)
        self.stdout.write(
            f"If {found['judge']} rated {found['study']}{runs_text.label(found)} now (starts nothing):"
        )
        self.stdout.write(runs_text.estimate(found, wanted["budget"]))
        self.stdout.write("\n".join(runs_text.notes(found)))

    def _watch(self, run: dict[str, Any]) -> None:
        self.stdout.write(f"Run {run['id']}: {run['judge']} rates {run['study']}{runs_text.label(run)}.")
        try:
            run = self._followed(run)
        except KeyboardInterrupt:
            self.stdout.write(
                f"\nRun {run['id']} continues in the arena. See "
                f"{settings.ARENA_URL}/judging/runs/{run['id']}/."
            )
            return
        self.stdout.write(runs_text.summary(run))
        if hint := runs_text.whats_next(run):
            self.stdout.write(hint)
        if not runs_text.is_well(run):
            raise SystemExit(1)

    def _followed(self, run: dict[str, Any]) -> dict[str, Any]:
        shown: tuple[str, bool] | None = None
        silent_since: float | None = None
        while run["state"] in GOES_ON:
            sleep(POLL_SECONDS)
            try:
                reply = ArenaClient(operator_token()).get(f"/judge-runs/{run['id']}")
                if reply.status >= 500:  # its database is being restarted, say
                    raise ArenaUnreachableError(f"The arena answers {reply.detail}")
            except ArenaUnreachableError as error:
                silent_since = silent_since or monotonic()
                if monotonic() - silent_since > PATIENCE_SECONDS:
                    raise CommandError(
                        f"{error}. Run {run['id']} continues when the arena is back."
                    ) from error
                continue
            silent_since = None
            run = _body(reply, 200)
            # Nobody needs a line for time passing alone.
            timeless = {"per_minute": None, "seconds_left": None, "trouble": ""}
            counts = runs_text.progress({**run, **timeless}), bool(run["trouble"])
            if counts != shown:
                self.stdout.write(runs_text.progress(run))
                self.stdout.flush()
                shown = counts
        return run


def amount(text: str | None) -> str | None:
    """A budget as it was typed; raises CommandError."""
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation as error:
        raise CommandError(f'"{text}" is not an amount. Enter a number such as 5 or 2.50.') from error
    if not amount.is_finite() or amount <= 0:
        raise CommandError("The budget must be more than 0.")
    return format(amount, "f")


def _change(run: int, verb: str) -> dict[str, Any]:
    return _ask("POST", f"/judge-runs/{run}/{verb}/", {})


def away(error: ArenaUnreachableError) -> CommandError:
    """What to do where no arena answers."""
    return CommandError(
        f"{error}. Start it with {settings.MAKE} run, or put PORT=8001 or ARENA_URL=http://host:port "
        "before the command."
    )


def _ask(method: str, path: str, body: dict[str, Any], expected: int = 200) -> dict[str, Any]:
    """The arena's reply; CommandError with its sentence if it refuses or is not there."""
    client = ArenaClient(operator_token())
    try:
        reply = client.patch(path, body) if method == "PATCH" else client.post(path, body)
    except ArenaUnreachableError as error:
        raise away(error) from error
    return _body(reply, expected)


def _body(reply: ArenaReply, expected: int) -> dict[str, Any]:
    if reply.status == expected:
        return reply.body
    if reply.status == 401:
        raise CommandError(
            f"The arena at {settings.ARENA_URL} does not accept this command's signature. Run it with the "
            "SECRET_KEY (or the VAR_DIR) of the arena."
        )
    raise CommandError(reply.detail)
