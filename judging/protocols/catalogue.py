"""Every protocol there is, by name."""

from judging.protocols.benchmarks import ALPACA_EVAL, ARENA_HARD, WILDBENCH
from judging.protocols.llmbar import (
    COT,
    METRICS,
    METRICS_REFERENCE,
    RATING,
    REFERENCE,
    RUBRIC,
    SWAP,
    SWAP_COT,
    VANILLA,
    WITH_RULES,
)
from judging.protocols.protocol import Catalogue
from judging.protocols.reife import (
    CHATEVAL,
    COT_SELF_CONSISTENCY,
    FINE_GRAINED_DIFF,
    MULTI_ASPECT_SINGLE,
    MULTI_ASPECT_TWO,
    MULTI_ROLE,
    PREPAIR,
    PROTOCOL_CONSISTENCY,
    PROTOCOL_CONSISTENCY_RELEASED,
    STRONG_REFERENCE,
)
from judging.protocols.seed_study import LIKERT, LIKERT_DEBIAS, LIKERT_EXPLANATION_FIRST, SCORES

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
