"""What raters do with assignments beside answering."""

from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from django.db import transaction
from django.db.models import Case, F, Q, When
from django.utils import timezone

from arena.models import Assignment, Comparison, Flag, Membership, Pair, Purpose, Rater, Role, Study
from arena.models.comparisons import new_seed
from arena.models.querysets import ComparisonQuerySet
from arena.people.joining import rater_of
from arena.rating import training
from arena.rating.offering import lease_time, offer_pair
from arena.rating.offering_texts import TASKS, asked_later, offer_text, opens_more
from arena.rating.opinions import InvalidAnswerError, LeaseLostError, NotAllowedError
from arena.rating.pairing import choose_order
from arena.rating.recording import finish, own_assignment

HAND_OVER = timedelta(seconds=1)
"""A lease that ends sooner is not renewed without the study's lock: a claim may see it end."""


@transaction.atomic
def claim(study: Study, rater: Rater, ahead: str | None = None, seen: float = 0) -> Assignment | None:
    """The assignment this person should work on, held already or leased now; None if nothing is left.

    ahead: public id of the assignment on screen since ``seen`` seconds, to get the one after it. The study's
    lock keeps two raters, or two tabs of one, from getting more than the wanted ratings per pair. Raises
    NotAllowedError.
    """
    locked = lock_open(study, rater)
    refuse_unwelcome(locked, rater)
    now = timezone.now()
    held = Assignment.objects.live(now).filter(study=locked, rater=rater)
    # The one reopened last comes first, then those that were on screen before: a stack. What was fetched
    # ahead and not seen yet comes after them.
    unseen = Case(When(shown_at=None, finished_at=None, then=1), default=0)
    stack = held.exclude(purpose=Purpose.ADJUDICATION).order_by(
        unseen, "-leased_until", F("finished_at").asc(nulls_last=True), "pk"
    )
    found = {each.public_id: each for each in stack}
    on_screen = None
    if ahead is not None:
        mine = Assignment.objects.named(ahead).filter(study=locked, rater=rater)
        on_screen = found.pop(ahead, None) or mine.first()
    if on_screen:
        mark_shown(on_screen, seen)
    assignment = next(iter(found.values()), None)
    if assignment is None:
        return _offer(locked, rater, now, on_screen)
    if ahead is None or assignment.shown_at is None:
        # One that was on screen keeps its place in the stack while it waits behind the one brought back.
        assignment.leased_until = now + lease_time()
        assignment.save(update_fields=["leased_until"])
    return assignment


def _offer(study: Study, rater: Rater, now: datetime, on_screen: Assignment | None) -> Assignment | None:
    """The next task of the study, in its order; tasks about texts that follow each other go together."""
    if on_screen and opens_more(study, on_screen):
        return None
    for about_texts, group in groupby(study.tasks, TASKS.__contains__):
        if about_texts:
            offered = offer_text(study, rater, list(group), now, on_screen)
        else:
            offered = offer_pair(study, rater, now, on_screen.pair_id if on_screen else None)
        if offered:
            return offered
    return None


def lock_open(study: Study, rater: Rater) -> Study:
    """The study, locked; raises NotAllowedError if it is closed or the rater paused."""
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if locked.is_closed:
        raise NotAllowedError("This study is closed and takes no more ratings.")
    if rater.paused_at:
        raise NotAllowedError("Your account is paused. Please ask the operator of this study.")
    return locked


def refuse_unwelcome(study: Study, rater: Rater) -> None:
    """Raise NotAllowedError if the person is offered nothing now: draft, paused, viewer, or not trained."""
    if study.is_draft:
        raise NotAllowedError("This study is not open yet. Please come back later.")
    if study.paused_at:
        raise NotAllowedError("This study is paused. Your ratings are kept. Please come back later.")
    membership = Membership.objects.filter(study=study, rater=rater).first()
    if membership is None:
        return
    if membership.paused_at:
        raise NotAllowedError("The operator has paused you in this study. Please ask why.")
    if membership.role == Role.VIEWER:
        raise NotAllowedError("You can see this study but not rate in it. Please ask its operator.")
    membership.study = study
    if training.needed(membership):
        raise NotAllowedError("Please do the training of this study before you rate.")


def lease_planned(study: Study, rater: Rater, kind: str, lease: timedelta) -> Assignment | None:
    """Lease the next assignment of a kind that is planned for a judge, or a lapsed one.

    To be called with the study locked.
    """
    now = timezone.now()
    waiting = Q(state=Assignment.State.OPEN) | Q(state=Assignment.State.CLAIMED, leased_until__lte=now)
    planned = Assignment.objects.filter(waiting, study=study, rater=rater, kind=kind)
    assignment = planned.order_by("pk").first()
    if assignment:
        assignment.state, assignment.leased_until = Assignment.State.CLAIMED, now + lease
        assignment.save(update_fields=["state", "leased_until"])
    return assignment


@transaction.atomic
def renew(rater: Rater, public_id: str, lease: timedelta) -> Assignment:
    """Keep a claimed assignment for ``lease`` from now. Raises NotAllowedError or LeaseLostError."""
    assignment = own_assignment(rater, public_id)
    if assignment.study.is_closed:
        raise NotAllowedError("This study is closed and takes no more ratings.")
    if assignment.state != Assignment.State.CLAIMED:
        raise LeaseLostError(f"This assignment is not yours to keep: it is {assignment.state}.")
    assignment.leased_until = timezone.now() + lease
    assignment.save(update_fields=["leased_until"])
    return assignment


def mark_shown(assignment: Assignment, seen: float = 0) -> None:
    """Record that the pair was first seen ``seen`` seconds ago, and renew its lease unless it has run out."""
    if assignment.shown_at is not None:
        return
    now = timezone.now()
    since = min(seen, (now - assignment.created_at).total_seconds())
    held = When(state=Assignment.State.CLAIMED, leased_until__gt=now + HAND_OVER, then=now + lease_time())
    Assignment.objects.filter(pk=assignment.pk, shown_at__isnull=True).update(
        shown_at=now - timedelta(seconds=max(0.0, since)),
        leased_until=Case(held, default=F("leased_until")),
    )


@transaction.atomic
def skip(rater: Rater, public_id: str, reason: str = "") -> Assignment:
    """Put an assignment aside. Skipping twice is skipping once."""
    assignment = own_assignment(rater, public_id)
    if assignment.state in (Assignment.State.CLAIMED, Assignment.State.EXPIRED):
        answered = Assignment.objects.answered().filter(pk=assignment.pk).exists()
        # Skipping a reopened assignment leaves its answer as it was.
        state = Assignment.State.SUBMITTED if answered else Assignment.State.SKIPPED
        finish([assignment], state, "" if answered else reason[:500])
    return assignment


@transaction.atomic
def flag(rater: Rater, public_id: str, reason: str, comment: str = "") -> Flag:
    """Report what is wrong with an assignment, and skip it. Flagging twice is flagging once.

    Raises NotAllowedError or InvalidAnswerError.
    """
    if reason not in Flag.Reason.values:
        raise InvalidAnswerError("reason", f"Reason must be one of {', '.join(Flag.Reason.values)}.")
    assignment = skip(rater, public_id, f"flagged: {reason}")
    found, _ = Flag.objects.get_or_create(
        assignment=assignment, defaults={"reason": reason, "comment": comment}
    )
    return found


@transaction.atomic
def undo(study: Study, rater: Rater, public_id: str | None = None) -> Assignment | None:
    """Reopen the rater's last finished assignment, or the named one, and take back its flag.

    None if there is none. The earlier answer stands until there is a new one. Raises NotAllowedError if what
    the rater saw since would sway a new one.
    """
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    done = Assignment.objects.filter(study=study, rater=rater, state__in=["submitted", "skipped"])
    done = done.exclude(purpose=Purpose.ADJUDICATION)
    if public_id is not None:
        done = done.named(public_id)
    assignment = done.order_by(F("finished_at").desc(nulls_last=True), "-pk").first()
    if assignment:
        if assignment.state == Assignment.State.SUBMITTED and is_swayed(locked, assignment):
            raise NotAllowedError(SWAYED[assignment.kind])
        assignment.state = Assignment.State.CLAIMED
        assignment.leased_until = timezone.now() + lease_time()
        assignment.save(update_fields=["state", "leased_until"])
        Flag.objects.filter(assignment=assignment).delete()
    return assignment


SWAYED: Final[dict[str, str]] = {
    Assignment.Kind.COMPARE: "You cannot change a rating after you have seen the names. "
    "Only a skipped pair comes back.",
    Assignment.Kind.SCORE: "You cannot change a score after you have seen the requirements.",
    Assignment.Kind.CHECK: "You cannot change what you checked after you were asked for a score.",
}


def is_swayed(study: Study, answered: Assignment) -> bool:
    """Whether a new answer would be given knowing more: the authors, or what else is asked about a text."""
    if answered.kind == Assignment.Kind.COMPARE:
        return study.reveal_names
    mine = Assignment.objects.filter(rater=answered.rater_id, completion=answered.completion_id)
    return mine.filter(kind__in=asked_later(study, answered.kind)).exists()


@transaction.atomic
def expire_lapsed(now: datetime | None = None) -> int:
    """Take back people's lapsed claims; returns how many. Reopened ones are answered or skipped again."""
    people = Rater.objects.filter(kind=Rater.Kind.PERSON)
    lapsed = Assignment.objects.lapsed(now).filter(rater__in=people)
    # Locked first: an answer that arrives at this moment is waited for, and its assignment left alone.
    held = [row.pk for row in lapsed.select_for_update(no_key=True).only("pk")]
    rows = Assignment.objects.filter(pk__in=held)
    rows.answered().update(state=Assignment.State.SUBMITTED)
    rows.filter(state="claimed", finished_at__isnull=False).update(state=Assignment.State.SKIPPED)
    rows.filter(state="claimed").update(state=Assignment.State.EXPIRED)
    return len(held)


def adjudications(study: Study) -> ComparisonQuerySet:
    given = Comparison.objects.current().filter(study=study, purpose=Purpose.ADJUDICATION)
    return given.exclude(rating=None).order_by("-pk")


@transaction.atomic
def claim_adjudication(study: Study, user: Any, pair: Pair) -> Assignment:
    """The assignment by which this person settles a pair, as before or leased now. Raises NotAllowedError."""
    rater = rater_of(user)
    locked = lock_open(study, rater)
    mine = Assignment.objects.filter(rater=rater, pair=pair)
    own = mine.filter(purpose=Purpose.ADJUDICATION).order_by("-pk").first()
    if own is None:
        return _new_adjudication(locked, rater, pair)
    if own.state != Assignment.State.SUBMITTED:
        own.state, own.leased_until = Assignment.State.CLAIMED, timezone.now() + lease_time()
        own.save(update_fields=["state", "leased_until"])
    return own


def _new_adjudication(study: Study, rater: Rater, pair: Pair) -> Assignment:
    earlier = [
        *Assignment.objects.filter(rater=rater, pair=pair).order_by("pk").values_list("repeat", "swapped"),
        *Comparison.objects.current().filter(rater=rater, pair=pair).values_list("repeat", "swapped"),
    ]
    seed = new_seed()
    swapped = not earlier[-1][1] if earlier else choose_order(seed)
    return Assignment.objects.create(
        study=study,
        rater=rater,
        pair=pair,
        swapped=swapped,
        seed=seed,
        repeat=max(repeat for repeat, _ in earlier) + 1 if earlier else 0,
        purpose=Purpose.ADJUDICATION,
        state=Assignment.State.CLAIMED,
        leased_until=timezone.now() + lease_time(),
    )
