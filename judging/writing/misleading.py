"""Models that write wrong answers beside right ones: candidates for pairs that mislead judges."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from django.db.models import Q

from arena.models import Completion, Pair, Prompt
from arena.rules.subsets import RIGHT, SIMILAR
from arena.texts.dialogue import Message, dialogue
from arena.texts.marks import without_thinking
from judging.models import Author
from judging.writing import second

ASKED: Final = {
    each: Path(__file__).with_name(f"{each.name.lower()}.txt").read_text(encoding="utf-8")
    for each in Author.Writes
    if each.value
}
"""What such a model is told before the prompt."""


def turns_of(author: Author, prompt: Prompt) -> int:
    """How many replies an answer takes."""
    return 2 if author.writes == SIMILAR else len(prompt.turns)


def chat(author: Author, prompt: Prompt, answers: Sequence[str]) -> list[Message]:
    """What the model is asked after these replies; a similar prompt that it wrote stands alone."""
    if author.second_to_id:
        return second.chat(author, prompt, answers)
    messages = dialogue(prompt.turns, prompt.input, answers)
    if not author.writes:
        return messages
    own = without_thinking(answers[0])[0].strip() if answers else ""
    told = own if answers else f"{ASKED[Author.Writes(author.writes)]}\n{messages[0]['content']}"
    return [{"role": "user", "content": told}]


def lacking(author: Author) -> Q:
    """The prompts that an author may write for: any, candidates of its subset, those with a first answer."""
    if author.second_to_id:
        return Q(completions__contestant=author.second_to_id, completions__is_current=True)
    right = Q(subset=author.writes, completions__external_id=RIGHT, completions__contestant=None)
    return right if author.writes else Q()


def label(wrong: Completion, author: Author) -> None:
    """Store that the right answer beside this one is better, unless they are the same text."""
    beside = wrong.prompt.completions.filter(external_id=RIGHT, contestant=None, is_current=True)
    right = beside.first()
    if right and right.turns != wrong.turns:
        first, second = sorted((right, wrong), key=lambda each: each.pk)
        gold = Pair.Gold.FIRST if first is right else Pair.Gold.SECOND
        source = f"candidate: {author.writes} by {author.endpoint.model}"[:200]
        Pair.objects.made(
            [Pair(prompt=wrong.prompt, first=first, second=second, gold=gold, gold_source=source)]
        )
