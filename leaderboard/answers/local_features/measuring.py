"""Computes and stores the features of a contestant's answers with a model on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from django.db import transaction

from arena.features.recording import NewFeature, record_features
from arena.models import Completion, Contestant
from arena.rules.feature_names import Variant
from arena.texts.dialogue import Message, dialogue
from leaderboard.answers.features.of_tokens import Tokens, Value, features, of_turns
from leaderboard.answers.local_features.model import LocalModel, Reading, TooLongError, Wanted
from leaderboard.stats.token_features import dropout_mean, dropout_variance

PLAIN: Final = Wanted()


@dataclass
class Summary:
    """Answers by what became of them; ``too_long`` holds sentences."""

    measured: int = 0
    known: int = 0
    without_text: int = 0
    features: int = 0
    too_long: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Measuring:
    """``name`` is the model's, as the source of its features."""

    model: LocalModel
    name: str
    wanted: Wanted

    def all(
        self, contestant: Contestant, limit: int | None, tell: Callable[[int, int, Completion], None]
    ) -> Summary:
        """Those that lack what is wanted, each stored when it is done; ``tell`` is called before each."""
        current = contestant.completions.filter(is_current=True).select_related("prompt")
        found = list(current.prefetch_related("prompt__references", "features").order_by("pk"))
        usable = [each for each in found if any(map(str.strip, each.turns)) and each.prompt.turns]
        missing = [each for each in usable if self._lacks(each)]
        summary = Summary(known=len(usable) - len(missing), without_text=len(found) - len(usable))
        for number, completion in enumerate(missing[:limit]):
            tell(number, len(missing[:limit]), completion)
            try:
                summary.features += self._store(completion)
                summary.measured += 1
            except TooLongError as error:
                summary.too_long.append(f"{completion.prompt}: {error}")
        if summary.features:
            contestant.study.touch()
        return summary

    def _lacks(self, completion: Completion) -> bool:
        known = {(each.name, each.source) for each in completion.features.all() if not each.turn}
        wanted = {("mean_logprob", self.name)}
        if self.wanted.attention and len(completion.turns) == 1:
            wanted.add(("attention_entropy_mean", self.name))
        if self.wanted.dropout:
            wanted.add(("dropout_mean", self._dropout_source))
        return not wanted <= known

    @property
    def _dropout_source(self) -> str:
        dropout = self.wanted.dropout
        assert dropout is not None  # noqa: S101 - asked for with it alone
        return f"{self.name}, dropout {dropout.share:g}, {dropout.passes} passes, seed {dropout.seed}"

    def _store(self, completion: Completion) -> int:
        rows = [
            NewFeature(completion.pk, turn, value.name, value.variant, source, value.value)
            for turn, source, value in self._of(completion)
        ]
        with transaction.atomic():
            return record_features(rows).added

    def _of(self, completion: Completion) -> Iterator[tuple[int, str, Value]]:
        """Values with turn and source: of the whole answer, and of each turn where there are several."""
        prompt, answers = completion.prompt, completion.turns
        reference = next(iter(prompt.reference_turns), None)
        shown = [] if reference is None else dialogue(prompt.turns, prompt.input, reference)
        own = self._read([], prompt.turns, prompt.input, answers, self.wanted)
        illustrated = self._read(shown, prompt.turns, prompt.input, answers, PLAIN) if reference else {}
        of_reference = self._read([], prompt.turns, prompt.input, reference or [], PLAIN)
        parts = {0: list(own)} if own else {}
        if len(own) > 1:
            parts |= {turn: [turn] for turn in own}
        for turn, chosen in parts.items():
            readings = [own[each] for each in chosen]
            yield from (
                (turn, self.name, value)
                for value in features(
                    Tokens.together([_answer(each) for each in readings]),
                    _full(readings[-1]),
                    of_turns(_answers(illustrated), chosen),
                    of_turns(_answers(of_reference), chosen),
                )
            )
            yield from ((turn, self.name, value) for value in _released(readings))
            yield from ((turn, self.name, value) for value in _attention(readings))
            yield from ((turn, self._dropout_source, value) for value in _dropout(readings))

    def _read(
        self,
        shown: Sequence[Message],
        turns: Sequence[str],
        material: str,
        answers: Sequence[str],
        wanted: Wanted,
    ) -> dict[int, Reading]:
        """What the model computes about each answer, by its turn from 1, after the turns before."""
        found = {}
        for number, answer in enumerate(answers[: len(turns)]):
            before = [*shown, *dialogue(turns, material, answers[:number])]
            reading = self.model.read(before, answer, wanted)
            if reading is not None:
                found[number + 1] = reading
        return found


def _answer(reading: Reading) -> Tokens:
    return Tokens(reading.log_p[reading.before :], reading.entropy[reading.before :])


def _full(reading: Reading) -> Tokens:
    return Tokens(reading.log_p, reading.entropy)


def _answers(readings: dict[int, Reading]) -> dict[int, Tokens]:
    return {turn: _answer(reading) for turn, reading in readings.items()}


def _released(readings: Sequence[Reading]) -> Iterator[Value]:
    for name in ("entropy", "variance"):
        steps = np.concatenate([getattr(each, f"released_{name}")[each.before :] for each in readings])
        yield Value(_RELEASED[name], Variant.RELEASED, float(steps.mean()))


_RELEASED: Final = {"entropy": "entropy", "variance": "logprob_variance"}


def _attention(readings: Sequence[Reading]) -> Iterator[Value]:
    """Of one turn: the tokens before differ from turn to turn."""
    found = readings[0].attention if len(readings) == 1 else None
    if found is not None and found.size:
        yield Value("attention_entropy_mean", Variant.PAPER, float(found.mean()))
        yield Value("attention_entropy_min", Variant.PAPER, float(found.min()))


def _dropout(readings: Sequence[Reading]) -> Iterator[Value]:
    rows = [each.passes for each in readings if each.passes is not None]
    if len(rows) == len(readings):
        passes = np.concatenate(rows, axis=1)
        for name, value in (
            ("dropout_mean", dropout_mean(passes)),
            ("dropout_variance", dropout_variance(passes)),
        ):
            if value is not None:
                yield Value(name, Variant.PAPER, value)
