"""Fixtures every test may use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of public data sets; tests that read it are skipped where it is absent."""
    folder = Path(os.environ.get("ARENA_REFERENCE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no reference data in {folder}; set ARENA_REFERENCE_DATA")
    return folder
