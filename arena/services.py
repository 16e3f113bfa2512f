"""Writes: claim, record_comparison, skip, undo. The only door to assignments and comparisons."""

import random
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from arena import pairing
from arena.answers import LeaseLostError, NotAllowedError
from arena.models import Assignment, Comparison, Completion, Pair, Rater, Study
from arena.models.comparisons import new_seed
from arena.recording import Submission, finish, own_assignment, record_comparison, record_comparisons

__all__ = [
    "Submission",
    "claim",
    "expire_lapsed",
    "lease_planned",
    "lease_time",
    "lock_open",
    "mark_shown",
    "record_comparison",
    "record_comparisons",
    "renew",
    "skip",
    "undo",
]


@transaction.atomic
def claim(study: Study, rater: Rater) -> Assignment | None:
    """The assignment this person should work on: the one already held, or a newly leased one.

    None means nothing is left for this rater now. Claims of one study happen one after the other, so two
    raters, or two tabs of one, never get more than the wanted ratings per pair between them.
    Raises NotAllowedError where the study is closed or the rater paused.
    """
    locked = lock_open(study, rater)
    now = timezone.now()
    held = Assignment.objects.live(now).filter(study=locked, rater=rater)
    # The one reopened last comes first, then those that were on screen before: a stack.
    assignment = held.order_by("-leased_until", F("finished_at").asc(nulls_last=True), "pk").first()
    if assignment is None:
        return _offer(locked, rater, now)
    assignment.leased_until = now + lease_time()
    assignment.save(update_fields=["leased_until"])
    return assignment


def lock_open(study: Study, rater: Rater) -> Study:
    """The study, locked till the transaction ends; NotAllowedError where it is closed or the rater paused."""
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if locked.is_closed:
        raise NotAllowedError("This study is closed; no more ratings are taken.")
    if rater.paused_at:
        raise NotAllowedError("Your account is paused. Please ask the operator of this study.")
    return locked


def lease_time() -> timedelta:
    """How long a claim is kept for a person who does not answer."""
    return timedelta(minutes=settings.LEASE_MINUTES)


def lease_planned(study: Study, rater: Rater, lease: timedelta) -> Assignment | None:
    """Lease the next assignment planned for a judge, or one whose lease ran out; None where there is none.

    To be called with the study locked (lock_open).
    """
    now = timezone.now()
    waiting = Q(state=Assignment.State.OPEN) | Q(state=Assignment.State.CLAIMED, leased_until__lte=now)
    planned = Assignment.objects.filter(waiting, study=study, rater=rater, kind=Assignment.Kind.COMPARE)
    assignment = planned.order_by("pk").first()
    if assignment:
        assignment.state, assignment.leased_until = Assignment.State.CLAIMED, now + lease
        assignment.save(update_fields=["state", "leased_until"])
    return assignment


@transaction.atomic
def renew(rater: Rater, public_id: str, lease: timedelta) -> Assignment:
    """Keep a claimed assignment for ``lease`` from now on.

    Raises NotAllowedError where it is not the rater's or its study is closed, LeaseLostError where the rater
    does not hold it any more.
    """
    assignment = own_assignment(rater, public_id)
    if assignment.study.is_closed:
        raise NotAllowedError("This study is closed; no more ratings are taken.")
    if assignment.state != Assignment.State.CLAIMED:
        raise LeaseLostError(f"This assignment is not yours to keep: it is {assignment.state}.")
    assignment.leased_until = timezone.now() + lease
    assignment.save(update_fields=["leased_until"])
    return assignment


def _offer(study: Study, rater: Rater, now: datetime) -> Assignment | None:
    """Lease the next pair to a person, making the pair if nobody was offered it before."""
    seed = new_seed()
    rng = random.Random(seed)  # noqa: S311 - fairness, not secrecy
    completions: dict[int, list[int]] = {}
    for prompt, completion in (
        Completion.objects.rateable()
        .filter(prompt__study=study)
        .exclude(prompt__turns=[])
        .values_list("prompt", "pk")
    ):
        completions.setdefault(prompt, []).append(completion)
    loads = Pair.objects.loads(study, Rater.Kind.PERSON, now)
    seen = _pairs_seen(study, rater)
    prompt_loads = {
        prompt: pairing.PromptLoad(len(ids), sum(loads.get(prompt, {}).values()), len(seen.get(prompt, ())))
        for prompt, ids in completions.items()
        if len(ids) > 1
    }
    for prompt in pairing.order_prompts(prompt_loads, rng):
        chosen = pairing.choose_pair(
            completions[prompt],
            loads.get(prompt, {}),
            seen.get(prompt, set()),
            study.ratings_per_pair_people,
            rng,
        )
        if chosen:
            pair, _ = Pair.objects.get_or_create(prompt_id=prompt, first_id=chosen[0], second_id=chosen[1])
            return _lease(study, rater, pair, seed, now)
    return None


def _pairs_seen(study: Study, rater: Rater) -> dict[int, set[pairing.PairKey]]:
    """The pairs this rater was offered and has not lost by an expired lease, by prompt."""
    seen: dict[int, set[pairing.PairKey]] = {}
    offered = Assignment.objects.filter(study=study, rater=rater, pair__isnull=False).exclude(state="expired")
    rated = Comparison.objects.current().filter(study=study, rater=rater)
    for rows in (offered, rated):
        for prompt, first, second in rows.values_list("pair__prompt", "pair__first", "pair__second"):
            seen.setdefault(prompt, set()).add((first, second))
    return seen


def _lease(study: Study, rater: Rater, pair: Pair, seed: int, now: datetime) -> Assignment:
    lost = Assignment.objects.filter(rater=rater, pair=pair, repeat=0, state="expired").first()
    if lost:
        # The same assignment in the same order: an answer still to come from its old page is then this one.
        lost.state, lost.leased_until = Assignment.State.CLAIMED, now + lease_time()
        lost.save(update_fields=["state", "leased_until"])
        return lost
    shown = Assignment.objects.filter(kind=Assignment.Kind.COMPARE).exclude(state="expired")
    swapped = pairing.choose_order(
        seed,
        pair_imbalance=shown.filter(pair=pair).imbalance(),
        rater_imbalance=shown.filter(study=study, rater=rater).imbalance(),
    )
    return Assignment.objects.create(
        study=study,
        rater=rater,
        pair=pair,
        swapped=swapped,
        seed=seed,
        state=Assignment.State.CLAIMED,
        leased_until=now + lease_time(),
    )


def mark_shown(assignment: Assignment) -> None:
    """Remember when the rater first saw the pair."""
    now = timezone.now()
    Assignment.objects.filter(pk=assignment.pk, shown_at__isnull=True).update(shown_at=now)


@transaction.atomic
def skip(rater: Rater, public_id: str, reason: str = "") -> Assignment:
    """Put an assignment aside; the pair goes to somebody else. Skipping twice is skipping once."""
    assignment = own_assignment(rater, public_id)
    if assignment.state in (Assignment.State.CLAIMED, Assignment.State.EXPIRED):
        answered = Comparison.objects.current().filter(assignment=assignment).exists()
        # Skipping a reopened assignment leaves its answer as it was.
        state = Assignment.State.SUBMITTED if answered else Assignment.State.SKIPPED
        finish([assignment], state, "" if answered else reason[:500])
    return assignment


@transaction.atomic
def undo(study: Study, rater: Rater, public_id: str | None = None) -> Assignment | None:
    """Reopen the rater's last finished assignment, or the named one, to answer it anew.

    None where there is none. The earlier answer stands until a new one is submitted.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    done = Assignment.objects.filter(study=study, rater=rater, state__in=["submitted", "skipped"])
    if public_id is not None:
        done = done.named(public_id)
    assignment = done.order_by(F("finished_at").desc(nulls_last=True), "-pk").first()
    if assignment:
        assignment.state = Assignment.State.CLAIMED
        assignment.leased_until = timezone.now() + lease_time()
        assignment.save(update_fields=["state", "leased_until"])
    return assignment


@transaction.atomic
def expire_lapsed(now: datetime | None = None) -> int:
    """Take back the claims of people whose lease ran out; returns how many.

    A reopened assignment that was not answered anew goes back to what it was: answered or skipped.
    """
    people = Rater.objects.filter(kind=Rater.Kind.PERSON)
    lapsed = Assignment.objects.lapsed(now).filter(rater__in=people)
    # Locked first: an answer that arrives at this moment is waited for, and its assignment left alone.
    held = [row.pk for row in lapsed.select_for_update(no_key=True).only("pk")]
    rows = Assignment.objects.filter(pk__in=held)
    answered = Comparison.objects.current().filter(assignment__in=held).values("assignment")
    rows.filter(pk__in=answered).update(state=Assignment.State.SUBMITTED)
    rows.filter(state="claimed", finished_at__isnull=False).update(state=Assignment.State.SKIPPED)
    rows.filter(state="claimed").update(state=Assignment.State.EXPIRED)
    return len(held)
