"""Stores features of completions: the only writer."""

from collections.abc import Collection
from typing import NamedTuple

from arena.models import CompletionFeature
from arena.rules.feature_names import fault


class NewFeature(NamedTuple):
    completion: int
    turn: int
    name: str
    variant: str
    source: str
    value: float

    @property
    def key(self) -> tuple[int, int, str, str, str]:
        return self[:5]


class Recorded(NamedTuple):
    """``contradicting``: what was not stored because another value is, with that value."""

    added: int
    unchanged: int
    contradicting: list[tuple[NewFeature, float]]


class FeatureNameError(ValueError):
    """A feature cannot have this name."""


def record_features(features: Collection[NewFeature]) -> Recorded:
    """Store what is not stored yet; a stored value never changes.

    Whoever calls this decides when to have published figures computed again (``Study.touch``). Raises
    FeatureNameError.
    """
    for each in features:
        if reason := fault(each.name, each.variant):
            raise FeatureNameError(reason)
    fields = ("completion", "turn", "name", "variant", "source", "value")
    about = CompletionFeature.objects.filter(completion__in={each.completion for each in features})
    names = about.filter(name__in={each.name for each in features}).order_by()
    values = {tuple(key): value for *key, value in names.values_list(*fields)}
    fresh, unchanged, contradicting = [], 0, []
    for each in features:
        known = values.get(each.key)
        if known is None:
            values[each.key] = each.value
            fresh.append(each)
        elif known == each.value:
            unchanged += 1
        else:
            contradicting.append((each, known))
    CompletionFeature.objects.bulk_create(
        CompletionFeature(completion_id=each.completion, **dict(zip(fields[1:], each[1:], strict=True)))
        for each in fresh
    )
    return Recorded(len(fresh), unchanged, contradicting)
