"""How fast a judge may ask, and whether its endpoint answers at all: shared by every worker of the arena.

No thread waits here. Whoever may not ask now is told when to come back.
"""

from judging.limits.shared import entrances

__all__ = ["entrances"]
