"""What writing or reading would take, in words."""

from collections.abc import Sequence
from decimal import Decimal

from arena.models import Prompt
from judging.endpoints.costs import Range, Total, in_words
from judging.models import Author
from judging.writing.reading import Target
from judging.writing.services import estimate, estimate_reading


def estimated(author: Author, prompts: Sequence[Prompt]) -> list[tuple[str, str]]:
    """Pairs of a label and a value."""
    return [("Answers", f"{len(prompts):,}"), *_taken(author, estimate(author, prompts))]


def estimated_reading(author: Author, targets: Sequence[Target]) -> list[tuple[str, str]]:
    return [("Texts", f"{len(targets):,}"), *_taken(author, estimate_reading(author, targets))]


def _taken(author: Author, found: Total) -> list[tuple[str, str]]:
    return [
        ("Model", str(author.endpoint)),
        ("Calls", f"{found.calls.low:,}"),
        ("Input tokens", _range(found.prompt_tokens)),
        ("Output tokens", _range(found.reply_tokens)),
        ("Cost", _cost(found)),
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
