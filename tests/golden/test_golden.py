"""All that the arena answers is as it was, but for what a commit changes on purpose."""

import os
from pathlib import Path

import pytest

from tests.golden.arena import make_arena, standing_still
from tests.golden.golden import UNCUT, Golden, compare, write
from tests.golden.recorder import Recorder


@pytest.mark.django_db
def test_all_answers_are_as_they_were(tmp_path, request):
    data = request.getfixturevalue("reference_data") if UNCUT else None
    with standing_still():
        golden = Golden()
        Recorder(golden, make_arena(data), tmp_path).record()
    if UNCUT:
        write(golden.files(), Path(UNCUT))
        pytest.skip(f"all answers are in {UNCUT}")
    if os.environ.get("ARENA_GOLDEN") == "write":
        write(golden.files())
    difference = compare(golden.files())
    assert not difference, f"{difference}\n\nIf all of this is meant, write it anew with: make golden"
