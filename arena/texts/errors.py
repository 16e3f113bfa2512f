"""Texts that programs leave in the place of an answer when asking a model failed. Pure."""

import re
from typing import Final

_LONGEST: Final = 4000
"""Characters; a longer text is an answer, whatever it begins with."""

_STATUS: Final = r"[45]\d\d"
_REASON: Final = (
    r"(?:bad (?:request|gateway)|internal server error|service (?:temporarily )?unavailable"
    r"|gateway time-?out|too many requests|unauthorized|forbidden)"
)

_WHOLE: Final = (
    # Benchmarks' programs.
    r"\$ERROR\$",
    r"\$MODERATION\$.*",
    r"[#\[<(*]*(?:API[ _-]?)?ERROR[#\]>)*!.]*",
    r"[\[<(]?no[ _](?:response|answer|output)(?: \(bad request\))?[\]>)]?\.?",
    r"failed to obtain answer via api\.?",
    r"your input violates our content moderation guidelines\. please try again\.",
    r"null|nan",
    r"__\w*ERROR\w*__",
    r"[\[<(]+(?:failed|timeout|timed out|blocked|empty)[\]>)]+",
    r"(?:generation|request|inference|api(?: call)?)[ _](?:failed|failure|timeout|blocked)[.!]?",
    r"(?:i'm )?sorry, (?:an error occurred|something went wrong)\.?(?: please try again(?: later)?\.?)?",
    # Spreadsheets.
    r"#(?:N/A|VALUE!|NAME\?|REF!|DIV/0!|NULL!|NUM!)",
    # Clients and servers of models.
    rf"(?:{_STATUS}:? )?{_REASON}[.!]?",
    r"(?:request timed out|connection error|rate limit exceeded)[.!]?",
)
"""Messages that are the whole text."""

_START: Final = (
    r"\*\*(?:network|api request) error\b",
    rf"error code: {_STATUS}\b",
    rf"(?:http )?error:? {_STATUS}\b",
    rf"{_STATUS} (?:(?:client|server) error\b|{_REASON})",
    r"error (?:during inference|occurred while (?:generating|calling|processing))\b",
    r"\[error\]:? ",
    r"(?:http ?error|exception): (?:[45]\d\d\b|rate limit|timed? ?out)",
    r"request failed with status code\b",
    r"(?:response|prompt|request) (?:was )?blocked by\b",
    r"enginedeaderror\b",
    r"error (?:calling|querying|generating|from) [^\n]{0,60}:",
    r"(?:api|openai|anthropic|generation|inference|rate ?limit|timeout|connection)[ _]?error:",
    r"error: [^\n]*\b(?:api|status code|http|rate limit|timed? ?out|quota|max retries|failed to fetch)\b",
    r"(?:litellm|openai|anthropic|httpx|requests|aiohttp|google|botocore|urllib3)(?:\.\w+)*"
    r"\.\w*(?:error|exception|timeout)\b",
    r"(?:(?:error: )?cuda|torch\.\w+\.outofmemoryerror: cuda) out of memory",
    r"cuda error:",
    r"upstream connect error\b",
    r"https?connectionpool\(",
    rf"<html>\s*<head>\s*<title>\s*{_STATUS}\b",
    r"\{['\"](?:error|detail)['\"]: ?\{\s*['\"](?:message|code|type)['\"]:",
    r'\{"object": ?"error"',
    r"agent stopped due to (?:iteration|max iterations)",
)
"""How longer messages begin."""

_MESSAGE: Final = re.compile(rf"(?:{'|'.join(_WHOLE)})\Z|(?:{'|'.join(_START)})", re.IGNORECASE | re.DOTALL)


def is_error(text: str) -> bool:
    """Tell whether a text is the message of a program that failed, and no answer."""
    return len(text) <= _LONGEST and _MESSAGE.match(text.strip()) is not None
