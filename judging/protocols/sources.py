"""Where protocols were published."""

from typing import Final

REIFE: Final = "Liu et al. (2024), ReIFE: Re-evaluating Instruction-Following Evaluation, arXiv 2410.07069"
