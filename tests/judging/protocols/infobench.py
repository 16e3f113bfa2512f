"""A loopback judge that answers about texts of InFoBench as a file of stored answers does."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judging.protocols.neutralizing import neutral
from tests.judging.endpoints.server import Answer, Script
from tests.judging.protocols.scripted import blocks

Row = Mapping[str, Any]
Asked = tuple[str, str]  # a text and a question about it


def read_rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def what_is_asked(messages: Iterable[Mapping[str, str]]) -> Asked:
    shown = [blocks(message["content"]) for message in messages if message["role"] == "user"]
    return shown[0]["ANSWER"], shown[-1]["QUESTION"]


def asked(requests: Iterable[Mapping[str, Any]]) -> Counter[Asked]:
    return Counter(what_is_asked(body["messages"]) for body in requests)


def answering(rows: Iterable[Row], delay: float = 0.0) -> Script:
    stored = {
        (neutral(row["output"]), question): value
        for row in rows
        for question, value in zip(row["decomposed_questions"], row["eval"], strict=False)
    }

    def script(body: dict[str, Any]) -> Answer:
        value = stored[what_is_asked(body["messages"])]
        return Answer({True: "YES", False: "No."}.get(value, "Perhaps"), delay=delay)

    return script
