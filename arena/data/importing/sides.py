"""Who and what a comparison or a gold label is about: both completions, named by contestant or by own id."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from arena.data.formats.records import ComparisonRecord, GoldRecord
from arena.data.importing.completions import Completions, Owner
from arena.data.importing.contestants import Contestants
from arena.data.importing.prompts import Prompts
from arena.data.importing.report import ImportReport
from arena.models import Completion

PairRecord: TypeAlias = ComparisonRecord | GoldRecord
"""A record about two completions of one prompt."""


class Side(NamedTuple):
    """One of two completions: whose it is, of whatever version, and the id of the current version."""

    owner: Owner
    completion: int


class Sides(NamedTuple):
    """A prompt's id and the two sides in the order of the record."""

    prompt: int
    first: Side
    second: Side

    @property
    def key(self) -> tuple[int, int]:
        """The completions as their pair names them: the smaller id first."""
        first, second = self.first.completion, self.second.completion
        return (first, second) if first < second else (second, first)

    @property
    def swapped(self) -> bool:
        """Whether the record names the pair's second completion first."""
        return self.first.completion > self.second.completion


class SideFinder:
    """Finds the completions that records are about, and reports what is unknown."""

    def __init__(
        self, contestants: Contestants, prompts: Prompts, completions: Completions, report: ImportReport
    ) -> None:
        self._contestants = contestants
        self._prompts = prompts
        self._completions = completions
        self._report = report
        self._by_own_id: dict[tuple[int, str], list[Side]] = {}

    def prepare(self, records: Sequence[PairRecord]) -> None:
        """Look up, in one query, the completions that these records name by their own ids."""
        self._by_own_id = {}
        wanted: set[str] = set()
        prompts: set[int] = set()
        for record in records:
            ids = {record.first_id, record.second_id} - {""}
            prompt = self._prompts.find(record.subset, record.prompt) if ids else None
            if prompt is not None:
                wanted |= ids
                prompts.add(prompt)
        if not wanted:
            return
        found = Completion.objects.filter(prompt__in=prompts, external_id__in=wanted, is_current=True)
        columns = found.order_by("pk").values_list("prompt", "external_id", "contestant", "pk")
        for prompt, own_id, contestant, pk in columns:
            side = Side(own_id if contestant is None else contestant, pk)
            self._by_own_id.setdefault((prompt, own_id), []).append(side)

    def find(self, record: PairRecord) -> Sides | None:
        """Both sides of a record that was prepared, or None after reporting what is unknown."""
        prompt = self._prompts.find(record.subset, record.prompt)
        if prompt is None:
            self._report.refuse(record.place, "prompt", f"there is no prompt {_prompt_name(record)}")
        first = self._side(record, "first", record.first, record.first_id, prompt)
        second = self._side(record, "second", record.second, record.second_id, prompt)
        if prompt is None or first is None or second is None:
            return None
        if first == second:
            self._report.refuse(record.place, "second", "is the same completion as the first")
            return None
        return Sides(prompt, first, second)

    def _side(
        self, record: PairRecord, name: str, contestant: str, own_id: str, prompt: int | None
    ) -> Side | None:
        if own_id:
            return None if prompt is None else self._with_own_id(record, name, own_id, prompt)
        found = self._contestants.find(contestant)
        if found is None:
            self._report.refuse(record.place, name, f'there is no contestant "{contestant}"')
        if found is None or prompt is None:
            return None
        completion = self._completions.find(prompt, found)
        if completion is None:
            reason = f'"{contestant}" has no completion for prompt "{record.prompt}"'
            self._report.refuse(record.place, name, reason)
            return None
        return Side(found, completion)

    def _with_own_id(self, record: PairRecord, name: str, own_id: str, prompt: int) -> Side | None:
        found = self._by_own_id.get((prompt, own_id), [])
        if len(found) == 1:
            return found[0]
        where = f'the id "{own_id}" for prompt {_prompt_name(record)}'
        reason = f"{len(found)} completions have {where}" if found else f"there is no completion with {where}"
        self._report.refuse(record.place, f"{name}_id", reason)
        return None


def _prompt_name(record: PairRecord) -> str:
    return f'"{record.prompt}"' + (f' in subset "{record.subset}"' if record.subset else "")
