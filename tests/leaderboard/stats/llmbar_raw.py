"""LLMBar's tables from its raw files, in plain Python: what the product must equal. Uses no product code."""

import json
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

SUBSETS = {"Natural": "Natural", "Neighbor": "Adversarial/Neighbor"}
PROTOCOLS = [
    *("Vanilla", "CoT", "Metrics", "Metrics_Reference"),
    *("Reference", "Swap", "Swap_CoT", "Vanilla_NoRules"),
]
MODELS = ("gpt-4", "palm2", "chatgpt")


class Reply(NamedTuple):
    """The gold output, what is said in either order (None: nothing to be read), and the scores if any."""

    gold: str
    straight: str | None
    swapped: str | None
    scores: tuple[str, str] | None

    @property
    def is_hedge(self) -> bool:
        return self.scores is not None and self.scores[0] == self.scores[1]

    @property
    def is_unreadable(self) -> bool:
        return self.scores is not None and not all(score.isdigit() for score in self.scores)


class Files:
    """The folders of ``data`` and ``judge-data``."""

    def __init__(self, data: Path, judge_data: Path) -> None:
        self.roots = {
            "gpt-4": data / "llmbar",
            "palm2": judge_data / "llmbar",
            "chatgpt": judge_data / "llmbar",
        }

    def items(self, subset: str) -> list[dict[str, Any]]:
        return json.loads((self.roots["gpt-4"] / SUBSETS[subset] / "dataset.json").read_text())

    def protocols(self, model: str) -> list[str]:
        return sorted(path.stem for path in (self.roots[model] / "Natural" / model).glob("*.json"))

    def path(self, model: str, protocol: str, subset: str) -> Path:
        return self.roots[model] / SUBSETS[subset] / model / f"{protocol}.json"

    def replies(self, model: str, protocol: str, subset: str) -> list[Reply]:
        found = []
        for row in json.loads(self.path(model, protocol, subset).read_text()):
            last = row["results"][-1]
            pointwise = "score_1" in last
            scores = (last["score_1"][0].strip(), last["score_2"][0].strip()) if pointwise else None
            winners = (last[f"swap = {order}"]["winner"] for order in (False, True))
            found.append(Reply(str(row["label"]), *winners, scores))
        return found


def accuracy(replies: list[Reply]) -> float:
    right = sum((reply.straight == reply.gold) + (reply.swapped == reply.gold) for reply in replies)
    return right / (2 * len(replies))


def agreement(replies: list[Reply]) -> float:
    return sum(reply.straight == reply.swapped for reply in replies) / len(replies)


def alpha(replies: list[Reply]) -> float:
    """Nominal alpha between the orders, of what can be read in both."""
    both = [(one.straight, one.swapped) for one in replies if one.straight and one.swapped]
    said = [side for pair in both for side in pair]
    n = len(said)
    chance = 1 - sum(said.count(side) * (said.count(side) - 1) for side in set(said)) / (n * (n - 1))
    return 1 - sum(one != other for one, other in both) / len(both) / chance


def hedging(replies: list[Reply]) -> float:
    return sum(reply.is_hedge for reply in replies) / len(replies)


def mcnemar(base: list[Reply], judge: list[Reply]) -> tuple[int, int, float]:
    """Right in both orders: the base alone, the judge alone, and the exact two-sided p."""
    right = [[one.straight == one.swapped == one.gold for one in each] for each in (base, judge)]
    only_base = sum(a and not b for a, b in zip(*right, strict=True))
    only_judge = sum(b and not a for a, b in zip(*right, strict=True))
    n, least = only_base + only_judge, min(only_base, only_judge)
    return only_base, only_judge, min(1.0, 2 * sum(comb(n, k) for k in range(least + 1)) / 2**n)


def longer_is_right(items: list[dict[str, Any]]) -> float:
    points = 0.0
    for item in items:
        lengths = len(item["output_1"]), len(item["output_2"])
        longer = 1 if lengths[0] > lengths[1] else 2
        points += 0.5 if lengths[0] == lengths[1] else longer == item["label"]
    return points / len(items)
