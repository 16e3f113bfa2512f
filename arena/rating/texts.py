"""Texts as a reader of a pair is shown them: as HTML, and beside it as they were written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from django.utils.safestring import SafeString

from arena.models import Prompt
from arena.texts.markdown import is_plain
from arena.texts.rendering_cache import rendered

LONG: Final = 700
"""Characters above which a prompt is folded at first."""
MANY_LINES: Final = 8
"""Ends of lines above which it is."""

Html: TypeAlias = dict[str, SafeString]
"""Rendered texts, by what was written."""


@dataclass(frozen=True)
class Part:
    """One turn of a completion or a prompt: as it was written, and as HTML, which is '' where it is blank."""

    raw: str
    html: SafeString

    @property
    def is_plain(self) -> bool:
        """Whether the HTML shows it as it was written: then there is no second form to send."""
        return is_plain(self.html)


@dataclass(frozen=True)
class ShownPrompt:
    """A prompt ready to be shown. given: the material it works on, if it has any."""

    turns: list[Part]
    given: Part | None
    category: str

    @property
    def preview(self) -> str:
        """What stands in its place while it is folded: as it was written, for it is one line of words."""
        first = self.turns[0].raw if self.turns else ""
        return first or (self.given.raw if self.given else "")

    @property
    def is_long(self) -> bool:
        """Whether it takes more room than it should before the responses."""
        text = "\n".join(part.raw for part in [*self.turns, *([self.given] if self.given else [])])
        return len(text) > LONG or text.count("\n") > MANY_LINES


def html_of(*texts: Iterable[str]) -> Html:
    """Every text that is not blank rendered at once: one query, however many there are."""
    return rendered(text for some in texts for text in some if text.strip())


def texts_of(prompt: Prompt) -> list[str]:
    """All that a prompt says."""
    return [*prompt.turns, prompt.input]


def parts(turns: Sequence[str], html: Html) -> list[Part]:
    """The turns of a completion, of which ``html`` holds the HTML."""
    return [Part(turn, html.get(turn, SafeString())) for turn in turns]


def shown_prompt(prompt: Prompt, html: Html) -> ShownPrompt:
    """A prompt of which ``html`` holds the HTML of all its texts."""
    given = parts([prompt.input], html)[0] if prompt.input else None
    return ShownPrompt(parts(prompt.turns, html), given, prompt.category)
