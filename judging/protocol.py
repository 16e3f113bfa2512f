"""What a protocol is: how a judge is asked, step by step, and where its verdict stands. Pure."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from arena import scales
from judging import rendering
from judging.parsers import ReplyText, Verdict

PROMPTS: Final = Path(__file__).parent / "prompts"
"""The folder of prompt texts: one folder per protocol, one file per step."""

Parser = Callable[[ReplyText, int], Verdict]
"""Reads the reply to the last step on a scale of so many points."""


@dataclass(frozen=True)
class Step:
    """One question to the model: the text of ``prompts/PROTOCOL/NAME.txt``, filled with string.Template."""

    name: str
    template: str


@dataclass(frozen=True)
class Protocol:
    """How a judge is asked.

    verdict_place says in words where the verdict stands, the only place ``parse`` reads; points are the
    answer scales it may end in; citation names the source of the method.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    parse: Parser
    verdict_place: str
    citation: str
    points: tuple[int, ...] = scales.POINTS

    @cached_property
    def _digest_of_texts(self) -> bytes:
        texts = "\x00".join([self.name, str(rendering.VERSION), *(step.template for step in self.steps)])
        return hashlib.sha256(texts.encode()).digest()

    def prompt_hash(self, points: int) -> str:
        """SHA-256 of everything that shapes the wording, as hex: two wordings never share it."""
        captions = "\x00".join(scales.CAPTIONS[points])
        return hashlib.sha256(self._digest_of_texts + captions.encode()).hexdigest()


def read_step(protocol: str, name: str) -> Step:
    """The step whose text stands in ``prompts/protocol/name.txt``."""
    return Step(name, (PROMPTS / protocol / f"{name}.txt").read_text(encoding="utf-8"))


class UnknownProtocolError(ValueError):
    """There is no protocol of this name."""


class Catalogue(dict[str, Protocol]):
    """Protocols by name. Building it refuses two of one name."""

    def __init__(self, *protocols: Protocol) -> None:
        super().__init__((protocol.name, protocol) for protocol in protocols)
        if len(self) < len(protocols):
            names = [protocol.name for protocol in protocols]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"two protocols are named {', '.join(twice)}")

    def named(self, name: str) -> Protocol:
        """The protocol of this name; raises UnknownProtocolError naming those there are."""
        if name not in self:
            raise UnknownProtocolError(f'there is no protocol "{name}"; choose one of {", ".join(self)}')
        return self[name]
