"""What a training page shows: a pair as on the rating page, and what was right once it is answered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from django.utils.safestring import SafeString

from arena import scales, training
from arena.annotation import task
from arena.identical import is_identical
from arena.masking import shown_turns
from arena.models import Membership, Pair, Study
from arena.rendering_cache import rendered

MOST_EXAMPLES: Final = 20
"""Examples that stand in the guidelines."""


@dataclass(frozen=True)
class Lesson:
    """A training pair ready to be shown, under the names that the parts of the rating page know."""

    turns: list[str]
    input: str
    category: str
    responses: list[task.Response]
    points: list[task.Point]
    overall: task.Row
    identical: bool
    explanation: str
    better: str
    """The letter of the better response, or '' where they are equally good."""
    tie: int | None = None
    """No button of its own calls it a tie here."""

    @property
    def is_long(self) -> bool:
        return task.is_long(self.turns, self.input)

    @property
    def is_conversation(self) -> bool:
        return len(self.turns) > 1


Texts: TypeAlias = list[list[str]]
"""The turns of both responses in the order shown."""


def build(study: Study, pair: Pair, *, swapped: bool, chosen: str = "", errors: Sequence[str] = ()) -> Lesson:
    """A training pair in an order of presentation; ``chosen`` is what was sent, and what is wrong with it."""
    texts = _texts(study, pair, swapped=swapped)
    question = task.Row("rating", "Which response is better?", chosen, errors)
    return _shown(study, pair, texts, _html([texts]), question, swapped=swapped)


def examples(membership: Membership) -> list[Lesson]:
    """The first training pairs as worked examples, for members who need not be tested with them any more."""
    study = membership.study
    pairs = training.examples(membership)[:MOST_EXAMPLES]
    swapped = {pair.pk: training.is_swapped(pair, membership.rater_id, 1) for pair in pairs}
    texts = {pair.pk: _texts(study, pair, swapped=swapped[pair.pk]) for pair in pairs}
    html, no_question = _html(texts.values()), task.Row("", "", "", ())
    return [
        _shown(study, pair, texts[pair.pk], html, no_question, swapped=swapped[pair.pk]) for pair in pairs
    ]


def _texts(study: Study, pair: Pair, *, swapped: bool) -> Texts:
    return [shown_turns(completion, study) for completion in pair.shown(swapped)]


def _html(texts: Iterable[Texts]) -> dict[str, SafeString]:
    """Everything rendered at once: one query, however many texts."""
    return rendered(turn for both in texts for some in both for turn in some if turn.strip())


def _shown(
    study: Study, pair: Pair, texts: Texts, html: dict[str, SafeString], question: task.Row, *, swapped: bool
) -> Lesson:
    return Lesson(
        turns=pair.prompt.turns,
        input=pair.prompt.input,
        category=pair.prompt.category,
        responses=[
            task.Response(letter, [task.Part(turn, html.get(turn, SafeString())) for turn in some])
            for letter, some in zip("AB", texts, strict=True)
        ],
        points=task.scale_points(study.points),
        overall=question,
        identical=is_identical(pair),
        explanation=pair.explanation,
        better=better_letter(pair, swapped=swapped),
    )


def better_letter(pair: Pair, *, swapped: bool) -> str:
    """A or B, whichever is the better response as shown; '' where neither is."""
    if pair.gold == Pair.Gold.TIE:
        return ""
    return "A" if (pair.gold == Pair.Gold.FIRST) is not swapped else "B"


def in_words(rating: int, points: int) -> str:
    """What a rating says, to stand in a sentence."""
    return scales.CAPTIONS[points][rating - 1]
