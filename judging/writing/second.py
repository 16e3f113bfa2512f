"""Second answers: a model looks again at its weakest answers, and at what raters said of them."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from string import Template
from typing import Final

from django.core.exceptions import ValidationError

from arena.models import Completion, CompletionFeature, Contestant, Prompt
from arena.pages.names import check_name
from arena.rating.said import said_of
from arena.rules.feature_names import Named
from arena.texts.dialogue import Message, dialogue
from arena.texts.slugs import free_slug, slug_from
from judging.judges.services import JudgeError
from judging.models import Author
from judging.protocols import rendering
from judging.runs.work import boundary_secret

NAME: Final = "{} (second answer)"
MOST: Final = 20  # answers of a run without a limit
_ASKED: Final = Path(__file__).with_name("second.txt").read_text(encoding="utf-8")
_MOST_SAID: Final = 5
_LONGEST_SAID: Final = 2000
NOTHING_SAID: Final = "Nobody said anything about it. Look for mistakes yourself."


def second_author(author: Author) -> Author:
    """The model that stands for a model's second answers, asked as this one is. It may not be stored.

    Raises JudgeError.
    """
    first = author.contestant
    if author.second_to_id:
        raise JudgeError(f"{first.name} writes second answers itself.")
    found = Author.objects.select_related("contestant__study").filter(second_to=first).first()
    if found is None:
        name, taken = NAME.format(first.name), set(first.study.contestants.values_list("slug", flat=True))
        slug = free_slug(slug_from(name, "contestant"), taken)
        found = Author(contestant=Contestant(study=first.study, name=name, slug=slug), second_to=first)
    for part in ("endpoint", "temperature", "max_tokens", "options"):
        setattr(found, part, getattr(author, part))
    return found


def store(author: Author) -> None:
    """Store it with its contestant. Raises JudgeError for a name that cannot be."""
    contestant = author.contestant
    if contestant.pk is None:
        try:
            check_name(contestant.name, contestant.study.contestants.all())
            contestant.full_clean()
        except ValidationError as error:
            raise JudgeError(f"{contestant.name}: {' '.join(error.messages)}") from error
        contestant.save()
        author.contestant = contestant
    author.save()


def offered(contestant: Contestant) -> dict[str, str]:
    """The features by which a model's weakest answers can be told, with their words."""
    known = CompletionFeature.objects.filter(completion__contestant=contestant, completion__is_current=True)
    names = known.order_by("name").values_list("name", "variant").distinct()
    return {
        name: Named.read(name).whole_label
        for name, variant in names
        if Named.read(name).higher_is_better(variant) is not None
    }


def weakest(first: Contestant, feature: str) -> list[int]:
    """The prompts whose answers a feature finds weakest, the weakest first.

    Of several variants and sources, the one with most values. Where only turns have values, their mean
    counts. Raises JudgeError.
    """
    if feature not in (names := offered(first)):
        there = f"There are: {', '.join(names)}." if names else "There are none."
        raise JudgeError(
            f'The answers of {first.name} have no feature "{feature[:100]}" of which something is expected. '
            f"{there}",
            "weakest_by",
        )
    rows = CompletionFeature.objects.filter(
        name=feature, completion__contestant=first, completion__is_current=True
    ).order_by("pk")
    given: dict[tuple[str, str], dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    columns = ("variant", "source", "completion__prompt", "turn", "value")
    for variant, source, prompt, turn, value in rows.values_list(*columns):
        if Named.read(feature).higher_is_better(variant) is not None:
            given[variant, source][prompt][turn] = value
    (variant, _), values = max(given.items(), key=lambda each: len(each[1]))
    mean = {prompt: own[0] if 0 in own else fmean(own.values()) for prompt, own in values.items()}
    is_higher_better = Named.read(feature).higher_is_better(variant)
    return sorted(mean, key=lambda prompt: mean[prompt], reverse=not is_higher_better)


def chat(author: Author, prompt: Prompt, answers: Sequence[str]) -> list[Message]:
    """What the model is asked after these second answers of its own."""
    turn = len(answers) + 1
    first = Completion.objects.filter(prompt=prompt, contestant=author.second_to_id, is_current=True).first()
    said = said_of(prompt.study, [first.pk], _MOST_SAID)[first.pk] if first else []
    told = [
        f"{each.words}. {each.rationale[:_LONGEST_SAID]}".strip() for each in said if each.turn in (0, turn)
    ]
    before = [message["content"] for message in dialogue(prompt.turns, prompt.input, answers)]
    own = first.turns[turn - 1 : turn] if first else []
    critique = "\n\n".join(told) or NOTHING_SAID
    word = rendering.boundary(boundary_secret(), _ASKED, [*before, *own, critique])
    values = {
        "boundary": word,
        "query": rendering.block("QUERY", word, *before, dialogue=len(before) > 1),
        "answer": rendering.block("FIRST ANSWER", word, *own or [""]),
        "said": rendering.block("WHAT OTHERS SAID", word, critique),
    }
    messages = dialogue(prompt.turns, prompt.input, answers)
    return [*messages[:-1], {"role": "user", "content": Template(_ASKED).substitute(values).strip()}]
