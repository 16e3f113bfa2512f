"""Having a judge's model propose requirements: one request for each prompt, every reply kept.

A row is a request. It is claimed, committed, asked and its reply committed with the proposals it holds, so a
committed reply is never asked for again. What was in flight when a process died is abandoned.
"""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from arena.models import Prompt, Question, Study
from arena.pages.permissions import Visitor
from arena.studies import questions
from arena.studies.questions import Wording
from judging.endpoints import costs
from judging.endpoints.client import NoReplyError, Reply, RetryPolicy, attempt, refusal
from judging.endpoints.costs import Load, Range, Total
from judging.judges.asked import AskedModel, asked_by
from judging.judges.rights import check_may_ask
from judging.judges.services import JudgeError, missing_key
from judging.models import Judge, ProposalCall
from judging.proposing import wording
from judging.runs import limiting, queue
from judging.runs.work import boundary_secret
from judging.spending.budgets import why_no_more
from judging.spending.purses import prices_of, reserve, settle

State = ProposalCall.State

USUAL_REPLY: Final = 400  # tokens of a list of requirements
MOST_AT_ONCE: Final = 200  # prompts that can be asked about with one confirmation
FOR_OTHERS: Final = timedelta(seconds=10)  # until calls in flight may have left a budget more room
IN_A_ROW: Final = timedelta(seconds=20)  # that a task goes on before others get its thread


def open_prompts(study: Study) -> QuerySet[Prompt]:
    """The prompts with a known text that ask nothing, and for which nothing is proposed or being asked."""
    has = Question.objects.filter(prompt=OuterRef("pk"), is_current=True)
    live = ProposalCall.objects.filter(prompt=OuterRef("pk"), state__in=[State.WAITING, State.IN_FLIGHT])
    rows = Prompt.objects.rated().filter(study=study).exclude(turns=[])
    return rows.filter(~Exists(has), ~Exists(live)).order_by("external_id", "pk")


def estimate(judge: Judge, prompts: Sequence[Prompt]) -> Total:
    """What asking about these prompts takes, without retries. Raises JudgeError."""
    _check(judge)
    model = asked_by(judge)
    [prices] = prices_of([model])
    asked = [_messages(prompt) for prompt in prompts]
    sizes = [sum(costs.size(one["content"]) for one in each) for each in asked]
    bound = sum(costs.most_prompt_tokens(each) for each in asked)
    bound += len(asked) * costs.most_option_tokens(model.options)
    count, limit = Decimal(len(asked)), model.reply_limit
    usual = Decimal(USUAL_REPLY if limit is None else min(USUAL_REPLY, limit))
    prompt_tokens = Range(sum(sizes) / costs.BYTES_PER_TOKEN / count, bound / count)
    reply_tokens = Range(usual, None if limit is None else Decimal(limit))
    return costs.total([Load(Range(count, count), prompt_tokens, reply_tokens, prices)])


def start(judge: Judge, prompts: Sequence[Prompt], batch: UUID, by: Visitor | None) -> int:
    """Ask the judge's model about prompts; how many. A batch is asked once. Raises JudgeError."""
    if len(prompts) > MOST_AT_ONCE:
        raise JudgeError(f"Ask about at most {MOST_AT_ONCE} prompts at once.")
    _check(judge)
    check_may_ask(judge, by)
    rows = [
        ProposalCall(prompt=prompt, judge=judge, batch=batch, model=judge.model, created_by=by)
        for prompt in prompts
    ]
    with transaction.atomic():
        # By the study's lock: two confirmations at a time must not both find a prompt free.
        for study in sorted({prompt.study_id for prompt in prompts}):
            Study.objects.select_for_update(no_key=True).get(pk=study)
        known = ProposalCall.objects.filter(prompt__in=prompts)
        taken = set(known.filter(batch=batch).values_list("prompt", flat=True))
        taken |= set(
            known.filter(state__in=[State.WAITING, State.IN_FLIGHT]).values_list("prompt", flat=True)
        )
        new = [row for row in rows if row.prompt_id not in taken]
        ProposalCall.objects.bulk_create(new)
        if new:
            transaction.on_commit(queue.nudge_proposals)
    return len(new)


def stop(study: Study) -> int:
    """Ask no more about what is still waiting; how many that were."""
    return ProposalCall.objects.filter(prompt__study=study, state=State.WAITING).delete()[0]


def sweep(now: datetime | None = None) -> int:
    """Abandon what a dead process asked, and see that the rest is asked; how many wait."""
    now = now or timezone.now()
    overdue = ProposalCall.objects.filter(state=State.IN_FLIGHT, deadline__lte=now)
    for pk in overdue.order_by("pk").values_list("pk", flat=True):
        _abandon(pk, now)
    due = ProposalCall.objects.filter(state=State.WAITING, due_at__lte=now).count()
    if due:
        queue.nudge_proposals()
    return due


@transaction.atomic
def _abandon(pk: int, now: datetime) -> None:
    call = _held(pk).filter(state=State.IN_FLIGHT, deadline__lte=now).first()
    if call:
        call.state, call.finished_at = State.ABANDONED, now
        call.error = "The arena stopped before the reply came. It may have been charged. Ask again."
        _settle(call)
        call.save()


def _held(pk: int) -> QuerySet[ProposalCall]:
    """A request, locked from now on."""
    rows = ProposalCall.objects.filter(pk=pk).select_related("prompt")
    return rows.select_for_update(of=("self",))


def _settle(call: ProposalCall) -> None:
    """Count what an attempt has cost; its state says how it ended."""
    before = call.cost
    settle([call])
    if before is not None:
        call.cost = before + (call.cost or 0)


def work_off() -> int:
    """Ask what is due, one after the other, for a while; how many."""
    until, asked = timezone.now() + IN_A_ROW, 0
    while timezone.now() < until:
        due = ProposalCall.objects.filter(state=State.WAITING, due_at__lte=timezone.now())
        needed = ("prompt__study", "judge__rater", "judge__endpoint")
        row = due.select_related(*needed).order_by("due_at", "pk").first()
        if row is None:
            break
        asked += _ask(row)
    return asked


def _ask(row: ProposalCall) -> bool:
    """Ask about one prompt; False if that has to wait, or another process does it."""
    model = asked_by(row.judge)
    messages = _messages(row.prompt)
    call = limiting.starting(model, f"proposal/{row.pk}/{row.attempt}", messages, model.lease)
    if wait := limiting.start_one(call):
        later = timezone.now() + timedelta(seconds=wait)
        ProposalCall.objects.filter(pk=row.pk, state=State.WAITING).update(due_at=later)
        return False
    if not _claim(row, messages, model):
        limiting.cancel_one(call)
        return False
    about = f"requirements of prompt {row.prompt_id}"
    result, _ = attempt(lambda: model.client().ask(model.request(messages)), about)
    limiting.note_ended([limiting.ended_call(call, result)])
    if isinstance(result, Reply):
        _commit(row, result)
    else:
        _put_back(row, result)
    return True


@transaction.atomic
def _claim(row: ProposalCall, messages: list[dict[str, str]], model: AskedModel) -> bool:
    """Whether this process is the one to ask, and budgets allow it."""
    call = _held(row.pk).filter(state=State.WAITING, attempt=row.attempt).first()
    if call is None:
        return False
    call.messages, call.model = messages, model.model
    [price] = prices_of([model])
    granted = reserve([(call, model)])[call.payer]
    if granted.count:
        row.attempt = call.attempt = call.attempt + 1
        call.state, call.deadline = State.IN_FLIGHT, timezone.now() + model.lease
        call.currency = price.currency if price else ""
    elif why := why_no_more(granted):
        call.state, call.error, call.finished_at = State.FAILED, f"Not asked. {why}"[:600], timezone.now()
    else:
        call.due_at = timezone.now() + FOR_OTHERS
    call.save()
    return bool(granted.count)


@transaction.atomic
def _commit(row: ProposalCall, reply: Reply) -> None:
    """Keep the reply with what it proposes."""
    # One that comes after its deadline is kept, too.
    held = _held(row.pk).filter(attempt=row.attempt)
    call = held.filter(state__in=[State.IN_FLIGHT, State.ABANDONED]).first()
    if call is None:
        return
    is_late = call.state == State.ABANDONED  # and counted as if it had cost the most it could
    found = [Wording(*each) for each in wording.read(reply.text)]
    Study.objects.select_for_update(no_key=True).get(pk=row.prompt.study_id)
    call.proposed = questions.propose(row.prompt, found, row.judge.model)
    call.state, call.finished_at = State.REPLIED, timezone.now()
    call.raw_reply, call.finish_reason = reply.text or reply.refusal, reply.finish_reason
    call.prompt_tokens, call.completion_tokens = reply.prompt_tokens, reply.completion_tokens
    call.error = "" if found else _why_none(reply)
    call.reasoning_tokens = reply.reasoning_tokens
    if not is_late:
        _settle(call)
    call.save()


def _why_none(reply: Reply) -> str:
    if reply.finish_reason == "length":
        return "The reply was cut off. Let the judge's replies be longer."
    return "The reply holds no list of requirements."


@transaction.atomic
def _put_back(row: ProposalCall, error: NoReplyError) -> None:
    """Ask again later, or give up; about everything, if no request of the judge can succeed."""
    policy = RetryPolicy(
        settings.JUDGE_MAX_ATTEMPTS, settings.JUDGE_RETRY_SECONDS, settings.JUDGE_RETRY_MAX_SECONDS
    )
    now = timezone.now()
    again = policy.next_try(error, row.attempt, now, random.Random())  # noqa: S311 - no secret
    said = refusal(error) or f"{error.kind.replace('http_', 'HTTP ').replace('_', ' ')}: {error}"
    call = _held(row.pk).filter(state=State.IN_FLIGHT, attempt=row.attempt).first()
    if call:
        call.state, call.error_kind, call.error = State.FAILED, error.kind, said[:600]
        _settle(call)
        if again:
            call.state, call.due_at = State.WAITING, again
        else:
            call.finished_at = now
        call.save()
    if refusal(error):
        waiting = ProposalCall.objects.filter(judge=row.judge, state=State.WAITING)
        waiting.update(state=State.FAILED, error=f"Not asked. {said}"[:600], finished_at=now)


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    return [dict(each) for each in wording.messages(prompt.turns, prompt.input, boundary_secret())]


def _check(judge: Judge) -> None:
    if not judge.active:
        raise JudgeError(f"{judge.name} is inactive.")
    if judge.is_simulated:
        raise JudgeError("A simulated judge has no model that could propose requirements.")
    if problem := missing_key(judge):
        raise JudgeError(problem)
