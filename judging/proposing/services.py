"""Having a judge's model propose requirements: one request for each prompt, every reply kept.

A row is a request (judging.requests); its reply is committed with the proposals it holds.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from arena.models import Prompt, Question, Study
from arena.pages.permissions import Visitor
from arena.studies import questions
from arena.studies.questions import Wording
from arena.texts.dialogue import Message
from judging.endpoints import costs
from judging.endpoints.client import Reply
from judging.endpoints.costs import Total
from judging.judges.asked import AskedModel, asked_by
from judging.judges.rights import check_may_ask
from judging.judges.services import JudgeError, check_model
from judging.models import Judge, ProposalCall
from judging.models.requests import LIVE
from judging.proposing import wording
from judging.requests.services import Requests, State
from judging.runs.work import boundary_secret
from judging.spending.reservations import prices_of

USUAL_REPLY: Final = 400  # tokens of a list of requirements
PROPOSE: Final = "propose requirements"
STOPPED: Final = "Asking was stopped."
MOST_AT_ONCE: Final = 200  # prompts that can be asked about with one confirmation


def open_prompts(study: Study) -> QuerySet[Prompt]:
    """The prompts with a known text that ask nothing, and for which nothing is proposed or being asked."""
    has = Question.objects.filter(prompt=OuterRef("pk"), is_current=True)
    live = ProposalCall.objects.filter(LIVE, prompt=OuterRef("pk"))
    rows = Prompt.objects.rated().filter(study=study).exclude(turns=[])
    return rows.filter(~Exists(has), ~Exists(live)).order_by("external_id", "pk")


def estimate(judge: Judge, prompts: Sequence[Prompt]) -> Total:
    """What asking about these prompts takes, without retries. Raises JudgeError."""
    check_model(judge, PROPOSE)
    model = asked_by(judge)
    [price] = prices_of([model])
    chats = [_messages(prompt) for prompt in prompts]
    reply = costs.usual_reply(USUAL_REPLY, model.reply_limit)
    return costs.of_chats(chats, model.options, reply, price)


def start(judge: Judge, prompts: Sequence[Prompt], batch: UUID, by: Visitor | None) -> int:
    """Ask the judge's model about prompts; how many. A batch is asked once. Raises JudgeError."""
    if len(prompts) > MOST_AT_ONCE:
        raise JudgeError(f"Ask about at most {MOST_AT_ONCE} prompts at once.")
    check_model(judge, PROPOSE)
    check_may_ask(judge, by)
    rows = [
        ProposalCall(prompt=prompt, judge=judge, batch=batch, model=judge.model, created_by=by)
        for prompt in prompts
    ]
    with transaction.atomic():
        # By the study's lock: two confirmations at a time must not both find a prompt free.
        for study in sorted({prompt.study_id for prompt in prompts}):
            Study.objects.select_for_update(no_key=True).get(pk=study)
        known = ProposalCall.objects.filter(Q(batch=batch) | LIVE, prompt__in=prompts)
        taken = set(known.values_list("prompt", flat=True))
        new = [row for row in rows if row.prompt_id not in taken]
        ProposalCall.objects.bulk_create(new)
    return len(new)


def stop(study: Study) -> int:
    """Ask no more, what is in flight is kept when it comes; how many were still waiting."""
    calls = ProposalCall.objects.filter(prompt__study=study)
    calls.filter(LIVE).update(is_stopped=True)  # first: a call in flight that fails meanwhile waits again
    return calls.filter(state=State.WAITING).delete()[0]


class _Proposals(Requests[ProposalCall]):
    rows = ProposalCall
    endpoint = "judge__endpoint"
    needed = ("prompt__study", "judge__rater", "judge__endpoint")
    about = "proposal"

    def asked(self, row: ProposalCall) -> AskedModel:
        return asked_by(row.judge)

    def messages(self, row: ProposalCall) -> list[Message]:
        return _messages(row.prompt)

    def alike(self, row: ProposalCall) -> QuerySet[ProposalCall]:
        return ProposalCall.objects.filter(judge=row.judge, prompt__study=row.prompt.study_id)

    def why_not(self, row: ProposalCall) -> str:
        return STOPPED if row.is_stopped else ""

    def keep(self, row: ProposalCall, reply: Reply) -> None:
        found = [Wording(*each) for each in wording.read(reply.text)]
        Study.objects.select_for_update(no_key=True).get(pk=row.prompt.study_id)
        row.proposed = questions.propose(row.prompt, found, row.judge.model)
        row.error = "" if found else _why_none(reply)


door = _Proposals()


def _why_none(reply: Reply) -> str:
    if reply.as_text.is_cut_off:
        return "The reply was cut off. Let the judge's replies be longer."
    return "The reply holds no list of requirements."


def _messages(prompt: Prompt) -> list[Message]:
    return list(wording.messages(prompt.turns, prompt.input, boundary_secret()))
