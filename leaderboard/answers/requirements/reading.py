"""The requirements of a study, and what raters answered about each text, as arrays."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet

from arena.models import Answer, Completion, Question, Study
from leaderboard.snapshots.reading import ALL, Choice, Read, rater_choices
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray
from leaderboard.stats.requirements import (
    NO,
    UNKNOWN,
    YES,
    Answers,
    Questions,
    majority,
    make_answers,
    make_questions,
)
from leaderboard.stats.sides import NOT_ASKED, UNSCORED

VALUES: Final = {Answer.Value.YES: YES, Answer.Value.NO: NO, Answer.Value.UNKNOWN: UNKNOWN, None: UNSCORED}


class Requirement(NamedTuple):
    """A question with facts about its prompt; ``number`` and ``prompt`` are ids, ``name`` is the prompt's."""

    number: int
    prompt: int
    name: str
    position: int
    labels: tuple[str, ...]
    required: bool
    subset: str
    domain: str
    category: str


class Said(NamedTuple):
    """An answer, by ids; ``value`` as in stats. Repeats of a rater have numbers from 0."""

    rater: int
    repeat: int
    text: int
    contestant: str
    question: int
    value: int
    seconds: float | None


@dataclass(frozen=True, eq=False)
class Checked:
    """Requirements, and the answers that count to them; a question left out of a checked text is NOT_ASKED.

    ``asked`` are the requirements by their number in ``questions``, ``names`` the contestants, ``ids`` the
    rater of each number in ``answers``, where repeats are raters of their own. ``text`` (id) and ``seconds``
    (NaN where not known) are parallel to ``answers``.
    """

    study: str
    asked: tuple[Requirement, ...]
    questions: Questions
    names: tuple[str, ...]
    ids: IntArray
    answers: Answers
    text: IntArray
    seconds: FloatArray
    raters: tuple[Choice, ...]

    def __len__(self) -> int:
        """How many answers were given."""
        return int((self.answers.value != NOT_ASKED).sum())

    def only(self, chosen: BoolArray) -> Checked:
        return replace(
            self, answers=self.answers.only(chosen), text=self.text[chosen], seconds=self.seconds[chosen]
        )

    def about(self, subset: str = "", category: str = "") -> Checked:
        """The answers about the prompts of a set and a category; all where they are empty."""
        wanted = [
            (not subset or each.subset == subset) and (not category or each.category == category)
            for each in self.asked
        ]
        return self.only(np.array(wanted, dtype=bool)[self.answers.question])

    def by(self, choice: Choice) -> Checked:
        return self.only(np.isin(self.ids[self.answers.rater], list(choice.ids)))

    def told(self, choice: Choice) -> Answers:
        """What the raters of a choice say: of several about one text, the majority."""
        own = self.by(choice).answers
        return own if len(np.unique(own.rater)) < 2 else majority(own)

    def most_of_a_model(self, choice: Choice) -> int:
        """How many requirements the raters of a choice checked of the model with the most."""
        return int(np.bincount(self.told(choice).contestant).max(initial=0))

    def subsets(self) -> list[str]:
        return sorted({each.subset for each in self.asked} - {""})

    def categories(self) -> list[str]:
        return sorted({each.category for each in self.asked} - {""})


def checked(study: Study, read: Read = ALL) -> Checked:
    asked = [
        Requirement(
            each.pk,
            each.prompt_id,
            each.prompt.external_id,
            each.position,
            tuple(map(str, each.labels)),
            each.required,
            each.prompt.subset,
            each.prompt.domain or domain_of(each.prompt.category),
            each.prompt.category,
        )
        for each in Question.objects.asked()
        .filter(prompt__in=study.prompts.rated())
        .select_related("prompt")
        .order_by("prompt", "position", "pk")
    ]
    fields = ("rater", "repeat", "completion", "completion__contestant__name", "question", "value", "seconds")
    rows = Answer.objects.counted(study, read.until).filter(
        completion__contestant__retired_at__isnull=True,
        completion__contestant__isnull=False,
    )
    told = rows.order_by("pk").values_list("pk", *fields).iterator(chunk_size=5000)
    said = (
        Said(rater, repeat, text, name, question, VALUES[value], seconds)
        for pk, rater, repeat, text, name, question, value, seconds in told
        if pk not in read.without
    )
    found = gathered(study.slug, asked, said)
    return replace(found, raters=rater_choices(study, sorted(set(found.ids.tolist()))))


def checked_texts(study: Study) -> QuerySet[Completion]:
    """The answers that somebody checked against a requirement that is asked now, by whom it counts.

    None to private prompts.
    """
    said = Answer.objects.counted(study).filter(
        completion=OuterRef("pk"), question__in=Question.objects.asked()
    )
    ranked = Completion.objects.filter(
        prompt__study=study, prompt__is_private=False, contestant__retired_at__isnull=True
    )
    return ranked.exclude(contestant=None).filter(Exists(said))


def domain_of(category: str) -> str:
    """The part before a colon, as in InFoBench's "Natural Sciences: Biology"."""
    return category.partition(": ")[0]


def gathered(
    study: str, asked: Sequence[Requirement], said: Iterable[Said], raters: tuple[Choice, ...] = ()
) -> Checked:
    """The arrays of rows; answers to other questions than those asked are left out."""
    place = {each.number: number for number, each in enumerate(asked)}
    of_prompt: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(asked):
        of_prompt[each.prompt].append(number)
    prompts = {prompt: number for number, prompt in enumerate(of_prompt)}
    kept = [one for one in said if one.question in place]
    names = sorted({one.contestant for one in kept})
    who = {key: number for number, key in enumerate(sorted({(one.rater, one.repeat) for one in kept}))}
    contestant = {name: number for number, name in enumerate(names)}
    rows: list[tuple[int, int, int, int, int, float]] = []
    seen: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for one in kept:
        text = who[one.rater, one.repeat], contestant[one.contestant], one.text
        question, seconds = place[one.question], math.nan if one.seconds is None else one.seconds
        rows.append((*text[:2], question, one.value, one.text, seconds))
        seen[text].add(question)
    for (rater, name, completion), answered in seen.items():
        for question in of_prompt[asked[next(iter(answered))].prompt]:
            if question not in answered:
                rows.append((rater, name, question, NOT_ASKED, completion, math.nan))
    whole = [np.array([row[column] for row in rows], dtype=np.int64) for column in range(5)]
    facts = list(dict.fromkeys((each.prompt, each.subset, each.domain, each.category) for each in asked))
    return Checked(
        study=study,
        asked=tuple(asked),
        questions=make_questions(
            np.array([prompts[each.prompt] for each in asked], dtype=np.int64),
            [each.labels for each in asked],
            np.array([each.required for each in asked], dtype=bool),
            sets=[subset for _, subset, _, _ in facts],
            domains=[domain for _, _, domain, _ in facts],
            categories=[category for _, _, _, category in facts],
        ),
        names=tuple(names),
        ids=np.array([rater for rater, _ in who], dtype=np.int64),
        answers=make_answers(*whole[:4]),
        text=whole[4],
        seconds=np.array([row[5] for row in rows], dtype=np.float64),
        raters=raters,
    )
