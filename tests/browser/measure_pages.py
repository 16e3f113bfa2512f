"""Print how soon a reader sees the leaderboard, and what the pages of a study weigh.

.venv/bin/python -m tests.browser.measure_pages [ADDRESS] [--study demo]

Without an address it starts an arena with the demo study. A reader is headless Chromium with an empty cache.
"""

import argparse
import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.arena.process.processes import Server, manage
from tests.browser.watching import drawn
from tests.chromium import CHROMIUM_ARGUMENTS, find_chromium

SIZES: Final = ((1280, 800), (1440, 900), (390, 844))
PAGES: Final = ("", "categories/", "raters/", "agreement/", "comparisons/", "data/", "results/")
ROWS: Final = "#standings-table tbody tr"
MOST_STOPS: Final = 200
QUIET: Final = 2_000
"""Milliseconds in which a page that does nothing by itself would have shown it."""

_TOP: Final = "element => Math.round(element.getBoundingClientRect().top + window.scrollY)"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("address", nargs="?")
    parser.add_argument("--study", default="demo")
    given = parser.parse_args()
    with served(given.address) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        study = f"{address}/studies/{given.study}/"
        print_places(chromium, study)
        print_stops(chromium, study)
        print_weights(chromium, study)
        chromium.close()


@contextmanager
def served(address: str | None) -> Iterator[str]:
    """The address given, or that of an arena with the demo study and its leaderboard."""
    if address:
        yield address.rstrip("/")
        return
    with TemporaryDirectory() as folder:
        manage("prepare", VAR_DIR=folder)
        server = Server(VAR_DIR=folder)
        try:
            while 'id="standings-table"' not in server.get("/studies/demo/"):
                time.sleep(1)
            yield f"http://127.0.0.1:{server.port}"
        finally:
            server.end(signal.SIGTERM)


@contextmanager
def opened(chromium: Browser, address: str, width: int, height: int) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.goto(address, wait_until="load")
    yield page
    context.close()


def print_places(chromium: Browser, address: str) -> None:
    print(f"{'leaderboard':<14} {'table at y':>10} {'third model, ends at y':>24}")
    for width, height in SIZES:
        with opened(chromium, address, width, height) as page:
            table = page.locator("#standings-table").evaluate(_TOP)
            third = page.locator(ROWS).nth(2)
            start, rows = third.evaluate(_TOP), third.evaluate("row => row.offsetHeight")
            print(f"{f'{width} x {height}':<14} {table:>10,} {f'{start:,}, {start + rows:,}':>24}")


def print_stops(chromium: Browser, address: str) -> None:
    with opened(chromium, address, *SIZES[0]) as page:
        stops: list[str] = []
        while len(stops) < MOST_STOPS and not page.evaluate(f"!!document.activeElement.closest({ROWS!r})"):
            page.keyboard.press("Tab")
            stops.append(str(page.evaluate("document.activeElement.textContent.trim()")))
        print(f'\n{len(stops)} Tab stops to the first model; the first of them: "{stops[0]}"')


@dataclass
class Weight:
    """What came over the network, and the longest task of the main thread, in milliseconds.

    ``processor`` leaves out the time in which other programs had the processor.
    """

    bytes: int = 0
    requests: int = 0
    longest: float = 0.0
    processor: float = 0.0

    @property
    def cells(self) -> str:
        task = f"{self.longest:,.0f} ({self.processor:,.0f}) ms"
        return f"{self.bytes / 1000:>8,.0f} kB {self.requests:>8,} {task:>14}"


def print_weights(chromium: Browser, study: str) -> None:
    head = f"{'sent':>11} {'requests':>8} {'longest task':>14}"
    print("\nIn brackets: on the processor, without the time that other programs had it.")
    print(f"{'':<14} {'as it opens':^35} | {'with all figures':^35} | of it scripts")
    print(f"{'page':<14} {head} | {head} |")
    for name in PAGES:
        with opened(chromium, "about:blank", *SIZES[0]) as page:
            before, after, scripts = weights(page, study + name)
            print(f"{name or 'leaderboard':<14} {before.cells} | {after.cells} | {scripts / 1000:,.0f} kB")


def weights(page: Page, address: str) -> tuple[Weight, Weight, int]:
    """As the page opens, once all its figures are drawn, and bytes of scripts at the end."""
    found, kinds = Weight(), dict[str, str]()
    scripts = 0

    def arrived(event: dict[str, Any]) -> None:
        nonlocal scripts
        found.bytes += round(event["encodedDataLength"])
        if kinds.get(event["requestId"]) == "Script":
            scripts += round(event["encodedDataLength"])

    def asked(event: dict[str, Any]) -> None:
        kinds[event["requestId"]] = event.get("type", "")
        found.requests += not event["request"]["url"].startswith(("data:", "blob:"))

    network = page.context.new_cdp_session(page)
    network.on("Network.requestWillBeSent", asked)
    network.on("Network.loadingFinished", arrived)
    network.send("Network.enable")
    with traced(page) as opening:
        page.goto(address, wait_until="networkidle")
        page.wait_for_timeout(QUIET)
    before = Weight(found.bytes, found.requests, *longest(opening))
    with traced(page) as drawing:
        drawn(page)
        page.wait_for_timeout(QUIET)
    return before, Weight(found.bytes, found.requests, *longest(drawing)), scripts


def longest(tasks: list[tuple[float, float]]) -> tuple[float, float]:
    return max(clock for clock, _ in tasks), max(processor for _, processor in tasks)


@contextmanager
def traced(page: Page) -> Iterator[list[tuple[float, float]]]:
    """The tasks of the page's main thread, in milliseconds by the clock and of the processor."""
    browser = page.context.browser
    assert browser is not None
    tasks: list[tuple[float, float]] = []
    browser.start_tracing(page=page, categories=["toplevel", "disabled-by-default-devtools.timeline"])
    yield tasks
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks += [
        (event["dur"] / 1000, event.get("tdur", 0) / 1000)
        for event in events
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) in threads and "dur" in event
    ]


if __name__ == "__main__":
    main()
