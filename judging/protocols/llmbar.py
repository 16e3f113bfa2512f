"""Compare in both orders; where the verdicts contradict each other, weigh both and decide."""

from dataclasses import replace

from judging.protocols import catalogue_parts
from judging.protocols.catalogue_parts import LLMBAR, RULES, RULES_FOR_ONE
from judging.protocols.deciding import compared, contradict, last_of
from judging.protocols.protocol import About, Parameter, Protocol, read_step
from judging.protocols.rendering import read_text
from judging.protocols.replies import Place

# Name the better answer without a word of explanation, with or without rules and examples.


SHOTS = Parameter(
    0,
    "how many examples with the right reply are shown; published with the rules and none, 1 or 2",
    choices=(0, 1, 2),
    texts={
        0: "",
        1: read_text("shared/example_1"),
        2: f"{read_text('shared/example_1')}\n\n{read_text('shared/example_2')}",
    },
)

VANILLA = Protocol(
    name="vanilla",
    title="Name the better answer, nothing else",
    family="LLMBar",
    citation=LLMBAR,
    steps=(read_step("vanilla", "compare"),),
    place=Place.ONLY_LINE,
    parameters={"rules": replace(RULES, default=False), "shots": SHOTS},
)

WITH_RULES = replace(
    VANILLA,
    name="rules",
    title="Name the better answer by stated rules, nothing else",
    aliases=("base",),
    parameters={"rules": RULES, "shots": SHOTS},
)
"""ReIFE calls it base."""


# Reason first, then name the better answer.


COT = Protocol(
    name="cot",
    title="Reason first, then the verdict",
    family="LLMBar",
    citation=f"{LLMBAR}; after Wei et al. (2022), arXiv 2201.11903",
    steps=(read_step("cot", "compare"),),
    place=Place.LAST_LINE,
    parameters={"rules": RULES},
)


# Questions that fit the prompt are written first; the comparison is made with their help.


METRICS = Protocol(
    name="metrics",
    title="Write questions that fit the prompt, then compare with their help",
    family="LLMBar",
    citation=LLMBAR,
    steps=(catalogue_parts.METRICS, read_step("metrics", "compare")),
    place=Place.ONLY_LINE,
    parameters={"rules": RULES},
    aliases=("metric",),
)


# The judge answers the prompt first; the comparison is made with that answer at hand.


REFERENCE = Protocol(
    name="reference",
    title="Answer the prompt, then compare with that answer as a reference",
    family="LLMBar",
    citation=f"{LLMBAR}; after Zheng et al. (2023), arXiv 2306.05685",
    steps=(catalogue_parts.REFERENCE, read_step("reference", "compare")),
    place=Place.ONLY_LINE,
    parameters={"rules": RULES},
)


# Both aids: questions that fit the prompt, and an answer of the judge's own.


METRICS_REFERENCE = Protocol(
    name="metrics-reference",
    title="Compare with questions that fit the prompt and with a reference answer",
    family="LLMBar",
    citation=LLMBAR,
    steps=(catalogue_parts.METRICS, catalogue_parts.REFERENCE, read_step("metrics-reference", "compare")),
    place=Place.ONLY_LINE,
    parameters={"rules": RULES},
    aliases=("metric+reference",),
)


SWAP = Protocol(
    name="swap",
    title="Compare in both orders; where they contradict each other, decide between the two",
    family="LLMBar",
    citation=f"{LLMBAR}; after Du et al. (2023), arXiv 2305.14325",
    steps=(
        read_step("cot", "compare", place=Place.LAST_LINE),
        read_step("cot", "compare_swapped", text="compare", other_order=True, place=Place.LAST_LINE),
        read_step("swap", "synthesise", needed=contradict("compare", "compare_swapped")),
    ),
    place=Place.ONLY_LINE,
    decide=last_of("compare", "synthesise"),
    aliases=("swap-and-synthesize", "swap&synthesize"),
    parameters={"rules": RULES},
    note="Verdicts contradict each other where they take opposite sides. Otherwise the one in the pair's own "
    "order stands, as in LLMBar. The two passes of a pair serve both of its orders.",
)

SWAP_COT = replace(
    SWAP,
    name="swap-cot",
    aliases=(),
    title="As swap, and reason once more before deciding between the two",
    place=Place.LAST_LINE,
)


# Score each answer on its own, without showing the other; the higher score wins, equal scores are a tie.


RATING = Protocol(
    name="rating",
    title="Score each answer from 0 to 9 on its own",
    family="LLMBar",
    citation=LLMBAR,
    steps=(
        replace(catalogue_parts.METRICS, only="with_metrics"),
        replace(catalogue_parts.REFERENCE, only="with_reference"),
        read_step("rating", "rate", about=About.COMPLETION, score=(0, 9)),
    ),
    place=Place.ONLY_LINE,
    forms=("scores",),
    decide=compared("rate"),
    parameters={
        "rules": RULES_FOR_ONE,
        "with_metrics": catalogue_parts.WITH_METRICS,
        "with_reference": catalogue_parts.WITH_REFERENCE,
    },
    note="LLMBar counts equal scores, and those that cannot be read, as right in one order and wrong in the "
    "other; here equal scores are a tie, and where one cannot be read the pair is unscored.",
)


# Grade each answer on its own by a rubric that the operator writes; the higher grade wins.


RUBRIC = Protocol(
    name="rubric",
    title="Grade each answer from 1 to 5 on its own, by a rubric of the operator",
    family="LLMBar",
    citation=f"{LLMBAR}; after Kim et al. (2024), Prometheus, arXiv 2310.08491",
    steps=(
        replace(catalogue_parts.REFERENCE, only="with_reference", author="author"),
        read_step("rubric", "grade", about=About.COMPLETION, score=(1, 5)),
    ),
    place=Place.FIELD,
    forms=("scores",),
    decide=compared("grade"),
    parameters={
        "rubric": Parameter(
            read_text("rubric/following"), "what is graded, and what each grade from 1 to 5 means"
        ),
        "rules": replace(RULES_FOR_ONE, default=False),
        "with_reference": catalogue_parts.WITH_REFERENCE,
        "author": Parameter(
            "", "the model that answers the prompt; empty for the judge's own, published with GPT-4"
        ),
    },
)
