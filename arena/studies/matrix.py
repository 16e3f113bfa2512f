"""Reads: the table of prompts and contestants, its holes, and parts of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from arena.models import Completion, Contestant, Prompt, Study
from arena.studies import counts

CHUNK = 500
"""Prompts looked at together."""


class Cell(NamedTuple):
    """An answer of the table: whether it is there, and whether there is anything in it."""

    contestant: str
    there: bool
    empty: bool

    @property
    def word(self) -> str:
        return "empty" if self.empty else "there" if self.there else "missing"


@dataclass(frozen=True)
class Row:
    """A prompt with its cells, in the order of the contestants."""

    prompt: Prompt
    cells: list[Cell]

    @property
    def missing(self) -> int:
        return sum(not cell.there for cell in self.cells)


@dataclass(frozen=True)
class Part:
    """Some prompts of the table, and every contestant."""

    contestants: list[Contestant]
    rows: list[Row]


def contestants(study: Study) -> QuerySet[Any]:
    """All contestants with ``answers``, how many prompts they have answered; those that take part first."""
    answered = (
        counts.answers(study)
        .filter(contestant=OuterRef("pk"))
        .order_by()
        .values("contestant")
        .annotate(n=Count("pk"))
    )
    found = Contestant.objects.filter(study=study)
    return found.annotate(answers=Coalesce(Subquery(answered.values("n")), 0)).order_by("retired_at", "name")


def prompts(study: Study, *, only_holes: bool = False) -> QuerySet[Prompt]:
    """The prompts of the table, those that lack an answer alone where that is asked."""
    found = counts.study_prompts(study).order_by("external_id", "pk")
    if not only_holes:
        return found
    wanted = Contestant.objects.active().filter(study=study).count()
    there = Q(
        completions__is_current=True,
        completions__contestant__isnull=False,
        completions__contestant__retired_at__isnull=True,
    ) & ~Q(completions__turns=[])
    return found.annotate(answers=Count("completions", filter=there)).filter(answers__lt=wanted)


def part(study: Study, rows: list[Prompt]) -> Part:
    """These prompts with their cells."""
    field = list(Contestant.objects.active().filter(study=study).order_by("name"))
    there = _there(rows)
    return Part(
        field,
        [
            Row(
                prompt,
                [
                    Cell(one.name, (prompt.pk, one.pk) in there, there.get((prompt.pk, one.pk), False))
                    for one in field
                ],
            )
            for prompt in rows
        ],
    )


def holes(study: Study) -> Iterator[tuple[str, str, str, str]]:
    """Every missing answer: prompt, subset, category and contestant. Some hundred prompts at a time."""
    field = list(Contestant.objects.active().filter(study=study).order_by("name"))
    rows = counts.study_prompts(study).order_by("pk")
    last = 0
    while chunk := list(rows.filter(pk__gt=last)[:CHUNK]):
        there = _there(chunk)
        for prompt in chunk:
            for one in field:
                if (prompt.pk, one.pk) not in there:
                    yield prompt.external_id, prompt.subset, prompt.category, one.name
        last = chunk[-1].pk


def _there(rows: list[Prompt]) -> dict[tuple[int, int], bool]:
    """The cells of these prompts that are filled, and whether with nothing."""
    found = Completion.objects.filter(prompt__in=rows, is_current=True, contestant__isnull=False).exclude(
        turns=[]
    )
    return {
        (prompt, contestant): empty
        for prompt, contestant, empty in found.order_by().values_list("prompt", "contestant", "is_empty")
    }
