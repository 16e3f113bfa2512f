"""Models write the answers that a study lacks, turn by turn, or read what is there, within budgets.

A row is a request for the answer to one turn (judging.requests). The next turn's row is made in the
transaction that commits a reply, and the answer is stored in the one that commits the last. What a reply told
about the probabilities of tokens becomes a trace.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from arena.audit.recording import Kind, record
from arena.data.importing.texts import add_answer
from arena.models import Completion, Contestant, Prompt, Study
from arena.models.signals import announce
from arena.pages.names import check_name
from arena.pages.permissions import Visitor
from arena.texts.dialogue import Message
from arena.texts.marks import OPENING, without_thinking
from arena.texts.slugs import free_slug, slug_from
from arena.texts.visible import is_blank
from judging.endpoints.client import NoReplyError, Reply
from judging.endpoints.logprobs import tokens_of_text
from judging.endpoints.scoring import ToRead, before_answer
from judging.endpoints.traces import pack
from judging.judges.asked import AskedModel
from judging.judges.rights import WHOM_TO_ASK, NotAllowedError, may_ask_models
from judging.judges.services import (
    JudgeError,
    MissingError,
    check_sampling,
    drop_unused,
    store_endpoint,
    storing,
)
from judging.models import Author, Trace, WritingCall, WritingRun
from judging.models.requests import LIVE
from judging.models.writing import UNANSWERED
from judging.protocols.replies import ReplyText
from judging.requests.services import Requests, State
from judging.writing import reading
from judging.writing.misleading import chat, label, lacking, turns_of

RETIRED: Final = "{} is retired, so it writes nothing new."
CLOSED: Final = "{} is closed, so nothing new is written for it."
CANCELLED: Final = "The run was cancelled."
WRITTEN: Final = "written"  # of a completion's extra: the model, how it was sampled, and turns that were cut
SAMPLING: Final = ("temperature", "max_tokens", "options")
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


@storing()
def configure_author(study: Study, name: str, wanted: Author, by: Visitor | None = None) -> Author:
    """Have the contestant of this name, which is made if there is none, asked as ``wanted`` says.

    Raises JudgeError.
    """
    check_sampling(wanted)
    contestant = contestant_named(study, name)
    author = Author.objects.filter(contestant=contestant).select_related("endpoint").first()
    before = author.endpoint if author else None
    author = author or Author(contestant=contestant)
    author.endpoint = store_endpoint(wanted.endpoint)
    for part in (*SAMPLING, "writes"):
        setattr(author, part, getattr(wanted, part))
    author.save()
    if before:
        drop_unused(before)
    sampled = f"temperature {author.temperature}, max tokens {author.max_tokens}"
    record(Kind.JUDGE, by, f"{name} is asked as {author.endpoint}, {sampled}.", study=study)
    return author


def contestant_named(study: Study, name: str) -> Contestant:
    """The model of this name, which is made if there is none. Raises JudgeError."""
    found = study.contestants.filter(name=name).first()
    if found is None:
        taken = set(study.contestants.values_list("slug", flat=True))
        found = Contestant(study=study, name=name, slug=free_slug(slug_from(name, "contestant"), taken))
        try:
            check_name(name, study.contestants.all())
            found.full_clean()
        except ValidationError as error:
            raise JudgeError("; ".join(error.messages)) from error
        found.save()
    elif found.kind == Contestant.Kind.PEOPLE:
        raise JudgeError(f"{name} stands for people, who cannot be asked like a model.")
    return found


def asked(author: Author, *, to_read: bool = False) -> AskedModel:
    model = AskedModel.of(author, author.endpoint)
    return replace(model, max_tokens=1, temperature=None, options={}) if to_read else model


def holes(author: Author) -> QuerySet[Prompt]:
    """The prompts that a contestant has no answer to, and is not being asked about."""
    has = Completion.objects.filter(
        prompt=OuterRef("pk"), contestant=author.contestant_id or 0, is_current=True
    ).exclude(turns=[])
    live = WritingCall.objects.filter(LIVE, prompt=OuterRef("pk"), author=author.pk, text="")
    known = Prompt.objects.rated().filter(lacking(author), study=author.contestant.study_id)
    return known.exclude(turns=[]).filter(~Exists(has), ~Exists(live)).order_by("subset", "external_id", "pk")


def to_write(author: Author, again: bool = False) -> QuerySet[Prompt]:
    """The holes that a run fills; only ``again`` those about which a reply to the same settings was none."""
    missing = holes(author)
    return missing if again else missing.exclude(Exists(_unanswered(author)))


def unanswered(author: Author) -> int:
    """How many holes a run leaves, because a reply to the same settings was no answer."""
    return holes(author).filter(Exists(_unanswered(author))).count()


def _unanswered(author: Author) -> QuerySet[WritingCall]:
    same = WritingCall.objects.filter(UNANSWERED, author=author.pk, sampling=_sampling(author))
    return same.filter(prompt=OuterRef("pk"))


def check_may_spend(by: Visitor | None) -> None:
    if not may_ask_models(by):
        raise NotAllowedError(f"The model may cost money. {WHOM_TO_ASK}")


def cancel(run: WritingRun, by: Visitor | None = None) -> None:
    """Ask no more; what is in flight is kept when it comes."""
    with transaction.atomic():
        if WritingRun.objects.filter(pk=run.pk, cancelled_at=None).update(cancelled_at=timezone.now()):
            WritingCall.objects.filter(run=run, state=State.WAITING).delete()
            record(Kind.RUN, by, f"Cancelled: {run}.", study=run.study)


def _sampling(author: Author, *, to_read: bool = False) -> dict[str, Any]:
    model = asked(author, to_read=to_read)
    own = {name: getattr(model, name) for name in ("model", *SAMPLING)}
    more = {"writes": author.writes, "second_to": author.second_to.slug if author.second_to else ""}
    return own | {name: value for name, value in more.items() if value}


def first_requests(author: Author, prompts: Sequence[Prompt]) -> list[WritingCall]:
    """The requests with which answers begin; those of earlier runs are gone on from, as they are paid for."""
    same = Q(author=author.pk, text="", state=State.REPLIED, error_kind="", sampling=_sampling(author))
    last = {row.prompt_id: row for row in WritingCall.objects.filter(same, prompt__in=prompts).order_by("pk")}
    return [_first(author, prompt, last.get(prompt.pk)) for prompt in prompts]


def _first(author: Author, prompt: Prompt, last: WritingCall | None) -> WritingCall:
    if last and not last.is_last:
        last.author, last.prompt = author, prompt
        if chat(author, prompt, _answers(last)) == last.messages:
            return _next_turn(last)
    return WritingCall(author=author, prompt=prompt, is_last=turns_of(author, prompt) == 1)


def _next_turn(row: WritingCall) -> WritingCall:
    return WritingCall(
        run_id=row.run_id,
        author=row.author,
        prompt=row.prompt,
        turn=row.turn + 1,
        is_last=row.turn + 1 == turns_of(row.author, row.prompt),
        messages=chat(row.author, row.prompt, [*_answers(row), row.raw_reply]),
        sampling=row.sampling,
        cut=row.cut,
    )


def _answers(row: WritingCall) -> list[str]:
    """The model's answers to the turns before."""
    if row.author.writes:
        return [each["content"] for each in row.messages[: row.turn - 1]]
    return [each["content"] for each in row.messages if each["role"] == "assistant"]


class _Writing(Requests[WritingCall]):
    rows = WritingCall
    endpoint = "author__endpoint"
    needed = ("run", "prompt__study", "author__endpoint", "author__contestant", "completion__prompt")
    about = "answer"

    def asked(self, row: WritingCall) -> AskedModel:
        return asked(row.author, to_read=bool(row.text))

    def messages(self, row: WritingCall) -> list[Message]:
        if row.text and row.completion:
            return reading.messages(row, row.completion)
        return chat(row.author, row.prompt, _answers(row))

    def alike(self, row: WritingCall) -> QuerySet[WritingCall]:
        return WritingCall.objects.filter(run=row.run_id)

    def why_not(self, row: WritingCall) -> str:
        contestant = row.author.contestant
        if row.run.cancelled_at:
            return CANCELLED
        if row.text:
            is_there = row.completion and row.completion.is_current
            return "" if is_there else "The answer is not there any more."
        if contestant.retired_at:
            return RETIRED.format(contestant.name)
        if row.prompt.study.is_closed:
            return CLOSED.format("The study")
        if row.turn > 1 and row.sampling != _sampling(row.author):
            return f"The settings of {contestant.name} changed after the turn before. Start again."
        return ""

    def note(self, row: WritingCall, model: AskedModel, messages: list[Message]) -> None:
        super().note(row, model, messages)
        row.sampling = _sampling(row.author, to_read=bool(row.text))

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
        row.is_last = row.turn >= turns_of(row.author, row.prompt)
        if row.is_last:
            turns, sampling = [*_answers(row), row.raw_reply], {**row.sampling, "cut": row.cut}
            if row.author.writes:
                sampling |= {"instead": turns[0]} if turns[1:] else {}
                turns = turns[-1:]
            row.completion = add_answer(row.prompt, row.author.contestant, turns, {WRITTEN: sampling})
            row.error = "" if row.completion else "The prompt has another answer by now, which stays."
            if row.completion and row.author.writes:
                label(row.completion, row.author)
            elif row.completion:
                _keep_traces(row, row.completion)
            return
        row.save()  # ends it, as only one request about a prompt may be open
        # Locked: who cancels the run either is seen here, or sees the next turn.
        run = WritingRun.objects.select_for_update(no_key=True).get(pk=row.run_id)
        if not run.cancelled_at:
            _next_turn(row).save()

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
    if not is_blank(said) and not (thinking_open and OPENING.match(said.strip())):
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
