"""The log-probabilities that come with a reply, and the expected rating by them. Pure.

The probabilities of the tokens that could stand for the verdict are scaled to sum to 1 and weigh the mean of
their ratings (G-Eval, Liu et al. 2023, section 2; AlpacaEval weighs its two tokens likewise). Where they have
hardly any probability, as when a grammar chose the verdict, there is no mean.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from judging.endpoints.aligning import LEFT_OUT, begins
from judging.endpoints.client import Reply, Token, storable
from judging.protocols.answer_scales import LETTERS, AnswerScale
from judging.protocols.parsing import IDENTIFIERS, find_verdict
from judging.protocols.replies import Place

MOST_TOKENS: Final = 32_768  # of a longer reply no log-probabilities are kept
MOST_ALTERNATIVES: Final = 20
BYTES: Final = re.compile("[\udc80-\udcff]")  # of characters in parts, or of none


def field_of(value: object, name: str) -> Any:
    """A field of a JSON object; None if it is missing or the value is no object."""
    return value.get(name) if isinstance(value, dict) else None


def count(value: object) -> int | None:
    """A number of tokens as endpoints tell it; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**31 else None


def tokens_of(logprobs: object) -> tuple[Token, ...]:
    """The tokens of a choice's ``logprobs`` field; empty if anything about it is wrong."""
    # The reply is paid for and good without them, so nothing here is an error.
    content = field_of(logprobs, "content")
    if not isinstance(content, list) or len(content) > MOST_TOKENS:
        return ()
    try:
        return tuple(_token(entry) for entry in content)
    except (TypeError, ValueError, OverflowError):
        return ()


def _token(entry: object) -> Token:
    alternatives = list(field_of(entry, "top_logprobs") or [])[:MOST_ALTERNATIVES]
    return Token(
        _text(entry), logprob_of(entry), tuple((_text(one), logprob_of(one)) for one in alternatives)
    )


def _text(entry: object) -> str:
    token = field_of(entry, "token")
    if not isinstance(token, str) and not field_of(entry, "bytes"):
        raise TypeError("a token is not a text")
    return exact(entry, str(token))


def exact(entry: object, text: str) -> str:
    """A token's text by its bytes, where they are sent: the text may have replacement characters.

    Raises TypeError and ValueError.
    """
    sent = field_of(entry, "bytes")
    if isinstance(sent, list) and sent:
        return bytes(sent).decode("utf-8", "surrogateescape")
    return storable(text)


def logprob_of(entry: object) -> float:
    """The natural logarithm of a probability; rounding may have put it above 0.

    Raises TypeError and ValueError.
    """
    try:
        value = float(field_of(entry, "logprob"))
    except OverflowError as error:
        raise ValueError("a log-probability is none") from error
    if math.isnan(value) or value > 0.01:
        raise ValueError("a log-probability is none")
    return min(0.0, max(value, -1e9))


def tokens_of_text(reply: Reply) -> Sequence[Token]:
    """The tokens that make up the text of a reply, without thinking; none where they make up another one, or
    nobody can tell where it begins."""
    if not reply.text:
        return ()
    texts = [token.text for token in reply.tokens]
    while texts and _is_mark(texts[-1].strip()):
        texts.pop()
    if BYTES.search("".join(texts)) and _shown("".join(texts)) == _shown(reply.text):
        return reply.tokens[: len(texts)]
    found = begins(texts, reply.text)
    if len(found) > 1:
        return ()
    whole = _tokens_within(reply.tokens, reply.text, (0, len(reply.text)))
    return whole or (reply.tokens[found[0] : len(texts)] if found else ())


def _shown(text: str) -> str:
    """The text with one sign for bytes in a row that are no characters, and none at its end."""
    replaced = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return re.sub(f"{LEFT_OUT}+", LEFT_OUT, replaced).rstrip(LEFT_OUT).strip()


def _is_mark(text: str) -> bool:
    """Tell whether the text after an answer is a mark of its end, or nothing."""
    return not text or (text[0] == "<" and text[-1] == ">")


AROUND: Final = " \t\r\n([{*_`\"'"  # what a token may carry around its answer: " 5", " (a"
LONGEST_TOKEN: Final = 40  # characters of a token that are stored
LEAST_MASS: Final = 0.1  # probability of the listed tokens that are verdicts, together


def expected_rating(reply: Reply, scale: AnswerScale, place: Place) -> float | None:
    """The expected rating, or score, of a reply by the log-probabilities of its verdict.

    None without log-probabilities or a verdict, for one of several tokens (scores, grades, two digits), if
    another token in its line could be the verdict, too, or if it has hardly any probability.
    """
    token = _verdict_token(reply, scale, place)
    return None if token is None else _mean(token, _answers(scale))


def verdict_logprobs(reply: Reply, scale: AnswerScale, place: Place) -> list[list[str | float]] | None:
    """Tokens that could stand for the verdict, with log-probabilities, to be stored.

    None if the endpoint sent no log-probabilities; empty if they tell nothing of the verdict.
    """
    token = _verdict_token(reply, scale, place)
    alternatives = token.alternatives if token else ()
    stored: list[list[str | float]] = [[storable(text)[:LONGEST_TOKEN], log] for text, log in alternatives]
    return stored if reply.tokens else None


def lacks_mass(reply: Reply, scale: AnswerScale, place: Place) -> bool:
    """Tell whether hardly any of the probability in the place of the verdict is on verdicts."""
    token = _said(reply, scale, place)
    return token is not None and _mass(token, scale) < LEAST_MASS


def _mass(token: Token, scale: AnswerScale) -> float:
    answers = _answers(scale)
    return sum(math.exp(log) for text, log in token.alternatives if _answer(text) in answers)


def _answers(scale: AnswerScale) -> Mapping[str, int]:
    if scale.form == "binary":
        return {"A": 1, "B": 2, **{name: rating for rating, name in enumerate(IDENTIFIERS, 1)}}
    if scale.form == "letters":
        return {letter: rating for rating, letter in enumerate(LETTERS, 1)}
    lowest, highest = (1, scale.points) if scale.form == "likert" else (scale.lowest, scale.highest)
    if scale.form not in ("likert", "score") or highest > 10:
        return {}
    return {str(rating): rating for rating in range(lowest, highest + 1)}


def _mean(token: Token, answers: Mapping[str, int]) -> float | None:
    likely = dict(token.alternatives)
    likely.setdefault(token.text, token.logprob)
    said = {_answer(text) for text in likely}
    if "10" in answers and "1" in said and "10" not in said:
        return None  # "1" may go on to "10": nothing shows that this model has a token for it
    found = _probabilities(likely.items(), answers)
    return sum(rating * share for rating, share in found.items())


def verdict_probabilities(stored: Sequence[Sequence[Any]], scale: AnswerScale) -> dict[int, float]:
    """The probability of each rating by what ``verdict_logprobs`` stored; empty where no token is one."""
    return _probabilities(((str(text), float(log)) for text, log in stored), _answers(scale))


def _probabilities(likely: Iterable[tuple[str, float]], answers: Mapping[str, int]) -> dict[int, float]:
    """Scaled so that they sum to 1."""
    logs = [(answers[_answer(text)], log) for text, log in likely if _answer(text) in answers]
    highest = max((log for _, log in logs), default=0.0)  # so that unlikely answers do not all become 0
    weights: dict[int, float] = {}
    for rating, log in logs:
        weights[rating] = weights.get(rating, 0.0) + math.exp(log - highest)
    return {rating: weight / sum(weights.values()) for rating, weight in weights.items()}


def _answer(token: str) -> str:
    word = token.strip(AROUND).rstrip(".)]}")
    return word if word in IDENTIFIERS else word.upper()


VERDICTS: Final = frozenset({*LETTERS, *IDENTIFIERS, *map(str, range(11))})


def may_be_verdict(token: str) -> bool:
    """Tell whether a token could be the verdict of a reply on any answer scale."""
    return _answer(token) in VERDICTS


def _verdict_token(reply: Reply, scale: AnswerScale, place: Place) -> Token | None:
    token = _said(reply, scale, place)
    return token if token and _mass(token, scale) >= LEAST_MASS else None


def _said(reply: Reply, scale: AnswerScale, place: Place) -> Token | None:
    """The one token that is the verdict; None if there is none, or several could be."""
    answers = _answers(scale)
    if not answers or not reply.tokens:
        return None
    verdict, span = find_verdict(reply.as_text, scale, place)
    within = _tokens_within(reply.tokens, reply.text, span) if span else []
    said = [token for token in within if answers.get(_answer(token.text)) == verdict.rating]
    return said[0] if len(said) == 1 else None


def _tokens_within(tokens: Sequence[Token], text: str, span: tuple[int, int]) -> list[Token]:
    """The tokens that touch this span of the text; none if the tokens do not make up the text."""
    # Thinking in a field of its own, and marks of the end, may have tokens before and after it.
    pieces = [token.text.encode("utf-8", "surrogateescape") for token in tokens]
    whole, wanted = b"".join(pieces), text.encode()
    begin = whole.rfind(wanted)
    after = whole[begin + len(wanted) :].decode("utf-8", "replace").strip()
    if begin < 0 or not _is_mark(after):
        return []
    first, last = (begin + len(text[:offset].encode()) for offset in span)
    touched, position = [], 0
    for token, piece in zip(tokens, pieces, strict=True):
        if position < last and position + len(piece) > first:
            touched.append(token)
        position += len(piece)
    return touched
