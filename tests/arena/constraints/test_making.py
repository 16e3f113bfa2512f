"""Made pairs: the right answer is verified, the sides are balanced, and a seed says which they are."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.constraints.checking import KINDS
from arena.constraints.making import NEGATION, OPPOSITE, SOURCE, Material, made, twins
from arena.data.formats.catalogue import gather
from arena.data.formats.records import CompletionRecord, GoldRecord, Item, Note, Problem, PromptRecord
from tests.arena.constraints import by_hand
from tests.arena.constraints.test_checking import WORDS, sentences

MORE_WORDS = [*WORDS, "bread", "cloud", "lamp", "night", "yellow", "wax", "jump", "vivid"]


def material(prompts: int) -> Material:
    """Prompts with two answers of a few sentences each, now and then one more or an odd one."""
    rng = random.Random(7)
    items: list[Item] = []
    for number in range(prompts):
        items.append(PromptRecord(id=str(number), turns=(f"Tell me story {number}.",), category="tales"))
        for author in ("Heron", "Stork", "Crane")[: rng.choice((2, 2, 3))]:
            text = sentences(rng).replace("fox", rng.choice(MORE_WORDS)) + rng.choice(
                ("", "", ' "Rain," I don\'t.')
            )
            items.append(CompletionRecord(prompt=str(number), contestant=author, turns=(text,)))
    return Material.of("tales", items)


class Made:
    """What was made, put together again."""

    def __init__(self, items: Any) -> None:
        self.items = list(items)
        kept = [item for item in self.items if isinstance(item, PromptRecord)]
        self.prompts = {item.id: item for item in kept}
        texts = [item for item in self.items if isinstance(item, CompletionRecord)]
        self.texts = {(item.prompt, item.id): item.turns for item in texts}
        self.gold = [item for item in self.items if isinstance(item, GoldRecord)]
        self.said = [str(item) for item in self.items if isinstance(item, Note | Problem)]

    def sides(self, label: GoldRecord) -> tuple[str, str]:
        """The right and the wrong answer."""
        texts = [self.texts[label.prompt, own_id][0] for own_id in (label.first_id, label.second_id)]
        return (texts[0], texts[1]) if label.gold == "first" else (texts[1], texts[0])


@pytest.fixture(scope="module")
def tales() -> Material:
    return material(1800)


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_checker_agrees_with_every_pair(kind: str, tales: Material) -> None:
    found = Made(made(tales, [kind], 200, 5))
    assert found.said == []
    sides = Counter((label.subset, label.gold) for label in found.gold)
    subsets = ["base-9", "base-10"] if kind == "sum" else [kind]
    assert sides == {(subset, side): 100 for subset in subsets for side in OPPOSITE}
    assert len(found.prompts) == len(found.gold)
    for label in found.gold:
        prompt = found.prompts[label.prompt]
        constraint = prompt.extra[SOURCE]["constraint"]
        assert (constraint["kind"], label.source) == (kind, f"make_constraints: {kind}")
        right, wrong = found.sides(label)
        assert by_hand.verdict(right, constraint) is True, (right, constraint)
        assert by_hand.verdict(wrong, constraint) is False, (wrong, constraint)


@pytest.mark.parametrize("kind", ["words", "any", "sum"])
def test_the_seed_chooses_and_a_larger_number_only_adds(kind: str) -> None:
    few, more, other = (Made(made(material(40), [kind], n, seed)) for n, seed in ((5, 1), (9, 1), (5, 2)))
    assert more.items[: len(few.items)] == few.items
    assert other.prompts.keys() != few.prompts.keys()


def test_numbers_are_the_same_on_every_machine() -> None:
    assert sorted(Made(made(Material.of("", ()), ["sum"], 1, 0)).prompts) == ["83fd5cbbd750", "df3a9a9275ff"]


def test_what_cannot_be_made_is_said() -> None:
    few = Made(made(material(3), ["has_word"], 10, 0))
    assert few.said == ["--kinds has_word: 3 of 10 pairs; no more can be made"]
    none = Made(made(Material.of("nothing", ()), ["words", "any"], 10, 0))
    assert none.said == [
        "--kinds words: 0 of 10 pairs; no more can be made",
        "--kinds any: 0 of 10 pairs; no more can be made",
        "nothing: no two answers to one prompt make a pair of words, any",
    ]


def test_the_prompt_says_what_is_asked() -> None:
    found = Made(made(material(40), ["words_at", "any", "words"], 1, 0))
    turns = "\n".join(turn for prompt in found.prompts.values() for turn in prompt.turns)
    assert "word number" in turns
    assert "” or does not contain the letter “" in turns
    assert "Request:\nTell me story " in turns


def gold_study(*labels: str, **label: Any) -> Material:
    items: list[Item] = [PromptRecord(id="p", turns=("Help me.", "More."), subset="Natural", input="Text")]
    items += [
        CompletionRecord(prompt="p", subset="Natural", contestant=name, turns=(name,)) for name in ("A", "B")
    ]
    sides: dict[str, Any] = {"prompt": "p", "first": "A", "second": "B", "source": "us", "subset": "Natural"}
    return Material.of("study s", [*items, *(GoldRecord(gold=gold, **(sides | label)) for gold in labels)])


def test_a_twin_has_the_same_answers_one_sentence_more_and_the_other_label() -> None:
    found = Made(twins(gold_study("first")))
    (prompt,), (label,) = found.prompts.values(), found.gold
    assert (prompt.turns, prompt.input) == ((f"{NEGATION}\n\nHelp me.", "More."), "Text")
    assert [found.texts[prompt.id, own_id] for own_id in ("1", "2")] == [("A",), ("B",)]
    assert (label.gold, label.subset) == ("second", "Natural negated")
    assert label.source == "make_constraints: negation of us"


def test_ties_and_twins_have_no_twins() -> None:
    found = Made(twins(gold_study("tie")))
    assert found.said == [
        "study s: left out 1 of the labels: a tie has no opposite",
        "study s: no gold label says which of two answers is better, or all belong to twins",
    ]
    again = Made(twins(Material.of("s", twins(gold_study("second")))))
    assert (again.gold, len(again.said)) == ([], 1)


def test_twins_of_the_case_studies_have_the_labels_of_llmbar(reference_data: Path) -> None:
    folder = reference_data.parent / "judge-data" / "llmbar" / "CaseStudy"
    if not folder.is_dir():
        pytest.skip(f"no reference data in {folder}")
    normal, negation = (
        Material.of(name, gather([folder / name / "dataset.json"]).items()) for name in ("Normal", "Negation")
    )
    ours, theirs = Made(twins(normal)), Made(_records(negation))
    assert len(ours.gold) == len(theirs.gold) == 59
    assert Counter(map(ours.sides, ours.gold)) == Counter(map(theirs.sides, theirs.gold))


def _records(found: Material) -> list[Item]:
    texts = [
        CompletionRecord(prompt=prompt, id=own_id, turns=turns)
        for (_, prompt), answers in found.answers.items()
        for (_, own_id), turns in answers.items()
    ]
    return [*found.prompts.values(), *texts, *found.gold]
