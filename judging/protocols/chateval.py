"""Referees of different kinds discuss, then vote one after the other."""

from judging.deciding import DECISIONS, debated
from judging.parsers import Place
from judging.protocol import Parameter, Protocol, read_step
from judging.protocols.multi_role import ROLES
from judging.protocols.rules import RULES
from judging.protocols.sources import LLMBAR

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
