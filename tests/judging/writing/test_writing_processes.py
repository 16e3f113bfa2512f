"""The drill of `python -m tests.faults writing` on a small scale, with real processes."""

import pytest

from tests.faults.writing import written_embedded

pytestmark = pytest.mark.processes


def test_every_answer_is_written_once_whatever_is_killed() -> None:
    report = written_embedded(lambda said: None, holes=30, kills=1, delay=0.1)
    assert [line for line in report if line.holds is False] == []
    assert report[0].value == "1"
