"""Walk from a spreadsheet to a published board on a running arena, and take the pictures of docs/walk.md.

.venv/bin/python -m tests.browser.take_walk http://127.0.0.1:8000 operator PASSWORD

The judge on the way is a stand-in of this script with random opinions. The arena must not have a study
"small-talk" or a judge "stand-in" yet.
"""

import argparse
import random
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.conftest import CHROMIUM_ARGUMENTS, find_chromium
from tests.judging.endpoints.server import Answer, ChatServer, text_of

WALK = Path(__file__).resolve().parents[2] / "docs" / "walk"
DESK = {"width": 1280, "height": 900}
SLOW = 180_000
"""Milliseconds that a busy machine may take for one step."""

RATED = 8
"""Pairs the operator rates on the way."""


def main() -> None:
    """Take every step as an operator would, with a picture of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("username")
    parser.add_argument("password")
    given = parser.parse_args()
    with sync_playwright() as playwright, ChatServer(random_opinion) as model:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        page = chromium.new_context(viewport=DESK, accept_downloads=True).new_page()
        page.set_default_timeout(SLOW)
        sign_in(page, given.address, given.username, given.password)
        make_study(page, given.address)
        import_answers(page, given.address)
        rate(page, given.address)
        judge(page, given.address, model.url)
        publish(page, given.address)
        export(page, given.address)
        chromium.close()


def random_opinion(body: dict[str, Any]) -> Answer:
    """The same question always gets the same opinion."""
    rng = random.Random(text_of(body))
    return Answer(f"{rng.randint(1, 8)}\nA random opinion: no model was asked.", model="stand-in")


def sign_in(page: Page, address: str, username: str, password: str) -> None:
    page.goto(f"{address}/account/sign-in/")
    page.fill("input[name=username]", username)
    page.fill("input[name=password]", password)
    page.press("input[name=password]", "Enter")
    page.wait_for_load_state("networkidle")


def make_study(page: Page, address: str) -> None:
    page.goto(f"{address}/operate/new/")
    page.fill("input[name=name]", "Small talk")
    page.get_by_role("button", name="Make the study").click()
    page.locator(".step-title", has_text="Guidelines").click()
    page.fill(
        "textarea[name=guidelines]", "Prefer the answer that does what was asked. Wrong facts weigh most."
    )
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("navigation", name="Pages for operators").get_by_role("link", name="Set-up").click()
    page.get_by_text("Next:").first.wait_for()
    take(page, "1-study")


def import_answers(page: Page, address: str) -> None:
    page.goto(f"{address}/operate/small-talk/import/")
    page.get_by_label("Files").set_input_files(WALK / "answers.csv")
    take(page, "2-upload")
    page.get_by_role("button", name="Check the files").click()
    page.wait_for_selector("[name=check]", state="attached")
    take(page, "3-checked", full=True)
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="Look at the board").wait_for()
    take(page, "4-applied")


def rate(page: Page, address: str) -> None:
    page.goto(f"{address}/rate/small-talk/")
    while page.locator("#task").count() == 0:  # joining, then guidelines: their one button leads on
        page.locator("main form button").last.click()
        page.wait_for_load_state("networkidle")
    for number in range(RATED):
        page.locator("input[name=rating]").first.wait_for(state="attached")
        if number == 0:
            page.keyboard.press("3")
            take(page, "5-rating")
        before = page.eval_on_selector("#task", "task => task.dataset.assignment")
        page.keyboard.press(str(1 + (number * 3) % 8))
        page.keyboard.press("Enter")
        changed = "before => document.getElementById('task').dataset.assignment !== before"
        page.wait_for_function(changed, arg=before)


def judge(page: Page, address: str, url: str) -> None:
    page.goto(f"{address}/judging/judges/new/")
    for name, value in {"name": "Stand-in (random)", "slug": "stand-in", "model": "stand-in"}.items():
        page.fill(f"input[name={name}]", value)
    page.fill("input[name=base_url]", url)
    take(page, "6-judge")
    page.get_by_role("button", name="Save").click()
    page.wait_for_load_state("networkidle")
    page.goto(f"{address}/judging/runs/new/?study=small-talk")
    page.select_option("select[name=judge]", label="Stand-in (random)")
    take(page, "7-run")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Finished").first.wait_for()
    take(page, "8-judged")


def publish(page: Page, address: str) -> None:
    page.goto(f"{address}/operate/small-talk/publish/")
    page.locator("input[name=visibility][value=public]").check()
    page.get_by_role("button", name="Save", exact=True).click()
    board = f"{address}/studies/small-talk/?raters=judge:stand-in&method=bradley-terry"
    while (answer := page.goto(board)) and not answer.ok:  # until a snapshot holds what the judge said
        page.wait_for_timeout(1000)
    take(page, "9-board")


def export(page: Page, address: str) -> None:
    page.goto(f"{address}/studies/small-talk/export/")
    take(page, "10-export")


def take(page: Page, name: str, *, full: bool = False) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)  # Plotly draws after the network is quiet
    page.screenshot(path=WALK / f"{name}.png", full_page=full)


if __name__ == "__main__":
    main()
