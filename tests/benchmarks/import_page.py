"""What uploading, checking and applying a large file through the import page takes: memory and time.

Run with: .venv/bin/python -m tests.benchmarks.import_page [MEGABYTES [completions|comparisons]]
A real arena (web and worker in one process, SQLite) and a real browser. Ends with an error where the arena's
processes took more memory than LIMIT, shared pages counted once.
"""

import os
import re
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

from tests.benchmarks.import_memory import CONTESTANTS, LIMIT, PROMPTS, comparisons, completions, write
from tests.chromium import CHROMIUM_ARGUMENTS, find_chromium
from tests.processes import Arena

KINDS: Final = {"completions": completions, "comparisons": comparisons}
HOUR: Final = 3_600_000  # milliseconds
OPERATOR: Final = """
from django.contrib.auth import get_user_model
from arena.models import Study
get_user_model().objects.create_superuser("operator", "", "only-for-this-run")
Study.objects.create(slug="large", name="Large")
"""


def processes(root):
    children = Path(f"/proc/{root}/task/{root}/children").read_text().split()
    return [root, *(found for child in children for found in processes(int(child)))]


def memory(root):
    """Bytes that the processes hold; what they share is counted once."""
    total = 0
    for process in processes(root):
        with suppress(FileNotFoundError):
            found = re.search(
                r"^Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE
            )
            total += int(found[1]) * 1024 if found else 0
    return total


class Gauge:
    """The highest memory since it was last asked, looked at five times a second."""

    def __init__(self, root):
        self._root, self.highest, self._peak = root, 0, 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        while os.path.exists(f"/proc/{self._root}"):
            self._peak = max(self._peak, memory(self._root))
            self.highest = max(self.highest, self._peak)
            time.sleep(0.2)

    @contextmanager
    def step(self, name):
        self._peak, started = memory(self._root), time.perf_counter()
        yield
        print(f"{name}: {time.perf_counter() - started:.0f} s, peak {self._peak / 1e6:.0f} MB", flush=True)


def walk(page, url, files, gauge):
    page.set_default_timeout(HOUR)
    page.goto(f"{url}/admin/login/")
    page.fill("#id_username", "operator")
    page.fill("#id_password", "only-for-this-run")
    with gauge.step("sign in (a password is hashed)"):
        page.click("[type=submit]")
    page.goto(f"{url}/operate/large/import/")
    page.set_input_files("#id_uploads", files)
    with gauge.step("upload"):
        page.click("text=Check the files")
        page.wait_for_url("**/import/1/")
    with gauge.step("check"):
        page.wait_for_selector("[name=apply]")
    with gauge.step("apply"):
        page.click("[name=apply]")
        page.wait_for_selector("text=Next: invite raters")


def main():
    size = int(float(sys.argv[1] if len(sys.argv) > 1 else 190) * 1_000_000)
    kind = sys.argv[2] if len(sys.argv) > 2 else "completions"
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        bare = ({"id": f"p{number}", "instruction": "Say something."} for number in range(PROMPTS))
        files = [write(folder / "prompts.jsonl", bare), write(folder / f"{kind}.jsonl", KINDS[kind](size))]
        if kind == "comparisons":
            answers = completions(CONTESTANTS * PROMPTS * 1050)
            short = ({**answer, "text": answer["text"][:50]} for answer in answers)
            files.append(write(folder / "answers.jsonl", short))
        arena = Arena(folder)
        arena.run(OPERATOR)
        arena.manage("collectstatic", "--noinput", "-v0")
        arena.start()
        gauge = Gauge(arena.web.pid)
        try:
            print(f"before: {memory(arena.web.pid) / 1e6:.0f} MB; {kind}, {size / 1e6:.0f} MB")
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
            walk(browser.new_page(), arena.url, files, gauge)
        finally:
            arena.kill()
    print(f"highest peak {gauge.highest / 1e6:.0f} MB, limit {LIMIT / 1e6:.0f} MB")
    if gauge.highest > LIMIT:
        raise SystemExit("the arena took more memory than it may")


if __name__ == "__main__":
    main()
