"""Human-anchored ranking: few comparisons by people and many by a judge, without the judge's bias."""
