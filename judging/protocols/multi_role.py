"""Referees of different kinds debate; each speaks in turn and sees what was said before."""

from judging.deciding import DECISIONS, debated
from judging.parsers import Place
from judging.protocol import Parameter, Protocol, read_step
from judging.protocols.rules import RULES
from judging.protocols.sources import REIFE

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
