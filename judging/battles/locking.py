"""Locks of battles, which everybody takes in the order of the door: calls first, then the battle."""

from collections import defaultdict
from collections.abc import Collection

from django.db.models import QuerySet
from django.db.models.functions import Length

from judging.models import Battle, BattleCall


def locked(battle: Battle) -> Battle:
    """The battle as it is, locked with its calls until the transaction ends."""
    calls = BattleCall.objects.filter(battle=battle.pk, is_current=True).order_by("pk")
    list(calls.select_for_update(no_key=True).values_list("pk"))
    rows = Battle.objects.select_related("study__battle_rules", "rater", "first", "second")
    return rows.select_for_update(of=("self",), no_key=True).get(pk=battle.pk)


def locked_calls(battles: Collection[int]) -> dict[int, list[BattleCall]]:
    """The current calls of battles, A's first, without their texts, locked until the transaction ends."""
    rows = BattleCall.objects.filter(battle__in=battles, is_current=True).order_by("pk")
    rows = rows.defer("messages", "raw_reply", "text", "shown").annotate(length=Length("shown"))
    found: dict[int, list[BattleCall]] = defaultdict(list)
    for row in rows.select_for_update(no_key=True):
        found[row.battle_id].append(row)
    return found


def locked_battles(battles: Collection[int]) -> QuerySet[Battle]:
    """Battles, locked; for a transaction that has locked their calls."""
    return Battle.objects.filter(pk__in=battles).order_by("pk").select_for_update(no_key=True)
