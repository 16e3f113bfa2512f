"""Models write the answers that a study lacks, turn by turn, within budgets.

A row is a request for the answer to one turn (judging.requests). The next turn's row is made in the
transaction that commits a reply, and the answer is stored in the one that commits the last.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from arena.audit.recording import Kind, record
from arena.data.importing.texts import add_answer
from arena.models import Completion, Prompt, Study
from arena.pages.permissions import Visitor
from arena.texts.dialogue import dialogue
from judging.endpoints import costs
from judging.endpoints.client import Reply
from judging.endpoints.costs import Load, Range, Total
from judging.judges.asked import AskedModel
from judging.judges.rights import WHOM_TO_ASK, NotAllowedError, may_ask_models
from judging.judges.services import JudgeError, missing_key_of
from judging.models import Author, WritingCall, WritingRun
from judging.protocols.conversation import Message
from judging.requests.services import Requests, State
from judging.runs import queue
from judging.spending.budgets import check_models, check_outer
from judging.spending.purses import open_purse, prices_of

USUAL_REPLY: Final = 500  # tokens of an answer
LIVE: Final = (State.WAITING, State.IN_FLIGHT)
AT_ONCE: Final = 500  # rows of one insert
WRITTEN: Final = "written"  # of a completion's extra: the model, how it was sampled, and turns that were cut


def asked(author: Author) -> AskedModel:
    return AskedModel.of(author, author.endpoint)


def holes(author: Author) -> QuerySet[Prompt]:
    """The prompts that a contestant has no answer to, and is not being asked about."""
    has = Completion.objects.filter(
        prompt=OuterRef("pk"), contestant=author.contestant, is_current=True
    ).exclude(turns=[])
    live = WritingCall.objects.filter(prompt=OuterRef("pk"), author=author, state__in=LIVE)
    known = Prompt.objects.rated().filter(study=author.contestant.study_id).exclude(turns=[])
    return known.filter(~Exists(has), ~Exists(live)).order_by("subset", "external_id", "pk")


def estimate(author: Author, prompts: Sequence[Prompt]) -> Total:
    """What answers to these prompts take, without retries."""
    model = asked(author)
    limit = model.reply_limit
    usual = USUAL_REPLY if limit is None else min(USUAL_REPLY, limit)
    # An answer to one turn is sent again with the next.
    chats = [
        (_messages(prompt, [""] * turn), turn) for prompt in prompts for turn in range(len(prompt.turns))
    ]
    count = Decimal(max(len(chats), 1))
    again = sum(turn for _, turn in chats)
    sizes = sum(costs.size(each["content"]) for messages, _ in chats for each in messages)
    likely = sizes / costs.BYTES_PER_TOKEN + again * usual
    most = sum(costs.most_prompt_tokens(messages) for messages, _ in chats)
    most += len(chats) * costs.most_option_tokens(model.options) + again * (limit or 0)
    prompt_tokens = Range(likely / count, None if again and limit is None else most / count)
    reply_tokens = Range(Decimal(usual), None if limit is None else Decimal(limit))
    return costs.total([Load(Range(count, count), prompt_tokens, reply_tokens, *prices_of([model]))])


def check_start(author: Author, budget: Decimal | None) -> str:
    """The currency of a new run's budget, "" without one. Raises JudgeError if it cannot start."""
    contestant, models = author.contestant, [asked(author)]
    if contestant.retired_at:
        raise JudgeError(f"{contestant.name} is retired, so it writes nothing new.")
    if contestant.study.is_closed:
        raise JudgeError(f"{contestant.study.name} is closed, so nothing new is written for it.")
    if problem := missing_key_of(author.endpoint):
        raise JudgeError(problem)
    if budget is not None and budget <= 0:
        raise JudgeError("The budget must be more than 0.")
    check_outer(contestant.study, contestant.name, models)
    return check_models(contestant.name, models) if budget is not None else ""


def start(
    author: Author, limit: int | None = None, budget: Decimal | None = None, by: Visitor | None = None
) -> WritingRun:
    """Have a contestant's model write answers that are missing, at most ``limit``. Raises JudgeError."""
    if not may_ask_models(by):
        raise NotAllowedError(f"The model may cost money. {WHOM_TO_ASK}")
    currency = check_start(author, budget)
    study = author.contestant.study
    with transaction.atomic():
        # By the study's lock: two starts at a time must not both find a prompt free.
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        prompts = list(holes(author)[:limit])
        if not prompts:
            raise JudgeError(f"{author.contestant.name} has an answer to every prompt, or is writing it.")
        run = WritingRun.objects.create(
            study=study, author=author, limit=limit, wanted=len(prompts), created_by=by
        )
        open_purse(run, budget, currency)
        earlier = _begun(author, prompts)
        rows = [_first(run, prompt, earlier.get(prompt.pk)) for prompt in prompts]
        WritingCall.objects.bulk_create(rows, batch_size=AT_ONCE)
        limits = f"Budget: {costs.in_words(budget, currency) if budget is not None else 'none'}."
        note = f"{author.contestant.name} writes {len(prompts):,} answers, {author.endpoint}. {limits}"
        record(Kind.RUN, by, note, study=study)
        transaction.on_commit(lambda: queue.nudge_writing(len(prompts)))
    return run


def cancel(run: WritingRun, by: Visitor | None = None) -> None:
    """Ask no more; what is in flight is kept when it comes."""
    with transaction.atomic():
        if WritingRun.objects.filter(pk=run.pk, cancelled_at=None).update(cancelled_at=timezone.now()):
            WritingCall.objects.filter(run=run, state=State.WAITING).delete()
            record(Kind.RUN, by, f"Cancelled: {run}.", study=run.study)


def _sampling(model: AskedModel) -> dict[str, Any]:
    return {
        "model": model.model,
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
        "options": dict(model.options),
    }


def _begun(author: Author, prompts: Iterable[Prompt]) -> dict[int, WritingCall]:
    """The replies of earlier runs, by prompt, that an answer can go on from: nothing is paid for again."""
    same = Q(author=author, state=State.REPLIED, sampling=_sampling(asked(author)))
    rows = WritingCall.objects.filter(same, prompt__in=prompts).order_by("pk")
    last = {row.prompt_id: row for row in rows}
    return {prompt: row for prompt, row in last.items() if not row.is_last}


def _first(run: WritingRun, prompt: Prompt, earlier: WritingCall | None) -> WritingCall:
    if earlier and _messages(prompt, _answers(earlier)) == earlier.messages:
        earlier.prompt = prompt
        return _next_turn(run, earlier)
    return WritingCall(run=run, author=run.author, prompt=prompt, is_last=len(prompt.turns) == 1)


def _next_turn(run: WritingRun, row: WritingCall) -> WritingCall:
    return WritingCall(
        run=run,
        author_id=row.author_id,
        prompt=row.prompt,
        turn=row.turn + 1,
        is_last=row.turn + 1 == len(row.prompt.turns),
        messages=_messages(row.prompt, [*_answers(row), row.raw_reply]),
        cut=row.cut,
    )


def _messages(prompt: Prompt, answers: Sequence[str]) -> list[Message]:
    return [
        {"role": each["role"], "content": each["content"]}
        for each in dialogue(prompt.turns, prompt.input, answers)
    ]


def _answers(row: WritingCall) -> list[str]:
    """The model's answers to the turns before."""
    return [each["content"] for each in row.messages if each["role"] == "assistant"]


class _Writing(Requests[WritingCall]):
    rows = WritingCall
    endpoint = "author__endpoint"
    needed = ("run", "prompt__study", "author__endpoint", "author__contestant")
    about = "answer"

    def asked(self, row: WritingCall) -> AskedModel:
        return asked(row.author)

    def messages(self, row: WritingCall) -> list[Message]:
        return _messages(row.prompt, _answers(row))

    def alike(self, row: WritingCall) -> QuerySet[WritingCall]:
        return WritingCall.objects.filter(run=row.run_id)

    def nudge(self, waiting: int) -> None:
        queue.nudge_writing(waiting)

    def why_not(self, row: WritingCall) -> str:
        contestant = row.author.contestant
        if contestant.retired_at:
            return f"{contestant.name} is retired, so it writes nothing new."
        if row.prompt.study.is_closed:
            return "The study is closed, so nothing new is written for it."
        return ""

    def note(self, row: WritingCall, model: AskedModel, messages: list[Message]) -> None:
        super().note(row, model, messages)
        row.sampling = _sampling(model)

    def keep(self, row: WritingCall, reply: Reply) -> None:
        if reply.finish_reason == "length":
            row.cut = [*row.cut, row.turn]
        Study.objects.select_for_update(no_key=True).get(pk=row.prompt.study_id)
        row.is_last = row.turn >= len(row.prompt.turns)
        if row.is_last:
            turns, sampling = [*_answers(row), row.raw_reply], {**row.sampling, "cut": row.cut}
            row.completion = add_answer(row.prompt, row.author.contestant, turns, {WRITTEN: sampling})
            row.error = "" if row.completion else "The prompt has another answer by now, which stays."
            return
        row.save()  # ends it, as only one request about a prompt may be open
        # Locked: who cancels the run either is seen here, or sees the next turn.
        run = WritingRun.objects.select_for_update(no_key=True).get(pk=row.run_id)
        if not run.cancelled_at:
            _next_turn(run, row).save()


_writing = _Writing()
sweep, abandon_orphans, work_off = _writing.sweep, _writing.abandon_orphans, _writing.work_off
