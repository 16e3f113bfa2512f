"""What raters are told that they will do: every task of a study, whatever the mix."""

from itertools import permutations

import pytest

from arena.models import Study
from arena.rating.tasks import TASKS, asked

NAMED = {"compare": "two answers", "score": "score", "check": "requirements"}


@pytest.mark.parametrize("tasks", [mix for size in (1, 2, 3) for mix in permutations(TASKS, size)])
def test_every_task_is_named_and_no_other(tasks: tuple[str, ...]) -> None:
    said = asked(Study(tasks=list(tasks), score_lowest=1, score_highest=7))
    assert {kind for kind, words in NAMED.items() if words in said} == set(tasks)
    assert ("from 1 to 7" in said) is ("score" in tasks)
    assert [*sorted(tasks, key=lambda kind: said.index(NAMED[kind]))] == list(tasks)


def test_the_words_of_three_tasks() -> None:
    assert asked(Study(tasks=["check", "score", "compare"])) == (
        "You read answers to prompts. You say which requirements single answers meet, score single answers "
        "from 1 to 5 and say which of two answers to the same prompt is better."
    )
