"""How many names of contestants are found in answers, and how many texts are taken for telling that are not.

    ARENA_REFERENCE_DATA=/path/to/data python -m tests.arena.texts.names

prints both figures of docs/data-formats.md.
"""

import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from arena.data.formats.catalogue import gather
from arena.data.formats.records import CompletionRecord, ContestantRecord
from arena.texts.author_names import Named, NameFinder

FAMILIES: Final = (
    *("Nightjar", "Wren", "Rook", "StarFinch", "Open-Heron", "Yi", "Command", "Luminous", "Ai2-Tern"),
    *("Claude", "Vicuna", "Falcon", "Koala", "Llama", "Mistral", "GPT", "Gemini", "PaLM", "Dolly"),
    "Jurassic",
)
MAKERS: Final = ("", "", "", "Aviary/", "Heath Labs ")
SIZES: Final = ("", "", "7B", "13b", "1.5B", "8x7B", "(13B)", "405B", "70M")
VERSIONS: Final = ("", "v1", "v2", "v0.1", "v1.5", "V3", "2", "3.1", "0613", "v2.1.3")
SUFFIXES: Final = ("", "", "chat", "instruct", "hf", "Chat-HF", "it", "turbo", "SFT", "preview")
MARKS: Final = (" ", "-", "_", ".")

PHRASINGS: Final = (
    *("{name}", "I am {name}.", "As {name}, I cannot say.", "{name}: Rain taps on the roof."),
    "Hi, {name} here!",
    *("Written by {name}.", "**{name}**\n\nIt rains.", "_{name}_", "({name})", "[{name}]", "`{name}`"),
    *("### {name}", '{{"model": "{name}"}}', "<{name}>", "{name}'s answer is 4.", "— {name}", "@{name}, no."),
    *("It rains. {name} thinks so, too.", "Ich bin {name}.", "Generated with {name}, in 2 seconds"),
    *("I am {lower}.", "thanks for asking {lower}", "{upper}", "YOU ASKED {upper}!", "This is {spaced}."),
    *("My name is {spaced}", "model={hyphened};", "by {hyphened}", "from {underscored} with love"),
    "{short} says no.",
)


class Shape(NamedTuple):
    """What a contestant is called."""

    family: str
    maker: str
    size: str
    version: str
    suffix: str
    mark: str

    @property
    def name(self) -> str:
        return self.maker + self._joined(self.family, self.size, self.version, self.suffix)

    def _joined(self, *parts: str) -> str:
        return self.mark.join(filter(None, parts))

    def said(self, phrasing: str) -> str:
        """A text with the name, as written or in other letters and marks, or without size and suffix."""
        name = self.name
        spaced = " ".join(name.replace("/", " ").replace("_", " ").replace("-", " ").split())
        return phrasing.format(
            name=name,
            lower=name.lower(),
            upper=name.upper(),
            spaced=spaced,
            hyphened=spaced.replace(" ", "-"),
            underscored=spaced.replace(" ", "_"),
            short=self._joined(self.family, self.version or self.size or self.suffix),
        )


def shapes(number: int = 200) -> list[Shape]:
    """Different names of more than one word, the same ones at each call."""
    choose, found = random.Random(1).choice, {}
    while len(found) < number:
        shape = Shape(*map(choose, (FAMILIES, MAKERS, SIZES, VERSIONS, SUFFIXES, MARKS)))
        if shape.size or shape.version or shape.suffix:
            found[shape.name] = shape
    return list(found.values())


def missed() -> Iterator[str]:
    """The texts in which a contestant's name is not found."""
    for shape in shapes():
        finder = NameFinder(shape.name)
        for phrasing in PHRASINGS:
            text = shape.said(phrasing)
            found = finder.find(text)
            if found is None or not found.own:
                yield f"{shape.name}: {text}"


class Alarm(NamedTuple):
    contestant: str
    text: str
    named: Named


def completions(folder: Path) -> Iterator[tuple[str, str]]:
    """The published answers of models: their names, and each text."""
    folders = (folder / name for name in ("llmfao", "vicuna-blog-eval", "self-instruct"))
    paths = [path for one in folders for path in sorted([one, *filter(Path.is_dir, one.iterdir())])]
    people = set()
    for item in gather(paths).items():
        if isinstance(item, ContestantRecord) and item.kind == "people":
            people.add(item.name)
        elif isinstance(item, CompletionRecord) and item.contestant and item.contestant not in people:
            yield item.contestant, "\n".join(item.turns)


def alarms(texts: list[tuple[str, str]]) -> list[Alarm]:
    """The texts said to tell their author: the real one, or made-up names of several words or one in turn."""
    found = []
    made_up = [shape.name for shape in shapes()]
    finder = cache(NameFinder)
    for number, (contestant, text) in enumerate(texts):
        for name in (contestant, made_up[number % len(made_up)], FAMILIES[number % len(FAMILIES)]):
            if named := finder(name).find(text):
                found.append(Alarm(name, text, named))
    return found


if __name__ == "__main__":
    total, lost = len(shapes()) * len(PHRASINGS), list(missed())
    print(f"found: {total - len(lost):,} of {total:,} texts with a name", *lost, sep="\n  ")
    texts = list(completions(Path(os.environ["ARENA_REFERENCE_DATA"])))
    false = alarms(texts)
    print(f"false alarms: {len(false)} in {len(texts):,} published answers", *false, sep="\n  ")
