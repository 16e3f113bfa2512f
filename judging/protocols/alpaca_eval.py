"""Name the model whose answer people would prefer, and nothing else."""

from judging.parsers import Place
from judging.protocol import Protocol, read_step

ALPACA_EVAL = Protocol(
    name="alpaca-eval",
    title="Name the model with the better answer, without a word of explanation",
    family="Benchmarks",
    citation="Li et al. (2023), AlpacaEval, github.com/tatsu-lab/alpaca_eval",
    steps=(read_step("alpaca-eval", "choose"),),
    place=Place.ONLY_LINE,
    forms=("binary", "likert"),
    note="The benchmark takes the probability of the first token as the preference. Where the endpoint "
    "returns log-probabilities, the expected rating is stored beside the sampled one.",
)
