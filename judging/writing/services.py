"""Models write the answers that a study lacks, turn by turn, or read what is there, within budgets.

A row is a request for the answer to one turn (judging.requests). The next turn's row is made in the
transaction that commits a reply, and the answer is stored in the one that commits the last. What a reply told
about the probabilities of tokens becomes a trace.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from arena.audit.recording import Kind, record
from arena.data.importing.texts import add_answer
from arena.models import Completion, Prompt, Study
from arena.models.signals import announce
from arena.pages.permissions import Visitor
from arena.texts.dialogue import Message, dialogue
from arena.texts.marks import OPENING, without_thinking
from judging.endpoints import costs
from judging.endpoints.client import NoReplyError, Reply
from judging.endpoints.costs import Load, Range, Total
from judging.endpoints.logprobs import tokens_of_text
from judging.endpoints.scoring import ToRead, before_answer
from judging.endpoints.traces import pack
from judging.judges.asked import AskedModel
from judging.judges.rights import WHOM_TO_ASK, NotAllowedError, may_ask_models
from judging.judges.services import JudgeError, MissingError, missing_key
from judging.models import Author, Trace, WritingCall, WritingRun
from judging.models.writing import UNANSWERED
from judging.protocols.replies import ReplyText
from judging.requests.services import Requests, State
from judging.spending.budgets import check_models, check_outer
from judging.spending.purses import open_purse, prices_of
from judging.writing import reading
from judging.writing.reading import Target

USUAL_REPLY: Final = 500  # tokens of an answer
LIVE: Final = (State.WAITING, State.IN_FLIGHT)
AT_ONCE: Final = 500  # rows of one insert
WRITTEN: Final = "written"  # of a completion's extra: the model, how it was sampled, and turns that were cut
NO_ANSWER: Final = {
    "refused": "The endpoint refused to answer.",
    "filtered": "The endpoint's filter stopped the answer.",
    "truncated": "The token limit ended the reply before the answer began.",
    "empty": "The reply was empty.",
}
"""Kinds of replies that are no answers. They are paid for and kept, and the prompt still lacks its answer."""


def author_named(study: str, contestant: str) -> Author:
    """Raises MissingError."""
    found = Author.objects.select_related("contestant__study", "endpoint")
    author = found.filter(contestant__study__slug=study, contestant__slug=contestant).first()
    if author is not None:
        return author
    if not Study.objects.filter(slug=study).exists():
        raise MissingError(f'No study has the short name "{study}".', "study")
    raise MissingError(
        f'The study "{study}" has no model "{contestant}" that can be asked. Add its endpoint on the '
        "study's page Models that write.",
        "contestant",
    )


def asked(author: Author) -> AskedModel:
    return AskedModel.of(author, author.endpoint)


def holes(author: Author) -> QuerySet[Prompt]:
    """The prompts that a contestant has no answer to, and is not being asked about."""
    has = Completion.objects.filter(
        prompt=OuterRef("pk"), contestant=author.contestant, is_current=True
    ).exclude(turns=[])
    live = WritingCall.objects.filter(prompt=OuterRef("pk"), author=author, text="", state__in=LIVE)
    known = Prompt.objects.rated().filter(study=author.contestant.study_id).exclude(turns=[])
    return known.filter(~Exists(has), ~Exists(live)).order_by("subset", "external_id", "pk")


def to_write(author: Author, again: bool = False) -> QuerySet[Prompt]:
    """The holes that a run fills; only ``again`` those about which a reply to the same settings was none."""
    missing = holes(author)
    return missing if again else missing.exclude(Exists(_unanswered(author)))


def unanswered(author: Author) -> int:
    """How many holes a run leaves, because a reply to the same settings was no answer."""
    return holes(author).filter(Exists(_unanswered(author))).count()


def _unanswered(author: Author) -> QuerySet[WritingCall]:
    same = WritingCall.objects.filter(UNANSWERED, author=author, sampling=_sampling(asked(author)))
    return same.filter(prompt=OuterRef("pk"))


def estimate(author: Author, prompts: Sequence[Prompt]) -> Total:
    """What answers to these prompts take, without retries."""
    model = asked(author)
    limit = model.reply_limit
    usual = USUAL_REPLY if limit is None else min(USUAL_REPLY, limit)
    # An answer to one turn is sent again with the next.
    chats = [
        (dialogue(prompt.turns, prompt.input, [""] * turn), turn)
        for prompt in prompts
        for turn in range(len(prompt.turns))
    ]
    again = sum(turn for _, turn in chats)
    more = Range(Decimal(again * usual), None if again and limit is None else Decimal(again * (limit or 0)))
    reply = Range(Decimal(usual), None if limit is None else Decimal(limit))
    return _total(model, [messages for messages, _ in chats], more, reply)


def estimate_reading(author: Author, targets: Sequence[Target]) -> Total:
    """What it takes to read these texts, without retries."""
    one = Range(Decimal(1), Decimal(1))
    return _total(_reader(author), [reading.messages(each) for each in targets], costs.NOTHING, one)


def _total(model: AskedModel, chats: Sequence[list[Message]], more: Range, reply: Range) -> Total:
    """``more``: tokens that are sent beside those of the chats; ``reply``: of one call."""
    count = Decimal(max(len(chats), 1))
    sizes = sum(costs.size(each["content"]) for messages in chats for each in messages)
    most = sum(costs.most_prompt_tokens(messages) for messages in chats)
    most += len(chats) * costs.most_option_tokens(model.options)
    sent = Range(sizes / costs.BYTES_PER_TOKEN, Decimal(most)) + more
    prompt = Range(sent.low / count, None if sent.high is None else sent.high / count)
    made = Range(Decimal(len(chats)), Decimal(len(chats)))
    return costs.total([Load(made, prompt, reply, *prices_of([model]))])


def check_start(author: Author, budget: Decimal | None) -> str:
    """The currency of a new run's budget, "" without one. Raises JudgeError if it cannot start."""
    contestant = author.contestant
    if contestant.retired_at:
        raise JudgeError(f"{contestant.name} is retired, so it writes nothing new.")
    if contestant.study.is_closed:
        why = f"{contestant.study.name} is closed, so nothing new is written for it."
        raise JudgeError(why, "study")
    return _check_money(author, asked(author), budget)


def check_start_reading(author: Author, budget: Decimal | None) -> str:
    """The same of a run that reads."""
    if not author.endpoint.gives:
        raise JudgeError(
            f"Nobody knows yet what the endpoint of {author.contestant.name} gives. Probe it first."
        )
    if reading.way(author.endpoint) is None:
        raise JudgeError(
            "The endpoint tells nothing about a text that is there. Traces come while it writes."
        )
    return _check_money(author, _reader(author), budget)


def _check_money(author: Author, model: AskedModel, budget: Decimal | None) -> str:
    contestant, models = author.contestant, [model]
    if problem := missing_key(author.endpoint):
        raise JudgeError(problem)
    if budget is not None and budget <= 0:
        raise JudgeError("The budget must be more than 0.")
    check_outer(contestant.study, contestant.name, models)
    return check_models(contestant.name, models) if budget is not None else ""


def start(
    author: Author,
    limit: int | None = None,
    budget: Decimal | None = None,
    by: Visitor | None = None,
    *,
    again: bool = False,
) -> WritingRun:
    """Have a contestant's model write answers that are missing, at most ``limit``; ``again`` those, too, that
    it was asked for and did not give. Raises JudgeError."""
    check_may_spend(by)
    currency = check_start(author, budget)
    with _opening(author):
        prompts = list(to_write(author, again)[:limit])
        if not prompts:
            raise JudgeError(_why_nothing(author))
        run = WritingRun(author=author, limit=limit, wanted=len(prompts), created_by=by)
        _open(run, budget, currency, f"writes {len(prompts):,} answers")
        earlier = _begun(author, prompts)
        rows = [_first(run, prompt, earlier.get(prompt.pk)) for prompt in prompts]
        WritingCall.objects.bulk_create(rows, batch_size=AT_ONCE)
    return run


def start_reading(
    author: Author,
    limit: int | None = None,
    budget: Decimal | None = None,
    by: Visitor | None = None,
    *,
    references: bool = False,
) -> WritingRun:
    """Have a contestant's model read at most ``limit`` of its answers that have no trace; with
    ``references`` those, too, and the answers after them. Raises JudgeError."""
    check_may_spend(by)
    currency = check_start_reading(author, budget)
    with _opening(author):
        targets = reading.targets(author, references, limit)
        if not targets:
            raise JudgeError(f"{author.contestant.name} has read every text, or is reading it.")
        run = WritingRun(
            author=author, kind=WritingRun.Kind.READ, limit=limit, wanted=len(targets), created_by=by
        )
        _open(run, budget, currency, f"reads {len(targets):,} texts")
        WritingCall.objects.bulk_create(
            (
                WritingCall(
                    run=run,
                    author=author,
                    prompt=target.completion.prompt,
                    completion=target.completion,
                    turn=target.turn,
                    text=target.text,
                    is_last=True,
                )
                for target in targets
            ),
            batch_size=AT_ONCE,
        )
    return run


def _why_nothing(author: Author) -> str:
    name = author.contestant.name
    if count := unanswered(author):
        return f"{name} was asked for all that is missing. {count:,} replies were no answers: ask again."
    return f"{name} has an answer to every prompt, or is writing it."


def check_may_spend(by: Visitor | None) -> None:
    if not may_ask_models(by):
        raise NotAllowedError(f"The model may cost money. {WHOM_TO_ASK}")


@contextmanager
def _opening(author: Author) -> Iterator[None]:
    """A transaction that starts a run."""
    with transaction.atomic():
        # By the study's lock: two starts at a time must not both find the same missing.
        Study.objects.select_for_update(no_key=True).get(pk=author.contestant.study_id)
        yield


def _open(run: WritingRun, budget: Decimal | None, currency: str, what: str) -> None:
    author = run.author
    run.study = author.contestant.study
    run.save()
    open_purse(run, budget, currency)
    limits = f"Budget: {costs.in_words(budget, currency) if budget is not None else 'none'}."
    record(
        Kind.RUN,
        run.created_by,
        f"{author.contestant.name} {what}, {author.endpoint}. {limits}",
        study=run.study,
    )


def cancel(run: WritingRun, by: Visitor | None = None) -> None:
    """Ask no more; what is in flight is kept when it comes."""
    with transaction.atomic():
        if WritingRun.objects.filter(pk=run.pk, cancelled_at=None).update(cancelled_at=timezone.now()):
            WritingCall.objects.filter(run=run, state=State.WAITING).delete()
            record(Kind.RUN, by, f"Cancelled: {run}.", study=run.study)


def _reader(author: Author) -> AskedModel:
    return replace(asked(author), max_tokens=1, temperature=None, options={})


def _sampling(model: AskedModel) -> dict[str, Any]:
    return {
        "model": model.model,
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
        "options": dict(model.options),
    }


def _begun(author: Author, prompts: Iterable[Prompt]) -> dict[int, WritingCall]:
    """The replies of earlier runs, by prompt, that an answer can go on from: nothing is paid for again."""
    same = Q(author=author, text="", state=State.REPLIED, error_kind="", sampling=_sampling(asked(author)))
    rows = WritingCall.objects.filter(same, prompt__in=prompts).order_by("pk")
    last = {row.prompt_id: row for row in rows}
    return {prompt: row for prompt, row in last.items() if not row.is_last}


def _first(run: WritingRun, prompt: Prompt, earlier: WritingCall | None) -> WritingCall:
    if earlier and dialogue(prompt.turns, prompt.input, _answers(earlier)) == earlier.messages:
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
        messages=dialogue(row.prompt.turns, row.prompt.input, [*_answers(row), row.raw_reply]),
        sampling=row.sampling,
        cut=row.cut,
    )


def _answers(row: WritingCall) -> list[str]:
    """The model's answers to the turns before."""
    return [each["content"] for each in row.messages if each["role"] == "assistant"]


class _Writing(Requests[WritingCall]):
    rows = WritingCall
    endpoint = "author__endpoint"
    needed = ("run", "prompt__study", "author__endpoint", "author__contestant", "completion__prompt")
    about = "answer"

    def asked(self, row: WritingCall) -> AskedModel:
        return _reader(row.author) if row.text else asked(row.author)

    def messages(self, row: WritingCall) -> list[Message]:
        if row.text and row.completion:
            return reading.messages(Target(row.completion, row.turn, row.text))
        return dialogue(row.prompt.turns, row.prompt.input, _answers(row))

    def alike(self, row: WritingCall) -> QuerySet[WritingCall]:
        return WritingCall.objects.filter(run=row.run_id)

    def why_not(self, row: WritingCall) -> str:
        contestant = row.author.contestant
        if row.text:
            is_there = row.completion and row.completion.is_current
            return "" if is_there else "The answer is not there any more."
        if contestant.retired_at:
            return f"{contestant.name} is retired, so it writes nothing new."
        if row.prompt.study.is_closed:
            return "The study is closed, so nothing new is written for it."
        if row.turn > 1 and row.sampling != _sampling(asked(row.author)):
            return f"The settings of {contestant.name} changed after the turn before. Start again."
        return ""

    def note(self, row: WritingCall, model: AskedModel, messages: list[Message]) -> None:
        super().note(row, model, messages)
        row.sampling = _sampling(model)

    def ask(self, row: WritingCall, model: AskedModel, messages: list[Message]) -> Reply:
        if not row.text:
            return model.client().ask(
                model.request(messages, logprobs=bool(model.endpoint.gives.get("logprobs")))
            )
        way = reading.way(model.endpoint)
        if way is None:
            raise NoReplyError("configuration", "the endpoint reads no texts", retryable=False)
        found = model.client().read(way, ToRead(model.model, messages, model.endpoint.timeout))
        return Reply(
            "", "", model.model, "", found.prompt_tokens, found.completion_tokens, tokens=found.tokens
        )

    def keep(self, row: WritingCall, reply: Reply) -> None:
        if not row.text and (kind := why_no_answer(reply.as_text)):
            row.error_kind, row.error = kind, NO_ANSWER[kind]
            return
        Study.objects.select_for_update(no_key=True).get(pk=row.prompt.study_id)
        if row.text:
            self._keep_reading(row, reply)
            return
        if reply.as_text.is_cut_off:
            row.cut = [*row.cut, row.turn]
        if tokens := tokens_of_text(reply):
            row.tokens, row.packed = len(tokens), pack(tokens)
        row.is_last = row.turn >= len(row.prompt.turns)
        if row.is_last:
            turns, sampling = [*_answers(row), row.raw_reply], {**row.sampling, "cut": row.cut}
            row.completion = add_answer(row.prompt, row.author.contestant, turns, {WRITTEN: sampling})
            row.error = "" if row.completion else "The prompt has another answer by now, which stays."
            if row.completion:
                _keep_traces(row, row.completion)
            return
        row.save()  # ends it, as only one request about a prompt may be open
        # Locked: who cancels the run either is seen here, or sees the next turn.
        run = WritingRun.objects.select_for_update(no_key=True).get(pk=row.run_id)
        if not run.cancelled_at:
            _next_turn(run, row).save()

    def _keep_reading(self, row: WritingCall, reply: Reply) -> None:
        if row.completion is None:
            row.error = "The answer is not there any more."
            return
        Trace.objects.get_or_create(
            completion=row.completion,
            turn=row.turn,
            text=row.text,
            source=reading.source(row.author.endpoint, "read"),
            defaults={
                "tokens": len(reply.tokens),
                "before": before_answer([one.text for one in reply.tokens], row.messages),
                "packed": pack(reply.tokens),
                "vocabulary": row.author.endpoint.vocabulary,
            },
        )
        announce([row.prompt.study])


def why_no_answer(reply: ReplyText) -> str:
    """The kind of a reply that is no answer to be rated, one of ``NO_ANSWER``; else ""."""
    if reply.refusal.strip():
        return "refused"
    if reply.is_withheld:
        return "filtered"
    said, thinking_open = without_thinking(reply.text)
    if said.strip() and not (thinking_open and OPENING.match(said.strip())):
        return ""
    return "truncated" if reply.is_cut_off else "empty"


def _keep_traces(row: WritingCall, completion: Completion) -> None:
    """Give an answer what the replies to its turns told about their tokens."""
    replied = Q(author=row.author_id, prompt=row.prompt_id, text="", state=State.REPLIED, error_kind="")
    earlier = WritingCall.objects.filter(replied, turn__lt=row.turn)
    before = {each.turn: each for each in earlier.order_by("pk")}
    source = reading.source(row.author.endpoint, "while writing")
    for turn, each in {**before, row.turn: row}.items():
        if each.packed is not None and each.tokens:
            Trace.objects.create(
                completion=completion,
                turn=turn,
                source=source,
                tokens=each.tokens,
                packed=each.packed,
                vocabulary=row.author.endpoint.vocabulary,
            )


door = _Writing()
