"""What raters do with assignments beside answering."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final, NamedTuple

from django.db import connection, transaction
from django.db.models import Case, F, Value, When
from django.db.models.functions import Greatest
from django.utils import timezone

from arena.models import Assignment, Comparison, Flag, Membership, Pair, Purpose, Rater, Role, Study
from arena.models.comparisons import new_seed
from arena.models.querysets import AssignmentQuerySet, ComparisonQuerySet
from arena.rating import pair_queue, training
from arena.rating.accounts import rater_of
from arena.rating.limits import Allowance, allowance
from arena.rating.offering import AllTakenError, lease_time, offer_pair, turns_follow
from arena.rating.offering_texts import TASKS, asked_later, knows_names, offer_text, opens_more, text_tasks
from arena.rating.opinions import InvalidAnswerError, LeaseLostError, NotAllowedError
from arena.rating.pair_queue import QueueShortError
from arena.rating.publication import stays
from arena.rating.recording import finish, own_assignment
from arena.rules.pairing import choose_order

HAND_OVER = timedelta(seconds=1)
"""A lease that ends sooner is not renewed: another rater's claim may see it end."""

TURNS: Final = 20  # tries to claim while others are given every free pair
TURN: Final = 0.05  # seconds from one to the next

LONGEST_SEEN: Final = 86_400.0  # seconds; what a page says may be any number

TEXTS_OF_TASK = ("pair__prompt", "pair__first", "pair__second", "completion__prompt")


class Claimed(NamedTuple):
    """The study as it is, the assignment a person should work on, None if nothing is left, and their limit.

    allowance: what the study takes from them; None if it has no limit.
    """

    study: Study
    assignment: Assignment | None
    allowance: Allowance | None


def claim(study: Study, rater: Rater, ahead: str | None = None, seen: float = 0) -> Assignment | None:
    """The assignment this person should work on, held already or leased now; None if nothing is left.

    ahead: public id of the assignment on screen since ``seen`` seconds, to get the one after it. Raises
    NotAllowedError.
    """
    claimed = claim_task(study, rater, ahead, seen)
    if claimed.assignment is None and claimed.allowance and claimed.allowance.is_used_up():
        raise NotAllowedError(claimed.allowance.why)
    return claimed.assignment


def claim_task(
    study: Study,
    rater: Rater,
    ahead: str | None = None,
    seen: float = 0,
    membership: Membership | None = None,
) -> Claimed:
    """``claim`` with what else a page tells; ``membership``: the rater's, where known.

    Raises NotAllowedError before anything is written, or Study.DoesNotExist.
    """
    for _ in range(TURNS):
        try:
            with transaction.atomic():
                return _claim(lock_to_rate(study, rater), rater, ahead, seen, membership)
        except QueueShortError:
            pair_queue.fill(study)
        except AllTakenError:
            time.sleep(TURN)
    raise NotAllowedError("Many people are being given pairs at this moment. Please try again.")


def _claim(
    study: Study, rater: Rater, ahead: str | None, seen: float, membership: Membership | None
) -> Claimed:
    refuse_closed(study, rater)
    refuse_unwelcome(study, rater, membership)
    now = timezone.now()
    on_screen, claimed = _in_hand(study, rater, ahead)
    if on_screen:
        mark_shown(on_screen, seen)
    allowed = allowance(study, rater)
    held = [each.pk for each in claimed if each != on_screen and each.kind in study.tasks]
    assignment = _first_held(held, now) if held else None
    if assignment is None:
        if allowed is None or not allowed.is_used_up(held=_is_to_answer(on_screen)):
            assignment = _offer(study, rater, now, on_screen)
        return Claimed(study, assignment, allowed)
    if (ahead is None or assignment.shown_at is None) and assignment.leased_until > now + HAND_OVER:
        # One that was on screen keeps its place in the stack while it waits behind the one brought back.
        assignment.leased_until = now + lease_time()
        assignment.save(update_fields=["leased_until"])
    return Claimed(study, assignment, allowed)


def _in_hand(study: Study, rater: Rater, ahead: str | None) -> tuple[Assignment | None, list[Assignment]]:
    """Return what is on screen, even if its lease ran out, and all that is claimed but for adjudications."""
    mine = Assignment.objects.filter(study=study, rater=rater)
    shown = mine.named(ahead).first() if ahead else None
    return shown, list(mine.claimed().exclude(purpose=Purpose.ADJUDICATION))


def _is_to_answer(on_screen: Assignment | None) -> bool:
    """Return True if what is on screen has no answer yet; what was brought back counts as answered."""
    return on_screen is not None and not on_screen.is_finished and on_screen.finished_at is None


def _first_held(held: Sequence[int], now: datetime) -> Any:
    """The one reopened last comes first, then those that were on screen before: a stack.

    What was fetched ahead and not seen yet comes after them.
    """
    unseen = Case(When(shown_at=None, finished_at=None, then=1), default=0)
    stack = Assignment.objects.live(now).filter(pk__in=held).select_related(*TEXTS_OF_TASK)
    order = (unseen, "-leased_until", F("finished_at").asc(nulls_last=True), "pk")
    return stack.order_by(*order).first()


def _offer(study: Study, rater: Rater, now: datetime, on_screen: Assignment | None) -> Assignment | None:
    """The next task of the study, in its order; tasks about texts that follow each other go together."""
    if on_screen and (opens_more(study, on_screen) or turns_follow(study, on_screen)):
        return None
    for about_texts, group in groupby(study.tasks, TASKS.__contains__):
        if about_texts:
            offered = offer_text(study, rater, list(group), now, on_screen)
        else:
            offered = offer_pair(study, rater, now, on_screen)
        if offered:
            return offered
    return None


def others_hold_some(study: Study, rater: Rater) -> bool:
    """Return True if other people hold tasks of the study, which may come back."""
    # Of all studies: by its study SQLite would read all assignments.
    held = Assignment.objects.places().values_list("study", "rater")
    return any(of == study.pk and by != rater.pk for of, by in held)


_TO_RATE: Final = """
    SELECT study.* FROM arena_study study JOIN arena_rater rater ON rater.id = %s
    WHERE study.id = %s AND rater.anonymised_at IS NULL"""
# FOR SHARE: raters do not wait for each other, but for those who change the study, and those for raters.
# Django cannot say it. Two tabs of one rater take turns.
_LOCK: Final = " FOR SHARE OF study FOR NO KEY UPDATE OF rater"


def lock_to_rate(study: Study, rater: Rater) -> Study:
    """The study as it is now. Until the transaction ends nobody changes it, or claims for this rater.

    That no pair gets more than the wanted ratings is held by the lock on its row (``offer_pair``). To be
    taken before any other lock. Raises Study.DoesNotExist if it was deleted meanwhile, or the rater's details
    removed: a comment written after that would stay.
    """
    lock = _LOCK if connection.vendor == "postgresql" else ""  # SQLite has one writer at a time
    for locked in Study.objects.raw(_TO_RATE + lock, [rater.pk, study.pk]):
        return locked
    raise Study.DoesNotExist


def lock_open(study: Study, rater: Rater) -> Study:
    """The study, locked for the caller alone; raises NotAllowedError if it is closed or the rater paused."""
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    refuse_closed(locked, rater)
    return locked


def refuse_closed(study: Study, rater: Rater) -> None:
    """Raise NotAllowedError if the study is closed or the rater paused."""
    if study.is_closed:
        raise NotAllowedError("This study is closed and takes no more ratings.")
    if rater.paused_at:
        raise NotAllowedError("Your account is paused. Please ask the operator of this study.")


def refuse_unwelcome(study: Study, rater: Rater, membership: Membership | None = None) -> None:
    """Raise NotAllowedError if the person is offered nothing now: draft, paused, viewer, or not trained."""
    if study.is_draft:
        raise NotAllowedError("This study is not open yet. Please come back later.")
    if study.paused_at:
        raise NotAllowedError("This study is paused. Your ratings are kept. Please come back later.")
    membership = membership or Membership.objects.filter(study=study, rater=rater).first()
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
    """Lease a lapsed assignment of a kind, or the next one that is planned for a judge.

    To be called with the study locked.
    """
    planned = Assignment.objects.filter(study=study, rater=rater, kind=kind)
    assignment = (
        planned.lapsed().order_by("leased_until").first() or planned.open().order_by("created_at").first()
    )
    if assignment:
        assignment.lease(lease)
    return assignment


@transaction.atomic
def renew(rater: Rater, public_id: str, lease: timedelta) -> Assignment:
    """Keep a claimed assignment for ``lease`` from now. Raises NotAllowedError or LeaseLostError."""
    assignment = own_assignment(rater, public_id)
    if assignment.study.is_closed:
        raise NotAllowedError("This study is closed and takes no more ratings.")
    if assignment.state != Assignment.State.CLAIMED:
        raise LeaseLostError(f"This assignment is not yours to keep: it is {assignment.state}.")
    assignment.lease(lease)
    return assignment


def mark_shown(assignment: Assignment, seen: float = 0) -> None:
    """Record that the pair was first seen ``seen`` seconds ago, and renew its lease unless it has run out."""
    if assignment.shown_at is not None:
        return
    now = timezone.now()
    first_seen = now - timedelta(seconds=min(max(0.0, seen), LONGEST_SEEN))
    renewed = When(
        state=Assignment.State.CLAIMED, leased_until__gt=now + HAND_OVER, then=Value(now + lease_time())
    )
    Assignment.objects.filter(pk=assignment.pk, shown_at__isnull=True).update(
        shown_at=Greatest(F("created_at"), Value(first_seen)),
        leased_until=Case(renewed, default=F("leased_until")),
    )


@transaction.atomic
def skip(rater: Rater, public_id: str, reason: str = "") -> Assignment:
    """Put an assignment aside. Skipping twice is skipping once."""
    assignment = own_assignment(rater, public_id)
    _skip(assignment, reason)
    return assignment


def _skip(assignment: Assignment, reason: str) -> None:
    if assignment.state in (Assignment.State.CLAIMED, Assignment.State.EXPIRED):
        answered = Assignment.objects.answered().filter(pk=assignment.pk).exists()
        # Skipping a reopened assignment leaves its answer as it was.
        state = Assignment.State.SUBMITTED if answered else Assignment.State.SKIPPED
        finish([assignment], state, "" if answered else reason[:500])


@transaction.atomic
def flag(rater: Rater, public_id: str, reason: str, comment: str = "") -> Flag:
    """Report what is wrong with an assignment, and skip it. Flagging twice is flagging once.

    Raises NotAllowedError, of one that was answered too, or InvalidAnswerError.
    """
    if reason not in Flag.Reason.values:
        raise InvalidAnswerError("reason", f"Reason must be one of {', '.join(Flag.Reason.values)}.")
    assignment = own_assignment(rater, public_id)
    if known := Flag.objects.filter(assignment=assignment).first():
        return known
    if assignment.state == Assignment.State.SUBMITTED:
        raise NotAllowedError("You have rated this already, so it was not flagged. Undo your rating first.")
    _skip(assignment, f"flagged: {reason}")
    return Flag.objects.create(assignment=assignment, reason=reason, comment=comment)


@transaction.atomic
def undo(study: Study, rater: Rater, public_id: str | None = None) -> Assignment | None:
    """Reopen the rater's last finished assignment, or the named one, and take back its flag.

    None if there is none. The earlier answer stands until there is a new one. Raises NotAllowedError if what
    the rater saw since would sway a new one, if the leaderboard counts the earlier one, or if it was skipped
    and the study takes no more from this rater.
    """
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    done = _finished(study, rater)
    if public_id is not None:
        done = done.named(public_id)
    assignment = done.select_for_update(no_key=True).first()
    if assignment:
        if stays(assignment):
            raise NotAllowedError(PUBLISHED)
        if why := why_swayed(locked, assignment):
            raise NotAllowedError(why)
        allowed = allowance(locked, rater) if assignment.state == Assignment.State.SKIPPED else None
        if allowed and allowed.why:
            raise NotAllowedError(allowed.why)
        assignment.lease(lease_time())
        Flag.objects.filter(assignment=assignment).delete()
    return assignment


PUBLISHED: Final = "Your rating already counts on the leaderboard, so you can no longer change it."

NAMED: Final = (
    "You cannot change a rating after you have seen the names. Only what you skipped before that comes back."
)
SEEN_ON: Final = "You cannot change the rating of a turn after you have seen the next one."
SWAYED: Final[dict[str, str]] = {
    Assignment.Kind.SCORE: "You cannot change a score after you have seen the requirements.",
    Assignment.Kind.CHECK: "You cannot change what you checked after you were asked for a score.",
}


def _finished(study: Study, rater: Rater) -> AssignmentQuerySet:
    """Return what a rater answered or skipped on the rating page, the last first."""
    done = Assignment.objects.filter(study=study, rater=rater, state__in=["submitted", "skipped"])
    done = done.exclude(purpose=Purpose.ADJUDICATION).without_battles()
    return done.order_by(F("finished_at").desc(nulls_last=True), "-pk")


def is_last_swayed(study: Study, rater: Rater) -> bool:
    """Return True if ``undo`` would refuse what a rater did last because of what was shown since."""
    if not (study.reveal_names or text_tasks(study) or study.rated_turns == Study.Rated.EACH):
        return False
    last = _finished(study, rater).first()
    return last is not None and bool(why_swayed(study, last))


def why_swayed(study: Study, finished: Assignment) -> str:
    """Why a new answer would be swayed: by names, or by what else is asked about a text; empty if not."""
    answered = finished.state == Assignment.State.SUBMITTED
    if study.reveal_names and (answered if finished.pair_id else knows_names(finished)):
        return NAMED
    if answered and finished.turn:
        same = {name: getattr(finished, name) for name in ("rater_id", "pair_id", "repeat")}
        return SEEN_ON if Assignment.objects.filter(**same, turn__gt=finished.turn).exists() else ""
    if not answered or finished.pair_id:
        return ""
    mine = Assignment.objects.filter(rater=finished.rater_id, completion=finished.completion_id)
    later = mine.filter(kind__in=asked_later(study, finished.kind))
    return SWAYED[finished.kind] if later.exists() else ""


@transaction.atomic
def expire_lapsed(now: datetime | None = None) -> int:
    """Take back people's lapsed claims; returns how many. Reopened ones are answered or skipped again."""
    lapsed = Assignment.objects.lapsed(now)
    found = list(lapsed.filter(rater__kind=Rater.Kind.PERSON).order_by().values_list("pk", flat=True))
    # Locked first: an answer that arrives at this moment is waited for, and its assignment left alone.
    held = [row.pk for row in lapsed.filter(pk__in=found).select_for_update(no_key=True).only("pk")]
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
        own.lease(lease_time())
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
