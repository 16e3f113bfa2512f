"""Every protocol by name: the seed study's, LLMBar's, ReIFE's and those of benchmarks."""

from dataclasses import replace
from typing import Final

from judging.protocols.deciding import DECISIONS, compared, contradict, debated, last_of
from judging.protocols.protocol import About, Catalogue, Parameter, Part, Protocol, read_step
from judging.protocols.rendering import read_text
from judging.protocols.replies import Place

SEED_STUDY: Final = "Rajani et al. (2023), Can foundation models label data like humans?, Hugging Face blog"

LLMBAR: Final = (
    "Zeng et al. (2024), LLMBar: Evaluating Large Language Models at Evaluating Instruction Following, "
    "arXiv 2310.07641"
)

REIFE: Final = "Liu et al. (2024), ReIFE: Re-evaluating Instruction-Following Evaluation, arXiv 2410.07069"

# The rules are LLMBar's, in our words.
RULES: Final = Parameter(
    default=True,
    meaning="whether the judge is told what counts: doing exactly what is asked first, no position bias",
    texts={True: read_text("shared/rules"), False: ""},
)

RULES_FOR_ONE: Final = replace(RULES, texts={True: read_text("shared/rules_single"), False: ""})

METRICS_STEP: Final = read_step("metrics", "metrics", about=About.PROMPT, label="questions")

REFERENCE_STEP: Final = read_step(
    "reference", "reference", about=About.PROMPT, label="reference", given="own_references"
)

WITH_METRICS: Final = Parameter(
    False, "whether questions that fit the prompt are written first, to guide the score"
)

WITH_REFERENCE: Final = Parameter(False, "whether the prompt is answered first, for reference")

OWN_REFERENCES: Final = Parameter(
    False,
    "whether the study's own reference answers are shown instead of a written one; the model answers a "
    "prompt "
    "that has none",
)


def author(works: str) -> Parameter:
    return Parameter(
        "gpt-4o",
        f"who writes {works}: a model at the judge's endpoint, or judge:SLUG for the model of another judge",
    )


ONLY_SCORES: Final = "it asks for scores, and with anything else it would be another protocol"

# The seed study

LIKERT = Protocol(
    name="likert",
    title="Compare two answers: the verdict first, then an explanation",
    family="Can foundation models label data like humans?",
    citation=SEED_STUDY,
    steps=(read_step("likert", "rate"),),
    place=Place.FIRST_LINE,
    aliases=("likert-rating-first",),
)

LIKERT_EXPLANATION_FIRST = replace(
    LIKERT,
    name="likert-explanation-first",
    title="Compare two answers: an explanation first, then the verdict",
    place=Place.LAST_LINE,
    aliases=(),
)
"""The study suspects that a model which gives its rating first cannot reason about it."""

LIKERT_DEBIAS = replace(
    LIKERT,
    name="likert-debias",
    title="As likert, with a request to counter position bias",
    steps=(read_step("likert-debias", "rate"),),
    aliases=(),
)

SCORES = Protocol(
    name="scores",
    title="Give each of two answers a score, then explain; the higher score wins, equal scores are a tie",
    family="Can foundation models label data like humans?",
    citation=f"{SEED_STUDY}; the range from 1 to 10 is FastChat's, the study names none",
    steps=(read_step("scores", "rate"),),
    place=Place.FIRST_LINE,
    forms=("scores",),
    lacks=ONLY_SCORES,
)

# LLMBar

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

COT = Protocol(
    name="cot",
    title="Reason first, then the verdict",
    family="LLMBar",
    citation=f"{LLMBAR}; after Wei et al. (2022), arXiv 2201.11903",
    steps=(read_step("cot", "compare"),),
    place=Place.LAST_LINE,
    parameters={"rules": RULES},
)

METRICS = Protocol(
    name="metrics",
    title="Write questions that fit the prompt, then compare with their help",
    family="LLMBar",
    citation=LLMBAR,
    steps=(METRICS_STEP, read_step("metrics", "compare")),
    place=Place.ONLY_LINE,
    parameters={"rules": RULES},
    aliases=("metric",),
)

REFERENCE = Protocol(
    name="reference",
    title="Answer the prompt, then compare with that answer as a reference",
    family="LLMBar",
    citation=f"{LLMBAR}; after Zheng et al. (2023), arXiv 2306.05685",
    steps=(REFERENCE_STEP, read_step("reference", "compare")),
    place=Place.ONLY_LINE,
    parameters={"rules": RULES, "own_references": OWN_REFERENCES},
)

METRICS_REFERENCE = Protocol(
    name="metrics-reference",
    title="Compare with questions that fit the prompt and with a reference answer",
    family="LLMBar",
    citation=LLMBAR,
    steps=(METRICS_STEP, REFERENCE_STEP, read_step("metrics-reference", "compare")),
    place=Place.ONLY_LINE,
    parameters={"rules": RULES, "own_references": OWN_REFERENCES},
    aliases=("metric+reference",),
)

SWAP = Protocol(
    name="swap",
    title="Compare in both orders; if they contradict each other, decide between the two",
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
    note="Verdicts contradict each other if they take opposite sides. Otherwise the verdict in the "
    "pair's own "
    "order counts, as in LLMBar. The two passes of a pair serve both of its orders.",
)

SWAP_COT = replace(
    SWAP,
    name="swap-cot",
    aliases=(),
    title="As swap, and reason once more before deciding between the two",
    place=Place.LAST_LINE,
)

RATING = Protocol(
    name="rating",
    title="Score each answer from 0 to 9 on its own",
    family="LLMBar",
    citation=LLMBAR,
    steps=(
        replace(METRICS_STEP, only="with_metrics"),
        replace(REFERENCE_STEP, only="with_reference"),
        read_step("rating", "rate", about=About.COMPLETION, score=(0, 9)),
    ),
    place=Place.ONLY_LINE,
    forms=("scores",),
    lacks=ONLY_SCORES,
    decide=compared("rate"),
    parameters={
        "rules": RULES_FOR_ONE,
        "with_metrics": WITH_METRICS,
        "with_reference": WITH_REFERENCE,
        "own_references": OWN_REFERENCES,
    },
    note="LLMBar counts equal scores, and those that cannot be read, as right in one order and wrong in the "
    "other. Here equal scores are a tie, and if one cannot be read the pair gets no rating.",
)

RUBRIC = Protocol(
    name="rubric",
    title="Grade each answer from 1 to 5 on its own, by a rubric of the operator",
    family="LLMBar",
    citation=f"{LLMBAR}; after Kim et al. (2024), Prometheus, arXiv 2310.08491",
    steps=(
        replace(REFERENCE_STEP, only="with_reference", author="author"),
        read_step("rubric", "grade", about=About.COMPLETION, score=(1, 5)),
    ),
    place=Place.FIELD,
    forms=("scores",),
    lacks=ONLY_SCORES,
    decide=compared("grade"),
    parameters={
        "rubric": Parameter(
            read_text("rubric/following"), "what is graded, and what each grade from 1 to 5 means"
        ),
        "rules": replace(RULES_FOR_ONE, default=False),
        "with_reference": WITH_REFERENCE,
        "own_references": OWN_REFERENCES,
        "author": Parameter(
            "", "the model that answers the prompt; empty for the judge's own, published with GPT-4"
        ),
    },
)

# ReIFE

ROLES = (
    "General public: you know nothing special and ask which answer would serve somebody with this query.",
    "Scientist: you check what is claimed, step by step, and whether what is concluded really follows.",
    "Critic: you look at how clear and well worded the answers are, and doubt what others take for granted.",
)

MULTI_ROLE = Protocol(
    name="multi-role",
    title="Referees in different roles debate, one after the other",
    family="ReIFE",
    citation=f"{REIFE}; after Chan et al. (2024), ChatEval, arXiv 2308.07201",
    steps=(read_step("multi-role", "debate", each="roles", rounds="rounds", in_turn=True, label="referee"),),
    place=Place.FIELD,
    decide=debated("debate", roles="roles", decision="decision"),
    parameters={
        "roles": Parameter(ROLES, "who speaks, in this order: a name, a colon and what the role is"),
        "rounds": Parameter(1, "how often each role speaks; published with 1 and with 2", choices=(1, 2)),
        "decision": Parameter(
            "last",
            "whose verdict counts: the last speaker's, as published, or the majority's in the last round",
            choices=DECISIONS,
        ),
        "rules": RULES,
    },
    aliases=("multi-role-round1",),
    note="multi-role-round2 is this with rounds set to 2. The roles are ReIFE's, in our words.",
)

CHATEVAL = Protocol(
    name="chateval",
    title="Referees in different roles discuss, then vote",
    family="LLMBar",
    citation=f"{LLMBAR}; after Chan et al. (2023), ChatEval, arXiv 2308.07201",
    steps=(
        read_step("chateval", "discuss", each="roles", rounds="rounds", in_turn=True, label="referee"),
        read_step("chateval", "vote", each="roles", in_turn=True, label="vote of"),
    ),
    place=Place.LAST_LINE,
    decide=debated("vote", roles="roles", decision="decision"),
    parameters={
        "roles": Parameter(
            ROLES,
            "who speaks and votes, in this order: a name, a colon and what the role is; LLMBar names none",
        ),
        "rounds": Parameter(1, "how often each role speaks before the vote; LLMBar leaves it open"),
        "decision": Parameter(
            "majority",
            "whose vote counts: the majority's, or that of the last to vote; LLMBar leaves it open",
            choices=DECISIONS,
        ),
        "rules": RULES,
    },
    note="ChatEval's own referees score both answers each time they speak; as LLMBar describes it, they "
    "discuss and then give their preference one after the other.",
)

FINE_GRAINED_DIFF = Protocol(
    name="fine-grained-diff",
    title="List the differences one by one, say what they mean, then the verdict",
    family="ReIFE",
    citation=REIFE,
    steps=(read_step("fine-grained-diff", "compare"),),
    place=Place.FIELD,
    parameters={"rules": RULES},
)

ASPECTS = Parameter(
    default=(
        "Text quality: the answer reads well, is well built and coherent, and has no mistakes of language.",
        "Richness: the answer gives details, examples, explanations or sources that help. "
        "This does not count where a short or plain answer was asked for.",
        "Intent: where the query leaves open what is wanted, the answer finds a sensible reading, covers it "
        "and asks back if need be. This does not count where the query is clear.",
        "Accuracy: everything that the answer says is right.",
        "Completeness: the answer does all that was asked and keeps to every limit that was set, "
        "such as length, wording or form.",
    ),
    meaning="what is compared one by one: a name, a colon and what it means",
)

_CITATION = f"{REIFE}; after Li et al. (2024), Decompose and Aggregate, arXiv 2405.15329"

MULTI_ASPECT_SINGLE = Protocol(
    name="multi-aspect-single",
    title="Go through a list of aspects in one reply, then the verdict",
    family="ReIFE",
    citation=_CITATION,
    steps=(read_step("multi-aspect-single", "compare"),),
    place=Place.FIELD,
    parameters={"aspects": ASPECTS, "rules": RULES},
)

MULTI_ASPECT_TWO = Protocol(
    name="multi-aspect-two",
    title="Compare in one aspect at a time, then decide from all comparisons",
    family="ReIFE",
    citation=_CITATION,
    steps=(
        read_step("multi-aspect-two", "analyse", each="aspects", label="comparison in"),
        read_step("multi-aspect-two", "decide"),
    ),
    place=Place.FIELD,
    parameters={"aspects": ASPECTS, "rules": RULES},
)

_WRITE, _COMPARE = REFERENCE.steps

STRONG_REFERENCE = replace(
    REFERENCE,
    name="strong-reference",
    title="As reference, but another model that is named writes the reference answer",
    family="ReIFE",
    citation=REIFE,
    aliases=("gpt4-reference",),
    steps=(replace(_WRITE, author="author"), _COMPARE),
    parameters={"author": author("the reference answers"), **REFERENCE.parameters},
    note="The default author is the one that ReIFE used for gpt4-reference.",
)

PREPAIR = Protocol(
    name="prepair",
    title="Assess each answer on its own, then compare with both assessments at hand",
    family="ReIFE",
    citation=f"{REIFE}; after Jeong et al. (2024), PRePair, arXiv 2406.12319",
    steps=(
        read_step("prepair", "analyse", about=About.COMPLETION, label="assessment of answer"),
        read_step("prepair", "compare"),
    ),
    place=Place.FIELD,
    parameters={"rules": RULES},
)

COT_SELF_CONSISTENCY = replace(
    COT,
    name="cot-self-consistency",
    title="Reason first, nine times; the majority decides",
    family="ReIFE",
    citation=f"{REIFE}; after Wang et al. (2023), Self-Consistency, arXiv 2203.11171",
    aliases=("cot&consistency",),
    samples=9,
    temperature=0.7,
    note="ReIFE samples with top_p 0.95; set it in the judge's options.",
)

PROTOCOL_CONSISTENCY = Protocol(
    name="protocol-consistency",
    title="Five protocols vote; the majority decides",
    family="ReIFE",
    citation=f"{REIFE}; after Wang et al. (2023), Self-Consistency, arXiv 2203.11171",
    parts=tuple(Part(one.name, one) for one in (COT, METRICS, REFERENCE, METRICS_REFERENCE, SWAP)),
    note="The voters are the five enhanced protocols of the paper. Its released configuration has rules "
    "(which it calls base) where the paper has swap: that is protocol-consistency-released.",
)

PROTOCOL_CONSISTENCY_RELEASED = replace(
    PROTOCOL_CONSISTENCY,
    name="protocol-consistency-released",
    title="As protocol-consistency, with the voters of ReIFE's released configuration",
    parts=tuple(Part(one.name, one) for one in (WITH_RULES, COT, METRICS, REFERENCE, METRICS_REFERENCE)),
    note="The paper names other voters: see protocol-consistency.",
)

# Benchmarks

ARENA_HARD = Protocol(
    name="arena-hard",
    title="Answer the query yourself first, then compare",
    family="Benchmarks",
    citation="Li et al. (2024), From Crowdsourced Data to High-Quality Benchmarks: Arena-Hard and "
    "BenchBuilder Pipeline, arXiv 2406.11939",
    steps=(read_step("arena-hard", "judge"),),
    place=Place.FIELD,
    forms=("grades", "likert", "binary", "scores"),
    note="The benchmark counts A>>B and B>>A as three ratings; here each counts as one.",
)

WILDBENCH = Protocol(
    name="wildbench",
    title="Compare with a checklist that was written for the prompt",
    family="Benchmarks",
    citation="Lin et al. (2024), WildBench, arXiv 2406.04770",
    steps=(
        read_step("wildbench", "checklist", about=About.PROMPT, author="author"),
        read_step("wildbench", "judge"),
    ),
    place=Place.FIELD,
    forms=("grades", "likert", "binary", "scores"),
    parameters={"author": author("the checklists")},
    note="The benchmark's own checklists were written by GPT-4-Turbo and Claude 3 Opus and reviewed by "
    "people. Here nobody reviews them. The default author is the one that ReIFE used.",
)

ALPACA_EVAL = Protocol(
    name="alpaca-eval",
    title="Name the model with the better answer, without explanation",
    family="Benchmarks",
    citation="Li et al. (2023), AlpacaEval, github.com/tatsu-lab/alpaca_eval",
    steps=(read_step("alpaca-eval", "choose"),),
    place=Place.ONLY_LINE,
    forms=("binary", "likert", "scores", "grades"),
    note="The benchmark takes the probability of the first token as the preference. Where the endpoint "
    "returns log-probabilities, the expected rating is stored beside the sampled one.",
)

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
