"""Contestants that may be a judge itself or its relatives, by the names they share."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena.models import Contestant, Study
from judging.models import Judge, Panel

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
_NOT_OF_GPT: Final = frozenset(("all", "cerebras", "j", "jt", "neo", "neox", "neoxt"))
"""Words beside "gpt" in names of models of other makers: GPT4All, GPT-J, GPT-NeoX."""


@dataclass(frozen=True)
class Named:
    """A contestant: its name, the family its operator named, and what else it is known as."""

    name: str
    family: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kin:
    """Names of contestants that are the judge's own model, and of others that share a word with it."""

    itself: tuple[str, ...] = ()
    family: tuple[str, ...] = ()

    @property
    def everyone(self) -> tuple[str, ...]:
        return self.itself + self.family


def kin(models: Iterable[str], contestants: Iterable[Named]) -> Kin:
    """The contestants that are one of a judge's models (a panel has several), or related to one.

    Two names are of the same model if they differ only in signs, capitals and what stands before a slash.
    """
    asked, listed = list(models), list(contestants)
    plain = {_plain(model) for model in asked} - {""}
    itself = [each.name for each in listed if plain & {_plain(name) for name in (each.name, *each.also)}]
    related = {name for model in asked for name in relatives(model, listed)}
    family = [each.name for each in listed if each.name in related and each.name not in itself]
    return Kin(tuple(itself), tuple(family))


def relatives(judge: str, contestants: Iterable[Named]) -> list[str]:
    """Names of the contestants that share a telling word with the name of the model ``judge``.

    Such a word has three letters or more and is not one that any model may carry ("chat"); what stands before
    a slash is not compared.
    """
    own = _words(judge)
    return [each.name for each in contestants if own & (_words(each.name) | _words(each.family))]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.rpartition("/")[2].casefold() if letter.isalnum())


def _words(name: str) -> frozenset[str]:
    letters = re.findall(r"[^\W\d_]+", name.rpartition("/")[2].casefold())
    known = {_ALSO.get(word, word) for word in letters}
    if known & _NOT_OF_GPT:
        known.discard("gpt")
    return frozenset(word for word in known if len(word) >= _SHORTEST and word not in _TOO_COMMON)


def warning(label: str, found: Sequence[str]) -> str:
    if not found:
        return ""
    return f"By its name, {label} may be of the same family as {named(found)}. A judge may favour its family."


def named(found: Sequence[str]) -> str:
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return ", ".join(found[:_MOST_NAMED]) + more


def kin_of(study: Study, judges: Mapping[str, str]) -> dict[str, Kin]:
    """The kin of each judge; ``judges`` are selectors and labels.

    A judge is known by its model, a panel by those of its members, one with imported votes by its label, a
    simulated one by nothing.
    """
    slugs = {selector: selector.partition(":")[2] for selector in judges}
    models = _models(slugs.values())
    ranked = Contestant.objects.filter(study=study, kind=Contestant.Kind.MODEL)
    contestants = [
        Named(name, family, (slug, str(generation.get("model", ""))))
        for name, family, slug, generation in ranked.values_list("name", "family", "slug", "generation")
    ]
    return {
        selector: kin(models.get(slugs[selector], [label]), contestants) for selector, label in judges.items()
    }


def _models(slugs: Iterable[str]) -> dict[str, list[str]]:
    wanted = list(slugs)
    fields = ("provider", "endpoint__model")
    asked = Judge.objects.filter(rater__slug__in=wanted).values_list("rater__slug", *fields)
    members = Panel.objects.filter(rater__slug__in=wanted, members__isnull=False)
    rows = [*asked, *members.values_list("rater__slug", *(f"members__{name}" for name in fields))]
    found: dict[str, list[str]] = {}
    for slug, provider, model in rows:
        found.setdefault(slug, []).extend([model] if provider != Judge.Provider.SIMULATED else [])
    return found
