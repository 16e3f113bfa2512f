"""About which pairs of a study judges and a feature of the answers disagree."""

from collections import defaultdict
from collections.abc import Mapping

from django.db.models import Count, Min

from arena.features import stored
from arena.models import Comparison, Rater, Study
from arena.rating import worth
from arena.rating.worth import PairKey
from arena.rules.feature_names import TELLING, Named, Variant


def disagreements(study: Study, contestants: Mapping[int, int | None]) -> dict[PairKey, float]:
    """The disagreement about each pair where there is any; ``contestants``: those of the texts to pair."""
    values = feature(study)
    return worth.disagreement(values, contestants, _preference(study)) if values else {}


def feature(study: Study) -> dict[int, float]:
    """The study's, or the first of TELLING that answers have; from its first source, more for the better."""
    name = study.pairing_feature or next((name for name in stored.names(study) if name in TELLING), "")
    named = stored.of_answers(study).filter(name=name)
    source = named.aggregate(first=Min("source"))["first"]
    # Where nothing is expected, whoever chose the feature takes higher values for better.
    sign = -1 if Named.read(name).higher_is_better(Variant.PAPER) is False else 1
    values = named.filter(source=source).values_list("completion", "value")
    return {text: sign * value for text, value in values}


def _preference(study: Study) -> dict[PairKey, float]:
    """The mean preference of judges for the first of each pair that they rated, from -1 to 1."""
    judged = Comparison.objects.counted(study).filter(
        status=Comparison.Status.SCORED, rater__kind=Rater.Kind.JUDGE
    )
    columns = ("pair__first", "pair__second", "swapped", "points", "rating")
    total: dict[PairKey, float] = defaultdict(float)
    count: dict[PairKey, int] = defaultdict(int)
    for first, second, swapped, points, rating, n in (
        judged.order_by().values_list(*columns).annotate(n=Count("pk"))
    ):
        assert rating is not None  # noqa: S101 - it is scored
        shown = (points + 1 - 2 * rating) / (points - 1)
        total[first, second] += n * (-shown if swapped else shown)
        count[first, second] += n
    return {pair: total[pair] / count[pair] for pair in total}
