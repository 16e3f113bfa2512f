"""Which features the answers of a study have."""

from arena.models import CompletionFeature, Study
from arena.models.querysets import FeatureQuerySet
from arena.rules.feature_names import TELLING, Variant


def of_answers(study: Study) -> FeatureQuerySet:
    """Return features of whole answers by published formulas, and bounds: a name is one number."""
    of_whole = CompletionFeature.objects.of(study).filter(turn=0)
    return of_whole.exclude(variant=Variant.RELEASED).order_by()


def names(study: Study) -> list[str]:
    """Their names; those of which the paper expects most come first."""
    found = set(of_answers(study).values_list("name", flat=True).distinct())
    return [*(name for name in TELLING if name in found), *sorted(found.difference(TELLING))]
