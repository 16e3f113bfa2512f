"""Breaking whatever in the texts of others looks like a delimiter, before a judge reads them. Pure.

People see the texts as they are. What counts is how a text looks, so it is compared in a plain spelling.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from arena.texts.marks import TAG

_ALIKE: Final = (
    ("<", "‹〈⟨❬❮˂ᐸᚲ⧼"), (">", "›〉⟩❭❯˃ᐳ⧽"), ("<<", "«《⟪≪"), (">>", "»》⟫≫"), ("<<<", "⋘"), (">>>", "⋙"),
    ("|", "¦ǀ∣❘│┃丨ㅣ׀"), ("[", "【〔〖⟦❲"), ("]", "】〕〗⟧❳"), ("-", "−"), ("/", "⁄∕╱"), ("_", "▁"),
    ("A", "АΑ"), ("B", "ВΒ"), ("C", "СϹ"), ("D", "ᎠⅮ"), ("E", "ЕΕ"), ("F", "Ϝ"), ("G", "ԌᏀ"), ("H", "НΗ"),
    ("I", "ІΙӀ"), ("K", "КΚ"), ("M", "МΜ"), ("N", "ΝꓠИ"), ("O", "ОΟ"), ("P", "РΡ"), ("R", "ᎡꓣЯ"), ("S", "ЅՏ"),
    ("T", "ТΤ"), ("U", "ՍԱ"), ("X", "ХΧ"), ("Y", "ҮΥ"), ("Z", "Ζ"),
    ("a", "аα"), ("b", "Ьƅ"), ("c", "сϲ"), ("d", "ԁ"), ("e", "еҽε"), ("g", "ɡց"), ("h", "һհ"), ("i", "іıι"),
    ("j", "ј"), ("k", "κк"), ("m", "м"), ("n", "ոη"), ("o", "оο"), ("p", "рρ"), ("r", "гᴦ"), ("s", "ѕꜱ"),
    ("t", "тτ"), ("u", "υս"), ("x", "хχ"), ("y", "уү"), ("z", "ᴢ"),
)  # fmt: skip
"""Signs that look like others, beside those that Unicode itself calls compatible."""

_PLAIN: Final = {sign: shown for shown, signs in _ALIKE for sign in signs}
_UNSEEN: Final = "\u115f\u1160\u3164\uffa0\u2800"  # letters and symbols without a shape
_USUAL: Final = re.compile(r"[ -~\n]*")
_BY_CATEGORY: Final = {"Mn": "", "Me": "", "Cf": "", "Cc": "", "Co": "", "Cn": "", "Pd": "-", "Zs": " "}


@lru_cache(maxsize=4096)
def _plain(sign: str) -> str:
    """The plain spelling of a sign; "" for one that nobody sees."""
    if sign in "\n\r\x0b\x0c\x85\u2028\u2029":
        return "\n"
    if sign.isascii() and sign.isprintable():
        return sign
    if sign in _UNSEEN:
        return ""
    parts = [sign] if sign in _PLAIN else unicodedata.normalize("NFKD", sign)
    return "".join(_PLAIN.get(each) or _BY_CATEGORY.get(unicodedata.category(each), each) for each in parts)


_SPOKEN: Final = (
    r"user|assistant|system|human|bot|ai|用户|role|turn"
    r"|(?:\w{1,20}[:_-])?(?:tools?|tool_?calls?|tool_?(?:response|result)s?|available_tools|function_?calls?)"
)
_NAMED: Final = (
    r"(?:\w{1,20}[:_-])?(?:s|s_\d|bos|eos|pad|unk|g?mask|cls|sep|sop|eop|eod|eot|eom|eoa)"
    r"|(?:unused|reserved|special|extra(?:_id)?|ctrl|control|dummy|placeholder)[_-]?\w{0,20}?\d+"
    r"|\w{1,20}_token|0x[0-9a-f]{2}"
    r"|(?:start|end|begin|beginning)[_-]?of[_-]?\w{1,20}|im_\w{1,9}|endof\w{1,9}"
    r"|fim[_-]\w{1,9}|reponame|filename|file_sep|gh_stars|(?:issue|jupyter|commit)_\w{1,20}|empty_output"
    r"|image\w{0,20}"
)
_IN_SQUARES: Final = (
    r"INST|SYSTEM_PROMPT|TOOL_\w{1,9}|AVAILABLE_TOOLS|MODEL_SETTINGS|ARGS|CALL_ID|THINK|s?g?MASK|CLS|SEP|PAD|UNK"
    r"|BOS|EOS|EOT|IMG\w{0,9}|AUDIO|PREFIX|MIDDLE|SUFFIX|unused\d+|control_\d+|(?:BEGIN|END) FINAL RESPONSE"
)
_DELIMITERS: Final = re.compile(
    # The markers around what a judge is shown, and the lines between turns
    r"<(?=<<(?:[^\w\n<]|_){0,9}(?:BEGIN|END)(?![a-z]))|^[^\S\n]*<(?=<<[^\n]*>>>)|^[^\S\n]*-(?=--+\s{0,9}turn\b)"
    # The tokens of chat templates
    rf"|<(?=\||</?SYS>>|/?[\w .:/+-]{{1,40}}\|>|/?_?(?:{_NAMED}|{_SPOKEN})>|/?(?:{TAG})(?:\s[^<>]*)?>)"
    rf"|\[(?=\||/?(?:{_IN_SQUARES})\]|\w{{1,3}}~\[)|\](?=[!\w]{{0,3}}~[!\w]{{0,3}}[\[\]])|◁(?=/?\w)",
    re.IGNORECASE | re.MULTILINE,
)
"""The first sign of each, in plain spelling."""

_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HIDDEN: Final = re.compile(
    # Letters as tags, but for the three flags that are made of them
    "(?P<flag>\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f)|[\U000e0000-\U000e007f]"
    # Bytes as selectors of variants, where nothing has variants
    f"|(?<=[{_SELECTORS}])[{_SELECTORS}]|(?<=[\\x00-\\x7f])[\ufe00-\ufe0d]"
    "|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
)
"""Characters that carry words which only a model reads."""


def neutral(text: str) -> str:
    """The text with a space in whatever looks like a delimiter, and without words that nobody sees."""
    if _USUAL.fullmatch(text):
        return _DELIMITERS.sub(lambda found: f"{found[0]} ", text)
    text = _HIDDEN.sub(lambda found: found["flag"] or "", text)
    shown = [_plain(sign) for sign in text]
    places = [place for place, plain in enumerate(shown) for _ in plain]
    broken = {places[found.end() - 1] for found in _DELIMITERS.finditer("".join(shown))}
    return "".join(_broken(sign, shown[at]) if at in broken else sign for at, sign in enumerate(text))


def _broken(sign: str, plain: str) -> str:
    """A sign with a space behind it, or within it if it stands for several."""
    return f"{sign} " if len(plain) == 1 else f"{plain[0]} {plain[1:]}"
