"""How sure the share of points is that one contestant won against another. Pure."""

from math import sqrt
from statistics import NormalDist


def wilson(share: float, n: int, level: float) -> tuple[float, float]:
    """Wilson's interval (1927) of a share of ``n`` independent games, at ``level`` percent.

    With ties counted half it is too wide rather than too narrow: points then vary less than wins do.
    """
    z = NormalDist().inv_cdf(0.5 + level / 200)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(middle - reach, 0.0), min(middle + reach, 1.0)
