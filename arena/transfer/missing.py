"""Which answers a study lacks, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import Count, QuerySet

from arena.models import Completion, Contestant, Prompt, Study

EXAMPLES: Final = 20
MATRIX_CONTESTANTS: Final = 30
MATRIX_PROMPTS: Final = 60


@dataclass
class MissingMatrix:
    """The part of the table of contestants and prompts in which most is missing."""

    contestants: list[tuple[str, int]] = field(default_factory=list)
    """The rows: contestants and how many prompts each has not answered, most first."""
    prompts: list[tuple[str, int]] = field(default_factory=list)
    """The columns: prompts and how many contestants have not answered each, most first."""
    lacking: list[list[bool]] = field(default_factory=list)
    """For each row and column, whether the answer is missing."""
    all_contestants: int = 0
    """Contestants who lack an answer, those included that are not shown."""
    all_prompts: int = 0
    """Prompts that lack an answer, those included that are not shown."""

    @property
    def is_cut(self) -> bool:
        """Whether contestants or prompts that lack an answer are not shown."""
        return self.all_contestants > len(self.contestants) or self.all_prompts > len(self.prompts)

    @property
    def rows(self) -> list[tuple[str, int, list[bool]]]:
        """Contestant, how many answers it lacks, and which."""
        return [(*row, cells) for row, cells in zip(self.contestants, self.lacking, strict=True)]


@dataclass
class Missing:
    """Prompts without a completion by a contestant that is not retired, prompts with a known text only."""

    count: int = 0
    by_contestant: list[tuple[str, int]] = field(default_factory=list)
    examples: list[tuple[str, str]] = field(default_factory=list)
    """The first of them: (contestant, prompt)."""
    matrix: MissingMatrix = field(default_factory=MissingMatrix)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Missing":
        """What ``dataclasses.asdict`` made of it, also after a way through JSON, which knows no tuples."""
        matrix = values["matrix"]
        pairs = {
            name: [(entry[0], entry[1]) for entry in matrix[name]] for name in ("contestants", "prompts")
        }
        return cls(
            count=values["count"],
            by_contestant=[(name, lacks) for name, lacks in values["by_contestant"]],
            examples=[(contestant, prompt) for contestant, prompt in values["examples"]],
            matrix=MissingMatrix(**{**matrix, **pairs}),
        )


def find_missing(study: Study) -> Missing:
    """Prompts with a known text that a contestant who is not retired has not answered."""
    prompts = Prompt.objects.rated().filter(study=study).exclude(turns=[])
    contestants = list(study.contestants.active().order_by("name"))
    answers = Completion.objects.filter(is_current=True, prompt__in=prompts, contestant__in=contestants)
    answered = dict(answers.order_by().values_list("contestant").annotate(Count("pk")))
    total = prompts.count()
    lacks = {contestant: total - answered.get(contestant.pk, 0) for contestant in contestants}
    lacks = {contestant: number for contestant, number in lacks.items() if number}
    missing = Missing(by_contestant=[(contestant.name, number) for contestant, number in lacks.items()])
    missing.count = sum(lacks.values())
    if missing.count:
        missing.examples = _examples(list(lacks), prompts)
        missing.matrix = _matrix(lacks, len(contestants), prompts, answers)
    return missing


def _examples(contestants: list[Contestant], prompts: QuerySet[Prompt]) -> list[tuple[str, str]]:
    examples: list[tuple[str, str]] = []
    for contestant in contestants:
        if len(examples) >= EXAMPLES:
            break
        done = Completion.objects.filter(contestant=contestant, is_current=True).values("prompt")
        names = prompts.exclude(pk__in=done).order_by("pk").values_list("external_id", flat=True)
        examples += [(contestant.name, name) for name in names[: EXAMPLES - len(examples)]]
    return examples


def _matrix(
    lacks: Mapping[Contestant, int],
    contestants: int,
    prompts: QuerySet[Prompt],
    answers: QuerySet[Completion],
) -> MissingMatrix:
    """The contestants and the prompts that lack most; ``contestants`` is how many should have answered."""
    rows = sorted(lacks, key=lambda contestant: (-lacks[contestant], contestant.name))[:MATRIX_CONTESTANTS]
    answered = dict(answers.order_by().values_list("prompt").annotate(Count("pk")))
    names = prompts.order_by("pk").values_list("pk", "subset", "external_id")
    wanting = [
        (answered.get(pk, 0), pk, f"{subset}/{name}" if subset else name)
        for pk, subset, name in names
        if answered.get(pk, 0) < contestants
    ]
    columns = sorted(wanting)[:MATRIX_PROMPTS]
    shown = answers.filter(contestant__in=rows, prompt__in=[pk for _, pk, _ in columns])
    there = set(shown.values_list("contestant", "prompt"))
    return MissingMatrix(
        contestants=[(contestant.name, lacks[contestant]) for contestant in rows],
        prompts=[(name, contestants - done) for done, _, name in columns],
        lacking=[[(contestant.pk, pk) not in there for _, pk, _ in columns] for contestant in rows],
        all_contestants=len(lacks),
        all_prompts=len(wanting),
    )
