"""What a run of a contestant's model is to do, as pages, commands and the API ask for it."""

from decimal import Decimal
from typing import NamedTuple

from arena.pages.permissions import Visitor
from judging.endpoints.costs import Range, Total, in_words
from judging.models import Author, WritingRun
from judging.writing import services
from judging.writing.reading import targets

Kind = WritingRun.Kind


class Wanted(NamedTuple):
    """``again``: also write where a reply was no answer; ``references``: also read these."""

    kind: str = Kind.WRITE
    limit: int | None = None
    budget: Decimal | None = None
    again: bool = False
    references: bool = False

    def check(self, author: Author) -> None:
        """Raises JudgeError if it cannot start."""
        check = services.check_start_reading if self.kind == Kind.READ else services.check_start
        check(author, self.budget)

    def estimate(self, author: Author) -> tuple[int, Total]:
        """How many answers to write, or texts to read, and what they take without retries."""
        if self.kind == Kind.READ:
            texts = targets(author, self.references, self.limit)
            return len(texts), services.estimate_reading(author, texts)
        prompts = list(services.to_write(author, self.again)[: self.limit])
        return len(prompts), services.estimate(author, prompts)

    def start(self, author: Author, by: Visitor | None = None) -> WritingRun:
        """Raises JudgeError."""
        if self.kind == Kind.READ:
            return services.start_reading(author, self.limit, self.budget, by, references=self.references)
        return services.start(author, self.limit, self.budget, by, again=self.again)

    def in_words(self, author: Author) -> list[tuple[str, str]]:
        """The estimate as pairs of a label and a value."""
        count, taken = self.estimate(author)
        return [
            ("Texts" if self.kind == Kind.READ else "Answers", f"{count:,}"),
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
