"""Finds the two completions a record names; makes and labels their pairs."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from arena.data.formats.records import AboutText, ComparisonRecord, FeatureRecord, GoldRecord, ScoreRecord
from arena.data.importing.import_report import ImportReport, assign, fits, is_within
from arena.data.importing.texts import Completions, Contestants, Owner, Prompts, prompt_name
from arena.models import Completion, Pair, Prompt
from arena.models.querysets import Length
from arena.texts.markdown import LONGEST_WRITTEN

PairRecord: TypeAlias = ComparisonRecord | GoldRecord

Matchup: TypeAlias = tuple[int, Owner, Owner]
"""Prompt, owner of the first completion shown, owner of the second."""


class Side(NamedTuple):
    """A completion's owner, and the id of its current version."""

    owner: Owner
    completion: int


class Sides(NamedTuple):
    """A prompt's id and the two sides in the order of the record."""

    prompt: int
    first: Side
    second: Side
    turn: int = 0

    @property
    def key(self) -> tuple[int, int]:
        """The completions' ids, the smaller first."""
        first, second = self.first.completion, self.second.completion
        return (first, second) if first < second else (second, first)

    @property
    def matchup(self) -> Matchup:
        return self.prompt, self.first.owner, self.second.owner

    @property
    def swapped(self) -> bool:
        return self.first.completion > self.second.completion


class SideFinder:
    def __init__(
        self, contestants: Contestants, prompts: Prompts, completions: Completions, report: ImportReport
    ) -> None:
        self._contestants = contestants
        self._prompts = prompts
        self._completions = completions
        self._report = report
        self._by_own_id: dict[tuple[int, str], list[Side]] = {}
        self._turns: dict[int, int] = {}
        """How many turns prompts have of which single turns were rated; 0 if the text is unknown."""

    def prepare(self, records: Sequence[PairRecord | AboutText]) -> None:
        """Look up the completions that these records name by their own ids."""
        self._by_own_id = {}
        self._count_turns(records)
        wanted: set[str] = set()
        prompts: set[int] = set()
        for record in records:
            ids = set(_own_ids(record)) - {""}
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

    def _count_turns(self, records: Sequence[PairRecord | AboutText]) -> None:
        by_turn = (each for each in records if isinstance(each, ComparisonRecord) and each.turn)
        prompts = (self._prompts.find(each.subset, each.prompt) for each in by_turn)
        named = {prompt for prompt in prompts if prompt is not None}
        found = Prompt.objects.filter(pk__in=named).order_by() if named else Prompt.objects.none()
        self._turns = dict(found.values_list("pk", Length("turns")))

    def turn_of(self, record: PairRecord, prompt: int) -> int | None:
        """The turn that was rated, None after reporting one that the prompt lacks; an only one is all."""
        turn = record.turn if isinstance(record, ComparisonRecord) else 0
        count = self._turns.get(prompt, 0)
        if turn and 0 < count < turn:
            turns = "1 turn" if count == 1 else f"{count} turns"
            self._report.refuse(record.place, "turn", f"{turn}, but prompt {prompt_name(record)} has {turns}")
            return None
        return 0 if count == 1 else turn

    def of_text(self, record: AboutText) -> tuple[int, Side] | None:
        """Prompt and completion of a prepared record, or None after reporting what is unknown."""
        prompt = self._prompts.named_by(record)
        side = self._side(record, "contestant", record.contestant, record.completion, prompt)
        return None if prompt is None or side is None else (prompt, side)

    def check_turns(self, said: Iterable[tuple[FeatureRecord | ScoreRecord, int]]) -> None:
        """Report turns that completions, given by their ids, lack; of an unknown text nobody can tell."""
        of_turns = [(record, completion) for record, completion in said if record.turn]
        known = Completion.objects.filter(pk__in={completion for _, completion in of_turns}).exclude(turns=[])
        counts = {pk: len(turns) for pk, turns in known.values_list("pk", "turns")}
        for record, completion in of_turns:
            if record.turn > (count := counts.get(completion, record.turn)):
                whose = f'"{record.contestant}"' if record.contestant else f'the id "{record.completion}"'
                turns = "1 turn" if count == 1 else f"{count} turns"
                reason = (
                    f"{record.turn}, but the answer of {whose} to prompt {prompt_name(record)} has {turns}"
                )
                self._report.refuse(record.place, "turn", reason)

    def find(self, record: PairRecord) -> Sides | None:
        """Both sides of a prepared record, or None after reporting what is unknown."""
        prompt = self._prompts.named_by(record)
        first = self._side(record, "first", record.first, record.first_id, prompt)
        second = self._side(record, "second", record.second, record.second_id, prompt)
        if prompt is None or first is None or second is None:
            return None
        if first == second:
            self._report.refuse(record.place, "second", "the same answer as first")
            return None
        return Sides(prompt, first, second)

    def _side(
        self,
        record: PairRecord | AboutText,
        name: str,
        contestant: str,
        own_id: str,
        prompt: int | None,
    ) -> Side | None:
        if own_id:
            return None if prompt is None else self._with_own_id(record, name, own_id, prompt)
        found = self._contestants.find(contestant)
        if found is None:
            self._contestants.refuse_unknown(contestant, record.place, name)
        if found is None or prompt is None:
            return None
        completion = self._completions.find(prompt, found)
        if completion is None:
            reason = f'"{contestant}" has no answer to prompt "{record.prompt}"'
            self._report.refuse(record.place, name, reason)
            return None
        return Side(found, completion)

    def _with_own_id(
        self, record: PairRecord | AboutText, name: str, own_id: str, prompt: int
    ) -> Side | None:
        found = self._by_own_id.get((prompt, own_id), [])
        if len(found) == 1:
            return found[0]
        where = f'the id "{own_id}" for prompt {prompt_name(record)}'
        reason = f"{len(found)} answers have {where}" if found else f"no answer has {where}"
        column = "completion" if isinstance(record, AboutText) else f"{name}_id"
        self._report.refuse(record.place, column, reason)
        return None


def _own_ids(record: PairRecord | AboutText) -> tuple[str, ...]:
    return (record.completion,) if isinstance(record, AboutText) else (record.first_id, record.second_id)


_COUNTED_AS: Final = {None: "gold labels", "train": "training pairs", "check": "hidden checks"}
_TURNED: Final = {"first": "second", "tie": "tie", "second": "first"}


class Pairs:
    def __init__(self, sides: SideFinder, report: ImportReport) -> None:
        self._sides = sides
        self._report = report

    def made(self, wanted: Iterable[Sides]) -> dict[tuple[int, int], int]:
        """The ids of these pairs by completion ids, the smaller first; makes missing pairs."""
        prompts = {sides.key: sides.prompt for sides in wanted}
        if not prompts:
            return {}
        found = Pair.objects.filter(
            first__in={first for first, _ in prompts}, second__in={second for _, second in prompts}
        )
        pairs = {
            (first, second): pk for first, second, pk in found.order_by().values_list("first", "second", "pk")
        }
        made = Pair.objects.made(
            Pair(prompt_id=prompt, first_id=key[0], second_id=key[1])
            for key, prompt in prompts.items()
            if key not in pairs
        )
        self._report.counts["pairs"].added += len(made)
        return pairs | {(pair.first_id, pair.second_id): pair.pk for pair in made}

    def take(self, records: list[GoldRecord]) -> None:
        """Label pairs; a second, different label is an error."""
        if not records:
            return
        self._sides.prepare(records)
        labelled = [
            (record, sides)
            for record in records
            if self._fits(record) and (sides := self._sides.find(record))
        ]
        ids = self.made(sides for _, sides in labelled)
        pairs = Pair.objects.in_bulk(set(ids.values()))
        changed: dict[int, Pair] = {}
        for record, sides in labelled:
            pair = pairs[ids[sides.key]]
            if self._label(pair, record, swapped=sides.swapped):
                changed[pair.pk] = pair
        columns = ["gold", "gold_source", "use", "explanation"]
        Pair.objects.bulk_update(changed.values(), columns, batch_size=100)

    def _fits(self, record: GoldRecord) -> bool:
        ok = fits(self._report, record.place, Pair, record, (("source", "gold_source"),))
        told = record.explanation or ""
        return ok & is_within(self._report, record.place, "explanation", told, LONGEST_WRITTEN)

    def _label(self, pair: Pair, record: GoldRecord, *, swapped: bool) -> bool:
        """Label a pair that has no label; returns whether anything changed."""
        gold = _TURNED[record.gold] if swapped else record.gold
        said = {"use": record.use, "explanation": record.explanation}
        counts = self._report.counts[_COUNTED_AS[record.use]]
        if not pair.gold:
            assign(pair, {"gold": gold, "gold_source": record.source, **said})
            counts.added += 1
            return True
        if pair.gold == gold:
            changed = assign(pair, said)
            counts.updated += changed
            counts.unchanged += not changed
            return changed
        earlier = _TURNED[pair.gold] if swapped else pair.gold
        reason = f'"{record.gold}" contradicts "{earlier}", the label of this pair by "{pair.gold_source}"'
        self._report.refuse(record.place, "gold", reason)
        return False
