from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.expressions import Func, RawSQL
from django.db.models.functions import Coalesce
from django.utils import timezone

from arena.rules.subsets import NO_PROMPT_SUBSET, TRAINING_SUBSET
from arena.rules.turns import WHOLE, Rated, asked

if TYPE_CHECKING:
    from arena.models import (  # noqa: F401 - named in the bases below
        Answer,
        Assignment,
        Comparison,
        Completion,
        CompletionFeature,
        Contestant,
        Pair,
        Prompt,
        Question,
        Rater,
        Score,
        Study,
        StudyEvent,
    )


MAY_COME_LATE: Final = 1000
"""So many of the last ids are looked at again: one may be stored after others with later ids."""

VISITORS_GROUP: Final = "visitors"
"""Name of the group of all who vote without an account."""

SIGNING_IN: Final = ("signed_in", "sign_in_failed", "locked_out")
"""Lines of the log that change nothing, and that anybody may cause."""


def word(constant: str) -> RawSQL:
    """A word of the code as part of the statement.

    SQLite uses an index with a condition only where a statement says the same, and a parameter does not.
    """
    return RawSQL(f"'{constant}'", ())  # noqa: S611 - no input comes here


class Length(Func):
    """How many values a JSON list has."""

    function = "json_array_length"
    output_field = models.IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="jsonb_array_length", **context)


def left_out_raters(study: Study) -> list[int]:
    """Ids of the raters whose comparisons count nowhere in the study."""
    return list(study.memberships.filter(left_out_at__isnull=False).values_list("rater", flat=True))


class StudyQuerySet(models.QuerySet["Study"]):
    def public(self) -> StudyQuerySet:
        return self.filter(visibility="public")

    def rated_by(self, raters: Iterable[Rater]) -> StudyQuerySet:
        """The studies that hold a comparison, a score or an answer of any of them."""
        ids = [rater.pk for rater in raters]
        kinds = ("comparisons", "scores", "answers")
        said = [self.filter(**{f"{kind}__rater__in": ids}).order_by().values("pk") for kind in kinds]
        return self.filter(reduce(or_, (Q(pk__in=each) for each in said)))


class ContestantQuerySet(models.QuerySet["Contestant"]):
    def active(self) -> ContestantQuerySet:
        return self.filter(retired_at__isnull=True)


class PromptQuerySet(models.QuerySet["Prompt"]):
    def rated(self) -> PromptQuerySet:
        """Without the prompts of training pairs and hidden checks."""
        return self.exclude(subset=TRAINING_SUBSET)

    def unnamed(self) -> PromptQuerySet:
        """The prompts that hold comparisons whose file names none."""
        return self.filter(subset=NO_PROMPT_SUBSET)


class CompletionQuerySet(models.QuerySet["Completion"]):
    def rated(self) -> CompletionQuerySet:
        """Without the texts of training pairs and hidden checks."""
        return self.exclude(prompt__subset=TRAINING_SUBSET)

    def offered(self) -> CompletionQuerySet:
        """Current versions with a known text by active contestants.

        If the study leaves out what names its author or holds thinking, only those that do not.
        """
        active = Q(contestant__isnull=True) | Q(contestant__retired_at__isnull=True)
        blind = Q(telling=[]) | ~Q(prompt__study__naming="exclude")
        plain = Q(thinking=[]) | ~Q(prompt__study__thinking="exclude")
        return self.filter(active, blind, plain, is_current=True).exclude(turns=[])

    def rateable(self) -> CompletionQuerySet:
        """Return what is offered and rated for the study itself."""
        return self.rated().offered()

    def comparable(self) -> CompletionQuerySet:
        """The rateable completions of prompts with a known text."""
        return self.rateable().exclude(prompt__turns=[])

    def rateable_in(self, study: Study) -> CompletionQuerySet:
        """The completions of a study that people can be asked to rate."""
        return self.comparable().filter(prompt__study=study, prompt__is_private=False)

    def pairs_by(self, column: str) -> Counter[Any]:
        """How many pairs of answers to one prompt these completions form, by a column."""
        pairs: Counter[Any] = Counter()
        for group, _, n in self.order_by().values_list(column, "prompt").annotate(n=Count("pk")):
            pairs[group] += n * (n - 1) // 2
        return pairs

    def telling(self, study: Study) -> CompletionQuerySet:
        """The current completions of a study with words that tell who wrote them."""
        return self.filter(prompt__study=study, is_current=True).exclude(telling=[])


class PairQuerySet(models.QuerySet["Pair"]):
    def published(self) -> PairQuerySet:
        """Without those of private prompts, which only operators and judges read."""
        return self.filter(prompt__is_private=False)

    def made(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Store these pairs; those that wait in a queue wait no more."""
        return self.bulk_create(
            pairs,
            batch_size=1000,
            update_conflicts=True,
            unique_fields=["first", "second"],
            update_fields=["is_waiting"],
        )

    def recount(self, study: Study) -> None:
        """Set the rating counters of these pairs of one study from the current comparisons that count.

        What a panel says is no rating of its own. Of several turns that are asked, the one with the fewest
        ratings counts.
        """
        from arena.models import Comparison

        if study.rated_turns != Rated.WHOLE:
            self._recount_turns(study)
            return
        out = left_out_raters(study)
        for kind, counter in (("person", "people_ratings"), ("judge", "judge_ratings")):
            # A pair's comparisons are of its own study (arena/models/invariants.py). If the query says so
            # again, SQLite reads all comparisons of the study for each pair; PostgreSQL all members, if it
            # looks for those that are left out.
            counted = (
                Comparison.objects.counted_by(study, out=out)
                .independent()
                .filter(pair=OuterRef("pk"), turn=WHOLE, rater__kind=kind)
                .order_by()
                .values("pair")
                .annotate(n=Count("pk"))
                .values("n")
            )
            self.update(**{counter: Coalesce(Subquery(counted), 0)})

    def _recount_turns(self, study: Study) -> None:
        """``recount`` for a study that has single turns rated."""
        from arena.models import Comparison

        pairs = dict(self.order_by().annotate(n=Length("prompt__turns")).values_list("pk", "n"))
        counted = Comparison.objects.counted_by(study).independent().filter(pair__in=list(pairs))
        by_turn = counted.order_by().values_list("rater__kind", "pair", "turn").annotate(n=Count("pk"))
        given = Counter({row[:3]: row[3] for row in by_turn})
        for kind, counter in (("person", "people_ratings"), ("judge", "judge_ratings")):
            of: dict[int, list[int]] = {}
            for pair, turns in pairs.items():
                fewest = min(given[kind, pair, turn] for turn in asked(study.rated_turns, turns))
                of.setdefault(fewest, []).append(pair)
            for fewest, some in of.items():
                self.model.rows.filter(pk__in=some).update(**{counter: fewest})


class SelectorError(ValueError):
    """A rater selector that is malformed or selects nobody."""


class RaterQuerySet(models.QuerySet["Rater"]):
    def in_study(self, study: Study) -> RaterQuerySet:
        """The raters imported with the study, and those who rate here."""
        return self.filter(Q(study=study) | Q(study__isnull=True))

    def panels(self) -> RaterQuerySet:
        """Return the raters for whom ``Rater.is_panel`` holds."""
        return self.exclude(derived_from=[])

    def independent(self) -> RaterQuerySet:
        """The people, and the judges that are no panel of others."""
        return self.filter(derived_from=[])

    def selected(self, study: Study, selector: str) -> RaterQuerySet:
        """The raters behind ``people``, ``group:NAME`` or ``judge:SLUG``; raises SelectorError."""
        if "\0" in selector:
            raise SelectorError("the name of raters holds a NUL character, which none has")
        raters = self.in_study(study)
        kind, _, name = selector.partition(":")
        if selector == "people":
            return raters.filter(kind="person")
        if kind == "group" and name:
            found, missing = raters.filter(groups__slug=name), f'no rater group "{name}" with raters'
            if name == VISITORS_GROUP:
                found = raters.filter(Q(is_visitor=True) | Q(pk__in=found))
        elif kind == "judge" and name:
            found, missing = raters.filter(kind="judge", slug=name), f'no judge "{name}"'
        else:
            raise SelectorError(f'raters "{selector}" is not people, group:NAME or judge:SLUG')
        if not found.exists():
            raise SelectorError(f"{missing} in this study")
        return found


class EventQuerySet(models.QuerySet["StudyEvent"]):
    def acts(self) -> EventQuerySet:
        """Lines that are not about signing in."""
        return self.exclude(kind__in=[word(kind) for kind in SIGNING_IN])


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def named(self, public_id: str) -> AssignmentQuerySet:
        """The assignment of a public id from outside; PostgreSQL refuses to look for a NUL."""
        return self.none() if "\0" in public_id else self.filter(public_id=public_id)

    def open(self) -> AssignmentQuerySet:
        """Planned for a judge, and not taken yet."""
        return self.filter(state=word("open"))

    def claimed(self) -> AssignmentQuerySet:
        return self.filter(state=word("claimed"))

    def live(self, now: datetime | None = None) -> AssignmentQuerySet:
        """Claimed, with the lease running."""
        return self.claimed().filter(leased_until__gt=now or timezone.now())

    def holding(self, now: datetime | None = None) -> AssignmentQuerySet:
        """Live and never finished. An undone skip no longer reserves its pair."""
        return self.live(now).filter(finished_at=None)

    def places(self, now: datetime | None = None) -> AssignmentQuerySet:
        """Return what people hold for studies themselves: the ratings that may still come."""
        return self.holding(now).filter(rater__kind="person", purpose="study").order_by()

    def without_battles(self) -> AssignmentQuerySet:
        """Return what the arena offered: battles are no tasks of a study, and have their own limits."""
        return self.exclude(comparisons__source="battle")

    def checking(self) -> AssignmentQuerySet:
        """The checks that somebody is at: what is said goes by the places of requirements."""
        return self.live().filter(kind="check")

    def lapsed(self, now: datetime | None = None) -> AssignmentQuerySet:
        """Claimed, with the lease run out."""
        return self.claimed().filter(leased_until__lte=now or timezone.now())

    def answered(self) -> AssignmentQuerySet:
        """With a current comparison, score or answer."""
        from arena.models import Answer, Comparison, Score

        own = {"assignment": OuterRef("pk"), "is_current": True}
        return self.filter(
            Q(Exists(Comparison.objects.filter(**own)))
            | Q(Exists(Score.objects.filter(**own)))
            | Q(Exists(Answer.objects.filter(**own)))
        )

    def for_page(self) -> AssignmentQuerySet:
        return self.select_related("study", "pair__prompt", "pair__first", "pair__second")


RowT = TypeVar("RowT", bound=models.Model)


class MarkedQuerySet(models.QuerySet[RowT]):
    def watermark(self) -> tuple[int, int]:
        """How many there are and the largest id: both together change with every write."""
        row: dict[str, Any] = self.aggregate(n=Count("pk"), last=models.Max("pk"))
        return row["n"], row["last"] or 0


class OpinionQuerySet(MarkedQuerySet[RowT]):
    def current(self, until: int | None = None) -> Self:
        """With ``until`` those that were current when that was the largest id."""
        if until is None:
            return self.filter(is_current=True)
        return self.filter(Q(is_current=True) | Q(revised_by__pk__gt=until), pk__lte=until)

    def independent(self) -> Self:
        """Leave out panels, whose opinions follow from those of their members."""
        return self.filter(rater__derived_from=[])

    def counted(self, study: Study, until: int | None = None) -> Self:
        """The current ones that count on the study's boards."""
        return self.counted_by(study, until).filter(study=study)

    def counted_by(self, study: Study, until: int | None = None, out: Collection[int] | None = None) -> Self:
        """Like ``counted``, for queries already bound to the study; ``out``: its ``left_out_raters``."""
        members = study.memberships.filter(left_out_at__isnull=False)
        left_out = members.values("rater") if out is None else out
        return self.current(until).filter(purpose="study").exclude(rater__in=left_out)


class ComparisonQuerySet(OpinionQuerySet["Comparison"]):
    def people_by_turn(self, study: Study, pair: int) -> Counter[int]:
        """How many ratings of people count, by turn of a pair."""
        said = self.counted_by(study).filter(pair=pair, rater__kind="person").order_by()
        return Counter(dict(said.values_list("turn").annotate(n=Count("pk"))))


class ScoreQuerySet(OpinionQuerySet["Score"]):
    pass


class AnswerQuerySet(OpinionQuerySet["Answer"]):
    pass


class QuestionQuerySet(models.QuerySet["Question"]):
    def asked(self) -> QuestionQuerySet:
        """The questions that raters are asked, in their order."""
        return self.filter(is_current=True, is_accepted=True)


class FeatureQuerySet(MarkedQuerySet["CompletionFeature"]):
    def of(self, study: Study) -> FeatureQuerySet:
        return self.filter(completion__prompt__study=study)
