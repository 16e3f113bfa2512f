"""Whether a judge may be judging itself or its relatives: names it shares with contestants. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_MOST_NAMED: Final = 5
_SHORTEST: Final = 3
_TOO_COMMON: Final = frozenset(
    (
        *("answer", "answers", "assistant", "base", "beta", "chat", "completion", "demonstrations", "free"),
        *("human", "humans", "instant", "instruct", "judge", "large", "latest", "likert", "lite", "medium"),
        *("mini", "model", "nano", "people", "preview", "pro", "simulated", "small", "the", "thinking"),
        *("turbo", "with"),
    )
)
_ALSO: Final = {"chatgpt": "gpt"}


@dataclass(frozen=True)
class Contestant:
    """A contestant's name and the family its operator named, empty for none."""

    name: str
    family: str = ""


def relatives(judge: str, contestants: Iterable[Contestant]) -> list[str]:
    """Names of the contestants that are the judge's model, or share a telling word of its name with it.

    ``judge`` is the name of the model ("openai/gpt-4-0613"); what stands before a slash is not compared.
    A word tells something from three letters on, unless it is one that any model may carry ("chat").
    """
    own = _words(judge)
    return [each.name for each in contestants if own & (_words(each.name) | _words(each.family))]


def _words(name: str) -> frozenset[str]:
    letters = re.findall(r"[^\W\d_]+", name.rpartition("/")[2].casefold())
    known = {_ALSO.get(word, word) for word in letters}
    return frozenset(word for word in known if len(word) >= _SHORTEST and word not in _TOO_COMMON)


def warning(label: str, found: list[str]) -> str:
    """What a page says about a judge with relatives among the contestants; empty without any."""
    if not found:
        return ""
    named = ", ".join(found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return (
        f"{label} shares a name with the contestant{'s' if len(found) > 1 else ''} {named}{more}: "
        "a judge may favour itself or its own family."
    )
