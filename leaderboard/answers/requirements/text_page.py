"""One answer, and what every rater said of its requirements. Until the study closes for operators only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.urls import reverse

from arena.models import Answer, Completion, Question, Rater, Study
from arena.pages.permissions import can_operate
from arena.rating.shown import Answer as ShownAnswer
from arena.rating.shown import Block, Html, ShownPrompt, conversation, html_of, texts_of
from leaderboard.answers.feature_rows import FeatureRow, feature_rows
from leaderboard.answers.requirements.reading import checked_texts
from leaderboard.models import Snapshot
from leaderboard.pages.page import Page
from leaderboard.pages.pairs import LARGEST_ID, Side


@dataclass(frozen=True)
class Cell:
    words: str
    state: str  # met, not-met, unsure or none
    rationale: str = ""


NOT_ASKED = Cell("–", "none")


@dataclass(frozen=True)
class QuestionRow:
    question: Question
    cells: list[Cell]


@dataclass(frozen=True, kw_only=True)
class TextPage(Page):
    completion: Completion
    html: Html

    template: ClassVar[str] = "leaderboard/requirement_text.html"
    tab: ClassVar[str] = "study-requirements"

    @property
    def side(self) -> Side:
        return Side("", self.completion)

    @property
    def name(self) -> str:
        return self.completion.contestant.name if self.completion.contestant else "An answer"

    @property
    def prompt(self) -> ShownPrompt:
        return self._conversation[0]

    @cached_property
    def _conversation(self) -> tuple[ShownPrompt, list[list[Block]]]:
        said = ShownAnswer(self.completion.turns, self.completion.asides)
        return conversation(self.completion.prompt, [said], self.html)

    @property
    def blocks(self) -> list[Block]:
        return self._conversation[1][0]

    @property
    def back(self) -> str:
        return reverse("study-requirements", args=[self.study.slug])

    @property
    def _texts(self) -> QuerySet[Completion]:
        return checked_texts(self.study)

    @property
    def neighbours(self) -> list[tuple[str, str]]:
        """Words and address of the answers before and after this one."""
        here = self.completion.pk
        before = self._texts.filter(pk__lt=here).order_by("-pk").first()
        after = self._texts.filter(pk__gt=here).order_by("pk").first()
        named = [("Previous answer", before), ("Next answer", after)]
        return [(words, self._address(text.pk)) for words, text in named if text]

    @property
    def others(self) -> list[tuple[str, str, bool]]:
        """Model and address of the checked answers to the same prompt."""
        found = self._texts.filter(prompt=self.completion.prompt_id)
        rows = found.order_by("contestant__name", "pk").values_list("pk", "contestant__name")
        return [(name, self._address(pk), pk == self.completion.pk) for pk, name in rows]

    def _address(self, text: int) -> str:
        return reverse("study-requirement-text", args=[self.study.slug, text])

    @cached_property
    def _answers(self) -> list[Answer]:
        own = Answer.objects.counted(self.study).filter(completion=self.completion)
        return list(own.select_related("rater").order_by("rater__kind", "rater__name", "repeat", "pk"))

    @cached_property
    def raters(self) -> dict[tuple[int, int], str]:
        """Judges by name; people get numbers that hold for one answer, so that nobody can follow them."""
        found: dict[tuple[int, int], str] = {}
        people = sorted({each.rater_id for each in self._answers if each.rater.kind == Rater.Kind.PERSON})
        for each in self._answers:
            again = f" ({each.repeat + 1})" if each.repeat else ""
            person = each.rater.kind == Rater.Kind.PERSON
            name = f"Person {people.index(each.rater_id) + 1}" if person else each.rater.name
            found.setdefault((each.rater_id, each.repeat), name + again)
        return found

    @property
    def rows(self) -> list[QuestionRow]:
        said = {(each.question_id, each.rater_id, each.repeat): each for each in self._answers}
        asked = Question.objects.asked().filter(prompt=self.completion.prompt_id).order_by("position")
        return [
            QuestionRow(question, [_cell(said.get((question.pk, *who))) for who in self.raters])
            for question in asked
        ]

    @cached_property
    def features(self) -> list[FeatureRow]:
        return feature_rows(self.completion)

    @property
    def has_rationales(self) -> bool:
        return any(cell.rationale for row in self.rows for cell in row.cells)


_STATES = {"yes": "met", "no": "not-met", "unknown": "unsure"}


def _cell(answer: Answer | None) -> Cell:
    if answer is None:
        return NOT_ASKED
    if answer.value is None:
        return Cell(answer.get_reason_display(), "none", answer.raw_reply[:1000])
    return Cell(answer.get_value_display(), _STATES[answer.value], answer.rationale)


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> TextPage:
    """Raises PermissionDenied while the study is open, and Http404 for a text that nobody checked."""
    if not study.is_closed and not can_operate(request.user, study):
        raise PermissionDenied("Single answers are shown when the study closes.")
    known = checked_texts(study).select_related("prompt", "contestant")
    completion = known.filter(pk=min(place["text"], LARGEST_ID)).first()
    if completion is None:
        raise Http404("This study has no such checked answer.")
    return TextPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-requirement-text", args=[study.slug, completion.pk]),
        completion=completion,
        html=html_of(texts_of(completion.prompt), completion.turns),
    )
