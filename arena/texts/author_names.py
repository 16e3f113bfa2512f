"""Finds what tells a completion's author, and hides it from raters. Pure.

An invented word or a phrase of the author's name, family or organisation tells by itself ("Vicuna", "Falcon
40B"), and so does a longer word with an inner capital ("KoalaChat"); an ordinary word only if the text speaks
of itself ("I am Koala"). Whatever a text names as its maker tells, known or not.
"""

import re
from collections.abc import Iterable, Iterator, Set
from typing import Final, NamedTuple


def vocabulary(text: str) -> frozenset[str]:
    """Returns the words of a text; _ stands for a space within one."""
    return frozenset(word.replace("_", " ") for word in text.split())


_GENERIC: Final = vocabulary(
    """
    ai alpha and assistant base beta by chat clean code codechat coder contestant control data
    demonstrations dpo extended fast final flash for ft hf human humans inc institute instruct instruction
    it lab labs language large latest light lite llm lm long low max medium mid mini model models nano new
    nightly of open people preview pro python research rlhf self sft small supreme system team text the
    tuned turbo ultra uncensored university with
    """
)
"""Words that tell no author, even as part of a name."""

_TELLING: Final = vocabulary("anthropic chatgpt deepseek laion lmsys mixtral openai qwen vicuna")
"""Invented names that texts are seldom about."""

KNOWN: Final = vocabulary(
    """
    chatgpt gpt openai anthropic claude google deepmind bard gemini lamda palm meta facebook llama
    alpaca vicuna lmsys koala open_assistant laion microsoft bing copilot mistral mixtral qwen
    alibaba baidu deepseek cohere ai21 falcon dolly databricks mosaicml stablelm stability_ai
    hugging_face bigscience eleutherai xai grok salesforce
    """
)
"""Models and makers a text may call itself; _ stands for a space."""

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
"""Words before a name by which a text calls itself or its maker."""

_MADE_BY: Final = re.compile(r"(?:made|developed|created|trained|built|designed|programmed|provided) by ")
_MAKER: Final = re.compile(
    rf"""\b (?: (?i:I\ am | I['’]m | as ) ) \s+ (?: an?|the ) \s {_GAP}{{0,60}}?
    \b (?: AI|assistant|model|chatbot|bot|LLM|program ) \b {_GAP}{{0,40}}?
    \b (?: made|developed|created|trained|built|designed|programmed|provided ) \s by \s+
    (?: [a-z]{_GAP}{{0,60}}? \b (?: at|from|of ) \s+ (?: the\s+ )? )?
    (?P<maker> [A-Z][^\W_]* (?: [&.-]? (?<!\.) [^\W_]+ )* (?: \s [A-Z][^\W_]+ ){{0,3}} )""",
    re.VERBOSE,
)
"""A sentence in which a text names its maker, whoever that is."""

_REACH: Final = 200  # characters before a name in which the text may speak of itself
_WORD: Final = re.compile(
    r"(?:(?<![^\W\d_])v)?\d+(?:\.\d+)*(?:[^\W\d_](?![^\W\d_]))?|[^\W\d_]+", re.IGNORECASE
)
"""A part of a name; a v belongs to the number behind it."""

_BETWEEN: Final = r"[)*_]{0,3}(?:[./:-]|[^\S\n])?[(*_]{0,3}"  # the parts of a name in a text
_V: Final = r"v(?:ersion)?\.?[^\S\n]?"
# An underscore may be emphasis ("_Koala_"), but is part of an identifier ("a_koala").
_START: Final = r"(?<![^\W_])(?<![^\W_]_)"
_END: Final = r"(?![^\W\d_])"  # "Llama2" holds the name "Llama"
_END_OF_NUMBER: Final = r"(?![^\W_])"

_CAMEL: Final = re.compile(r"[^\W\d_][a-z]{2,}[A-Z]")  # an inner capital, as in OpenAI: no ordinary word

_VERSION: Final = re.compile(
    r"""
    -?v?\d+(?:\.\d+)*[a-z]?(?:-\w+)*                # GPT-3.5-turbo, Llama2
  | [ -]v?\d+(?:\.\d+)+                              # Claude 2.1
  | (?:\.\d+)+                                      # .1, where the name ends in 2
  | [ -]v?\d+[a-z]?(?=\s*(?:[.,;:!?)\]"'*\n]|\Z))    # GPT 4, where nothing follows that is counted
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A version behind a name."""

_SENTENCE_END: Final = re.compile(r"[.!?]\s|\n")


class Named(NamedTuple):
    """The ``name`` that tells a text's author, and the ``phrase`` around it.

    Not ``own``: the text claims to be somebody else.
    """

    name: str
    phrase: str
    own: bool


class _Mention(NamedTuple):
    """A name in a text; ``named`` if it tells the author, ``follows`` if it continues a sentence."""

    name: str
    key: tuple[str, bool]
    named: Named | None
    follows: bool


class NameFinder:
    """Finds what tells one contestant."""

    def __init__(self, name: str, family: str = "", organisation: str = "") -> None:
        telling: set[str] = set()
        ordinary: set[str] = set()
        for part in (name, name.partition(":")[0]):
            words = [word.lower() for word in _words_of(part)]
            for start in range(len(words) - 1):
                # A maker in front may be left away.
                if any(map(_is_name, words[start:])) or (start == 0 and len(words) > 2):
                    telling.add(" ".join(words[start:]))
            if len(words) == 2:
                ordinary.add(" ".join(words))
        for label in (name, family, organisation):
            _sort(label, telling, ordinary)
        self._own = {*map(_bare, telling), *map(_bare, ordinary)}
        self._labels = _bare(f"{name}|{family}|{organisation}")
        tells, others = (
            "|".join(map(_pattern, _longest_first(phrases))) for phrases in (telling, ordinary | KNOWN)
        )
        self._names = re.compile(rf"{_START}(?:(?P<tells>{tells or '(?!)'})|(?:{others}))")
        parts = {word for label in (name, family, organisation) for word in _names_of(label)}
        self._roots = {word.lower() for word in parts}
        compounds = "|".join(word[0].upper() + word[1:] for word in sorted(parts) if not word.isupper())
        self._compounds = re.compile(rf"{_START}(?:{compounds or '(?!)'})(?=[A-Z])[^\W_]+")

    def find(self, text: str) -> Named | None:
        """The first thing that tells the text's author, or None."""
        return next((mention.named for mention in self._mentions(text) if mention.named), None)

    def find_all(self, turns: Iterable[str]) -> list[str]:
        """Every name in a completion that tells its author, each once.

        An ordinary name by which a text calls itself tells everywhere, and so do names in the rest of that
        sentence.
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
        # Searching in lower case takes less than half the time of ignoring case.
        small = text.lower()
        # A few letters become two in lower case, and then positions differ.
        found = list(
            self._names.finditer(small)
            if len(text) == len(small)
            else re.finditer(self._names.pattern, text, re.IGNORECASE)
        )
        has_root = any(root in small for root in self._roots)
        compounds = list(self._compounds.finditer(text)) if has_root else []
        makers = list(_MAKER.finditer(text)) if " by " in small and _MADE_BY.search(small) else []
        spans = [(match.span(), bool(match["tells"])) for match in found]
        spans += [(match.span(), True) for match in compounds]
        spans += [(match.span("maker"), False) for match in makers]
        told = {match.start("maker"): match[0] for match in makers}
        last = end = 0
        for (start, stop), tells in sorted(spans, key=lambda one: (one[0][0], -one[0][1])):
            if start < end:
                continue
            name = self._whole(text, start, stop)
            end = start + len(name)
            follows = bool(last) and not _SENTENCE_END.search(text, last, start)
            last = end
            bare = _bare(text[start:stop].lower())
            named: Named | None
            if tells:
                named = Named(name, name, own=True)
            elif start in told:
                named = Named(name, told[start], self._is_own(bare))
            else:
                named = self._about_itself(bare, name, text[max(0, start - _REACH) : start])
            # A "koala" in small letters is an animal, also where the text calls itself Koala.
            yield _Mention(name, (bare, name.islower()), named, follows)

    def _whole(self, text: str, start: int, end: int) -> str:
        """The name with a version behind it."""
        version = _VERSION.match(text, end)
        end = version.end() if version else end
        return text[start : end + ("(" in text[start:end] and text.startswith(")", end))]

    def _about_itself(self, bare: str, name: str, before: str) -> Named | None:
        about = _ABOUT_ITSELF.search(before)
        if about is None:
            return None
        return Named(name, about[0] + name, self._is_own(bare))

    def _is_own(self, bare: str) -> bool:
        return bare in self._labels or any(one in bare for one in self._own)


def _words_of(label: str) -> list[str]:
    return [word for word in _WORD.findall(label) if word.lower() not in ("v", "version")]


def _is_name(word: str) -> bool:
    return len(word) > 1 and word.isalpha() and word not in _GENERIC


def _names_of(label: str) -> list[str]:
    """The names in a label: what is capitalised ("Claude v2"), or the first word that is not generic."""
    words = _words_of(label.partition(":")[0])
    names = [word for word in words if len(word) > 2 and _is_name(word.lower())]
    return [word for word in names if word != word.lower()] or names[:1]


def _sort(label: str, telling: set[str], ordinary: set[str]) -> None:
    """Sort a label's parts into phrases that tell by themselves and words that need a context."""
    words = _words_of(label.partition(":")[0])
    for word in _names_of(label):
        invented = word.lower() in _TELLING or _CAMEL.search(word)
        (telling if invented else ordinary).add(word.lower())
    words = [word.lower() for word in words]
    starts = [number for number, word in enumerate(words) if _is_name(word)]
    for start in starts:
        only_numbers = True
        for word in words[start + 1 :]:
            if word.isalpha():
                if only_numbers and word not in _GENERIC:
                    telling.add(f"{words[start]} {word}")
                only_numbers = False
            elif not re.fullmatch(r"v?\d{1,2}", word) or (only_numbers and start == starts[0]):
                telling.add(f"{words[start]} {word.removeprefix('v')}")
            elif only_numbers or word[0] == "v":
                # So that "Instant 1" does not count for "Claude Instant v1".
                telling.add(f"{words[start]} {word}")


def _longest_first(phrases: Set[str]) -> list[str]:
    # So that of "GPT-4" and "GPT" the first is found whole.
    return sorted(phrases, key=lambda phrase: (-len(phrase), phrase))


def _pattern(phrase: str) -> str:
    parts = [
        re.escape(word) if word.isalpha() else f"{_V}{word[1:]}" if word[0] == "v" else f"(?:{_V})?{word}"
        for word in phrase.replace(".", r"\.").split(" ")
    ]
    return _BETWEEN.join(parts) + (_END_OF_NUMBER if phrase[-1].isdigit() else _END)


def _bare(phrase: str) -> str:
    return re.sub(r"[^\w|]|_", "", phrase).lower()


HIDDEN: Final = "[name hidden]"


def mask(text: str, phrases: Iterable[str]) -> str:
    """The text with each phrase hidden as a whole word: "Meta", but not "metaphor"."""
    pattern = _phrase_pattern(phrases)
    return pattern.sub(HIDDEN, text) if pattern else text


class Piece(NamedTuple):
    text: str
    is_phrase: bool


def in_context(text: str, phrases: Iterable[str], *, around: int = 70, most: int = 3) -> list[list[Piece]]:
    """The first passages with a phrase, and ``around`` characters on both sides."""
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
    known = _longest_first(set(phrases) - {""})
    return re.compile("|".join(map(_whole, known))) if known else None


def _whole(phrase: str) -> str:
    before = _START if re.match(r"\w", phrase[0]) else ""
    # A name may be followed by its version: "Llama" is hidden in "Llama2", but "GPT-4" is not "GPT-40".
    after = _END_OF_NUMBER if phrase[-1].isdigit() else _END if re.match(r"\w", phrase[-1]) else ""
    return f"{before}{re.escape(phrase)}{after}"
