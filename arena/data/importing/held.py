"""What files that somebody proposed may bring: answers of one contestant to prompts that are there."""

from collections.abc import Iterable, Iterator

from arena.data.formats.records import (
    CompletionRecord,
    ContestantRecord,
    Item,
    Problem,
    PromptRecord,
    Record,
)


def only_answers_of(contestant: str, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the answers of a contestant, and a Problem in place of all else.

    Prompts and contestants stay as they are: what the study does not have is unknown to the answers.
    """
    for item in items:
        if isinstance(item, PromptRecord | ContestantRecord):
            continue
        is_answer = isinstance(item, CompletionRecord) and item.contestant == contestant
        if is_answer or not isinstance(item, Record):
            yield item
        else:
            yield Problem(item.place, "", f'only answers of "{contestant}" can be imported here')
