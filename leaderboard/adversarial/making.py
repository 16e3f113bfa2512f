"""New studies of pairs of two answers, with what was left out on the way; and candidates from a study."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Literal, TypeVar

import numpy as np
from django.db import transaction
from ninja import Field, Schema
from pydantic import FiniteFloat, ValidationError

from arena.api.schemas import Name, first_wrong
from arena.constraints.making import apart
from arena.data.formats.reading import digest
from arena.data.formats.records import Item, PromptRecord
from arena.data.importing.import_report import RowCount
from arena.data.importing.imports import InvalidStudyError, import_records
from arena.models import Completion, Prompt, Study
from arena.pages.permissions import Visitor
from arena.rules.subsets import NEIGHBOUR
from judging.judges.services import JudgeError, MissingError

MAKER: Final = "adversarial"
"""Where a prompt's ``extra`` tells how its pair was made."""

FROM: Final = "study/"
"""Before the source of what was left out; no file has such a name."""

NO_ANSWER: Final = "no answer of one turn"
NO_NEIGHBOUR: Final = "no prompt is near and different enough"
SAME: Final = "both answers are the same text"
AGAIN: Final = "the same texts as another pair"
AT_ONCE: Final = 200  # prompts whose neighbours are looked for together


class AdversarialError(JudgeError):
    """A study that cannot be made."""


def study_named(slug: str) -> Study:
    """Raises MissingError."""
    found = Study.objects.filter(slug=slug).first()
    if found is None:
        raise MissingError(f'No study has the short name "{slug}".', "source")
    return found


class Making:
    """The pairs of a study to be, and how many were left out for which reason."""

    def __init__(self, source: Study) -> None:
        self.source = source
        self.left_out: Counter[str] = Counter()
        self._pairs: dict[str, list[Item]] = {}

    def add(
        self, prompt: Prompt, subset: str, right: Completion, wrong: Completion | None, how: Mapping[str, Any]
    ) -> bool:
        """Take a pair, or its right answer alone; False if it is there. A digest says which comes first."""
        turns, texts = tuple(prompt.turns), (tuple(right.turns), tuple((wrong or right).turns))
        key = digest(subset, *turns, prompt.input, *texts[0], "", *texts[1])
        if key in self._pairs:
            self.left_out[AGAIN] += 1
            return False
        is_first = wrong is None or int(key, 16) % 2 == 0
        about = PromptRecord(
            prompt.external_id, turns, category=prompt.category, domain=prompt.domain, input=prompt.input
        )
        records = apart(
            about,
            subset,
            turns,
            texts if is_first else texts[::-1],
            gold="first" if is_first else "second",
            source=source_of(subset),
            how={
                "prompt": _name(prompt),
                **how,
                "study": self.source.slug,
                "right": "1" if is_first else "2",
            },
            maker=MAKER,
        )
        self._pairs[key] = list(records)[: None if wrong else 2]
        return True

    @transaction.atomic
    def study(self, slug: str, by: Visitor | None, **settings: Any) -> Study:
        """Make the draft. Raises AdversarialError."""
        if Study.objects.filter(slug__iexact=slug).exists():
            raise AdversarialError(f'There is a study "{slug}" already. Choose another address.', "study")
        if not self._pairs:
            told = ", ".join(f"{count:,} × {reason}" for reason, count in self.left_out.items())
            raise AdversarialError(f"No pair is left: {told or 'there are no prompts'}.")
        mark = hashlib.sha256(f"{self.source.slug} {slug}".encode()).hexdigest()
        gone = [RowCount(f"{FROM}{self.source.slug}", mark, *each) for each in self.left_out.items()]
        try:
            report = import_records(slug, chain(*self._pairs.values()), by=by, left_out=gone)
        except InvalidStudyError as error:
            raise AdversarialError(f"{str(error).rstrip('.')}.", "study") from error
        if not report.ok:
            raise AdversarialError(f"{report.errors[0]}.")
        Study.objects.filter(slug=slug).update(is_draft=True, simulated=self.source.simulated, **settings)
        return Study.objects.get(slug=slug)


def made_how(prompt: Prompt) -> dict[str, Any]:
    """How the pair of a prompt was made, if it was made here."""
    found = prompt.extra.get(MAKER)
    return found if isinstance(found, dict) else {}


def source_of(subset: str) -> str:
    """What a pair says of where its right answer is from."""
    return f"{MAKER}: {subset or 'pair'}"


class Candidates(Schema):
    """A new study: prompts with one model's answers, and wrong answers beside them or room for these."""

    model_config = {"extra": "forbid"}

    source: Name = Field(description="Slug of the study with the prompts.")
    study: Name = Field(max_length=80, description="Slug of the new study.")
    ways: list[Literal["Neighbor", "GPTInst", "GPTOut"]] = Field(
        min_length=1, description="Neighbor, GPTInst, GPTOut."
    )
    right: Name = Field(description="Slug of the model whose answers are the right ones.")
    wrong: Name | None = Field(
        None, description="Slug of the model whose answers to near prompts are wrong; null: the same model."
    )
    n: int = Field(100, ge=1, description="Most candidates of each way.")
    below: float = Field(0.9, gt=0, le=1, description="The similarity of near prompts is less (cosine).")
    vectors: dict[str, list[FiniteFloat]] | None = Field(
        None, description="Embeddings by ID or SUBSET/ID of the prompts; null: TF-IDF of the words."
    )

    def make(self, by: Visitor | None = None) -> Study:
        """Raises JudgeError."""
        source = study_named(self.source)
        rated = source.prompts.rated().exclude(turns=[])
        prompts = sorted(rated, key=lambda each: (digest(_name(each)), each.pk))
        answers = _answers(source, self.right, "right")
        others = _answers(source, self.wrong, "wrong") if self.wrong else answers
        made = Making(source)
        for way in dict.fromkeys(self.ways):
            count = 0
            found = self._neighbours(prompts, others) if way == NEIGHBOUR else None
            for prompt in prompts:
                if count == self.n:
                    break
                answer, (beside, how) = answers.get(prompt.pk), next(found) if found else (None, {})
                if not answer or (found and not beside) or (beside and beside.turns == answer.turns):
                    why = SAME if answer and beside else NO_NEIGHBOUR if answer else NO_ANSWER
                    made.left_out[f"{way}: {why}"] += 1
                else:
                    count += made.add(prompt, way, answer, beside, how)
        return made.study(self.study, by)

    def _neighbours(
        self, prompts: Sequence[Prompt], others: Mapping[int, Completion]
    ) -> Iterator[tuple[Completion | None, dict[str, Any]]]:
        """For each prompt the answer to the nearest of those that have one, and how that was found."""
        from leaderboard.stats.neighbours import (  # needs SciPy, which the web process loads on demand
            nearest,
            tf_idf,
        )

        texts = ("\n".join([*each.turns, each.input]) for each in prompts)
        space = tf_idf(list(texts)) if self.vectors is None else self._space(prompts, self.vectors)
        has = np.array([each.pk in others for each in prompts])
        for start in range(0, len(prompts), AT_ONCE):
            rows = np.arange(start, min(start + AT_ONCE, len(prompts)))
            for place, similarity in zip(*nearest(space, rows, has, self.below), strict=True):
                near = prompts[place]
                how = {"neighbour": _name(near), "similarity": round(float(similarity), 4)}
                yield (others[near.pk], how) if place >= 0 else (None, {})

    def _space(self, prompts: Sequence[Prompt], vectors: Mapping[str, Sequence[float]]) -> Any:
        from leaderboard.stats.neighbours import unit  # needs SciPy, which the web process loads on demand

        rows = {name: vectors.get(name, ()) for name in map(_name, prompts)}
        for name, row in rows.items():
            if not row or len(row) != len(next(iter(rows.values()))):
                raise AdversarialError(f'"{name}" has no vector, or one of another length.', "vectors")
        given = np.array([rows[_name(each)] for each in prompts])
        # Of the largest number of a row the square may be no finite number, or 0.
        largest = np.abs(given).max(axis=1, keepdims=True)
        return unit(given / np.where(largest > 0, largest, 1.0))


def _name(prompt: Prompt) -> str:
    return f"{prompt.subset}/{prompt.external_id}" if prompt.subset else prompt.external_id


def _answers(study: Study, contestant: str, field: str) -> dict[int, Completion]:
    """The answers of one turn by a contestant, by prompt. Raises MissingError."""
    if not study.contestants.filter(slug=contestant).exists():
        there = ", ".join(study.contestants.values_list("slug", flat=True)) or "none"
        raise MissingError(f'The study has no model "{contestant}"; it has: {there}.', field)
    rows = Completion.objects.rateable_in(study).filter(contestant__slug=contestant, is_empty=False)
    found = rows.select_related("prompt")
    return {each.prompt_id: each for each in found if len(each.turns) == len(each.prompt.turns) == 1}


Wanted = TypeVar("Wanted", bound=Schema)


def wanted(kind: type[Wanted], given: Mapping[str, Any]) -> Wanted:
    """What a page or a command asks for. Raises AdversarialError where the API would refuse it."""
    try:
        return kind(**given)
    except ValidationError as error:
        wrong = first_wrong(error.errors())
        raise AdversarialError(f"{wrong.detail}.", (wrong.field or "").partition(".")[0]) from error
