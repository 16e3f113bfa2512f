"""Finds completions that tell their author, which breaks the blindness of a rating."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from django.db import transaction

from arena.models import Completion, Contestant, Study
from arena.models.signals import announce
from arena.texts.author_names import NameFinder, mask

BATCH: Final = 500


_finder = lru_cache(maxsize=1000)(NameFinder)


def finder_of(contestant: Contestant | None) -> NameFinder | None:
    """The finder of a contestant; None for people and unknown authors."""
    if contestant is None or contestant.kind == Contestant.Kind.PEOPLE:
        return None
    return _finder(contestant.name, contestant.family, contestant.organisation)


def telling_words(contestant: Contestant | None, turns: Sequence[str]) -> list[str]:
    """The words of an answer that tell who wrote it."""
    finder = finder_of(contestant)
    return finder.find_all(turns) if finder else []


def shown_turns(completion: Completion, study: Study) -> list[str]:
    """The turns of a completion as raters of the study, people and judges, see them."""
    hidden = completion.telling if study.naming == Study.Naming.MASK else ()
    return [mask(turn, hidden) for turn in completion.turns]


def shown_asides(completion: Completion, study: Study) -> list[dict[str, Any]]:
    """What stands between the turns of a completion, as raters of the study see it."""
    hidden = completion.telling if study.naming == Study.Naming.MASK else ()
    return [{**each, "text": mask(each["text"], hidden)} for each in completion.asides]


@dataclass(frozen=True)
class NamesFound:
    """What a search through a study's completions found."""

    completions: int  # completions with a known text, earlier versions included
    telling: int
    changed: int  # those whose words differ from the stored ones


def find_names(study: Study) -> NamesFound:
    """Search all completions of a study for names again, and store the words found."""
    looked = telling = 0
    changed: list[Completion] = []
    names_of = ("contestant__name", "contestant__kind", "contestant__family", "contestant__organisation")
    known = Completion.objects.filter(prompt__study=study).exclude(turns=[]).select_related("contestant")
    rows = known.only("turns", "asides", "telling", *names_of).order_by("pk")
    for completion in rows.iterator(chunk_size=BATCH):
        beside = (each["text"] for each in completion.asides)
        names = telling_words(completion.contestant, [*completion.turns, *beside])
        looked += 1
        telling += bool(names)
        if names != completion.telling:
            changed.append(Completion(pk=completion.pk, telling=names))
    with transaction.atomic():
        Completion.objects.bulk_update(changed, ["telling"], batch_size=BATCH)
        if changed:  # which pairs there are to offer depends on it
            announce([study])
    return NamesFound(looked, telling, len(changed))
