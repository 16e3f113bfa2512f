"""What somebody hostile tries: the files of tests that are named."""

from tests.faults.holes import SCENARIOS
from tests.processes import ROOT


def test_files_that_are_named_are_there() -> None:
    assert [file for files in SCENARIOS.values() for file in files if not (ROOT / file).exists()] == []
