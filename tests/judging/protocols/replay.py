"""Real replies of GPT-4, read again: does our parser find the winners that their authors recorded?

The replies are those that LLMBar publishes with its data (Zeng et al. 2024, MIT licence). Run it with

    ARENA_REFERENCE_DATA=/path/to/data python -m tests.judging.protocols.replay

which prints the table of docs/judging.md.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from judging.protocols.answer_scales import AnswerScale, answer_scale
from judging.protocols.parsing import read_verdict
from judging.protocols.replies import Place, ReplyText, Verdict

FOLDERS: Final = ("Natural", "Adversarial/Neighbor")

PLACES: Final[Mapping[str, tuple[Place, ...]]] = {
    "Vanilla": (Place.ONLY_LINE,),
    "Vanilla_NoRules": (Place.ONLY_LINE,),
    "Vanilla_1shot": (Place.ONLY_LINE,),
    "Vanilla_2shot": (Place.ONLY_LINE,),
    "CoT": (Place.LAST_LINE,),
    "Metrics": (Place.ONLY_LINE,),
    "Reference": (Place.ONLY_LINE,),
    "Metrics_Reference": (Place.ONLY_LINE,),
    "Swap": (Place.LAST_LINE, Place.ONLY_LINE),
    "Swap_CoT": (Place.LAST_LINE, Place.LAST_LINE),
}
"""Where the verdicts of each strategy stand, pass by pass."""

RATINGS: Final = (
    "Rating",
    "Rating_NoRules",
    "Rating_Metrics",
    "Rating_Reference",
    "Rating_Metrics_Reference",
)
"""The strategies that score one answer at a time, from 0 to 9."""

BINARY: Final = answer_scale("binary", 2)
NINE: Final = AnswerScale("score", 3, 0, 9)

SAME, DIFFERENT, UNREAD, TIED = "same winner", "another winner", "not read", "equal scores"


def outcomes(data: Path, strategy: str) -> Counter[str]:
    """How often the winner of a reply (of a pair of scores) is the recorded one, per order."""
    counts: Counter[str] = Counter()
    for record in records(data, strategy):
        counts.update(_of_scores(record) if strategy in RATINGS else _of_choices(record, strategy))
    return counts


def records(data: Path, strategy: str) -> Iterator[Mapping[str, Any]]:
    for folder in FOLDERS:
        yield from json.loads((data / "llmbar" / folder / "gpt-4" / f"{strategy}.json").read_text())


def _of_choices(record: Mapping[str, Any], strategy: str) -> Iterator[str]:
    for order in ("swap = False", "swap = True"):
        for place, one in _passes(record, strategy):
            winner = _winner(_read(one[order]["completion"], BINARY, place), order)
            yield UNREAD if winner is None else SAME if winner == one[order]["winner"] else DIFFERENT


def _passes(record: Mapping[str, Any], strategy: str) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """The results that hold verdicts; what was written before them, metrics and references, are lists."""
    verdicts = [one for one in record["results"] if isinstance(one, dict)]
    yield from zip(PLACES[strategy], verdicts, strict=False)


def _of_scores(record: Mapping[str, Any]) -> Iterator[str]:
    one = record["results"][-1]
    first, second = (_read(one[name], NINE, Place.ONLY_LINE).rating for name in ("score_1", "score_2"))
    for order in ("swap = False", "swap = True"):
        if first is None or second is None:
            yield UNREAD
        elif first == second:
            yield TIED
        else:
            yield SAME if one[order]["winner"] == ("1" if first > second else "2") else DIFFERENT


def _read(completion: list[str], scale: AnswerScale, place: Place) -> Verdict:
    text, finish_reason = completion
    return read_verdict(ReplyText(text, finish_reason), scale, place)


def _winner(verdict: Verdict, order: str) -> str | None:
    """Which of the two original outputs won; the swapped order shows the second one as (a)."""
    if verdict.rating is None:
        return None
    return "12"[(verdict.rating - 1) ^ (order == "swap = True")]


def table(data: Path) -> str:
    """The counts of every strategy, as Markdown."""
    rows = [
        f"| strategy | verdicts | {SAME} | {DIFFERENT} | {UNREAD} | {TIED} |",
        "|---|---|---|---|---|---|",
    ]
    total: Counter[str] = Counter()
    for strategy in (*PLACES, *RATINGS):
        counts = outcomes(data, strategy)
        total += counts
        rows.append(_row(strategy.replace("_", " "), counts))
    return "\n".join([*rows, _row("**all**", total)])


def _row(name: str, counts: Counter[str]) -> str:
    numbers = (counts.total(), counts[SAME], counts[DIFFERENT], counts[UNREAD], counts[TIED])
    return f"| {name} | {' | '.join(f'{number:,}' for number in numbers)} |"


if __name__ == "__main__":
    print(table(Path(os.environ["ARENA_REFERENCE_DATA"])))
