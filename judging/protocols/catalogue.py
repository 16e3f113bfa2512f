"""Every protocol by name: the seed study's, LLMBar's, ReIFE's, those of benchmarks, and of single answers."""

from dataclasses import replace
from typing import Final

from judging.protocols.deciding import COMBINATIONS, DECISIONS, compared, contradict, debated, last_of
from judging.protocols.protocol import (
    QUESTIONS,
    About,
    Catalogue,
    Parameter,
    Part,
    Protocol,
    Task,
    read_step,
)
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
    meaning="tell the judge to put following the instruction first and to ignore the order",
    texts={True: read_text("shared/rules"), False: ""},
)

RULES_FOR_ONE: Final = replace(RULES, texts={True: read_text("shared/rules_single"), False: ""})

METRICS_STEP: Final = read_step("metrics", "metrics", about=About.PROMPT, label="questions")

REFERENCE_STEP: Final = read_step(
    "reference", "reference", about=About.PROMPT, label="reference", given="own_references"
)

WITH_METRICS: Final = Parameter(
    False, "let the model write questions that fit the prompt first, to guide the score"
)

WITH_REFERENCE: Final = Parameter(False, "let the model answer the prompt first, as a reference")

OWN_REFERENCES: Final = Parameter(
    False,
    "show the study's own reference answers; the model writes one only if a prompt has none",
)


def author(works: str) -> Parameter:
    return Parameter(
        "gpt-4o",
        f"the model that writes {works}: one at the judge's endpoint, or judge:SLUG for another judge's",
    )


ONLY_SCORES: Final = "it asks for scores; with anything else it would be another protocol"

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
    citation=f"{SEED_STUDY}; the range from 1 to 10 is FastChat's, as the study names none",
    steps=(read_step("scores", "rate"),),
    place=Place.FIRST_LINE,
    forms=("scores",),
    lacks=ONLY_SCORES,
)

# LLMBar

SHOTS = Parameter(
    0,
    "number of examples with the right reply; published with the rules and 0, 1 or 2",
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
    title="Name the better answer by given rules, nothing else",
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
    title="Write questions that fit the prompt, then compare",
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
    title="Write questions that fit the prompt and a reference answer, then compare",
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
    note="Verdicts contradict each other if they take opposite sides. Otherwise the verdict in the order "
    "shown counts, as in LLMBar. The two calls serve both orders of a pair.",
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
    title="Grade each answer from 1 to 5 on its own, by your rubric",
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
            read_text("rubric/following"), "what to grade, and what each grade from 1 to 5 means"
        ),
        "rules": replace(RULES_FOR_ONE, default=False),
        "with_reference": WITH_REFERENCE,
        "own_references": OWN_REFERENCES,
        "author": Parameter(
            "", "the model that answers the prompt; empty: the judge's own; published with GPT-4"
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
        "roles": Parameter(ROLES, "the speakers in order, each as a name, a colon and the role"),
        "rounds": Parameter(1, "how often each role speaks; published with 1 and 2", choices=(1, 2)),
        "decision": Parameter(
            "last",
            "the verdict that counts, of the last speaker (as published) or the majority in the last round",
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
            "the speakers and voters in order, each as a name, a colon and the role; LLMBar names none",
        ),
        "rounds": Parameter(1, "how often each role speaks before the vote; LLMBar leaves it open"),
        "decision": Parameter(
            "majority",
            "the vote that counts, of the majority or the last voter; LLMBar leaves it open",
            choices=DECISIONS,
        ),
        "rules": RULES,
    },
    note="In ChatEval, referees score both answers each time they speak. In LLMBar's description, which this "
    "follows, they discuss and then give their preferences one after the other.",
)

FINE_GRAINED_DIFF = Protocol(
    name="fine-grained-diff",
    title="List the differences and what they mean, then the verdict",
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
    meaning="the aspects to compare, each as a name, a colon and its meaning",
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
    title="Compare in one aspect at a time, then decide",
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
    title="As reference, but another model writes the reference answer",
    family="ReIFE",
    citation=REIFE,
    aliases=("gpt4-reference",),
    steps=(replace(_WRITE, author="author"), _COMPARE),
    parameters={"author": author("the reference answers"), **REFERENCE.parameters},
    note="ReIFE used the default author for gpt4-reference.",
)

PREPAIR = Protocol(
    name="prepair",
    title="Assess each answer on its own, then compare with both assessments",
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
    note="ReIFE uses top_p 0.95; set it in the judge's options.",
)

PROTOCOL_CONSISTENCY = Protocol(
    name="protocol-consistency",
    title="Five protocols vote; the majority decides",
    family="ReIFE",
    citation=f"{REIFE}; after Wang et al. (2023), Self-Consistency, arXiv 2203.11171",
    parts=tuple(Part(one.name, one) for one in (COT, METRICS, REFERENCE, METRICS_REFERENCE, SWAP)),
    note="The voters are the five enhanced protocols of the paper. Its released configuration "
    "(protocol-consistency-released) has rules, which it calls base, instead of swap.",
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
    title="Write a checklist for the prompt, then compare",
    family="Benchmarks",
    citation="Lin et al. (2024), WildBench, arXiv 2406.04770",
    steps=(
        read_step("wildbench", "checklist", about=About.PROMPT, author="author"),
        read_step("wildbench", "judge"),
    ),
    place=Place.FIELD,
    forms=("grades", "likert", "binary", "scores"),
    parameters={"author": author("the checklists")},
    note="GPT-4-Turbo and Claude 3 Opus wrote the benchmark's own checklists, and people reviewed them. "
    "Here nobody reviews them. ReIFE used the default author.",
)

ALPACA_EVAL = Protocol(
    name="alpaca-eval",
    title="Name the model with the better answer, without explanation",
    family="Benchmarks",
    citation="Li et al. (2023), AlpacaEval, github.com/tatsu-lab/alpaca_eval",
    steps=(read_step("alpaca-eval", "choose"),),
    place=Place.ONLY_LINE,
    forms=("binary", "likert", "scores", "grades"),
    note="The benchmark takes the probability of the first token as the preference. If the endpoint returns "
    "log-probabilities, the expected rating is stored beside the rating.",
)

# Scores of single answers

COMBINE = Parameter("mean", "what several samples amount to", choices=COMBINATIONS)

MT_BENCH_SINGLE = Protocol(
    name="mt-bench-single",
    title="Explain, then score one answer from 1 to 10",
    family="Scores of one answer",
    citation="Zheng et al. (2023), Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, arXiv 2306.05685",
    task=Task.SCORE,
    steps=(
        replace(REFERENCE_STEP, only="with_reference"),
        read_step("mt-bench-single", "judge", about=About.COMPLETION, score=(1, 10)),
    ),
    place=Place.LAST_LINE,
    forms=("score",),
    parameters={"combine": COMBINE, "with_reference": WITH_REFERENCE, "own_references": OWN_REFERENCES},
    note="The benchmark scores each turn of a conversation. This scores all turns together, in whole "
    'numbers. A last line "Rating: [[7]]" is read, too.',
)

WILDBENCH_SCORE = Protocol(
    name="wildbench-score",
    title="Score one answer from 1 to 10, with the prompt's requirements as a checklist",
    family="Scores of one answer",
    citation="Lin et al. (2024), WildBench, arXiv 2406.04770",
    task=Task.SCORE,
    steps=(read_step("wildbench-score", "judge", about=About.COMPLETION, score=(1, 10)),),
    place=Place.FIELD,
    forms=("score",),
    parameters={"combine": COMBINE},
    note="A prompt without requirements has no checklist.",
)

SCORE = Protocol(
    name="score",
    title="Score one answer from 1 to 10, then explain",
    family="Scores of one answer",
    citation=f"{SEED_STUDY}; as scores, but about one answer at a time",
    task=Task.SCORE,
    steps=(read_step("score", "rate", about=About.COMPLETION, score=(1, 10)),),
    place=Place.FIRST_LINE,
    forms=("score",),
    parameters={"combine": COMBINE},
)

SCORE_ONLY = Protocol(
    name="score-only",
    title="Score one answer from 1 to 10, nothing else",
    family="Scores of one answer",
    citation="Huang et al. (2024), Self-Evaluation of Large Language Model based on Glass-box Features, "
    "arXiv 2403.04222",
    task=Task.SCORE,
    steps=(read_step("score-only", "rate", about=About.COMPLETION, score=(1, 10)),),
    place=Place.ONLY_LINE,
    forms=("score",),
    parameters={"combine": COMBINE},
)

INFOBENCH: Final = (
    "Qin et al. (2024), InFoBench: Evaluating Instruction Following Ability in Large Language Models, "
    "arXiv 2401.03601"
)

DIRECT_SCORE = Protocol(
    name="direct-score",
    title="Score one answer from 1 to 5, nothing else",
    family="Scores of one answer",
    citation=INFOBENCH,
    task=Task.SCORE,
    steps=(read_step("direct-score", "rate", about=About.COMPLETION, score=(1, 5)),),
    place=Place.ONLY_LINE,
    forms=("score",),
    parameters={
        "combine": COMBINE,
        "levels": Parameter(read_text("direct-score/levels"), "what each score from 1 to 5 means"),
        "rules": replace(RULES_FOR_ONE, default=False),
    },
    note="In the paper, people score so. If the endpoint returns log-probabilities, the expected score is "
    "stored beside the score.",
)

# Requirements of single answers

REQUIREMENTS = Protocol(
    name="requirements",
    title="Check one requirement after the other in one conversation",
    family="Requirements of one answer",
    citation=INFOBENCH,
    task=Task.CHECK,
    steps=(
        read_step("requirements", "first", about=About.COMPLETION, each=QUESTIONS, which="first"),
        read_step(
            "requirements",
            "next",
            about=About.COMPLETION,
            each=QUESTIONS,
            which="rest",
            in_turn=True,
            continues="first",
        ),
    ),
    place=Place.OPENING,
    forms=("yes_no",),
    parameters={
        "rules": Parameter(
            True, "say what yes and no mean", texts={True: read_text("shared/yes_no_rules"), False: ""}
        ),
        "with_instruction": Parameter(False, "show the prompt; the paper shows only its input"),
        "stop_at_unreadable": Parameter(
            False,
            "end at a reply that cannot be read, as the paper's script does, and leave out the rest",
        ),
    },
    note="The judge sees its own earlier replies. The paper asks at temperature 0.",
)

REQUIREMENTS_ALONE = replace(
    REQUIREMENTS,
    name="requirements-alone",
    title="Check each requirement in a conversation of its own",
    steps=(read_step("requirements", "check", text="first", about=About.COMPLETION, each=QUESTIONS),),
    parameters={name: REQUIREMENTS.parameters[name] for name in ("rules", "with_instruction")},
    note="The paper tried this, too.",
)

REQUIREMENTS_AT_ONCE = replace(
    REQUIREMENTS_ALONE,
    name="requirements-at-once",
    title="Check all requirements in one reply",
    steps=(read_step("requirements-at-once", "check", about=About.COMPLETION),),
    place=Place.LINES,
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
    # Scores of single answers
    MT_BENCH_SINGLE,
    WILDBENCH_SCORE,
    SCORE,
    SCORE_ONLY,
    DIRECT_SCORE,
    # Requirements of single answers
    REQUIREMENTS,
    REQUIREMENTS_ALONE,
    REQUIREMENTS_AT_ONCE,
)
