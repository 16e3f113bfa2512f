"""The pages of battles: plain forms, and what their script asks for. Reading never writes."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import get_conditional_response
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from arena.models import Rater, Study
from arena.pages.permissions import viewable, wants_json
from judging.battles import page, removing, starting, visitors, voting, work
from judging.battles.drawing import models_of
from judging.battles.errors import BattleError
from judging.battles.page import Shown
from judging.models import Author, Battle, BattleRules

REFUSED = 409  # HTTP status of what was not done
INVALID = 422  # HTTP status of a wrong form
MOST_HELD = 100_000


@dataclass(frozen=True)
class Visit:
    """Who looks at the battles of a study. rater: None where ``why_not`` says what keeps them out."""

    rules: BattleRules
    rater: Rater | None
    why_not: str

    @property
    def study(self) -> Study:
        return self.rules.study

    @property
    def must_agree(self) -> bool:
        return self.why_not == visitors.AGREE


def _visit(request: HttpRequest, slug: str) -> Visit:
    """Return who visits; 404 where the study has no battles, or may not be known to this visitor."""
    rules = get_object_or_404(
        BattleRules.objects.exclude(open_to=BattleRules.OpenTo.NOBODY).select_related("study"),
        study__slug=slug,
        study__is_draft=False,
    )
    rater, why = visitors.met(request, rules)
    if why == visitors.MEMBERS and not viewable(request.user).filter(pk=rules.study_id).exists():
        raise Http404
    return Visit(rules, rater, why)


def _own(request: HttpRequest, visit: Visit) -> Battle:
    """Return the visitor's own battle that a request names; 404 for any other."""
    sent = request.GET if request.method in ("GET", "HEAD") else request.POST
    name = sent.get("battle", "")
    if visit.rater is None or "\0" in name:
        raise Http404
    rows = Battle.objects.select_related("study__battle_rules", "rater", "comparison", "first", "second")
    return get_object_or_404(rows, study=visit.study, rater=visit.rater, public_id=name)


@require_safe
@never_cache
def battle(request: HttpRequest, slug: str) -> HttpResponse:
    """The battle that is open, or the last one; an older one by its name. ``new``: a form for another."""
    visit = _visit(request, slug)
    if "battle" in request.GET:
        return _earlier_page(request, visit)
    found = page.newest(visit.study, visit.rater) if visit.rater else None
    if found is None or ("new" in request.GET and not found.is_open):
        return _begin_page(request, visit)
    return _battle_page(request, visit, found)


def _earlier_page(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Return the page of a battle that has ended, also where its visitor can begin none any more."""
    found = _own(request, Visit(visit.rules, visitors.known(request), ""))
    if found.is_open or found.void == Battle.Void.REMOVED:
        return redirect("battle", visit.study.slug)
    return _battle_page(request, visit, found)


def _battle_page(
    request: HttpRequest, visit: Visit, found: Battle, status: int = 200, **more: Any
) -> HttpResponse:
    shown = Shown(found, visit.rules)
    context = {"study": visit.study, "rules": visit.rules, "shown": shown, "battle": found, **more}
    context["may_rate"] = visit.rater is not None
    if shown.is_void:
        context |= _beginning(request, visit, found.turns[0])
    return render(request, "battles/battle.html", context, status=status)


def _begin_page(
    request: HttpRequest, visit: Visit, prompt: str = "", error: BattleError | None = None
) -> HttpResponse:
    earlier = page.earlier(visit.rules, visitors.known(request))
    context = {"study": visit.study, "rules": visit.rules, "error": error, "earlier": earlier}
    status = INVALID if error else 200
    return render(request, "battles/begin.html", context | _beginning(request, visit, prompt), status=status)


def _beginning(request: HttpRequest, visit: Visit, prompt: str = "") -> dict[str, Any]:
    """Return the context of the form that begins a battle."""
    rules = visit.rules
    consent = rules.consent.strip() if visit.must_agree else ""
    context: dict[str, Any] = {
        "prompt": prompt,
        "may_begin": not visit.why_not or visit.must_agree,
        "why_not": "" if visit.must_agree else visit.why_not,
        "signs_in": visit.why_not == visitors.SIGN_IN,
        "must_agree": visit.must_agree,
        "consent": page.html_of(consent),
    }
    if visit.rater:
        asked = work.challenge(rules, visit.rater, visitors.address(request, rules))
        context["challenge"] = asked if asked.bits else None
    if rules.lets_choose and request.user.is_authenticated:
        context["choices"] = models_of(rules)
    return context


@require_POST
@never_cache
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """Begin a battle; whoever has one open is led there, so a form sent twice begins one."""
    visit, response = _visit(request, slug), redirect("battle", slug)
    prompt = _prompt(request, visit.rules)
    rater = visit.rater
    try:
        starting.checked(visit.rules, prompt)
        rater = rater or _admitted(request, response, visit)
        address = visitors.address(request, visit.rules)
        proven = (request.POST.get("token", ""), request.POST.get("proof", ""))
        if not _has_open(visit, rater):
            work.check(visit.rules, rater, address, *proven)
        starting.begin(visit.rules, rater, address, prompt, chosen=_chosen(request, visit.rules))
    except BattleError as error:
        if rater and _has_open(visit, rater):
            messages.info(request, starting.OPEN_ALREADY)
            return response
        shown = _begin_page(request, Visit(visit.rules, rater, "" if rater else visit.why_not), prompt, error)
        shown.cookies.update(response.cookies)
        return shown
    return response


def _prompt(request: HttpRequest, rules: BattleRules) -> str:
    """Return what was typed, or the example that was taken instead."""
    number = request.POST.get("example", "")
    if number.isdecimal() and len(number) < 5 and int(number) < len(rules.examples):
        return str(rules.examples[int(number)])
    return request.POST.get("prompt", "").replace("\r\n", "\n")


def _admitted(request: HttpRequest, response: HttpResponse, visit: Visit) -> Rater:
    if not visit.must_agree:
        raise BattleError(visit.why_not)
    if visit.rules.consent.strip() and not request.POST.get("consent"):
        raise BattleError(visitors.AGREE, "consent")
    return visitors.admit(request, response, visit.rules)


def _has_open(visit: Visit, rater: Rater) -> bool:
    found = page.newest(visit.study, rater)
    return found is not None and found.is_open


def _chosen(request: HttpRequest, rules: BattleRules) -> list[Author]:
    """Return the models that somebody chose; none for a battle between drawn ones."""
    names = [each for each in request.POST.getlist("chosen") if each]
    if not names or not rules.lets_choose:
        return []
    authors = {str(each.pk): each for each in rules.authors.select_related("contestant", "endpoint")}
    if len(set(names)) != 2 or not authors.keys() >= set(names):
        raise BattleError("Choose two different models, or none.", "chosen")
    return [authors[name] for name in names]


@require_safe
@never_cache
def state(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What the page does not show yet; 304 while that is nothing."""
    visit = _visit(request, slug)
    shown = Shown(_own(request, visit), visit.rules)
    body = json.dumps(shown.told((_held(request, "a"), _held(request, "b"))))
    mark = f'"{hashlib.sha256(body.encode()).hexdigest()[:20]}"'
    reply = HttpResponse(body, content_type="application/json", headers={"ETag": mark})
    # Weakly, as compressing makes a mark weak.
    return get_conditional_response(request, etag=mark, response=reply) or reply


def _held(request: HttpRequest, side: str) -> int:
    sent = request.GET.get(side, "")
    return min(int(sent), MOST_HELD) if sent.isdecimal() and len(sent) < 10 else 0


def _acting(act: Callable[[HttpRequest, Battle], str | None]) -> Callable[[HttpRequest, str], HttpResponse]:
    """A view that does something with the visitor's own battle, and says what was done or why it was not."""

    @require_POST
    @never_cache
    def view(request: HttpRequest, slug: str) -> HttpResponse:
        found = _own(request, _visit(request, slug))
        try:
            return _done(request, found, act(request, found) or "")
        except BattleError as error:
            if wants_json(request):
                return JsonResponse({"status": "refused", "detail": str(error)}, status=REFUSED)
            messages.error(request, str(error))
            return redirect(found)

    return view


stop = _acting(lambda _, found: starting.stop(found))
leave = _acting(lambda _, found: starting.leave(found))
end = _acting(lambda _, found: voting.tell(found))


@_acting
def vote(request: HttpRequest, found: Battle) -> None:
    rating, turn = (_number(request.POST.get(name, "")) for name in ("rating", "turn"))
    voting.vote(found, rating, bool(request.POST.get("neither")), turn)


@_acting
def why(request: HttpRequest, found: Battle) -> str:
    """Store what was good or bad about each answer."""
    first, second = (request.POST.getlist(f"{side}_reasons") for side in ("first", "second"))
    voting.say_why(found, first, second, request.POST.get("comment", ""))
    return "Saved."


def _number(sent: str) -> int | None:
    """Return a number that was sent; None for none. Raises BattleError for anything else."""
    if not sent:
        return None
    if not (sent.isdecimal() and len(sent) < 5):
        raise BattleError("Choose one of the buttons.", "rating")
    return int(sent)


@require_POST
@never_cache
def more(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask both sides a further question; one that cannot be asked stays in its box."""
    visit = _visit(request, slug)
    found, prompt = _own(request, visit), request.POST.get("prompt", "").replace("\r\n", "\n")
    if request.POST.get("turn", "") != str(found.turn):
        return _done(request, found)  # sent twice, or from a page of an earlier turn
    try:
        starting.go_on(found, prompt)
    except BattleError as error:
        return _battle_page(request, visit, found, INVALID, further=prompt, further_error=error)
    return _done(request, found)


@require_POST
@never_cache
def remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove the visitor's own battle: its texts and its rating."""
    rules = get_object_or_404(BattleRules.objects.select_related("study"), study__slug=slug)
    # Also where nobody can begin a battle any more.
    removing.remove(found := _own(request, Visit(rules, visitors.known(request), "")))
    return _done(request, found, f"Removed. {removing.IN_RELEASES}")


def _done(request: HttpRequest, found: Battle, words: str = "") -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"status": "done"})
    if words:
        messages.success(request, words)
    return redirect(found)
