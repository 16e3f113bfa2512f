"""What the drill of a deployment reads: the document, the unit files, and containers that say the same."""

import re
import shlex
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.faults import supervisor
from tests.faults.deploying import statements
from tests.processes import ROOT
from tests.waiting import eventually

DEPLOY = ROOT / "deploy"
SECTIONS = ("Install", "Start", "Check", "Upgrade", "Go back")
UNITS = {
    "web": "arena-web.service",
    "judging": "arena-judging@.service",
    "statistics": "arena-statistics.service",
}


def test_every_box_of_the_document_is_in_a_section_that_is_followed() -> None:
    text = (ROOT / "docs" / "deploy.md").read_text()
    boxes = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    written = [line for box in boxes for line in box.splitlines() if line.strip()]
    assert list(statements(*SECTIONS)) == written
    assert not any(line.endswith("\\") for line in written)  # each line is a command of its own


def test_an_unknown_section_is_named() -> None:
    with pytest.raises(LookupError, match="no section Flight"):
        list(statements("Flight"))


def test_files_that_the_document_names_are_there() -> None:
    named = re.findall(r"/srv/arena/(deploy/[\w./*@-]+)", " ".join(statements(*SECTIONS)))
    assert named
    assert all(list(ROOT.glob(name)) for name in named)


@pytest.mark.parametrize("service", UNITS)
def test_containers_run_what_units_run(service: str) -> None:
    unit = supervisor.options(DEPLOY / "systemd" / UNITS[service], "1")
    [command] = unit["ExecStart"]
    compose = (DEPLOY / "compose.yaml").read_text()
    block = re.search(rf"^  {service}:\n(.*?)(?=^  \w|^\w|\Z)", compose, re.MULTILINE | re.DOTALL)
    assert block
    told = re.search(r"command: (.*)", block[1])
    default = re.search(r"CMD \[(.*)\]", (DEPLOY / "Dockerfile").read_text())
    assert default
    run = shlex.split(told[1]) if told else shlex.split(default[1].replace(",", " "))
    assert run[1:] == shlex.split(command)[1:]


def test_both_set_the_same_variables() -> None:
    """But for the addresses, which the proxy and the volumes of containers give."""
    of_units = set(re.findall(r"^#?([A-Z_]+)=", (DEPLOY / "arena.env").read_text(), re.MULTILINE))
    of_containers = set(re.findall(r"^    ([A-Z_]+): ", (DEPLOY / "compose.yaml").read_text(), re.MULTILINE))
    assert of_units - of_containers == {"VAR_DIR"}  # in the Dockerfile
    assert of_containers - of_units == {"HOST"}


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A service whose process notes its argument, user and environment, and waits."""
    note = tmp_path / "note"
    settings = tmp_path / "settings"
    settings.write_text("# a comment\nGREETING=hello\n")
    (tmp_path / "noting@.service").write_text(
        f"[Service]\nEnvironmentFile={settings}\nEnvironment=OTHER=more\nRestart=always\nRestartSec=0.1\n"
        f'ExecStart=/bin/sh -c "echo %i $GREETING $OTHER >> {note}; exec sleep 60"\nTimeoutStopSec=5\n'
    )
    monkeypatch.setattr(supervisor, "UNITS", (tmp_path,))
    monkeypatch.setattr(supervisor, "_as_user", lambda user, unit: [])
    return supervisor.Service("noting@7", [], tmp_path / "log"), note


def test_a_service_is_started_again_until_it_is_stopped(unit: Any) -> None:
    service, note = unit
    service.start()
    for times in (1, 2):
        noted = "7 hello more\n" * times
        eventually(lambda: service.starts == times and note.exists() and note.read_text() == noted)  # noqa: B023
        if times == 1:
            service.kill()
    assert service.stop() < 5
    assert service.process.returncode == -signal.SIGTERM
    time.sleep(0.3)
    assert service.starts == 2


def test_an_unknown_unit_is_named() -> None:
    with pytest.raises(supervisor.UnitError, match="there is no unit moon"):
        supervisor.find("moon")
