"""All that the arena answers is as it was, but for what a commit changes on purpose."""

import os

import pytest

from tests.golden.arena import make_arena, standing_still
from tests.golden.golden import Golden, compare, write
from tests.golden.recorder import Recorder


@pytest.mark.django_db
def test_all_answers_are_as_they_were(tmp_path):
    with standing_still():
        golden = Golden()
        Recorder(golden, make_arena(), tmp_path).record()
    if os.environ.get("ARENA_GOLDEN") == "write":
        write(golden.files())
    difference = compare(golden.files())
    assert not difference, f"{difference}\n\nIf all of this is meant, write it anew with: make golden"
