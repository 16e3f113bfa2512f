"""What can be wrong with the numbers handed to the statistics: each a ValueError with one sentence."""


class StatsError(ValueError):
    """The base of every error the statistics raise about their input."""


class LengthMismatchError(StatsError):
    """Arrays that must run in parallel have different lengths."""


class ContestantNumberError(StatsError):
    """A contestant number lies outside 0..contestants-1, or is not an integer."""


class SelfComparisonError(StatsError):
    """A contestant is compared with itself."""


class ScoreError(StatsError):
    """A score is not 0, 0.5 or 1 (NaN included)."""


class RatingError(StatsError):
    """A rating lies outside its scale, or the scale does not exist."""


class ClusterError(StatsError):
    """A game has no cluster although clusters are given."""


class NoGamesError(StatsError):
    """There is no game to compute from."""


class ParameterError(StatsError):
    """A parameter such as K, rounds or the interval level is outside its range."""


class NotIdentifiedError(ParameterError):
    """Effects of a model cannot be told from something else in it; ``effects`` names them."""

    def __init__(self, message: str, effects: tuple[str, ...]) -> None:
        super().__init__(message)
        self.effects = effects
