"""Does a text tell who wrote it? Pure.

A rater is to judge a completion without knowing its author. Two things give the author away: the text holds
an invented word or a whole phrase of its author's own name, family or organisation ("Vicuna", "OpenAI",
"Falcon 40B"), or it speaks of itself ("I am Koala", "a language model trained by Google"). A name that may
be an ordinary word, or that many texts are about, counts in the second way only. A text that calls itself
somebody else's model is found too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from arena.models import Completion, Study


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GENERIC: Final = _words(
    """
    ai alpha and assistant base beta by chat clean code codechat coder contestant control data
    demonstrations dpo extended fast final flash for ft hf human humans inc institute instruct instruction
    it lab labs language large latest light lite llm lm long low max medium mid mini model models nano new
    nightly of open people preview pro python research rlhf self sft small supreme system team text the
    tuned turbo ultra uncensored university with
    """
)
"""Words that say nothing about who wrote a text, even where they are a part of a name."""

_TELLING: Final = _words("anthropic chatgpt deepseek laion lmsys mixtral openai qwen vicuna")
"""Invented names that texts are seldom about: their author gives itself away by the bare word."""

_KNOWN: Final = (
    "ChatGPT",
    "GPT",
    "OpenAI",
    "Anthropic",
    "Claude",
    "Google",
    "DeepMind",
    "Bard",
    "Gemini",
    "LaMDA",
    "PaLM",
    "Meta",
    "Facebook",
    "LLaMA",
    "Alpaca",
    "Vicuna",
    "LMSYS",
    "Koala",
    "Open Assistant",
    "LAION",
    "Microsoft",
    "Bing",
    "Copilot",
    "Mistral",
    "Mixtral",
    "Qwen",
    "Alibaba",
    "Baidu",
    "DeepSeek",
    "Cohere",
    "AI21",
    "Falcon",
    "Dolly",
    "Databricks",
    "MosaicML",
    "StableLM",
    "Stability AI",
    "Hugging Face",
    "BigScience",
    "EleutherAI",
    "xAI",
    "Grok",
    "Salesforce",
)
"""Models and makers a text may call itself."""

_GAP: Final = r"[^.!?\n]"
_ABOUT_ITSELF: Final = re.compile(
    rf"""(?:
    (?: \bI\ am | \bI['’]m | \bmy\ name\ is | \bcall\ me )
        \s+ (?: (?:an?|the|called|named|known|as|just|AI|assistant|chatbot|model|language|large ) \s+ )*
  | (?: \bI\ am | \bI['’]m | \bI\ was | \bas ) \s+
        (?: (?-i:[A-Z])[^\s.,!?]{{1,30}} ,\ )? (?: an?|the ) \s {_GAP}{{0,60}}
        \b (?: AI|assistant|model|chatbot|bot|LLM|program ) \b {_GAP}{{0,60}}
        \b (?: by|from|at|called|named|as|on ) \s {_GAP}{{0,50}}
  | \bI \s (?: was|have\ been|am|['’]ve\ been ) \s (?: \w+ \s )?
        (?: developed|created|trained|made|built|designed|programmed|based ) \b {_GAP}{{0,50}}
        \b (?: by|at|on|from ) \s {_GAP}{{0,50}}
  | \bmy \s (?: creators?|developers?|makers? ) \b {_GAP}{{0,30}}
    )\Z""",
    re.IGNORECASE | re.VERBOSE,
)
"""What stands right before a name by which a text calls itself or its maker."""

_REACH: Final = 200
"""Characters before a name in which it may be said that the text speaks of itself."""

_WORD: Final = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)*[^\W\d_]?")


_CAMEL: Final = re.compile(r"[^\W\d_][a-z]{2,}[A-Z]")
"""A name like RedPajama or OpenAI, which is no ordinary word."""


_VERSION: Final = re.compile(
    r"""
    -?v?\d+(?:\.\d+)*[a-z]?(?:-\w+)*                # GPT-3.5-turbo, Llama2
  | [ -]v?\d+(?:\.\d+)+                              # Claude 2.1
  | [ -]v?\d+[a-z]?(?=\s*(?:[.,;:!?)\]"'*\n]|\Z))    # GPT 4, where nothing follows that is counted
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What may follow a name and belongs to it."""


_SENTENCE_END: Final = re.compile(r"[.!?]\s|\n")


class Named(NamedTuple):
    """What gives a text's author away, as it stands in the text: the ``name``, and the ``phrase`` around it.

    ``own``: it names its own author; otherwise it calls itself the model or the work of somebody else.
    """

    name: str
    phrase: str
    own: bool


class _Mention(NamedTuple):
    """A name as it stands in a text, what tells it from other names, and ``named`` where it tells the author.

    ``follows``: nothing ends a sentence between the name before and this one.
    """

    name: str
    key: tuple[str, bool]
    named: Named | None
    follows: bool


class NameFinder:
    """Finds what gives away one contestant, given its name, family and organisation (may be empty)."""

    def __init__(self, name: str, family: str = "", organisation: str = "") -> None:
        telling: set[str] = set()
        ordinary: set[str] = set()
        for label in (name, family, organisation):
            _sort(label, telling, ordinary)
        self._telling = {_bare(phrase) for phrase in telling}
        self._own = {*map(_bare, telling), *map(_bare, ordinary)}
        self._labels = _bare(f"{name}|{family}|{organisation}")
        phrases = sorted(
            {*telling, *ordinary, *map(str.lower, _KNOWN)}, key=lambda phrase: (-len(phrase), phrase)
        )
        self._names = re.compile(rf"(?<!\w)(?:{'|'.join(map(_pattern, phrases))})(?![^\W\d_])")

    def find(self, text: str) -> Named | None:
        """What gives the author of this text away first; None where nothing does."""
        return next((mention.named for mention in self._mentions(text) if mention.named), None)

    def find_all(self, turns: Iterable[str]) -> list[str]:
        """Every name in a completion that gives its author away, as it stands there; each once.

        Once a text has called itself by an ordinary name, that name tells wherever it stands again, and so do
        the names in the rest of the sentence: "I am Koala, trained by Google".
        """
        mentions = [mention for turn in turns for mention in self._mentions(turn)]
        keys = {mention.key for mention in mentions if mention.named}
        names = []
        telling = False
        for mention in mentions:
            goes_on = telling and mention.follows and mention.name[0].isupper()
            telling = mention.key in keys or goes_on
            if telling:
                names.append(mention.name)
        return list(dict.fromkeys(names))

    def _mentions(self, text: str) -> Iterator[_Mention]:
        # Looking for small letters in small letters takes less than half the time of ignoring case.
        small = text.lower()
        # A few letters become two in small, and the places then differ.
        found = (
            self._names.finditer(small)
            if len(text) == len(small)
            else re.finditer(self._names.pattern, text, re.IGNORECASE)
        )
        last = 0
        for match in found:
            start, end = match.span()
            bare = _bare(match[0])
            version = _VERSION.match(text, end)
            name = text[start : version.end() if version else end]
            follows = bool(last) and not _SENTENCE_END.search(text, last, start)
            last = start + len(name)
            named = self._named(bare, name, text[max(0, start - _REACH) : start])
            # A "koala" in small letters is an animal, also where the text calls itself Koala.
            yield _Mention(name, (bare, name.islower()), named, follows)

    def _named(self, bare: str, name: str, before: str) -> Named | None:
        if bare in self._telling:
            return Named(name, name, own=True)
        about = _ABOUT_ITSELF.search(before)
        if about is None:
            return None
        own = bare in self._labels or any(one in bare for one in self._own)
        return Named(name, about[0] + name, own)


def _sort(label: str, telling: set[str], ordinary: set[str]) -> None:
    """Sort the parts of a label into phrases that tell by themselves, and words that tell only in context."""
    words = [word for word in _WORD.findall(label.partition(":")[0]) if word.lower() != "v"]
    # In "Claude v2" what is capitalised is the name; of "text-davinci-003" the first word that is no filler.
    names = [word for word in words if word[0].isalpha() and len(word) > 2 and word.lower() not in _GENERIC]
    names = [word for word in names if word != word.lower()] or names[:1]
    for word in names:
        invented = word.lower() in _TELLING or _CAMEL.search(word)
        (telling if invented else ordinary).add(word.lower())
    for first, second in pairwise(map(str.lower, words)):
        if first[0].isalpha() and len(first) > 1 and {first, second}.isdisjoint(_GENERIC):
            telling.add(f"{first} {second}")


def _pattern(phrase: str) -> str:
    """A regular expression for a phrase, whatever separates its words."""
    return r"[\s._-]?v?".join(map(re.escape, phrase.split(" ")))


def _bare(phrase: str) -> str:
    return re.sub(r"[\s._-]", "", phrase).lower()


# Hiding the words that tell, found when the completion was imported. What people and judges are shown goes
# through ``shown_turns``, before it is rendered, so that both rate the same text.


HIDDEN: Final = "[name hidden]"
"""What stands in place of a name."""


def mask(text: str, phrases: Iterable[str]) -> str:
    """The text with each of the phrases hidden wherever it stands as a whole word; the rest stays as it is.

    A phrase that begins or ends with a letter does not count inside a longer word: hiding "Meta" leaves
    "metaphor" and "Metadata" alone.
    """
    pattern = _phrase_pattern(phrases)
    return pattern.sub(HIDDEN, text) if pattern else text


class Piece(NamedTuple):
    """A part of a text, a phrase or what is between phrases."""

    text: str
    is_phrase: bool


def in_context(text: str, phrases: Iterable[str], *, around: int = 70, most: int = 3) -> list[list[Piece]]:
    """The first passages of a text with a phrase as a whole word, and ``around`` characters on both sides.

    Up to five phrases that stand near each other are in one passage.
    """
    pattern = _phrase_pattern(phrases)
    passages: list[list[re.Match[str]]] = []
    for found in pattern.finditer(text) if pattern else ():
        near = passages and found.start() - passages[-1][-1].end() <= 2 * around
        if near and len(passages[-1]) < 5:
            passages[-1].append(found)
        elif len(passages) == most:
            break
        else:
            passages.append([found])
    return [_pieces(text, passage, around) for passage in passages]


def _pieces(text: str, passage: list[re.Match[str]], around: int) -> list[Piece]:
    start, end = max(0, passage[0].start() - around), min(len(text), passage[-1].end() + around)
    pieces = [Piece("…", False)] * (start > 0)
    for found in passage:
        pieces += [Piece(text[start : found.start()], False), Piece(found[0], True)]
        start = found.end()
    return [*pieces, Piece(text[start:end] + "…" * (end < len(text)), False)]


def _phrase_pattern(phrases: Iterable[str]) -> re.Pattern[str] | None:
    # The longest first: of "GPT-4" and "GPT" the first is found whole.
    known = sorted({phrase for phrase in phrases if phrase}, key=lambda phrase: (-len(phrase), phrase))
    return re.compile("|".join(map(_whole, known))) if known else None


def _whole(phrase: str) -> str:
    before = r"(?<!\w)" if re.match(r"\w", phrase[0]) else ""
    # A name may be followed by its version: "Llama" is hidden in "Llama2", but "GPT-4" is not "GPT-40".
    after = r"(?!\w)" if phrase[-1].isdigit() else r"(?![^\W\d_])" if re.match(r"\w", phrase[-1]) else ""
    return f"{before}{re.escape(phrase)}{after}"


def shown_turns(completion: Completion, study: Study) -> list[str]:
    """The turns of a completion as raters of the study are shown them."""
    turns: list[str] = completion.turns
    if study.naming != "mask" or not completion.telling:
        return turns
    return [mask(turn, completion.telling) for turn in turns]
