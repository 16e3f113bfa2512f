"""Does a text tell who wrote it? Pure.

A rater is to judge a completion without knowing its author. Two things give the author away: the text holds
an invented word or a whole phrase of its author's own name, family or organisation ("Vicuna", "OpenAI",
"Falcon 40B"), or it speaks of itself ("I am Koala", "a language model trained by Google"). A name that may
be an ordinary word, or that many texts are about, counts in the second way only. A text that calls itself
somebody else's model is found too.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple


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
