"""Ten judges on LLMBar's 419 pairs in both orders, from a loopback endpoint to the page of their accuracy.

Run with: python -m tests.benchmarks.gold_drill [--judges 10] [--pairs 419] [--llmbar FOLDER]

The endpoint knows the right answers: a judge is right about a share of the pairs that grows with its number,
in both orders alike. Some texts get a reply that says no rating, some fail at every attempt. Without
LLMBar's folder the texts are made. Prints what was stored, what meta_evaluate says beside what the endpoint
said, and how long the page's numbers take; fails if a reply is lost or doubled, or an accuracy differs.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.judging.endpoints.server import Answer, ChatServer, Script, text_of
from tests.judging.processes import Arena
from tests.judging.protocols.scripted import blocks
from tests.processes import ROOT

SUBSETS: Final = {"Natural": 100, "Neighbor": 134, "GPTInst": 92, "GPTOut": 47, "Manual": 46}
UNREADABLE, FAILING = 0.03, 0.01
PATIENCE_SECONDS: Final = 1800

JUDGES = """
from tests.factories import make_judge
for number in range({judges}):
    make_judge(slug=f"judge-{{number}}", model=f"model-{{number}}", base_url="{url}", form="binary", points=2)
"""

COUNTS = """
import json
from collections import Counter
from arena.models import Assignment, Comparison
of = lambda rows, name: Counter(rows.values_list(name, flat=True))
print(json.dumps([of(Comparison.objects, "status"), of(Assignment.objects, "state")]))
"""

TIMES = """
import time
from arena.models import Study
from leaderboard.snapshots.reading import opinions
from leaderboard.trust.content import labelled, trust
from leaderboard.trust.trial import Asked
study = Study.objects.get(slug="drill")
started = time.perf_counter()
read = opinions(study)
trust(labelled(study, read), read, Asked(matrix=True))
print(round(time.perf_counter() - started, 2))
"""

Item = Mapping[str, Any]


def made(subset: str, number: int) -> Item:
    """An instance as LLMBar has it."""
    texts = {f"output_{side}": f"{subset} {number}: text {side}" + " and more" * side for side in (1, 2)}
    return {"input": f"Write about {subset} {number}.", **texts, "label": 1 + lot(subset, number, sides=2)}


def lot(*of: object, sides: int) -> int:
    """A number below ``sides`` that depends on the arguments alone."""
    return int(hashlib.sha256(repr(of).encode()).hexdigest(), 16) % sides


def instances(llmbar: Path | None, pairs: int) -> dict[str, list[Item]]:
    """So many instances, in LLMBar's subsets; of its own files if there are any."""
    found: dict[str, list[Item]] = {}
    for subset, size in SUBSETS.items():
        files = list(llmbar.rglob(f"{subset}/dataset.json")) if llmbar else []
        items = json.loads(files[0].read_text()) if files else [made(subset, n) for n in range(size)]
        found[subset] = items[: max(0, pairs - sum(map(len, found.values())))]
    return {subset: items for subset, items in found.items() if items}


def write(folder: Path, items: Mapping[str, Iterable[Item]]) -> None:
    for subset, rows in items.items():
        (folder / subset).mkdir(parents=True)
        (folder / subset / "dataset.json").write_text(json.dumps(list(rows)))


class Rule:
    """What the endpoint says, and how much of it was right, wrong, unreadable and failing, by model."""

    def __init__(self, items: Mapping[str, Iterable[Item]]) -> None:
        self.better = {
            (row["output_1"].strip(), row["output_2"].strip()): row["label"] == 1
            for rows in items.values()
            for row in rows
        }
        self.better |= {(second, first): not better for (first, second), better in self.better.items()}
        self.said: dict[str, Counter[str]] = {}
        self._texts: set[tuple[str, str]] = set()

    def script(self) -> Script:
        def answer(body: dict[str, Any]) -> Answer:
            model, text = body["model"], text_of(body)
            shown = blocks(text)
            first, second = shown["ANSWER A"].strip(), shown["ANSWER B"].strip()
            kind = self.kind(model, first, second)
            if (model, text) not in self._texts:
                self._texts.add((model, text))
                self.said.setdefault(model, Counter())[kind] += 1
            if kind == "failing":
                return Answer(status=400, raw=b'{"error": {"message": "never"}}')
            if kind == "unreadable":
                return Answer("I cannot choose.")
            return Answer("Answer " + "BA"[self.better[first, second] == (kind == "right")])

        return answer

    @staticmethod
    def kind(model: str, first: str, second: str) -> str:
        luck = lot(model, first, second, sides=10_000) / 10_000
        if luck < FAILING:
            return "failing"
        if luck < FAILING + UNREADABLE:
            return "unreadable"
        share = 0.5 + 0.045 * int(model.removeprefix("model-"))
        return "right" if lot(model, *sorted((first, second)), sides=1000) < 1000 * share else "wrong"


def drill(folder: Path, judges: int, pairs: int, llmbar: Path | None) -> None:
    items = instances(llmbar, pairs)
    write(folder / "llmbar", items)
    rule = Rule(items)
    with ChatServer(rule.script()) as server:
        arena = Arena(folder, WORKER_CONCURRENCY="16")
        try:
            arena.manage("import_data", "drill", str(folder / "llmbar"))
            arena.run(JUDGES.format(judges=judges, url=server.url))
            arena.start()
            started = time.perf_counter()
            run_all(arena, judges)
            print(f"{judges} judges, {pairs} pairs: {time.perf_counter() - started:.0f} s")
        finally:
            arena.kill()
    statuses, states = json.loads(arena.run(COUNTS))
    print(f"{statuses}, {states}, asked {len(server.requests)} times")
    assert sum(statuses.values()) + states.get("failed", 0) == 2 * judges * pairs
    said = sum(rule.said.values(), Counter())
    assert statuses["scored"] == said["right"] + said["wrong"]
    assert (statuses.get("unscored", 0), states.get("failed", 0)) == (said["unreadable"], said["failing"])
    shown = json.loads(arena.manage("meta_evaluate", "drill", "--format=json"))
    for each in shown["judges"]:
        of_model = rule.said[each["judge"].replace("judge", "model")]
        parts = [part for part in each["subsets"].values() if part]
        right = sum(part["accuracy"] * part["scored"] for part in parts)
        print(f"{each['judge']}: {right / sum(part['scored'] for part in parts):.1%} right, {dict(of_model)}")
        assert abs(right - of_model["right"]) < 0.01
    print(f"the page's numbers: {arena.run(TIMES).strip()} s")


def run_all(arena: Arena, judges: int) -> None:
    """Let all judges rate all pairs in both orders, at once."""
    command = [sys.executable, "manage.py", "judge", "drill", "--both-orders", "--judge"]
    where: dict[str, Any] = {"cwd": ROOT, "env": arena.environment, "stdout": subprocess.DEVNULL}
    runs = [subprocess.Popen([*command, f"judge-{number}"], **where) for number in range(judges)]
    for run in runs:
        assert run.wait(PATIENCE_SECONDS) == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--judges", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=419)
    parser.add_argument("--llmbar", type=Path, help="LLMBar's folder (default: made texts)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-drill-") as folder:
        drill(Path(folder), **vars(given))


if __name__ == "__main__":
    main()
