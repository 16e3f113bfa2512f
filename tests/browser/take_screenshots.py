"""Take the pictures in docs/screenshots from a running arena with the demo studies and a public study llmfao.

.venv/bin/python manage.py import_data reading tests/browser/reading/*.jsonl

.venv/bin/python -m tests.browser.take_screenshots http://127.0.0.1:8000 operator PASSWORD
"""

import argparse
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.chromium import CHROMIUM_ARGUMENTS, find_chromium

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "screenshots"
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


def main() -> None:
    """Take every picture, replacing the old ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("username")
    parser.add_argument("password")
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        for suffix, size, scheme in (("desk", DESK, "light"), ("phone", PHONE, "dark")):
            page = chromium.new_context(viewport=size, color_scheme=scheme).new_page()
            if suffix == "desk":
                take_leaderboards(page, given.address)
            take_battle(page, given.address, suffix)
            page.goto(f"{given.address}/account/sign-in/")
            page.fill("input[name=username]", given.username)
            page.fill("input[name=password]", given.password)
            page.press("input[name=password]", "Enter")
            page.wait_for_load_state("networkidle")
            take_rating(page, given.address, suffix)
            take_reading(page, given.address, suffix)
            name, place = ("setup", "") if suffix == "desk" else ("progress", "progress/")
            page.goto(f"{given.address}/operate/demo/{place}")
            take(page, f"operate-{name}-{suffix}")
        chromium.close()


def take_leaderboards(page: Any, address: str) -> None:
    """What readers see before they sign in."""
    places = {
        "board": "demo",
        "agreement": "demo/agreement",
        "llmfao": "llmfao",
        "pairs": "demo-closed/comparisons",
        "trust": "demo-closed/trust",
    }
    for name, place in places.items():
        page.goto(f"{address}/studies/{place}/")
        take(page, f"{name}-desk")


def take_battle(page: Any, address: str, suffix: str) -> None:
    """A battle of a visitor without an account, while both models answer and after the rating."""
    page.goto(f"{address}/battle/demo/")
    page.fill("#prompt", "Why is the sky blue? Explain it to a child of eight.")
    page.check("#consent")
    page.get_by_role("button", name="Begin the battle").click()
    page.locator("[data-choices]:enabled").wait_for()
    page.wait_for_timeout(1500)
    page.screenshot(path=FOLDER / f"battle-{suffix}.png")
    page.locator("#task[data-state=ready]").wait_for(timeout=90_000)
    page.keyboard.press("2")
    page.locator("#new-battle").wait_for()
    take(page, f"battle-told-{suffix}")


def take_rating(page: Any, address: str, suffix: str) -> None:
    """The rating page before and after the choice; joins the demo study on the way."""
    open_pair(page, f"{address}/rate/demo/")
    if suffix == "desk":
        take(page, "rating-desk")
    page.keyboard.press("6")
    page.keyboard.press("q")
    take(page, f"rating-chosen-{suffix}")


def take_reading(page: Any, address: str, suffix: str) -> None:
    """The one pair of a training once it is answered, and a pair with formulas."""
    open_pair(page, f"{address}/rate/reading/")
    page.goto(f"{address}/rate/reading/training/1/1/")
    if page.locator("input[name=rating]").count():
        page.keyboard.press("3")
        page.keyboard.press("Enter")
    page.locator(".verdict").wait_for()
    take(page, f"training-{suffix}")
    open_pair(page, f"{address}/rate/reading/")
    take(page, f"formulas-{suffix}")


def open_pair(page: Any, address: str) -> None:
    """The pair to rate or practise on now; joins its study on the way."""
    page.goto(address)
    while page.locator("#task").count() == 0:  # sign-up, guidelines, training: one button or link leads on
        page.locator("main form button, main a[data-key=Enter]").last.click()
        page.wait_for_load_state("networkidle")
    page.locator("input[name=rating]").first.wait_for(state="attached")


def take(page: Any, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)  # Plotly draws after the network is quiet
    page.screenshot(path=FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
