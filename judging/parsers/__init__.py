"""Replies to verdicts. Pure: text in, a rating or the reason why there is none out.

A parser reads only the place where its protocol says the verdict stands, in the form of the answer scale. It
never guesses: what does not hold exactly one verdict there has no rating.
"""

from judging.parsers.reading import no_text, read_verdict, verdict_span
from judging.parsers.replies import Place, Reason, ReplyText, Verdict
from judging.parsers.thinking import without_thinking

__all__ = [
    "Place",
    "Reason",
    "ReplyText",
    "Verdict",
    "no_text",
    "read_verdict",
    "verdict_span",
    "without_thinking",
]
