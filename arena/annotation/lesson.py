"""What a training page shows: a pair as on the rating page, and what was right once it is answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.safestring import SafeString

from arena import scales, training
from arena.annotation import task, texts
from arena.identical import is_identical
from arena.masking import shown_turns
from arena.models import Membership, Pair, Study

MOST_EXAMPLES: Final = 20
"""Examples that stand in the guidelines."""


@dataclass(frozen=True)
class Lesson:
    """A training pair ready to be shown, under the names that the parts of the rating page know."""

    prompt: texts.ShownPrompt
    responses: list[task.Response]
    points: list[task.Point]
    overall: task.Row
    identical: bool
    explanation: SafeString
    """Why, as HTML; '' where nothing is said."""
    better: str
    """The letter of the better response, or '' where they are equally good."""
    tie: int | None = None
    """No button of its own calls it a tie here."""

    @property
    def is_conversation(self) -> bool:
        return len(self.prompt.turns) > 1


def build(study: Study, pair: Pair, *, swapped: bool, chosen: str = "", errors: Sequence[str] = ()) -> Lesson:
    """A training pair in an order of presentation; ``chosen`` is what was sent, and what is wrong with it."""
    said = _said(study, pair, swapped=swapped)
    html = texts.html_of(*said, _around(pair))
    question = task.Row("rating", "Which response is better?", chosen, errors)
    return _shown(study, pair, said, html, question, swapped=swapped)


def examples(membership: Membership) -> list[Lesson]:
    """The first training pairs as worked examples, for members who need not be tested with them any more."""
    study = membership.study
    pairs = training.examples(membership)[:MOST_EXAMPLES]
    swapped = {pair.pk: training.is_swapped(pair, membership.rater_id, 1) for pair in pairs}
    said = {pair.pk: _said(study, pair, swapped=swapped[pair.pk]) for pair in pairs}
    responses = (turns for both in said.values() for turns in both)
    html, no_question = texts.html_of(*responses, *map(_around, pairs)), task.Row("", "", "", ())
    return [_shown(study, pair, said[pair.pk], html, no_question, swapped=swapped[pair.pk]) for pair in pairs]


def _said(study: Study, pair: Pair, *, swapped: bool) -> list[list[str]]:
    """The turns of both responses in the order shown."""
    return [shown_turns(completion, study) for completion in pair.shown(swapped)]


def _around(pair: Pair) -> list[str]:
    """What else is read of a pair: its prompt, and what is right and why."""
    return [*texts.texts_of(pair.prompt), pair.explanation]


def _shown(
    study: Study, pair: Pair, said: list[list[str]], html: texts.Html, question: task.Row, *, swapped: bool
) -> Lesson:
    return Lesson(
        prompt=texts.shown_prompt(pair.prompt, html),
        responses=[
            task.Response(letter, texts.parts(turns, html)) for letter, turns in zip("AB", said, strict=True)
        ],
        points=task.scale_points(study.points),
        overall=question,
        identical=is_identical(pair),
        explanation=html.get(pair.explanation, SafeString()),
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
