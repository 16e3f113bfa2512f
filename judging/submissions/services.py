"""Models that somebody proposes for a study: taking proposals, deciding about them, having answers judged.

Until an operator accepts, nothing of a proposal is asked, read or shown to others.
"""

import logging
from collections.abc import Iterator, Sequence
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from arena.audit.recording import Kind, record
from arena.data.uploads import jobs
from arena.data.uploads.forms import max_bytes
from arena.models import Contestant, ImportJob, Study
from arena.pages.permissions import Visitor
from arena.people.mail import NOT_SENT, check_mailable
from arena.texts.names import is_taken, why_not
from judging.endpoints.reaching import RefusedAddressError
from judging.judges.services import JudgeError, check_url, storing
from judging.models import Author, JudgeRun, Submission
from judging.runs import lifecycle
from judging.runs.estimating import Estimate, estimate
from judging.submissions.proof import A_DAY
from judging.writing.services import configure_author, contestant_named

AT_LEAST: Final = timedelta(minutes=1)  # after a decision its own process mails it
AT_MOST: Final = timedelta(hours=1)
log = logging.getLogger(__name__)
State = Submission.State

MOST_A_DAY: Final = 3  # proposals of one account, and from one address
MOST_HELD: Final = 5  # times the largest upload: files that may wait for operators, in the whole arena
CONSENT: Final = "I may have this model evaluated. Its name, answers and ratings may be published."
CLOSED: Final = "This study takes no proposals."
EITHER: Final = "Give an address with its model, or files of answers, and not both."
OUT_OF_REACH: Final = "This arena may not ask this address. Use a public https:// address, or send answers."
NO_QUERY: Final = "Leave out everything from ? or # on. If a key is needed, the operators ask you for it."
KNOWN: Final = "This model is in the study, or was proposed and waits for the operators."
ENOUGH: Final = f"You have proposed {MOST_A_DAY} models within a day. Try again tomorrow."
FULL: Final = "Too many files wait for the operators. Try again later, or give an address."


def propose(study: Study, wanted: Submission, uploads: Sequence[jobs.Upload] = ()) -> Submission:
    """Keep a proposal for the operators; sent again, it is the one that is there. Raises JudgeError."""
    sent = study.submissions.filter(token=wanted.token)
    if known := sent.first():
        return known
    try:
        _check(study, wanted, has_files=bool(uploads))
    except JudgeError:
        if known := sent.first():  # a twin that was sent at the same moment
            return known
        raise
    kept = None
    # Before the transaction, as on SQLite all writers wait for its end.
    wanted.job = job = ImportJob.objects.create(study=study) if uploads else None
    try:
        if job:
            jobs.store(job, uploads)
        kept = _kept(study, wanted)
        return kept
    finally:
        if job and kept is not wanted:
            jobs.cancel(job)


@storing()
def _kept(study: Study, wanted: Submission) -> Submission:
    wanted.consent, wanted.study = CONSENT, Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if known := study.submissions.filter(token=wanted.token).first():
        return known
    _check(wanted.study, wanted, has_files=wanted.job is not None)
    if wanted.job:
        jobs.hold(wanted.job)
    wanted.save()
    return wanted


def _check(study: Study, wanted: Submission, *, has_files: bool) -> None:
    """Raise JudgeError for what cannot be proposed now."""
    if not study.takes_models or study.is_closed or study.is_draft:
        raise JudgeError(CLOSED)
    try:
        wanted.clean_fields(
            exclude=["study", "token", "job", "account", "contestant", "decided_by", "consent"]
        )
    except ValidationError as error:
        field, said = next(iter(error.message_dict.items()))
        raise JudgeError(said[0], field) from error
    try:
        check_mailable(wanted.contact)
    except ValidationError as error:
        raise JudgeError(error.messages[0], "contact") from error
    if why := why_not(wanted.name):
        raise JudgeError(f"The name {why}.", "name")
    if has_files == bool(wanted.base_url) or has_files == bool(wanted.model):
        raise JudgeError(EITHER, "base_url")
    if wanted.base_url:
        wanted.base_url = _address(wanted.base_url)
    waiting = study.submissions.filter(state=State.WAITING)
    names = list(waiting.values_list("name", flat=True))
    # Who is in a private study is nobody's business.
    names += study.contestants.values_list("name", flat=True) if study.is_public else ()
    same = waiting.exclude(base_url="").filter(base_url=wanted.base_url, model=wanted.model)
    if is_taken(wanted.name, names) or same.exists():
        raise JudgeError(KNOWN, "name")
    sent = Q(account__isnull=False, account=wanted.account) | (Q(origin=wanted.origin) & ~Q(origin=""))
    since = timezone.now() - timedelta(seconds=A_DAY)
    if Submission.objects.filter(sent, created_at__gt=since).count() >= MOST_A_DAY:
        raise JudgeError(ENOUGH)
    if has_files and jobs.held_bytes() >= MOST_HELD * max_bytes():
        raise JudgeError(FULL, "uploads")


def _address(url: str) -> str:
    """The address as endpoints keep it. Raises JudgeError, which names no other address to strangers."""
    try:
        check_url(url)
    except JudgeError as error:
        is_refused = isinstance(error.__cause__, RefusedAddressError)
        raise JudgeError(OUT_OF_REACH if is_refused else str(error), "base_url") from error
    if urlsplit(url).query or urlsplit(url).fragment:
        raise JudgeError(NO_QUERY, "base_url")
    return url.rstrip("/")


@transaction.atomic
def decline(row: Submission, reason: str, by: Visitor | None) -> None:
    """Raises JudgeError."""
    if not reason.strip():
        raise JudgeError("Say why. The contact reads it.", "reason")
    _decide(row, State.DECLINED, by, reason.strip())
    if row.job:
        transaction.on_commit(partial(jobs.cancel, row.job))


@storing()
def accept(row: Submission, wanted: Author | None, by: Visitor | None, name: str = "") -> Contestant:
    """Make the proposed model one of the study: asked as ``wanted``, or with held files, which are checked.

    Raises JudgeError.
    """
    study = Study.objects.select_for_update(no_key=True).get(pk=row.study_id)
    _decide(row, State.ACCEPTED, by)
    if study.is_closed:
        raise JudgeError(f"{study.name} is closed. Reopen it first.")
    remedy = "Give another name" if name else "Rename that one first, or decline"
    name = name or row.name
    if is_taken(name, study.contestants.values_list("name", flat=True)):
        raise JudgeError(f"The study has a model {name}, or one that reads like it. {remedy}.", "name")
    contestant = contestant_named(study, name)
    contestant.provisional, contestant.licence = True, row.licence
    contestant.save(update_fields=["provisional", "licence"])
    Submission.objects.filter(pk=row.pk).update(contestant=contestant)
    if wanted:
        configure_author(study, name, wanted, by)
    elif row.job is None or not jobs.release(row.job, contestant, by):
        raise JudgeError("The files are not there any more. Decline the proposal.")
    return contestant


def _decide(row: Submission, state: State, by: Visitor | None, reason: str = "") -> None:
    """Keep the first decision, on record, and mail it once. Raises JudgeError for any other."""
    # On condition of the state before, so that of two operators one decides.
    waiting = Submission.objects.filter(pk=row.pk, state=State.WAITING)
    if not waiting.update(state=state, reason=reason, decided_by=by, decided_at=timezone.now()):
        row.refresh_from_db()
        raise JudgeError(f"{row.decided_by or 'Somebody'} has {row.state} this proposal already.")
    record(Kind.PROPOSAL, by, f"Proposal {row.pk} {state}: {row.name}. {reason}".strip(), study=row.study)
    transaction.on_commit(partial(_mail, row.pk))


def _mail(pk: int) -> None:
    """Tell the contact. The mail holds nothing that a stranger wrote, as the contact may be another's."""
    row = Submission.objects.select_related("study").get(pk=pk)
    if not (settings.SENDS_MAIL and row.contact):
        return
    said = f"Proposal {pk}, a model for the study {row.study.name}, was {row.state}."
    parts = [said, row.reason, settings.PUBLIC_URL + row.study.get_absolute_url()]
    try:
        send_mail(f"Your model was {row.state}", "\n\n".join(filter(None, parts)), None, [row.contact])
    except NOT_SENT:
        log.exception("A mail about a proposal could not be sent. Look at EMAIL_URL.")
    else:
        Submission.objects.filter(pk=pk).update(mailed_at=timezone.now())


def mail_again() -> None:
    """Mail recent decisions whose mail was lost with its process, or that no server took."""
    now = timezone.now()
    recent = Q(decided_at__lt=now - AT_LEAST, decided_at__gt=now - AT_MOST)
    decided = Submission.objects.filter(recent, mailed_at=None).exclude(contact="")
    for pk in decided.order_by("pk").values_list("pk", flat=True) if settings.SENDS_MAIL else ():
        _mail(pk)


OF_RUN: Final = ("judge", "both_orders", "controls", "remote")


def runs_about(contestant: Contestant) -> Iterator[JudgeRun]:
    """A run about this contestant by each judge of the study, like the judge's last one; none is stored."""
    rated = JudgeRun.objects.filter(study=contestant.study, judge__active=True).order_by()
    last = rated.values("judge").annotate(last=Max("pk")).values("last")
    for run in JudgeRun.objects.whole().filter(pk__in=last).order_by("judge__rater__name"):
        like = {name: getattr(run, name) for name in OF_RUN}
        yield JudgeRun(study=run.study, contestant=contestant, kind=JudgeRun.Kind.EXTEND, **like)


def planned(contestant: Contestant) -> list[tuple[JudgeRun, Estimate | None, str]]:
    """These runs, each with what it takes, or why it cannot start."""
    return [(run, *_taken(run)) for run in runs_about(contestant)]


def _taken(run: JudgeRun) -> tuple[Estimate | None, str]:
    try:
        taken = estimate(run.study, run.judge, lifecycle.wanted(run), remote=run.remote)
    except JudgeError as error:
        return None, str(error)
    is_empty = not (taken.assignments or taken.identical)
    return taken, lifecycle.nothing_to_do(run.study, run.judge, run.kind) if is_empty else ""


def start_runs(contestant: Contestant, budget: Decimal | None, by: Visitor | None) -> list[str]:
    """Start these runs, each with the budget; why some did not start."""
    refused = []
    for run in runs_about(contestant):
        like = {name: getattr(run, name) for name in ("study", "kind", "contestant", *OF_RUN)}
        try:
            lifecycle.start_run(**like, budget=budget, created_by=by)
        except JudgeError as error:
            refused.append(str(error))
    return refused
