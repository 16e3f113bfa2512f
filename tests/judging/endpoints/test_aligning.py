"""Where an answer begins among tokens that hold parts of its characters, as servers write them."""

import codecs
import itertools
import random
import re
from collections.abc import Callable, Sequence

import pytest

from judging.endpoints.aligning import begins

CL100K = {  # as OpenAI's vocabulary cl100k splits them
    "你好世界, 5": b"\xe4\xbd\xa0|\xe5\xa5\xbd|\xe4\xb8|\x96|\xe7\x95\x8c|,| |5",
    "喜欢 😀 🎉。": b"\xe5\x96|\x9c|\xe6\xac|\xa2| \xf0\x9f\x98\x80| \xf0\x9f|\x8e|\x89|\xe3\x80\x82",
    "😀 Hi": b"\xf0\x9f\x98|\x80| Hi",
    "龘靐 is rare.": b"\xe9\xbe|\x98|\xe9\x9d|\x90| is| rare|.",
    "全角 空白　和 x": b"\xe5\x85\xa8|\xe8\xa7\x92| \xe7\xa9\xba|\xe7\x99|\xbd|\xe3\x80\x80|\xe5\x92\x8c| x",
    "👩‍👧 family": b"\xf0\x9f|\x91|\xa9|\xe2\x80|\x8d|\xf0\x9f|\x91|\xa7| family",
    "ක ගැන": b"\xe0|\xb6\x9a| \xe0\xb6|\x9c|\xe0\xb7|\x90|\xe0\xb6|\xb1",
    "5 € naïve": b"5| \xe2\x82\xac| na\xc3\xaf|ve",
}


def exact(pieces: Sequence[bytes]) -> list[str]:
    """Servers that send bytes."""
    return [piece.decode("utf-8", "surrogateescape") for piece in pieces]


def replaced(pieces: Sequence[bytes]) -> list[str]:
    """Each token decoded alone: vLLM before 0.12, Ollama."""
    return [piece.decode("utf-8", "replace") for piece in pieces]


def at_last(pieces: Sequence[bytes]) -> list[str]:
    """The token that completes a character has it whole: vLLM from 0.12 on."""
    decoder, held, texts = codecs.getincrementaldecoder("utf-8")(), b"", []
    for piece in pieces:
        held += piece
        is_whole = decoder.decode(piece) != "" and not decoder.getstate()[0]
        texts.append(held.decode() if is_whole else "")
        held = b"" if is_whole else held
    return texts


Way = Callable[[Sequence[bytes]], list[str]]


def cut(text: str, rng: random.Random) -> list[bytes]:
    """The text cut anywhere, and around letters of ASCII: vocabularies do not join these with parts."""
    pieces = []
    for run in re.findall(r"[a-z]+|[^a-z]+", text):
        raw = run.encode()
        places = sorted(rng.sample(range(1, len(raw)), rng.randint(0, len(raw) - 1)))
        pieces += [raw[start:end] for start, end in itertools.pairwise([0, *places, len(raw)])]
    return pieces


def is_split(piece: bytes) -> bool:
    return "�" in piece.decode("utf-8", "replace")


TEMPLATES = [
    [b"<|user|>", b"Hi", b"<|assistant|>", b"\n"],
    [b"Say", b" \xe5\xa5", b"\xbd", b"\n\n"],
]


@pytest.mark.parametrize("before", TEMPLATES)
@pytest.mark.parametrize("way", [exact, replaced, at_last])
@pytest.mark.parametrize("answer", CL100K)
def test_real_tokens_are_aligned(answer: str, way: Way, before: list[bytes]) -> None:
    pieces = CL100K[answer].split(b"|")
    assert b"".join(pieces).decode() == answer
    found = begins(way([*before, *pieces]), answer, "Say 好")
    if way is at_last and is_split(pieces[0]):
        # An empty token may be a part of the first character, or a mark before it.
        assert len(found) > 1
    else:
        assert found == [len(before)]


@pytest.mark.parametrize("answer", ["😀 Hi", "你好世界, 5"])
def test_parts_that_are_left_out_are_not_guessed(answer: str) -> None:
    pieces = CL100K[answer].split(b"|")
    dropped = [piece.decode("utf-8", "ignore") for piece in [b"Hi", b"\n", *pieces]]  # llama-cpp-python
    assert begins(dropped, answer) == []


def test_tokens_may_lack_blanks_and_hold_the_end_of_what_comes_before() -> None:
    assert begins(["?", "Ja", ",", "�", "�", "gut"], "Ja, ü gut") == [1]
    assert begins(["q", ".\n\n你", "�", "�"], "你好") == [1]
    assert begins(["q", " �", "��", "\n"], "😀") == [1]
    assert begins(["q", "\udce4\udcbd", "\udca0"], "　你") == [1]


def test_what_ends_with_another_text_is_found_nowhere() -> None:
    for tokens in (["你", "�"], ["�", "�", "x"], ["世", "界"], []):
        assert begins(tokens, "你好") == []
    assert begins(["a"], "  ") == []


def test_what_cannot_be_told_has_several_places() -> None:
    parts = ["q"] + ["�"] * 5
    assert begins(parts, "你", "q好") == [4, 3]
    assert begins(parts, "你", "q") == []
    assert begins(["q", "\n", *parts[3:]], "你", "好") == [2]
    assert begins(["q", "", "你"], "你") == [2, 1]
    assert begins(["q", "", "a"], "a") == [2]


def test_many_parts_in_a_row_take_no_long_time() -> None:
    """Each part may be one to three bytes, so that there are ever more readings."""
    parts = ["�"] * 30_000
    assert len(begins(["q", "\n", *parts], "你" * 10_000, "好" * 5_000)) > 1
    words = (["�"] * 30 + [" x"]) * 200
    assert begins(["q", "\n", *words], ("你" * 10 + " x") * 200) == [2]


@pytest.mark.parametrize(("way", "least"), [(exact, 300), (replaced, 150), (at_last, 150)])
def test_a_place_that_is_told_is_right(way: Way, least: int) -> None:
    # Few characters, cut anywhere, and nothing between the answer and what comes before.
    rng = random.Random(7)
    told = 0
    for _ in range(400):
        before, answer = ("".join(rng.choices("a你好é😀 　", k=rng.randint(1, 5))) for _ in range(2))
        answer = answer.strip() or "b"
        ahead, behind = cut(before, rng), cut(answer, rng)
        found = begins(way([*ahead, *behind]), answer, before)
        assert len(found) != 1 or found == [len(ahead)], (ahead, behind)
        told += len(found) == 1
    assert told >= least
