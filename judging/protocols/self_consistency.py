"""Several samples of one way of reasoning vote."""

from dataclasses import replace

from judging.protocols.cot import COT
from judging.protocols.sources import REIFE

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
