"""What `make test` does not run still loads."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("folder", ["benchmarks", "simulations"])
def test_every_file_loads(folder: str) -> None:
    files = sorted((ROOT / "tests" / folder).rglob("test_*.py"))
    assert files
    for file in files:
        import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
