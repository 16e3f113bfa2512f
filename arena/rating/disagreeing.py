"""About which pairs of a study judges and a feature of the answers disagree, for arena.rating.pairing."""

import numpy as np
from django.db.models import Count, Min

from arena.features import stored
from arena.features.known import TELLING, Named, Variant
from arena.models import Comparison, Rater, Study
from arena.rating import possible_pairs
from arena.rating.possible_pairs import FloatArray, Possible


def disagreement(study: int, possible: Possible) -> FloatArray:
    """That of each possible pair, NaN where judges or the feature say nothing; empty without a feature."""
    row = Study.objects.get(pk=study)
    values = feature(row)
    if not values:
        return np.empty(0)
    return possible_pairs.disagreement(possible, values, _preference(row, possible))


def feature(study: Study) -> dict[int, float]:
    """The study's, or the first of TELLING that answers have; from its first source, more for the better."""
    name = study.pairing_feature or next((name for name in stored.names(study) if name in TELLING), "")
    named = stored.of_answers(study).filter(name=name)
    source = named.aggregate(first=Min("source"))["first"]
    # Where nothing is expected, whoever chose the feature takes higher values for better.
    sign = -1 if Named.read(name).higher_is_better(Variant.PAPER) is False else 1
    values = named.filter(source=source).values_list("completion", "value")
    return {text: sign * value for text, value in values}


def _preference(study: Study, possible: Possible) -> FloatArray:
    """The mean preference of judges for the first of each pair, from -1 to 1; NaN where there is none."""
    judged = Comparison.objects.counted(study).filter(
        status=Comparison.Status.SCORED, rater__kind=Rater.Kind.JUDGE
    )
    columns = ("pair__first", "pair__second", "swapped", "points", "rating")
    rows = list(judged.order_by().values_list(*columns).annotate(n=Count("pk")))
    total, count = np.zeros((2, len(possible)))
    for place, (_, _, swapped, points, rating, n) in zip(
        possible.places([row[:2] for row in rows]).tolist(), rows, strict=True
    ):
        if place >= 0:
            shown = (points + 1 - 2 * rating) / (points - 1)
            total[place] += n * (-shown if swapped else shown)
            count[place] += n
    mean: FloatArray = np.divide(total, count, out=np.full(len(possible), np.nan), where=count > 0)
    return mean
