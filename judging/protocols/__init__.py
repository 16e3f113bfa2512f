"""Every protocol there is, by name."""

from judging.protocol import Catalogue
from judging.protocols.alpaca_eval import ALPACA_EVAL
from judging.protocols.arena_hard import ARENA_HARD
from judging.protocols.chateval import CHATEVAL
from judging.protocols.cot import COT
from judging.protocols.fine_grained_diff import FINE_GRAINED_DIFF
from judging.protocols.likert import LIKERT, LIKERT_DEBIAS, LIKERT_EXPLANATION_FIRST
from judging.protocols.metrics import METRICS
from judging.protocols.metrics_reference import METRICS_REFERENCE
from judging.protocols.multi_aspect import MULTI_ASPECT_SINGLE, MULTI_ASPECT_TWO
from judging.protocols.multi_role import MULTI_ROLE
from judging.protocols.prepair import PREPAIR
from judging.protocols.protocol_consistency import PROTOCOL_CONSISTENCY, PROTOCOL_CONSISTENCY_RELEASED
from judging.protocols.rating import RATING
from judging.protocols.reference import REFERENCE
from judging.protocols.rubric import RUBRIC
from judging.protocols.scores import SCORES
from judging.protocols.self_consistency import COT_SELF_CONSISTENCY
from judging.protocols.strong_reference import STRONG_REFERENCE
from judging.protocols.swap import SWAP, SWAP_COT
from judging.protocols.vanilla import VANILLA, WITH_RULES
from judging.protocols.wildbench import WILDBENCH

PROTOCOLS = Catalogue(
    # The seed study
    LIKERT,
    LIKERT_EXPLANATION_FIRST,
    LIKERT_DEBIAS,
    SCORES,
    # LLMBar
    VANILLA,
    WITH_RULES,
    COT,
    METRICS,
    REFERENCE,
    METRICS_REFERENCE,
    SWAP,
    SWAP_COT,
    CHATEVAL,
    RATING,
    RUBRIC,
    # ReIFE
    FINE_GRAINED_DIFF,
    MULTI_ROLE,
    MULTI_ASPECT_TWO,
    MULTI_ASPECT_SINGLE,
    STRONG_REFERENCE,
    PREPAIR,
    COT_SELF_CONSISTENCY,
    PROTOCOL_CONSISTENCY,
    PROTOCOL_CONSISTENCY_RELEASED,
    # Benchmarks
    ARENA_HARD,
    WILDBENCH,
    ALPACA_EVAL,
)
