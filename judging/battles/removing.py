"""Removing a battle: what was typed, what was answered and the vote are gone everywhere but in releases.

Rows stay, emptied, so that battles, calls and costs are counted as before.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet

from arena.audit.recording import Kind, record
from arena.models import (
    Answer,
    Assignment,
    Comparison,
    CompletionFeature,
    Flag,
    Pair,
    Prompt,
    Question,
    Rater,
    Reference,
    Rendering,
    Score,
    Study,
)
from arena.models.invariants import REMOVED
from arena.models.signals import announce
from arena.pages.permissions import Visitor
from arena.rules.subsets import LIVE_SUBSET
from judging.battles import starting
from judging.battles.locking import locked
from judging.battles.showing import name_of
from judging.models import (
    Battle,
    BattleCall,
    HandLabel,
    JudgeCall,
    LabelCall,
    ProposalCall,
    Publication,
    Trace,
    WritingCall,
)

NOTE: Final = "Battle {} removed: its texts and its rating."
IN_RELEASES: Final = "A release that holds its texts or its rating stays as it is."

_TEXTS_OF_CALL: Final[dict[str, Any]] = {"messages": [], "raw_reply": ""}
_TEXTS_OF_TEXT: Final[dict[str, Any]] = {"turns": [], "extra": {}}
_TEXTS_OF_OPINION: Final[dict[str, Any]] = {"raw_reply": "", "rationale": "", "extra": {}, "external_id": ""}


@transaction.atomic
def remove(battle: Battle, by: Visitor | None = None) -> bool:
    """Remove the texts of a battle and its vote; False if they are gone already.

    ``by``: the operator who does; None for the visitor. What is being answered is ended.
    """
    study = Study.objects.select_for_update(no_key=True).get(pk=battle.study_id)
    starting.leave(battle)
    held = locked(battle)
    if held.void == Battle.Void.REMOVED:
        return False
    _empty_prompts(prompts_of(held), study)
    _empty_battle(held)
    record(Kind.ANONYMISED, by, NOTE.format(held.pk), study=study)
    announce([study])
    return True


def remove_all(rater: Rater, by: Visitor | None = None) -> int:
    """Remove all battles of a visitor; how many."""
    found = Battle.objects.filter(rater=rater).exclude(void=Battle.Void.REMOVED)
    return sum(remove(battle, by) for battle in found.order_by("pk"))


def prompts_of(battle: Battle) -> list[Prompt]:
    """The prompts that the votes on a battle made: of a conversation that goes on, several."""
    names = [name_of(battle, turn) for turn in range(1, battle.turn + 1)]
    return list(Prompt.objects.filter(study=battle.study_id, subset=LIVE_SUBSET, external_id__in=names))


def _empty_battle(battle: Battle) -> None:
    calls = BattleCall.objects.filter(battle=battle)
    _forget_rendered([*battle.turns, *(text for row in calls.values_list("text", "shown") for text in row)])
    battle.state, battle.void, battle.void_by = Battle.State.VOID, Battle.Void.REMOVED, None
    battle.turns = [""] * battle.turn
    battle.first_reasons, battle.second_reasons, battle.comment = [], [], ""
    battle.prompt = battle.comparison = battle.voted_at = None
    battle.save()
    calls.update(text="", shown="", error="", **_TEXTS_OF_CALL)


def _empty_prompts(prompts: Sequence[Prompt], study: Study) -> None:
    """Empty live prompts with all that hangs on them; what was said of them counts no more."""
    for prompt in prompts:
        answers = prompt.completions.all()
        pairs, of_answers = Pair.rows.filter(prompt=prompt), Q(completion__in=answers)
        said = (turn for turns in answers.values_list("turns", flat=True) for turn in turns)
        _forget_rendered([*prompt.turns, *said])
        for kind, about in ((Comparison, Q(pair__in=pairs)), (Score, of_answers), (Answer, of_answers)):
            kind._default_manager.filter(about).update(is_current=False, **_TEXTS_OF_OPINION)
        assigned = Assignment.objects.filter(Q(pair__in=pairs) | of_answers)
        assigned.exclude(skip_reason="").update(skip_reason=REMOVED)
        Flag.objects.filter(assignment__in=assigned).exclude(comment="").update(comment=REMOVED)
        _empty_calls(prompt, assigned)
        for rows in (Reference, Publication, HandLabel):
            rows._default_manager.filter(prompt=prompt).delete()
        Question.objects.filter(prompt=prompt).update(text=REMOVED, labels=[], is_current=False)
        for made in (CompletionFeature, Trace):
            made._default_manager.filter(of_answers).delete()
        answers.update(**_TEXTS_OF_TEXT, thinking=[], telling=[], digest=sha256(b"[]").hexdigest())
        Prompt.objects.filter(pk=prompt.pk).update(**_TEXTS_OF_TEXT, input="", category="", is_private=True)
        pairs.recount(study)


def _empty_calls(prompt: Prompt, assigned: QuerySet[Assignment]) -> None:
    """Empty what models were asked about a prompt; what waits for one is not asked any more."""
    JudgeCall.objects.filter(assignment__in=assigned).update(**_TEXTS_OF_CALL)
    assigned.filter(state=Assignment.State.OPEN).update(state=Assignment.State.FAILED)
    for kind in (ProposalCall, WritingCall, LabelCall):
        kind._default_manager.filter(prompt=prompt).update(**_TEXTS_OF_CALL)


def _forget_rendered(texts: Iterable[str]) -> None:
    digests = [sha256(text.encode("utf-8", "replace")).hexdigest() for text in texts if text]
    Rendering.objects.filter(digest__in=digests).delete()
