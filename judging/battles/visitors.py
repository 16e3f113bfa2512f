"""Who battles: people with an account as the rater they are, others as a visitor that a cookie names."""

import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from arena.models import Membership, Rater, Role, Study
from arena.process.proof import origin_of
from arena.rating.accounts import rater_of
from judging.battles.errors import BattleError
from judging.battles.starting import CLOSED
from judging.models import BattleRules

COOKIE: Final = "visitor"
PATH: Final = "/battle/"  # the only pages it is sent to
KEPT: Final = timedelta(days=180)
SALT: Final = "judging.battles.visitor"
OpenTo = BattleRules.OpenTo

MEMBERS: Final = "Only members of this study can battle. Ask its operators for an invitation."
SIGN_IN: Final = "Sign in to battle in this study."
PAUSED: Final = "The operators have paused you in this study."
AGREE: Final = "Agree to the text on what is stored, then begin."


def met(request: HttpRequest, rules: BattleRules) -> tuple[Rater | None, str]:
    """Who battles; else None, and why they cannot: ``AGREE`` if they can once they have agreed."""
    if why := _why_not_open(request, rules):
        return None, why
    rater = known(request)
    membership = Membership.objects.filter(study=rules.study_id, rater=rater).first() if rater else None
    if rater and (rater.paused_at or (membership and membership.paused_at)):
        return None, PAUSED
    return (rater, "") if membership and _agreed(membership, rules) else (None, AGREE)


def admit(request: HttpRequest, response: HttpResponse, rules: BattleRules) -> Rater:
    """Let somebody in who has agreed; a stranger becomes a visitor, whom a cookie of the response names.

    Raises BattleError.
    """
    if (why := met(request, rules)[1]) not in ("", AGREE):
        raise BattleError(why)
    with transaction.atomic():
        rater = known(request) or _new_visitor(request)
        _agree(rater, rules)
    if rater.is_visitor:
        _name(response, rater)
    return rater


def address(request: HttpRequest, rules: BattleRules) -> str:
    """A digest of where a request comes from, with a salt that is thrown away every day.

    So today's battles from one address are counted together, and nobody can link them to those of another
    day or to the address.
    """
    if rules.salted_on != timezone.localdate():
        renew_salts()
        rules.refresh_from_db(fields=["salt", "salted_on"])
    return origin_of(request, f"judging.battles.address.{bytes(rules.salt).hex()}")


def renew_salts() -> int:
    """Throw away the salts of earlier days, also where nobody asks; how many."""
    today = timezone.localdate()
    stale = BattleRules.objects.exclude(salted_on=today)
    return sum(
        stale.filter(pk=pk).update(salt=secrets.token_bytes(), salted_on=today)
        for pk in stale.values_list("pk", flat=True)
    )


def _why_not_open(request: HttpRequest, rules: BattleRules) -> str:
    for_members = not rules.study.is_public or rules.open_to == OpenTo.MEMBERS
    if for_members and not _is_member(request, rules):
        return MEMBERS
    if not rules.is_open:
        return CLOSED
    is_stranger = not (for_members or request.user.is_authenticated)
    return SIGN_IN if is_stranger and rules.open_to == OpenTo.ACCOUNTS else ""


def _is_member(request: HttpRequest, rules: BattleRules) -> bool:
    rows = Membership.objects.filter(study=rules.study_id, role__in=[Role.RATER, Role.OPERATOR])
    return request.user.is_authenticated and rows.filter(rater__user=request.user).exists()


def known(request: HttpRequest) -> Rater | None:
    """The rater of an account, or the visitor that the cookie names."""
    if request.user.is_authenticated:
        return Rater.objects.filter(user=request.user).first()
    try:
        slug = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=KEPT)
    except signing.BadSignature:
        return None
    return Rater.objects.filter(slug=slug, kind=Rater.Kind.PERSON, study=None, is_visitor=True).first()


def _new_visitor(request: HttpRequest) -> Rater:
    if request.user.is_authenticated:
        return rater_of(request.user)
    key = secrets.token_hex(8)
    name = f"Visitor {key[:6]}"
    return Rater.objects.create(kind=Rater.Kind.PERSON, slug=f"visitor-{key}", name=name, is_visitor=True)


def _name(response: HttpResponse, rater: Rater) -> None:
    signed, secure = signing.dumps(rater.slug, salt=SALT), settings.SESSION_COOKIE_SECURE
    response.set_cookie(COOKIE, signed, KEPT, path=PATH, secure=secure, httponly=True, samesite="Lax")


def _agreed(membership: Membership, rules: BattleRules) -> bool:
    """Tell whether a member has agreed to this text; that of rating in the study is another one."""
    return membership.consented_at is not None and rules.consent.strip() in membership.consent


def _agree(rater: Rater, rules: BattleRules) -> None:
    """Note what somebody agrees to; who was no member sees no more of the study than everybody does."""
    known = Membership.objects.select_for_update(no_key=True)
    membership, _ = known.get_or_create(study=rules.study, rater=rater, defaults={"role": Role.VIEWER})
    if not _agreed(membership, rules):
        texts = [membership.consent.strip(), rules.consent.strip()]
        membership.consent = "\n\n".join(filter(None, texts))
        membership.consented_at = timezone.now()
        membership.save(update_fields=["consent", "consented_at"])


def open_to_strangers(studies: Iterable[Study]) -> set[int]:
    """Return the ids of those in which everybody, or everybody who signs in, can battle now."""
    taking = [study.pk for study in studies if study.is_public and not (study.is_closed or study.is_draft)]
    rules = BattleRules.objects.filter(study__in=taking, open_to__in=[OpenTo.ACCOUNTS, OpenTo.EVERYBODY])
    return set(rules.values_list("study", flat=True)) if taking else set()
