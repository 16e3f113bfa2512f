"""The parameters of the ordinal model, and where each stands in the vector of all."""

from dataclasses import dataclass

from leaderboard.stats.ordinal.scale import free_thresholds


@dataclass(frozen=True)
class Layout:
    """Where each parameter stands: contestants, position, effects, thresholds of each scale, leans."""

    contestants: int
    position: bool
    effects: tuple[str, ...]
    scales: tuple[int, ...]
    raters: int

    @property
    def position_at(self) -> slice:
        """The advantage of standing first; empty where it is not fitted."""
        return slice(self.contestants, self.contestants + self.position)

    @property
    def effects_at(self) -> slice:
        """The effect of each covariate, per standard deviation."""
        return slice(self.position_at.stop, self.position_at.stop + len(self.effects))

    def thresholds_at(self, points: int) -> slice:
        """The free thresholds of one scale."""
        shorter = sum(free_thresholds(scale) for scale in self.scales if scale < points)
        start = self.effects_at.stop + shorter
        return slice(start, start + free_thresholds(points))

    @property
    def leans_at(self) -> slice:
        """The lean of each rater towards the first; empty where leans are not fitted."""
        start = self.effects_at.stop + sum(map(free_thresholds, self.scales))
        return slice(start, start + self.raters)

    @property
    def size(self) -> int:
        """The number of parameters."""
        last: int = self.leans_at.stop
        return last
