"""What a run of a contestant's model is to do, as pages, commands and the API ask for it."""

from decimal import Decimal
from typing import Final, NamedTuple

from django.db import transaction

from arena.audit.recording import Kind as EventKind
from arena.audit.recording import record
from arena.models import Prompt, Study
from arena.pages.permissions import Visitor
from judging.endpoints import costs
from judging.endpoints.costs import Range, Total, in_words
from judging.judges.services import JudgeError, missing_key
from judging.models import Author, WritingCall, WritingRun
from judging.spending.budgets import check_models, check_outer
from judging.spending.reservations import open_purse, prices_of
from judging.writing import reading, second, services
from judging.writing.misleading import chat, turns_of

Kind = WritingRun.Kind

USUAL_REPLY: Final = 500  # tokens of an answer
AT_ONCE: Final = 500  # rows of one insert


class Wanted(NamedTuple):
    """``again``: also write where a reply was no answer; ``references``: also read these.

    ``weakest_by``: write second answers to those that this feature finds weakest.
    """

    kind: str = Kind.WRITE
    limit: int | None = None
    budget: Decimal | None = None
    again: bool = False
    references: bool = False
    weakest_by: str = ""

    @property
    def reads(self) -> bool:
        return self.kind == Kind.READ

    def check(self, author: Author) -> str:
        """The currency of the budget, "" without one. Raises JudgeError if it cannot start."""
        author = self._writer(author)
        contestant, models = author.contestant, [services.asked(author, to_read=self.reads)]
        if self.reads:
            reading.check_reads(author)
        elif contestant.retired_at:
            raise JudgeError(services.RETIRED.format(contestant.name))
        elif contestant.study.is_closed:
            raise JudgeError(services.CLOSED.format(contestant.study.name), "study")
        if problem := missing_key(author.endpoint):
            raise JudgeError(problem)
        if self.budget is not None and self.budget <= 0:
            raise JudgeError("The budget must be more than 0.")
        check_outer(contestant.study, contestant.name, models)
        return check_models(contestant.name, models) if self.budget is not None else ""

    def estimate(self, author: Author) -> tuple[int, Total]:
        """How many answers to write, or texts to read, and what they take without retries."""
        author = self._writer(author)
        model = services.asked(author, to_read=self.reads)
        [price] = prices_of([model])
        if self.reads:
            texts = [services.door.messages(row) for row in self._requests(author)]
            one = Range(Decimal(1), Decimal(1))
            return len(texts), costs.of_chats(texts, model.options, one, price)
        prompts = self._prompts(author)
        reply = costs.usual_reply(USUAL_REPLY, model.reply_limit)
        turns = [(prompt, turn) for prompt in prompts for turn in range(turns_of(author, prompt))]
        chats = [chat(author, prompt, [""] * turn) for prompt, turn in turns]
        # An answer to one turn is sent again with the next.
        again = Decimal(sum(turn for _, turn in turns))
        more = Range(again, again) * reply if again else costs.NOTHING
        return len(prompts), costs.of_chats(chats, model.options, reply, price, more)

    def start(self, author: Author, by: Visitor | None = None) -> WritingRun:
        """Have a contestant's model write or read. Raises JudgeError."""
        services.check_may_spend(by)
        currency, study = self.check(author), author.contestant.study
        with transaction.atomic():
            # By the study's lock: two starts at a time must not both find the same missing.
            Study.objects.select_for_update(no_key=True).get(pk=study.pk)
            author = self._writer(author)
            if self.weakest_by:
                second.store(author)
            requests = self._requests(author)
            if not requests:
                raise JudgeError(self._why_nothing(author))
            run = WritingRun.objects.create(
                author=author,
                study=study,
                kind=self.kind,
                limit=self.limit,
                wanted=len(requests),
                created_by=by,
            )
            open_purse(run, self.budget, currency)
            for each in requests:
                each.run = run
            WritingCall.objects.bulk_create(requests, batch_size=AT_ONCE)
            record(EventKind.RUN, by, self._told(author, len(requests), currency), study=study)
        return run

    def _writer(self, author: Author) -> Author:
        """The author that is asked."""
        return second.second_author(author) if self.weakest_by else author

    def _prompts(self, author: Author) -> list[Prompt]:
        missing = services.to_write(author, self.again)
        if not self.weakest_by or author.second_to is None:
            return list(missing[: self.limit])
        order = second.weakest(author.second_to, self.weakest_by)
        known = missing.in_bulk(order)
        return [known[pk] for pk in order if pk in known][: self.limit or second.MOST]

    def _requests(self, author: Author) -> list[WritingCall]:
        """The requests with which the run begins, not stored."""
        if self.reads:
            return reading.to_read(author, self.references, self.limit)
        return services.first_requests(author, self._prompts(author))

    def _why_nothing(self, author: Author) -> str:
        name = author.contestant.name
        if self.reads:
            return f"{name} has read every text, or is reading it."
        if count := services.unanswered(author):
            return f"{name} was asked for all that is missing. {count:,} replies were no answers: ask again."
        if self.weakest_by:
            return f"{name} has a second answer to each of them, or is writing it."
        return f"{name} has an answer to every prompt, or is writing it."

    def _told(self, author: Author, count: int, currency: str) -> str:
        what = f"reads {count:,} texts" if self.reads else f"writes {count:,} answers"
        budget = in_words(self.budget, currency) if self.budget is not None else "none"
        return f"{author.contestant.name} {what}, {author.endpoint}. Budget: {budget}."

    def in_words(self, author: Author) -> list[tuple[str, str]]:
        """The estimate as pairs of a label and a value."""
        count, taken = self.estimate(author)
        return [
            ("Texts" if self.reads else "Answers", f"{count:,}"),
            *([("Written as", self._writer(author).contestant.name)] if self.weakest_by else []),
            ("Model", str(author.endpoint)),
            ("Calls", f"{taken.calls.low:,}"),
            ("Input tokens", _range(taken.prompt_tokens)),
            ("Output tokens", _range(taken.reply_tokens)),
            ("Cost", _cost(taken)),
        ]


def _range(tokens: Range) -> str:
    high = "without a limit" if tokens.high is None else f"at most {_whole(tokens.high)}"
    return f"about {_whole(tokens.low)}, {high}"


def _whole(tokens: Decimal) -> str:
    return f"{tokens.to_integral_value():,}"


def _cost(found: Total) -> str:
    if found.cost is None:
        return "unknown, as the model has no price"
    about = f"about {in_words(found.cost.low, found.currency)}"
    high = found.cost.high
    return f"{about}, {'without a limit' if high is None else f'at most {in_words(high, found.currency)}'}"
