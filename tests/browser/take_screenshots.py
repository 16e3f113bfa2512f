"""Take the pictures in docs/screenshots from a running arena with the demo study, a public study llmfao, and

.venv/bin/python manage.py import_data reading tests/browser/reading/*.jsonl

.venv/bin/python -m tests.browser.take_screenshots http://127.0.0.1:8000 operator PASSWORD
"""

import argparse
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.conftest import CHROMIUM_ARGUMENTS, find_chromium

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
        for name, size, scheme, take_them in (
            ("desk", DESK, "light", take_all),
            ("phone", PHONE, "dark", take_all),
            ("desk-dark", DESK, "dark", take_rating),
            ("phone-light", PHONE, "light", take_rating),
        ):
            context = chromium.new_context(viewport=size, color_scheme=scheme)
            page = context.new_page()
            page.goto(f"{given.address}/account/sign-in/")
            page.fill("input[name=username]", given.username)
            page.fill("input[name=password]", given.password)
            page.press("input[name=password]", "Enter")
            page.wait_for_load_state("networkidle")
            take_them(page, given.address, name)
        chromium.close()


def take_all(page: Any, address: str, suffix: str) -> None:
    """The board, its figures and the rating page at one size."""
    page.goto(f"{address}/studies/demo/")
    page.locator("#board").evaluate("board => board.scrollIntoView()")
    take(page, f"board-{suffix}")
    page.locator("#win-rates").evaluate("figure => figure.scrollIntoView()")
    take(page, f"figures-{suffix}")
    for name in ("categories", "raters", "agreement", "data"):
        page.goto(f"{address}/studies/demo/{name}/")
        page.locator("main h2").first.evaluate("heading => heading.scrollIntoView()")
        take(page, f"{name}-{suffix}")
    page.goto(f"{address}/studies/llmfao/")
    page.locator("#board").evaluate("board => board.scrollIntoView()")
    take(page, f"llmfao-{suffix}")
    take_rating(page, address, suffix)
    take_reading(page, address, suffix)
    page.goto(f"{address}/judging/")
    take(page, f"judging-{suffix}")
    name, place = ("operate-setup", "") if suffix == "desk" else ("operate-progress", "progress/")
    page.goto(f"{address}/operate/demo/{place}")
    take(page, f"{name}-{suffix}")


def take_rating(page: Any, address: str, suffix: str) -> None:
    """The rating page before and after the choice; joins the demo study on the way."""
    open_pair(page, f"{address}/rate/demo/")
    take(page, f"rating-{suffix}")
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
