"""Aspect by aspect: all in one call, or each in a call of its own and then a decision."""

from dataclasses import replace

from judging.protocols.catalogue_parts import LLMBAR, REIFE, RULES, author
from judging.protocols.deciding import DECISIONS, debated
from judging.protocols.llmbar import COT, METRICS, METRICS_REFERENCE, REFERENCE, SWAP, WITH_RULES
from judging.protocols.protocol import About, Parameter, Part, Protocol, read_step
from judging.protocols.replies import Place

# Referees of different kinds debate; each speaks in turn and sees what was said before.


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
        "rounds": Parameter(1, "how often everybody speaks; published with 1 and with 2", choices=(1, 2)),
        "decision": Parameter(
            "last",
            "whose verdict stands: the last speaker's, as published, or the majority's in the last round",
            choices=DECISIONS,
        ),
        "rules": RULES,
    },
    aliases=("multi-role-round1",),
    note="multi-role-round2 is this with rounds set to 2. The roles are ReIFE's, in our words.",
)


# Referees of different kinds discuss, then vote one after the other.


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
        "rounds": Parameter(1, "how often everybody speaks before the vote; LLMBar leaves it open"),
        "decision": Parameter(
            "majority",
            "whose vote stands: the majority's, or that of the last to vote; LLMBar leaves it open",
            choices=DECISIONS,
        ),
        "rules": RULES,
    },
    note="ChatEval's own referees score both answers each time they speak; as LLMBar describes it, they "
    "discuss and then give their preference one after the other.",
)


# Small differences first, then what they mean.


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


# A strong model's answer to the prompt as a reference.


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
    note="The author is by default the one that ReIFE took for what it calls gpt4-reference.",
)


# Each answer on its own first, then both with what was found.


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


# Several samples of one way of reasoning vote.


COT_SELF_CONSISTENCY = replace(
    COT,
    name="cot-self-consistency",
    title="Reason first, nine times anew; the majority decides",
    family="ReIFE",
    citation=f"{REIFE}; after Wang et al. (2023), Self-Consistency, arXiv 2203.11171",
    aliases=("cot&consistency",),
    samples=9,
    temperature=0.7,
    note="ReIFE samples with top_p 0.95; set it in the judge's options.",
)


# Several protocols vote.


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
