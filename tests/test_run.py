"""The summary of `make test`: what counts as failed, and when a skip does."""

import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests import run
from tests.run import Result, Step

JUNIT = """<testsuites><testsuite time="12.5">
<testcase name="a"/><testcase name="b"/>
<testcase name="c"><failure message="no"/></testcase>
<testcase name="d"><error message="no"/></testcase>
<testcase name="e"><skipped message="no Chromium on PATH"/></testcase>
</testsuite></testsuites>"""


def test_reading_results(tmp_path: Path) -> None:
    file = tmp_path / "results.xml"
    file.write_text(JUNIT)
    counts, skips, seconds = run.read_results(file)
    assert counts == {"passed": 2, "failed": 2, "skipped": 1}
    assert skips == {"no Chromium on PATH": 1}
    assert seconds == 12.5


PASSED = Result("ruff", "passed")
LEFT_OUT = Result("browser", "skipped", "no Chromium on PATH")
WITH_SKIP = Result("suite", "passed", "", Counter({"no Chromium on PATH": 2}))
WITHOUT_DATA = Result("suite", "passed", "", Counter({"no reference data in x": 3}))


@pytest.mark.parametrize(
    ("result", "failed", "failed_when_required"),
    [
        (PASSED, False, False),
        (Result("mypy", "failed"), True, True),
        (LEFT_OUT, False, True),
        (WITH_SKIP, False, True),
        (WITHOUT_DATA, False, False),
    ],
)
def test_what_fails(
    result: Result, failed: bool, failed_when_required: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_REFERENCE_DATA", raising=False)
    assert run.report([PASSED, result], require_all=False) is failed
    assert run.report([PASSED, result], require_all=True) is failed_when_required


def test_data_that_were_named_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_REFERENCE_DATA", "/nowhere")
    assert run.report([WITHOUT_DATA], require_all=True)


def test_the_summary_says_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    run.report([PASSED, LEFT_OUT, WITH_SKIP], require_all=False)
    printed = capsys.readouterr().out
    assert "skipped  browser: no Chromium on PATH" in printed
    assert "2 skipped: no Chromium on PATH" in printed
    assert printed.endswith("PASSED\n")


def test_what_a_step_prints_apart_from_others_follows_when_it_has_ended(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with Step("apart", [sys.executable, "-c", "print('from', 'it'); exit(3)"], apart=True) as step:
        with Step("meanwhile", [sys.executable, "-c", "pass"]) as other:
            assert other.wait() == 0
        assert step.wait() == 3
    assert capfd.readouterr().out == "\n== meanwhile\n\n== apart\nfrom it\n"


WAITING = """
import time, pathlib, sys
try:
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(600)
except KeyboardInterrupt:
    pathlib.Path(sys.argv[1]).write_text("tidied up")
"""


def test_a_step_that_nobody_waits_for_any_more_tidies_up(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    run.hear_interrupts()
    with Step("apart", [sys.executable, "-c", WAITING, str(mark)], apart=True):
        while not mark.exists():
            time.sleep(0.01)
    assert mark.read_text() == "tidied up"


def test_tests_with_a_marker_are_looked_for_where_it_is_named() -> None:
    chosen, name, *files = run.marked("browser")
    folder = Path(__file__).parent
    assert (chosen, name) == ("-m", "browser")
    assert {str(folder / "judging/runs/test_browser.py"), str(folder / "browser/test_board.py")} <= set(files)
    assert str(Path(__file__)) not in files
