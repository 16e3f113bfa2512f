"""How many tasks a study takes from one person, in all and on one day (UTC)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time

from django.db.models import Count, Q
from django.template.defaultfilters import pluralize
from django.utils import timezone

from arena.models import Assignment, Purpose, Rater, Study
from arena.models.querysets import AssignmentQuerySet
from arena.rating.tasks import deed, done


@dataclass(frozen=True)
class Allowance:
    """What a study takes from one person, and what it has from them: in all and of today.

    A task counts once it is answered, on the day of its last answer, and while it is brought back. Skips,
    training and settling do not count; hidden repeats and checks do.
    """

    study: Study
    given: int = 0
    given_today: int = 0

    @property
    def left(self) -> int | None:
        """Return what the study still takes in all; None if that has no limit."""
        return _less(self.study.rater_limit, self.given)

    @property
    def left_today(self) -> int | None:
        return _less(self.study.daily_limit, self.given_today)

    def is_used_up(self, held: int = 0) -> bool:
        """Return True if no more is offered to somebody who holds as many tasks."""
        return any(left is not None and left <= held for left in (self.left, self.left_today))

    @property
    def why(self) -> str:
        """Why no more is offered; empty if something is."""
        if self.left == 0:
            said = done(self.study, self.given)
            return f"You have {said}. This study takes at most {self.study.rater_limit} from each person."
        if self.left_today == 0:
            said = done(self.study, self.given_today)
            return (
                f"You have {said} today. This study takes at most {self.study.daily_limit} a day from each "
                "person. Come back after 00:00 UTC."
            )
        return ""

    @property
    def in_short(self) -> str:
        """``why`` for operators, in a word or two."""
        return "limit reached" if self.left == 0 else "daily limit reached" if self.left_today == 0 else ""


def told(study: Study) -> str:
    """Return what the study takes from one person, for those who may join; empty if it has no limit."""
    _, noun = deed(study)
    limits = [
        f"{limit:,} {noun}{pluralize(limit)}{when}"
        for limit, when in ((study.rater_limit, ""), (study.daily_limit, " a day"))
        if limit is not None
    ]
    return f"You get at most {', and '.join(limits)}." if limits else ""


def _less(limit: int | None, given: int) -> int | None:
    return None if limit is None else max(0, limit - given)


def is_limited(study: Study) -> bool:
    return study.rater_limit is not None or study.daily_limit is not None


def allowance(study: Study, rater: Rater) -> Allowance | None:
    """Return what the study takes from this person; None, without a query, if it has no limit."""
    return allowances([study], rater).get(study.pk)


def allowances(studies: Iterable[Study], rater: Rater) -> dict[int, Allowance]:
    """Return what studies with a limit take from this person, by study id; one query, if any has one."""
    limited = [study for study in studies if is_limited(study)]
    given = _given(Assignment.objects.filter(study__in=limited, rater=rater), "study") if limited else {}
    return {study.pk: Allowance(study, *given.get(study.pk, ())) for study in limited}


def by_rater(study: Study) -> dict[int, Allowance]:
    """Return what a study with a limit takes from those who gave something, by rater id."""
    given = _given(Assignment.objects.filter(study=study), "rater") if is_limited(study) else {}
    return {rater: Allowance(study, *numbers) for rater, numbers in given.items()}


def _given(offered: AssignmentQuerySet, by: str) -> dict[int, tuple[int, int]]:
    """How many of these were answered, in all and today."""
    midnight = datetime.combine(timezone.now().date(), time.min, UTC)
    answered = offered.filter(
        state__in=[Assignment.State.SUBMITTED, Assignment.State.CLAIMED], finished_at__isnull=False
    ).exclude(purpose=Purpose.ADJUDICATION)
    today = Count("pk", filter=Q(finished_at__gte=midnight))
    rows = answered.without_battles().order_by().values_list(by).annotate(in_all=Count("pk"), today=today)
    return {key: (in_all, of_today) for key, in_all, of_today in rows}
