"""How to cite a board. Pure."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


@dataclass(frozen=True)
class Citation:
    name: str
    slug: str
    made_at: datetime
    watermark: str
    methodology: str
    address: str
    simulated: bool
    licence: str = ""

    @property
    def about(self) -> str:
        parts = [
            f"snapshot of {self.made_at:%Y-%m-%d %H:%M} UTC",
            f"watermark {self.watermark}",
            f"methodology {self.methodology}",
        ]
        if self.simulated:
            parts.append("votes simulated, or some of them")
        if self.licence:
            parts.append(f"licence {_one_line(self.licence)}")
        return ", ".join(parts)

    @property
    def text(self) -> str:
        return f"{_one_line(self.name)}. Likert Arena leaderboard, {self.about}. {self.address}"

    @property
    def bibtex(self) -> str:
        """An entry for BibTeX, with names escaped for LaTeX."""
        key = re.sub(r"[^a-z0-9]+", "-", self.slug.lower()).strip("-") or "study"
        lines = (
            f"@misc{{{key}-{self.made_at:%Y-%m-%d},",
            f"  title        = {{{{{_latex(self.name)}}}}},",
            "  howpublished = {Likert Arena leaderboard},",
            f"  year         = {{{self.made_at:%Y}}},",
            f"  note         = {{{_latex(self.about)}}},",
            f"  url          = {{{_in_address(self.address)}}},",
            "}",
        )
        return "\n".join(lines)


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in _one_line(text))


def _in_address(address: str) -> str:
    return address.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")


def _one_line(text: str) -> str:
    return " ".join(text.split())
