"""Where protocols were published."""

from typing import Final

SEED_STUDY: Final = "Rajani et al. (2023), Can foundation models label data like humans?, Hugging Face blog"

LLMBAR: Final = (
    "Zeng et al. (2024), LLMBar: Evaluating Large Language Models at Evaluating Instruction Following, "
    "arXiv 2310.07641"
)

REIFE: Final = "Liu et al. (2024), ReIFE: Re-evaluating Instruction-Following Evaluation, arXiv 2410.07069"
