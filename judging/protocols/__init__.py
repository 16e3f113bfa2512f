"""Every protocol there is, by name."""

from judging.protocol import Catalogue
from judging.protocols.alpaca_eval import ALPACA_EVAL
from judging.protocols.arena_hard import ARENA_HARD
from judging.protocols.fine_grained_diff import FINE_GRAINED_DIFF
from judging.protocols.likert import LIKERT
from judging.protocols.multi_aspect import MULTI_ASPECT_SINGLE, MULTI_ASPECT_TWO
from judging.protocols.multi_role import MULTI_ROLE
from judging.protocols.prepair import PREPAIR
from judging.protocols.wildbench import WILDBENCH

PROTOCOLS = Catalogue(
    LIKERT,
    # ReIFE
    FINE_GRAINED_DIFF,
    MULTI_ROLE,
    MULTI_ASPECT_SINGLE,
    MULTI_ASPECT_TWO,
    PREPAIR,
    # Benchmarks
    ARENA_HARD,
    WILDBENCH,
    ALPACA_EVAL,
)
