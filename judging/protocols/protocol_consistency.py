"""Several protocols vote."""

from dataclasses import replace

from judging.protocol import Part, Protocol
from judging.protocols.cot import COT
from judging.protocols.metrics import METRICS
from judging.protocols.metrics_reference import METRICS_REFERENCE
from judging.protocols.reference import REFERENCE
from judging.protocols.sources import REIFE
from judging.protocols.swap import SWAP
from judging.protocols.vanilla import WITH_RULES

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
