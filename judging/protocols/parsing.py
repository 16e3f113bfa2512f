"""Reading the verdict of a reply: the answer in it, the passage in its place, the form in the passage."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from judging.protocols import verdict_forms
from judging.protocols.replies import Answer, Place, Reason, ReplyText, Verdict, answer_of, without_thinking
from judging.protocols.verdict_forms import plain, words_of

if TYPE_CHECKING:
    from judging.protocols.answer_scales import AnswerScale


# Finding the one passage of an answer that is read.


FIELD: Final = re.compile(
    r"[\s*_`#\[(]*(?:(?:my|the|final|overall)\s+)*verdict[\s*_`\"']*[:：]", re.IGNORECASE
)
"""What stands before a verdict in a field; one in a quotation is somebody else's."""


@dataclass(frozen=True)
class Passage:
    """A line of an answer: its text, its offset in the answer, and the rest, which explains it."""

    text: str
    start: int
    rest: str


def passage(answer: str, place: Place) -> Passage | None:
    """The passage of a non-empty answer that stands in this place; None where there is none."""
    body = answer.strip()
    start = answer.index(body)
    if place is Place.ONLY_LINE:
        return None if "\n" in body else Passage(body, start, "")
    if place is Place.FIRST_LINE:
        line, _, rest = body.partition("\n")
        return Passage(line, start, rest.strip())
    before, newline, line = body.rpartition("\n")
    found = Passage(line, start + len(before) + len(newline), before.strip())
    if place is Place.LAST_LINE:
        return found
    label = FIELD.match(line)
    return Passage(line[label.end() :], found.start + label.end(), found.rest) if label else None


# Recognising refusals, which have a reason of their own.


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


SENTENCE: Final = re.compile(r"(?<=[.!?。])[*_]*\s+")
"""Between two sentences."""

HEADING: Final = re.compile(r"\s*(?:#|\*\*|__)")
"""How a heading begins in Markdown."""


OPENING_QUOTE: Final = re.compile(r"(?<!\w)['‘„](?=\w)")
CLOSING_QUOTE: Final = re.compile(r"(?<=[\w.!?])['’“](?!\w)")
"""Quotation marks that an apostrophe can be, or that open in one language and close in another."""


@dataclass(frozen=True)
class Found:
    """A verdict and the part of the reply that holds it: ``text[start:end]``."""

    verdict: Verdict
    start: int = 0
    end: int = 0


def read_verdict(reply: ReplyText, scale: "AnswerScale", place: Place) -> Verdict:
    """The verdict that stands in its place, in the form of the answer scale.

    A label ("Rating: 5"), Markdown and brackets around it, and "5/8" on a scale of 8 points are accepted;
    further words or numbers, a fraction of another scale or a decimal are not.
    """
    return _find(reply, scale, place).verdict


def verdict_span(reply: ReplyText, scale: "AnswerScale", place: Place) -> tuple[int, int] | None:
    """Where in the reply's text the line or sentence stands that a rating was read from; None without one."""
    found = _find(reply, scale, place)
    return None if found.verdict.rating is None else (found.start, found.end)


def no_text(reply: ReplyText) -> Reason:
    """Why a reply that later steps quote says nothing: refused, truncated or empty; "" where it does."""
    if reply.is_withheld:
        return "refused"
    answer, thinking_open = without_thinking(reply.text)
    if answer.strip() and not thinking_open:
        return ""
    return "truncated" if reply.is_cut_off else "empty"


def _find(reply: ReplyText, scale: "AnswerScale", place: Place) -> Found:
    answer = answer_of(reply.text)
    text = reply.text[answer.start : answer.end]
    reason = _unreadable(reply, answer, text, place)
    if reason:
        return Found(Verdict(None, reason))
    where = passage(text, place)
    read, start = _read(where, scale, place) if where else (verdict_forms.UNPARSABLE, 0)
    if read.rating is not None and where and not _is_doubtful(answer, where, read, scale, place):
        rationale = f"{where.rest}\n{where.text[:start]}".strip() if start else where.rest
        begin = answer.start + where.start + start
        return Found(read.verdict(rationale), begin, answer.start + where.start + len(where.text))
    if read.reason == "out_of_range":
        return Found(Verdict(None, "out_of_range"))
    return Found(Verdict(None, "refused" if is_refusal(text) else "unparsable"))


def _unreadable(reply: ReplyText, answer: Answer, text: str, place: Place) -> Reason:
    """Why there is nothing to read, or "" where there is."""
    if reply.is_withheld:
        return "refused"
    if answer.is_open:
        return "truncated" if reply.is_cut_off else "unparsable"
    if not text.strip():
        return "truncated" if reply.is_cut_off else "empty"
    # What was cut off may go on in the place itself: "1" of "10". Only a first line can be complete.
    is_complete = place is Place.FIRST_LINE and "\n" in text.strip()
    return "truncated" if reply.is_cut_off and not is_complete else ""


def _read(where: Passage, scale: "AnswerScale", place: Place) -> tuple[verdict_forms.Read, int]:
    """What a passage says, and from which offset on it says so."""
    read = verdict_forms.READERS[scale.form](words_of(where.text), scale)
    if read.reason == "unparsable" and scale.form == "binary" and place is Place.LAST_LINE:
        start = _last_sentence(where.text)
        if start:
            return verdict_forms.closing(words_of(where.text[start:])), start
    return read, 0


def _last_sentence(line: str) -> int:
    """The offset of the sentence that closes a line of prose; 0 where it may belong to a quotation."""
    start = max((match.end() for match in SENTENCE.finditer(line.rstrip())), default=0)
    before = line[:start]
    single = len(OPENING_QUOTE.findall(before)) > len(CLOSING_QUOTE.findall(before))
    is_quoted = (
        single
        or before.count('"') % 2
        or any(
            before.count(opening) != before.count(closing)
            for opening, closing in ("“”", "«»", "「」", "『』")
        )
    )
    return 0 if is_quoted else start


def _is_doubtful(
    answer: Answer, where: Passage, read: verdict_forms.Read, scale: "AnswerScale", place: Place
) -> bool:
    """Whether what stands in the place of the verdict may be something else."""
    if place is Place.FIRST_LINE and scale.form == "binary" and _is_heading(where, read, scale):
        return True
    return place in (Place.FIRST_LINE, Place.ONLY_LINE) and _is_after_verdict(answer, scale, place)


def _is_after_verdict(answer: Answer, scale: "AnswerScale", place: Place) -> bool:
    """Whether the text before a lone closing tag of thinking has a verdict in the place too.

    Then the tag may be quoted, and what follows it somebody else's words.
    """
    where = passage(answer.orphan, Place.FIRST_LINE) if answer.orphan.strip() else None
    return where is not None and _read(where, scale, place)[0].reason != "unparsable"


def _is_heading(where: Passage, read: verdict_forms.Read, scale: "AnswerScale") -> bool:
    """Whether the name of an answer heads what is said of it, as another line does the other.

    A judge that goes through both answers without a verdict in its place begins so.
    """
    if not HEADING.match(where.text):
        return False
    headings = (line for line in where.rest.splitlines() if HEADING.match(line))
    headed = {verdict_forms.binary(words_of(line.rstrip(" :*_")), scale).rating for line in headings} - {None}
    return bool(headed) and read.rating not in headed
