"""Publishing live prompts, which are private until an operator says otherwise: one by one, or clean ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib import messages
from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from arena.audit.recording import Kind, record
from arena.models import Completion, Prompt, Study, StudyEvent
from arena.models.signals import announce
from arena.pages.counts import is_number
from arena.pages.operating import paged
from arena.pages.permissions import OperatorRequest, Visitor, operator
from arena.rules.subsets import LIVE_SUBSET
from judging.battles import personal, removing
from judging.battles.advancing import FLAGGED
from judging.battles.errors import BattleError
from judging.models import Battle, BattleCall, Publication

PER_PAGE: Final = 20
MOST_AT_ONCE: Final = 500  # prompts that are looked through for personal details with one click

RELEASED: Final = "A release was made since it was published, so it stays public."


def live_prompts(study: Study) -> QuerySet[Prompt]:
    """The live prompts of a study that have a text, the newest first."""
    found = Prompt.objects.filter(study=study, subset=LIVE_SUBSET).exclude(turns=[])
    return found.order_by("-pk")


def _is_clean(prompt: Prompt) -> bool:
    """Tell whether nothing that publishing makes public looks like personal details: typed, or answered."""
    answered = (turn for answer in prompt.completions.all() for turn in answer.turns)
    return not any(map(personal.find, [*prompt.turns, *answered]))


@transaction.atomic
def publish(study: Study, prompts: Iterable[Prompt], by: Visitor) -> int:
    """Make private live prompts public; how many. An operator has read those in which details were found."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    ids = [prompt.pk for prompt in prompts]
    found = list(live_prompts(study).filter(pk__in=ids, is_private=True))
    Prompt.objects.filter(pk__in=[each.pk for each in found]).update(is_private=False)
    Publication.objects.filter(prompt__in=found).delete()
    Publication.objects.bulk_create(Publication(prompt=each, by=by) for each in found)
    _record(study, found, "published", by)
    return len(found)


def publish_clean(study: Study, by: Visitor) -> tuple[int, int]:
    """Publish private prompts in which nothing was found, the oldest first; how many, and how many not.

    At most so many are looked at.
    """
    private = live_prompts(study).filter(is_private=True).order_by("pk")
    flagged = BattleCall.objects.filter(battle__prompt=OuterRef("pk"), error_kind=FLAGGED)
    private = private.exclude(Exists(flagged))  # also of an answer that was rated before it was looked at
    looked_at = list(private.prefetch_related("completions")[:MOST_AT_ONCE])
    clean = [prompt for prompt in looked_at if _is_clean(prompt)]
    return publish(study, clean, by), len(looked_at) - len(clean)


@transaction.atomic
def withdraw(study: Study, prompt: Prompt, by: Visitor) -> bool:
    """Make a published prompt private again; False if it is. Raises BattleError if a release may hold it."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    public = live_prompts(study).filter(pk=prompt.pk, is_private=False)
    if not public.exists():
        return False
    if why := why_public(study, prompt):
        raise BattleError(why)
    public.update(is_private=True)
    Publication.objects.filter(prompt=prompt).delete()
    _record(study, [prompt], "made private again", by)
    return True


def why_public(study: Study, prompt: Prompt) -> str:
    """Say why a published prompt has to stay public; "" if it need not."""
    releases = study.events.filter(kind=StudyEvent.Kind.RELEASE)
    if published := Publication.objects.filter(prompt=prompt).first():
        releases = releases.filter(at__gte=published.at)
    return RELEASED if releases.exists() else ""


def _record(study: Study, prompts: Sequence[Prompt], done: str, by: Visitor) -> None:
    if not prompts:
        return
    about = f"Live prompt {prompts[0]}" if len(prompts) == 1 else f"{len(prompts):,} live prompts"
    record(Kind.SETTING, by, f"{about} {done}.", study=study)
    announce([study])


@dataclass(frozen=True)
class Shown:
    """A live prompt as operators see it: texts in pieces, with what was found in them."""

    prompt: Prompt
    turns: list[list[tuple[str, str]]]
    answers: list[tuple[str, list[list[tuple[str, str]]]]]
    battle: Battle | None
    why_public: str

    @property
    def kinds(self) -> list[str]:
        turns = [*self.turns, *(turn for _, answer in self.answers for turn in answer)]
        return list(dict.fromkeys(kind for turn in turns for _, kind in turn if kind))

    @property
    def is_in_answers(self) -> bool:
        return any(kind for _, turns in self.answers for turn in turns for _, kind in turn)

    @classmethod
    def of(cls, study: Study, prompt: Prompt) -> "Shown":
        answers = sorted(prompt.completions.all(), key=lambda each: each.pk)
        answered = [(str(each.contestant or "unknown"), _marked(each.turns)) for each in answers]
        why = "" if prompt.is_private else why_public(study, prompt)
        return cls(prompt, _marked(prompt.turns), answered, battle_of(prompt), why)


def _marked(turns: Sequence[str]) -> list[list[tuple[str, str]]]:
    return [list(personal.pieces(turn)) for turn in turns]


def battle_of(prompt: Prompt) -> Battle | None:
    """The battle whose vote made a prompt; None for one from a file, or that was written otherwise."""
    name = prompt.external_id.partition(".")[0]
    return Battle.objects.filter(study=prompt.study_id, public_id=name).first()


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def prompts(request: OperatorRequest) -> HttpResponse:
    """The live prompts with what was found in them; POST publishes, withdraws or removes."""
    public = request.GET.get("show") == "public"
    if request.method == "POST":
        _act(request)
        return redirect(f"{request.path}?{request.GET.urlencode()}" if request.GET else request.path)
    found = live_prompts(request.study)
    answers = Completion.objects.select_related("contestant").order_by("pk")
    rows = found.filter(is_private=not public).prefetch_related(Prefetch("completions", answers))
    page = paged(request, rows, PER_PAGE)
    context = {
        "study": request.study,
        "page": page,
        "rows": [Shown.of(request.study, prompt) for prompt in page],
        "public": public,
        "counts": (found.filter(is_private=True).count(), found.filter(is_private=False).count()),
        "most": MOST_AT_ONCE,
        "query": "&show=public" if public else "",
        "in_releases": removing.IN_RELEASES,
    }
    return render(request, "battles/prompts.html", context)


def _act(request: OperatorRequest) -> None:
    """Do what a button says, and say what became of it."""
    study, by = request.study, request.user
    if "clean" in request.POST:
        count, left = publish_clean(study, by)
        rest = f" {left:,} of those looked at may hold personal details: read them one by one."
        messages.success(request, f"{count:,} published.{rest if left else ''}")
        return
    prompt = named(request)
    if "publish" in request.POST:
        messages.success(request, "Published." if publish(study, [prompt], by) else "It is public already.")
    elif "withdraw" in request.POST:
        try:
            is_withdrawn = withdraw(study, prompt, by)
            messages.success(request, "Private again." if is_withdrawn else "It is private already.")
        except BattleError as error:
            messages.error(request, str(error))
    elif "remove" in request.POST:
        battle = battle_of(prompt)
        if battle is None:
            raise Http404
        removing.remove(battle, by)
        messages.success(request, f"Removed. {removing.IN_RELEASES}")


def named(request: OperatorRequest) -> Prompt:
    """The live prompt that a form names; 404 for any other."""
    name = request.POST.get("prompt", "")
    if not is_number(name):
        raise Http404
    return get_object_or_404(live_prompts(request.study), pk=int(name))
