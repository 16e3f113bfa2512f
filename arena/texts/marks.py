"""Marks that models leave in their texts: of thinking, and of where a text ends. Pure.

Thinking is told from an answer by marks alone. Marks that a text speaks of, within a line or in code, are
part of it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

TAG: Final = r"(?:\w{1,20}[:_-]|ant)?(?:think(?:ing)?|thoughts?|thought_process|reasoning|scratchpad)"
"""The name of a mark of thinking, as <think> and <seed:think>."""

_FORMS: Final = (
    (r"<{tag}(?:\s[^<>]*)?>", r"</{tag}\s*>"),
    (r"(?-i:\[THINK\])", r"(?-i:\[/THINK\])"),
    ("◁{tag}▷", "◁/{tag}▷"),
    (r"<[|｜]{tag}[|｜]>", r"<(?:[|｜]/|/[|｜]){tag}[|｜]>"),
    (r"<\|(?:start|begin)(?:_of)?_{tag}\|>", r"<\|end(?:_of)?_{tag}\|>"),
    (r"<\|channel>\s*{tag}\b", r"<channel\|>"),
    ("<unused94>", "<unused95>"),
)
"""How thinking opens and closes."""

_CLOSED_FORMS: Final = (
    (r'<details\s[^<>]*type="reasoning"[^<>]*>', "</details>"),
    (r"Here(?:'s| is) my thought process:", r"Here(?:'s| is) my response:"),
    (r"Here are my reasoning steps:", r"\[BEGIN FINAL RESPONSE\]"),
    # The channels of a reply without their marks.
    (r"(?-i:(?:assistant)?(?:analysis|commentary))", r"(?-i:assistantfinal)"),
)
"""How it opens and closes in words that mean nothing alone."""


_IN_EVERY_MARK: Final = ("<", "◁", "THINK]")
"""A text without any of these has no mark of ``_FORMS``, which takes long to find out otherwise."""

_FLAGS: Final = re.DOTALL | re.IGNORECASE | re.MULTILINE
_OPEN: Final = "|".join(opening.format(tag=TAG) for opening, _ in _FORMS)
_CLOSE: Final = "|".join(closing.format(tag=TAG) for _, closing in _FORMS)


def _closed(forms: Sequence[tuple[str, str]]) -> str:
    """Matches thinking that opens and closes in one of these forms."""
    return "|".join(f"{opening}.*?{closing}" for opening, closing in forms).replace("{tag}", TAG)


_BLOCKS: Final = _closed(_FORMS)
_FIRST: Final = re.compile(rf"\s*(?:{_closed(_CLOSED_FORMS)})", _FLAGS)
"""Looked for once: where its end is missing, the whole text is read for it."""

BLOCK: Final = re.compile(rf"\s*(?:{_closed((*_FORMS, *_CLOSED_FORMS))})", _FLAGS)
OPENING: Final = re.compile(_OPEN, _FLAGS)
OPENING_LINE: Final = re.compile(rf"^[ \t]*(?:{_OPEN})", _FLAGS)
CLOSING: Final = re.compile(_CLOSE, _FLAGS)

_FENCE: Final = r"^[ \t]*(?P<fence>`{3,}|~{3,}).*?(?:^[ \t]*(?P=fence)|\Z)"
_CODE: Final = rf"(?P<code>{_FENCE}|`[^`\n]+`)"
_BEGIN: Final = r"^[ \t\ufeff\u200b]*"
_PARTS: Final = re.compile(rf"{_CODE}|{_BEGIN}(?:(?:(?:{_BLOCKS})\s*)+|(?:{_OPEN}).*\Z)", _FLAGS)
"""Code, or thinking that begins a line; without an end it goes on to the last character."""

_FURTHER: Final = re.compile(rf"{_CODE}|(?<![ \t])(?:{_BLOCKS}|(?:{_OPEN}).*\Z)", _FLAGS)
"""Code, or thinking within a line, in a text that has some at the beginning of one."""

_LONE_CLOSING: Final = re.compile(rf"{_CODE}|^[ \t]*(?:{_CLOSE})|(?:{_CLOSE})(?![ \t.,;:!?)'\"])", _FLAGS)

CHANNELS: Final = re.compile(r"\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>")
"""The start of a reply in channels; the answer is in the one named final."""

FINAL_CHANNEL: Final = re.compile(r"<\|channel\|>\s*final\b[^<>|]*<\|message\|>")
_STARTS: Final = re.compile(
    r"(?:\s*(?:<s>|<bos>|<\|begin_of_text\|>|<\|im_start\|>\s*assistant|<start_of_turn>model"
    r"|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|<[|｜]assistant[|｜]>|\[\|assistant\|\]"
    r"|<\|START_RESPONSE\|>|<\|begin_of_solution\|>|<\|message\|>))+\s*",
    re.IGNORECASE,
)
"""The tokens before what an assistant says."""

_LONGEST_END: Final = 60
_END: Final = re.compile(
    r"(?:<[|｜][\w▁ -]{1,40}[|｜]>|\[\|[\w ]{1,40}\|\]|</?(?:s|bos|eos|eot|eom|eod|eoa|eop|pad|unk)>"
    r"|<(?:end_of_turn|end_of_utterance|start_of_turn)>|<turn\|>|<\|turn>"
    r"|(?-i:\[(?:EOS|EOT|/INST|END FINAL RESPONSE)\]|\[e~\[))\Z",
    re.IGNORECASE,
)
_BOX: Final = re.compile(r"<\|(?:begin|end)_of_box\|>")
_WRAPPED: Final = re.compile(
    r"\s*<(answer|final_answer|output|response)>(.*)</\1>\s*", re.DOTALL | re.IGNORECASE
)


def strip_end_tokens(text: str) -> str:
    """The text without the tokens of chat templates that it ends with, and without those of boxes."""
    text = _BOX.sub("", text)
    return text[: _end_of(text)]


def _end_of(text: str) -> int:
    """Where the tokens begin that the text ends with."""
    kept = len(text)
    while True:
        end = kept
        while end and text[end - 1].isspace():
            end -= 1
        found = _END.search(text, max(0, end - _LONGEST_END), end)
        if not found:
            return kept
        kept = found.start()


def split_thinking(text: str) -> tuple[str, str]:
    """The thinking in a text and the answer beside it; thinking that never ends leaves no answer after it."""
    if CHANNELS.match(text):
        finals = list(FINAL_CHANNEL.finditer(text))
        at = finals[-1].end() if finals else len(text)
        return text[:at], text[at:]
    begun = _after_tokens(text, 0)
    first = _FIRST.match(text, begun)
    if not (first or any(part in text for part in _IN_EVERY_MARK)):
        return "", text
    thinking, answer = _without(_PARTS, text, first.end() if first else begun)
    if first:
        thinking.insert(0, first[0])
    if thinking:
        further, answer = _without(_FURTHER, answer)
        thinking += further
    # Where the prompt opens the thinking, a model only closes it.
    closed = [part.end() for part in _LONE_CLOSING.finditer(answer) if part["code"] is None]
    if closed and not OPENING.search(answer, 0, closed[-1]):
        thinking.append(answer[: closed[-1]])
        answer = answer[closed[-1] :]
    if not thinking:
        return "", text
    wrapped = _WRAPPED.fullmatch(answer)
    answer = wrapped[2] if wrapped else answer[_after_tokens(answer, 0) :]
    return "\n".join(thinking), answer.lstrip()


def _without(parts: re.Pattern[str], text: str, start: int = 0) -> tuple[list[str], str]:
    """Return what is thinking in a text, and the rest of it from ``start``."""
    thinking: list[str] = []
    kept: list[str] = []
    for part in parts.finditer(text, start):
        if part["code"] is None:
            kept.append(text[start : part.start()])
            thinking.append(part[0])
            start = part.end()
    return thinking, "".join([*kept, text[start:]])


def final_answer(text: str) -> str:
    """Return what a model says in a text, without thinking and tokens."""
    return strip_end_tokens(split_thinking(text)[1])


@dataclass(frozen=True)
class Answer:
    """The part of a judge's reply that is no thinking: ``text[start:end]``."""

    start: int
    end: int
    is_open: bool = False  # the thinking has no clear end, so there is no answer
    orphan: str = ""  # text before a closing tag without an opening one, as some endpoints send


def answer_of(text: str) -> Answer:
    """The answer in a judge's reply, without tokens before and after it.

    In doubt there is none: a verdict may be quoted anywhere.
    """
    if CHANNELS.match(text):
        return _final_channel(text)
    start, end = _after_tokens(text, 0), _end_of(text)
    while match := BLOCK.match(text, start):
        start = _after_tokens(text, match.end())
    end = max(start, end)
    closings = [match.span() for match in CLOSING.finditer(text, start)]
    last = closings[-1][1] if closings else start
    if OPENING_LINE.search(text, last):
        return Answer(start, end, is_open=True)
    if not closings or OPENING.search(text, start):
        return Answer(start, end)
    before, after = closings[0]
    begin = _after_tokens(text, after)
    # With several, one may be the model's own and another one quoted: nobody can tell which.
    return Answer(begin, max(begin, end), is_open=len(closings) > 1, orphan=text[start:before])


def _after_tokens(text: str, start: int) -> int:
    found = _STARTS.match(text, start)
    return found.end() if found else start


def _final_channel(text: str) -> Answer:
    final = list(FINAL_CHANNEL.finditer(text))
    if len(final) != 1:
        return Answer(len(text), len(text), is_open=True)
    return Answer(final[0].end(), max(final[0].end(), _end_of(text)))


def without_thinking(text: str) -> tuple[str, bool]:
    """The answer in a judge's reply, and whether the thinking before it has no clear end."""
    answer = answer_of(text)
    return text[answer.start : answer.end], answer.is_open
