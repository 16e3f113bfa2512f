"""Recognising refusals, which have a reason of their own."""

import re
from typing import Final

from judging.parsers.wording import plain

REFUSAL: Final = re.compile(
    r"""
    \b(?:i\s*(?:'m|\s+am)\s+(?:sorry|unable|not\s+able)
      | i\s+(?:can\s*not|cannot|can't|won't|will\s+not|must\s+decline|decline|am\s+not\s+comfortable)
      | as\s+an\s+ai\b
      | (?:unable|not\s+able)\s+to\s+(?:assist|help|comply|provide|rate|compare|evaluate)
      | es\s+tut\s+mir\s+leid | ich\s+kann\s+(?:das|dies|diese|hier|dabei)\b[^.]*\bnicht
      | (?:je\s+suis\s+)?désolée?\b | je\s+ne\s+peux\s+pas
      | lo\s+siento | no\s+puedo\s+(?:ayudar|comparar|evaluar|cumplir)
      | извините | к\s+сожалению,\s+я\s+не\s+могу | я\s+не\s+могу
    )
    | 抱歉 | 对不起 | 我无法 | 我不能 | 申し訳 | できません | お手伝いできかねます
    | آسف | عذر[اًا]+ | لا\s+أستطيع | لا\s+يمكنني
    | क्षमा\s+करें | माफ़\s+कीजिए | मैं\s+\S+\s+नहीं\s+कर\s+सकता
    """,
    re.VERBOSE | re.IGNORECASE,
)
WITHIN: Final = 300
"""A refusal is recognised in this many characters from the start."""


def is_refusal(answer: str) -> bool:
    """Whether an answer without a verdict begins like a refusal."""
    return bool(REFUSAL.search(plain(answer[:WITHIN])))
