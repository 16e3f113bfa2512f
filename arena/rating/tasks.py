"""The tasks that a study can ask of raters: the rows that hold what they say, and the words for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.template.defaultfilters import pluralize

from arena.models import Answer, Assignment, Comparison, Score, Study
from arena.models.comparisons import Opinion


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task. ``verdict``: the columns of ``model`` that say what a rater decided, or why nothing.

    ``records`` names its rows in files and in the API; the rest are words for readers.
    """

    kind: Assignment.Kind
    model: type[Opinion]
    records: str
    verdict: tuple[str, ...]
    name: str
    said: str  # rows in words, with the place of a plural's ending
    given: str  # what a person hears who has given a verdict in another tab
    stored: str  # the same to whoever sends another
    deed: tuple[str, str]  # what a person does, and with what
    alone: str  # what a study asks that has no other task
    beside: str  # the same beside other tasks


TASKS: Final[Mapping[str, Task]] = {
    each.kind: each
    for each in (
        Task(
            kind=Assignment.Kind.COMPARE,
            model=Comparison,
            records="comparisons",
            verdict=("points", "rating", "reason"),
            name="Compare pairs",
            said="rating{} of pairs",
            given="You have already given this pair a {}",
            stored="This pair is already answered with {}",
            deed=("rated", "pair"),
            alone="You read two answers to the same prompt and say which one is better.",
            beside="say which of two answers to the same prompt is better",
        ),
        Task(
            kind=Assignment.Kind.SCORE,
            model=Score,
            records="scores",
            verdict=("lowest", "highest", "value", "reason"),
            name="Score answers",
            said="score{}",
            given="You have already given this answer the score {}",
            stored="This answer already has the score {}",
            deed=("scored", "answer"),
            alone="You read answers to prompts and give each a score from {lowest} to {highest}.",
            beside="score single answers from {lowest} to {highest}",
        ),
        Task(
            kind=Assignment.Kind.CHECK,
            model=Answer,
            records="answers",
            verdict=("value", "reason"),
            name="Check requirements",
            said="check{} of requirements",
            given="You have already checked this answer",
            stored="You have already checked this answer",
            deed=("checked", "answer"),
            alone="You read answers and say which requirements of their prompts they meet.",
            beside="say which requirements single answers meet",
        ),
    )
}
"""By kind of assignment."""


def names(tasks: Sequence[str]) -> str:
    """Names of tasks, such as "Compare pairs, score answers"."""
    return ", ".join(TASKS[kind].name if kind in TASKS else kind for kind in tasks).capitalize() or "none"


def asked(study: Study) -> str:
    """Sentences to raters that name every task of the study, in its order."""
    tasks = [TASKS[kind] for kind in study.tasks]
    *most, last = tasks
    several = f"You read answers to prompts. You {', '.join(one.beside for one in most)} and {last.beside}."
    said = several if most else last.alone
    return said.format(lowest=study.score_lowest, highest=study.score_highest)


def done(study: Study, number: int) -> str:
    """So many tasks of the study in words, such as "rated 3 pairs"."""
    verb, noun = deed(study)
    return f"{verb} {number:,} {noun}{pluralize(number)}"


def deed(study: Study) -> tuple[str, str]:
    """Return what a person does in the study, and with what."""
    return TASKS[study.tasks[0]].deed if len(study.tasks) == 1 else ("done", "task")
