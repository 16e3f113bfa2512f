"""Starting, planning, pausing, finishing and cancelling runs."""

import os
from collections import defaultdict
from datetime import datetime
from decimal import Decimal
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from arena.audit.recording import Kind, record
from arena.models import Assignment, Completion, Contestant, Rater, Study
from arena.pages.permissions import Visitor
from arena.rating import planning, plans
from judging.endpoints import costs
from judging.endpoints.keys import KeyVariableError, read_key
from judging.endpoints.simulated import Simulation
from judging.judges.asked import all_asked_by
from judging.judges.rights import check_may_ask
from judging.judges.services import JudgeError
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.protocols.parsing import remedy
from judging.protocols.protocol import UnknownProtocolError
from judging.runs import queue
from judging.runs.summary import kind_of_failure, one_line
from judging.runs.work import text_of
from judging.spending.budgets import check_start
from judging.spending.reservations import open_purse


def check_usable(judge: Judge, study: Study, *, remote: bool = False) -> None:
    """Raise JudgeError if the judge cannot start a run now. remote: the key need not be here."""
    if not judge.active:
        raise JudgeError(f"The judge {judge.name} is inactive. Activate it first.")
    if judge.rater.paused_at:
        raise JudgeError(f"The judge {judge.name} is paused. Resume its rater first.")
    if study.is_closed:
        raise JudgeError(f"The study {study.name} is closed and takes no more ratings.", "study")
    if study.imported_raters.filter(kind=Rater.Kind.JUDGE, slug=judge.slug).exists():
        raise JudgeError(
            f"{study.name} holds imported ratings of another judge {judge.slug}. Add a judge with another "
            "slug, so that the two never mix."
        )
    check_wording(judge)
    if judge.is_simulated and remote:
        raise JudgeError(f"{judge.name} is a simulated judge, so judge workers have no model to ask.")
    if judge.is_simulated:
        _check_simulation(judge, study)
    elif not remote:
        _check_keys(judge)


def check_wording(judge: Judge) -> None:
    """Raise JudgeError if the judge's wording has changed since it was first asked, or is gone."""
    try:
        current = judge.current_prompt_hash()
    except UnknownProtocolError as error:
        raise JudgeError(
            f"{judge.name} uses the protocol {judge.protocol}, which no longer exists."
        ) from error
    if judge.prompt_hash and judge.prompt_hash != current:
        raise JudgeError(
            f"The wording of protocol {judge.protocol} has changed since {judge.name} was first asked. Add a "
            "new judge, so that ratings by different wordings never mix."
        )


def _check_keys(judge: Judge) -> None:
    """Raise JudgeError unless there is a key for every model that the judge's protocol asks."""
    for asked in all_asked_by(judge):
        variable = asked.endpoint.api_key_env
        try:
            key = read_key(variable, os.environ)
        except KeyVariableError as error:
            raise JudgeError(str(error)) from error
        if not key:
            raise JudgeError(
                f"The environment variable {variable}, which holds the key that {judge.name} "
                f"needs to ask {asked.model}, is not set where the arena runs."
            )


def _check_simulation(judge: Judge, study: Study) -> None:
    if not study.simulated:
        raise JudgeError(f"{judge.name} is a simulated judge and may only rate simulated studies.")
    strengths = Simulation.from_options(judge.simulation).strengths
    missing = study.contestants.active().exclude(slug__in=strengths).values_list("slug", flat=True)
    if missing:
        raise JudgeError(f"{judge.name} has no strength for {', '.join(missing)}.")


NOTHING_TO_DO: Final = {
    JudgeRun.Kind.ALL: "{judge} has replied about every {what} of {study}.",
    JudgeRun.Kind.EXTEND: "{judge} was asked about every {what} of {study}.",
    JudgeRun.Kind.FAILURES: "No {what} of {study} failed with {judge}.",
    JudgeRun.Kind.UNSCORED: "No reply of {judge} in {study} lacks a rating.",
}
"""Why a run would be empty."""


def start_run(
    study: Study,
    judge: Judge,
    *,
    limit: int | None = None,
    both_orders: bool = False,
    remote: bool = False,
    kind: str = JudgeRun.Kind.ALL,
    controls: bool = False,
    budget: Decimal | None = None,
    contestant: Contestant | None = None,
    created_by: Visitor | None = None,
) -> JudgeRun:
    """A new run, asked by the arena's workers or (``remote``) by workers elsewhere; raises JudgeError.

    created_by: the account that starts it, which needs the right to; None for a command on this machine.
    """
    check_may_ask(judge, created_by)
    check_usable(judge, study, remote=remote)
    if limit is not None and limit < 1:
        raise JudgeError("The limit must be at least 1.")
    currency = check_start(judge, study, budget)
    run = JudgeRun(
        study=study,
        judge=judge,
        kind=kind,
        limit=limit,
        both_orders=both_orders and judge.compares,
        controls=controls and judge.compares,
        remote=remote,
        contestant=contestant,
        created_by=created_by,
    )
    if planning.is_empty(study, judge.rater, wanted(run)):
        raise JudgeError(nothing_to_do(study, judge, kind))
    try:
        with transaction.atomic():
            run.save()
            open_purse(run, budget, currency)
            allowed = costs.in_words(budget, currency) if budget is not None else "none"
            note = f"Run {run.pk} of {judge.slug} started. Budget: {allowed}."
            record(Kind.RUN, created_by, note, study=study)
            if not judge.prompt_hash:
                judge.prompt_hash = judge.current_prompt_hash()
                judge.save(update_fields=["prompt_hash"])
    except IntegrityError as error:
        raise JudgeError(f"{judge.name} is already rating {study.name}.") from error
    transaction.on_commit(lambda: queue.nudge_plan(run.pk))
    return run


def nothing_to_do(study: Study, judge: Judge, kind: str) -> str:
    if judge.task == Assignment.Kind.CHECK and not planning.questions(study):
        return f"No prompt of {study.name} has requirements to check. Write or import some first."
    what = "pair" if judge.compares else "answer"
    texts = Completion.objects.comparable().filter(prompt__study=study)
    if not (sum(texts.pairs_by("prompt__study").values()) if judge.compares else texts.exists()):
        needs = "two answers to one prompt" if judge.compares else "an answer to a prompt"
        return f"{study.name} has no {what} to rate. It needs {needs}."
    return NOTHING_TO_DO[JudgeRun.Kind(kind)].format(judge=judge.name, study=study.name, what=what)


def wanted(run: JudgeRun) -> plans.Wanted:
    return plans.Wanted(
        plans.Which(run.kind),
        run.limit,
        run.both_orders,
        run.controls,
        run.judge.task,
        contestant=run.contestant_id,
    )


def plan_run(run_id: int) -> None:
    """Write the assignments of a queued run, which runs from then on; nothing for a run in another state."""
    with transaction.atomic():
        queued = JudgeRun.objects.select_for_update(of=("self",)).filter(
            pk=run_id, state=JudgeRun.State.QUEUED
        )
        run = queued.whole().first()
        if run is None:
            return
        planned = planning.plan(run.study, run.judge.rater, wanted(run), points=run.judge.points)
        rounds = _rounds(run)
        RunAssignment.objects.bulk_create(
            (
                RunAssignment(run_id=run.pk, assignment_id=pk, round=rounds.get(pk, 0))
                for pk in planned.assignments
            ),
            batch_size=1000,
        )
        run.identical = planned.identical
        run.state = JudgeRun.State.RUNNING
        run.started_at = timezone.now()
        run.save(update_fields=["identical", "state", "started_at"])
        finish_if_done(run)


def _rounds(run: JudgeRun) -> dict[int, int]:
    """The round of calls of each assignment that was asked before."""
    # An answered one that is asked anew gets a new round, so that no old reply is taken for a new one. An
    # unanswered one continues its round, whose replies are paid for.
    calls = JudgeCall.objects.filter(assignment__study=run.study, assignment__rater=run.judge.rater)
    by_assignment = calls.order_by().values_list("assignment")
    rounds = dict(by_assignment.annotate(last=Max("round")))
    answered = by_assignment.exclude(submitted_at=None).annotate(last=Max("round"))
    return rounds | {pk: max(rounds[pk], last + 1) for pk, last in answered}


def finish_if_done(run: JudgeRun) -> bool:
    """Mark a running run as finished, or failed, once every assignment has ended; True if it now is."""
    planned = Assignment.objects.filter(
        rater=run.judge.rater_id, study=run.study_id, run_assignments__run=run
    )
    if planned.open().exists() or planned.claimed().exists():
        return False
    running = JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.RUNNING)
    calls = JudgeCall.objects.filter(run=run)
    is_in_vain = calls.filter(given_up=True).exists() and not calls.filter(state="replied").exists()
    state = JudgeRun.State.FAILED if is_in_vain else JudgeRun.State.FINISHED
    return bool(running.update(state=state, finished_at=timezone.now(), error=_why_in_vain(run)))


def _why_in_vain(run: JudgeRun) -> str:
    """Why a run that has ended brought no rating; "" if it brought some."""
    calls = JudgeCall.objects.filter(run=run)
    if calls.filter(status="scored").exists():
        return ""
    unread, failed = calls.unreadable(), calls.filter(given_up=True).order_by("pk")
    ended = {
        "could not be read": unread.count(),
        "left the judge undecided": calls.filter(status="unscored", reason="undecided").count(),
        "failed": failed.count(),
        "put aside, as an answer was excluded meanwhile": run.run_assignments.filter(put_aside=True).count(),
    }
    found = [f"{count:,} {words}" for words, count in ended.items() if count]
    if len(found) != 1:
        hint = f" {remedy(text_of(first))}." if (first := unread.first()) else ""
        return f"Nothing was rated: {', '.join(found)}.{hint}" if found else ""
    if first := unread.first():
        return f"No reply could be read. The first one: {quoted(first)}. {remedy(text_of(first))}."
    if first := failed.first():
        return f"Every question failed. The first one: {one_line(first.error)}"
    return f"Nothing was rated: {found[0]}."


READ_FIRST: Final = 10
"""A run pauses when so many replies could not be read and none could."""


def pause_if_unreadable(run: JudgeRun) -> None:
    calls = JudgeCall.objects.filter(run=run)
    if calls.filter(status="scored").exists():
        return
    unread = list(calls.unreadable()[:READ_FIRST])
    if len(unread) == READ_FIRST:
        why = (
            f"None of the first {READ_FIRST} replies could be read. The first one: {quoted(unread[0])}. "
            f"{remedy(text_of(unread[0]))}, or resume the run."
        )
        running = JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.RUNNING, reads_on=False)
        if running.update(state=JudgeRun.State.PAUSED, error=why, reads_on=True):
            _record(run, None, "paused, as no reply could be read")


FAILED_ALIKE: Final = 10
"""A run pauses when calls about so many pairs or answers have failed in one way since its last reply."""

LOOKED_BACK: Final = 100  # calls among which these are looked for


def pause_if_nothing_works(run: JudgeRun) -> None:
    """Pause a run whose calls fail one like the other. Outages do not count: the endpoint is asked again."""
    since = JudgeRun.objects.filter(pk=run.pk).values_list("resumed_at", flat=True).first()
    ended = JudgeCall.objects.filter(run=run, state__in=["replied", "failed"], cached_from=None)
    if since:
        ended = ended.filter(finished_at__gt=since)
    failed = defaultdict[str, set[int]](set)
    for call in ended.only("state", "error_kind", "in_outage", "assignment", "error").order_by("-pk")[
        :LOOKED_BACK
    ]:
        if call.has_replied:
            return
        if not (call.in_outage or call.error_kind == "rate_limited"):
            failed[call.error_kind].add(call.assignment_id)
        if len(failed[call.error_kind]) == FAILED_ALIKE:
            pause_run(run, failed_alike(call.error_kind, call.error))
            return


def failed_alike(kind: str, said: str) -> str:
    """Why nothing more is asked, with the endpoint's words."""
    words = f"{kind_of_failure(kind)}: {one_line(said).rstrip('.')}"
    return (
        f"{FAILED_ALIKE} calls failed alike, without one reply between ({words}). Nothing more is asked now."
    )


def quoted(call: JudgeCall) -> str:
    said = one_line(call.raw_reply or call.refusal).rstrip(". ")
    return f'"{said}"' if said else "an empty reply"


LONGEST_ERROR: Final = JudgeRun._meta.get_field("error").max_length


@transaction.atomic
def pause_run(
    run: JudgeRun, why: str = "", by: Visitor | None = None, goes_on_at: datetime | None = None
) -> bool:
    """Ask nothing more for now, or until a time; False if the run is not queued or running."""
    changes = {"state": JudgeRun.State.PAUSED, "error": why[:LONGEST_ERROR], "goes_on_at": goes_on_at}
    paused = bool(JudgeRun.objects.going_on().filter(pk=run.pk).update(**changes))
    if paused:
        _record(run, by, "paused", why)
    return paused


def _record(run: JudgeRun, by: Visitor | None, what: str, why: str = "") -> None:
    note = f"Run {run.pk} of {run.judge.slug} {what}. {why[:LONGEST_ERROR]}".strip()
    record(Kind.RUN, by, note, study=run.study)


def resume_run(run: JudgeRun, by: Visitor | None = None) -> bool:
    """Continue a paused run; False if it is not paused. Raises JudgeError if the judge cannot be asked."""
    check_may_ask(run.judge, by)
    check_usable(run.judge, run.study, remote=run.remote)
    with transaction.atomic():
        paused = JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.PAUSED)
        if paused.filter(started_at=None).update(state=JudgeRun.State.QUEUED, error="", goes_on_at=None):
            _record(run, by, "resumed")
            transaction.on_commit(lambda: queue.nudge_plan(run.pk))
            return True
        running = {"state": JudgeRun.State.RUNNING, "resumed_at": timezone.now()}
        if not paused.update(**running, error="", goes_on_at=None):
            return False
        _record(run, by, "resumed")
    return True


@transaction.atomic
def cancel_run(run: JudgeRun, why: str = "", by: Visitor | None = None) -> bool:
    """Stop asking for good; False if the run had ended. Replies to calls in flight still count.

    What was not asked stays planned for the judge's next run over the study.
    """
    active = JudgeRun.objects.active().filter(pk=run.pk)
    cancelled = active.update(state=JudgeRun.State.CANCELLED, finished_at=timezone.now(), error=why)
    if cancelled:
        _record(run, by, "cancelled", why)
    return bool(cancelled)


def end_if_closed(run: JudgeRun) -> bool:
    """Cancel a run whose study was closed; returns whether it was."""
    return run.study.is_closed and cancel_run(run, "The study was closed.")
