"""Locks of battles, which everybody takes in the order of the door: calls first, then the battle."""

from judging.models import Battle, BattleCall


def locked(battle: Battle) -> Battle:
    """The battle as it is, locked with its calls until the transaction ends."""
    calls = BattleCall.objects.filter(battle=battle.pk, is_current=True).order_by("pk")
    list(calls.select_for_update(no_key=True).values_list("pk"))
    rows = Battle.objects.select_related("study__battle_rules", "rater", "first", "second")
    return rows.select_for_update(of=("self",), no_key=True).get(pk=battle.pk)
