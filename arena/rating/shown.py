"""A prompt and its answers as pages show them: what was said, turn by turn. Nothing tells who wrote it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from django.utils.safestring import SafeString

from arena.models import Completion, Prompt, Study
from arena.texts.asides import title
from arena.texts.markdown import is_plain
from arena.texts.rendering_cache import rendered
from arena.texts.self_naming import shown_asides, shown_turns

SHORT: Final = 280  # characters of a prompt that are seen while it is folded
FEW_LINES: Final = 3

Html: TypeAlias = dict[str, SafeString]  # HTML by source text


@dataclass(frozen=True)
class Part:
    raw: str
    html: SafeString

    @property
    def is_plain(self) -> bool:
        """Return True if the HTML shows the text as written."""
        return is_plain(self.html)


@dataclass(frozen=True)
class Block:
    """Something that was said, below its label. kind: question, answer, or aside, which is never rendered."""

    label: str
    kind: str
    part: Part


@dataclass(frozen=True)
class ShownPrompt:
    """The part of a prompt that stands above its answers. names_turns: they need their numbers."""

    turns: list[Part]
    given: Part | None
    category: str
    asides: list[list[Block]]
    names_turns: bool

    @property
    def said(self) -> list[tuple[list[Block], Part]]:
        """Each turn, after what stands before it."""
        return list(zip(self.asides, self.turns, strict=True))

    @property
    def preview(self) -> str:
        """Return what is seen of the prompt while it is folded."""
        first = self.turns[0].raw if self.turns else ""
        return first or (self.given.raw if self.given else "")

    @property
    def folds(self) -> bool:
        """Return True if folding would hide something."""
        return len(self._texts) > 1 or len(self.preview) > SHORT or self.preview.count("\n") >= FEW_LINES

    @property
    def words(self) -> int:
        return sum(len(text.split()) for text in self._texts)

    @property
    def _texts(self) -> list[str]:
        around = [block.part.raw for some in self.asides for block in some]
        return [*around, *(part.raw for part in [*self.turns, *([self.given] if self.given else [])])]


@dataclass(frozen=True)
class Answer:
    """An answer as raters see it: its turns, and what stands before each."""

    turns: Sequence[str]
    asides: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, completion: Completion, study: Study) -> "Answer":
        return cls(shown_turns(completion, study), shown_asides(completion, study))


def html_of(*texts: Iterable[str]) -> Html:
    """The HTML of all texts that are not blank, with one query."""
    return rendered(text for some in texts for text in some if text.strip())


def texts_of(prompt: Prompt) -> list[str]:
    return [*prompt.turns, prompt.input]


def parts(turns: Sequence[str], html: Html) -> list[Part]:
    return [Part(turn, html.get(turn, SafeString())) for turn in turns]


def shown_prompt(prompt: Prompt, html: Html, turn: int = 0, above: int = 0) -> ShownPrompt:
    """A prompt up to a turn, or all of it; ``above``: how many of its turns stand above the answers."""
    asked = parts(prompt.turns[: turn or None], html)
    given = parts([prompt.input], html)[0] if prompt.input else None
    asides = [list(_asides(prompt.asides, number)) for number in range(1, len(asked) + 1)]
    shown = slice(above or None)
    return ShownPrompt(asked[shown], given, prompt.category, asides[shown], turn > 0 or len(asked) > 1)


def conversation(
    prompt: Prompt, answers: Sequence[Answer], html: Html, turn: int = 0
) -> tuple[ShownPrompt, list[list[Block]]]:
    """Return what stands above the answers, and each answer with the later questions in between.

    turn: the last that is shown; 0 shows all. Where questions and answers do not belong together one by one,
    all questions stand above.
    """
    whole = shown_prompt(prompt, html, turn)
    belong = turn > 0 or all(len(each.turns) in (0, len(whole.turns)) for each in answers)
    above = shown_prompt(prompt, html, turn, 1) if belong else whole
    later = [
        [*asides, Block(f"Turn {number}", "question", part)]
        for number, (asides, part) in enumerate(whole.said, start=1)
        if number > len(above.turns)
    ]
    names = whole.names_turns or any(len(each.turns) > 1 for each in answers)
    return above, [list(_said(each, later, html, turn, names=names)) for each in answers]


def _said(
    answer: Answer, later: Sequence[Sequence[Block]], html: Html, last: int, *, names: bool
) -> Iterator[Block]:
    """Yield the turns of an answer, each after its question if that stands in between."""
    turns = list(answer.turns[: last or None])
    turns += [""] * (last - len(turns))
    for number, part in enumerate(parts(turns, html), start=1):
        if later and number > 1:
            yield from later[number - 2]
        yield from _asides(answer.asides, number)
        yield Block(f"Answer to turn {number}" if names else "", "answer", part)


def _asides(asides: Sequence[Mapping[str, Any]], turn: int) -> Iterator[Block]:
    for each in asides:
        if each["turn"] == turn:
            yield Block(title(each), "aside", Part(each["text"], SafeString()))
