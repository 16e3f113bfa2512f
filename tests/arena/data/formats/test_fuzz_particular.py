"""Whatever one field of a foreign file holds, reading it ends in records and problems."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.data.formats.catalogue import gather
from arena.data.formats.reading import unstorable
from arena.data.formats.records import ComparisonRecord, CompletionRecord, PromptRecord
from tests.arena.data.formats.test_alpaca_eval import ANNOTATION, OUTPUT
from tests.arena.data.formats.test_arena_battles import BATTLE, PREFERENCE
from tests.arena.data.formats.test_fastchat import ANSWER, CHOICES, JUDGMENT, QUESTION, REVIEW
from tests.arena.data.formats.test_fuzz import VALUES
from tests.arena.data.formats.test_self_instruct import INSTRUCTION

ROWS = [OUTPUT, ANNOTATION, QUESTION, ANSWER, CHOICES, REVIEW, JUDGMENT, INSTRUCTION, BATTLE, PREFERENCE]
WORDS = ["turns", "index", "role", "content", "user", "assistant", "text", "input", "output", "gpt-4"]
WRITTEN = VALUES.map(json.dumps) | VALUES.map(repr)
NESTED = st.lists(st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=3), max_size=3)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(list(row)[:3]))
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_any_value_in_any_field(row: Mapping[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(row)))
    changed = {**row, name: data.draw(VALUES | WRITTEN | NESTED)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.jsonl"
        path.write_text(f"{json.dumps(row)}\n{json.dumps(changed)}\n")
        items = list(gather([path]).items())
    for item in items:
        if isinstance(item, ComparisonRecord):
            assert (item.rating is None) != (item.reason == "")
            assert not unstorable([item.prompt, item.first, item.rater, item.raw_reply, dict(item.extra)])
        elif isinstance(item, PromptRecord | CompletionRecord):
            assert all(isinstance(turn, str) and not unstorable(turn) for turn in item.turns)
