"""Walk from nothing to a published leaderboard on a running arena, and count the operator's clicks.

.venv/bin/python -m tests.browser.take_walk http://127.0.0.1:8000 operator PASSWORD [--pictures]

Links, buttons, choices and the file chooser take a click each; fields are typed into. The judge on the way
is a stand-in of this script with random opinions. The arena must not have a study "small-talk", a judge
"stand-in" or an account "ann" yet. With --pictures the pictures of docs/walk.md are taken.
"""

import argparse
import random
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, sync_playwright

from tests.chromium import CHROMIUM_ARGUMENTS, find_chromium
from tests.judging.endpoints.server import Answer, ChatServer, text_of

WALK = Path(__file__).resolve().parents[2] / "docs" / "walk"
DESK = {"width": 1280, "height": 900}
SLOW = 30_000
"""Milliseconds that a busy machine may take for one step."""

MOST = 20
"""Clicks that the walk may take."""

RATED = 8
"""Pairs that the rater rates on the way."""


class Walk:
    """An operator's page that counts its clicks."""

    def __init__(self, page: Page, address: str, *, pictures: bool = False) -> None:
        self.page, self.address, self.pictures = page, address, pictures
        self.clicks: list[tuple[str, str]] = []  # the path of a page and what was clicked there

    def button(self, name: str) -> None:
        self._click(self.page.get_by_role("button", name=name, exact=True), name)

    def link(self, name: str) -> None:
        self._click(self.page.get_by_role("link", name=name, exact=True).first, name)

    def choose(self, label: str) -> None:
        self.count(label)
        self.page.get_by_label(label).check()

    def count(self, what: str) -> None:
        self.clicks.append((urlsplit(self.page.url).path, what))

    def _click(self, found: Locator, what: str) -> None:
        self.count(what)
        found.click()
        self.page.wait_for_load_state("networkidle")

    def take(self, name: str, *, full: bool = False) -> None:
        if self.pictures:
            take(self.page, name, full=full)

    def report(self) -> str:
        lines = [f"{number:>3}  {what}  on {path}" for number, (path, what) in enumerate(self.clicks, 1)]
        pages = len({path for path, _ in self.clicks})
        return "\n".join([*lines, f"{len(self.clicks)} clicks on {pages} pages, at most {MOST}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("username")
    parser.add_argument("password")
    parser.add_argument("--pictures", action="store_true")
    given = parser.parse_args()
    with sync_playwright() as playwright, ChatServer(random_opinion) as model:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        page, other = (chromium.new_context(viewport=DESK).new_page() for _ in range(2))
        page.set_default_timeout(SLOW)
        other.set_default_timeout(SLOW)
        walk = Walk(page, given.address, pictures=given.pictures)
        sign_in(walk, given.username, given.password)
        make_study(walk)
        import_answers(walk)
        join = invite(walk)
        judge(walk, model.url)
        after_the_run(walk)
        publish(walk)
        rate(other, join, pictures=given.pictures)
        look(walk)
        chromium.close()
    print(walk.report())
    if len(walk.clicks) > MOST:
        raise SystemExit(f"The walk takes more than {MOST} clicks.")


def random_opinion(body: dict[str, Any]) -> Answer:
    """The same question always gets the same opinion."""
    rng = random.Random(text_of(body))
    return Answer(f"{rng.randint(1, 8)}\nA random opinion: no model was asked.", model="stand-in")


def sign_in(walk: Walk, username: str, password: str) -> None:
    walk.page.goto(walk.address)
    walk.link("Sign in")
    walk.page.fill("input[name=username]", username)
    walk.page.fill("input[name=password]", password)
    walk.button("Sign in")


def make_study(walk: Walk) -> None:
    walk.link("New study")
    walk.page.fill("input[name=name]", "Small talk")
    walk.button("Create study")
    walk.button("Start from the usual guidelines")
    walk.take("1-guidelines")
    walk.button("Save and continue")
    walk.button("Save and continue")


def import_answers(walk: Walk) -> None:
    walk.count("Files")
    walk.page.get_by_label("Files").set_input_files(WALK / "answers.csv")
    walk.take("2-upload")
    walk.button("Check the files")
    walk.page.wait_for_selector("[name=apply]")
    walk.take("3-checked", full=True)
    walk.button("Apply")
    walk.page.get_by_role("link", name="Next: invite raters").wait_for()
    walk.link("Next: invite raters")


def invite(walk: Walk) -> str:
    """Make a link for raters; its address."""
    walk.page.get_by_label("Number of people").fill("20")
    walk.button("Create link")
    walk.take("4-people")
    join = walk.page.locator("input.link-text").first.input_value()
    walk.link("Continue to Judges")
    return join


def judge(walk: Walk, url: str) -> None:
    page = walk.page
    walk.link("Add a judge")
    for name, value in {"name": "Stand-in", "model": "stand-in", "base_url": url}.items():
        page.fill(f"input[name={name}]", value)
    walk.button("Test connection")
    page.locator("#trial .notice").wait_for()
    walk.take("5-judge", full=True)
    walk.button("Save")
    walk.button("Start")


def after_the_run(walk: Walk) -> None:
    walk.page.get_by_text("Finished").first.wait_for()
    walk.take("6-judged")
    walk.link("Continue to Publish")


def publish(walk: Walk) -> None:
    walk.choose("Everybody")
    walk.button("Publish the study")
    walk.page.get_by_text("Published at").wait_for()
    walk.take("7-published")


def rate(page: Page, join: str, *, pictures: bool) -> None:
    """Join as somebody new and rate some pairs, by keyboard."""
    page.goto(join)
    page.fill("input[name=username]", "ann")
    for field in page.locator("input[type=password]").all():
        field.fill("seven-rivers-9")
    page.locator("main form button").last.click()
    page.wait_for_load_state("networkidle")
    while page.locator("#task").count() == 0:  # the guidelines: their one button leads on
        page.locator("main form button").last.click()
        page.wait_for_load_state("networkidle")
    for number in range(RATED):
        page.locator("input[name=rating]").first.wait_for(state="attached")
        if number == 0 and pictures:
            page.keyboard.press("3")
            take(page, "8-rating")
        before = page.eval_on_selector("#task", "task => task.dataset.assignment")
        page.keyboard.press(str(1 + (number * 3) % 8))
        page.keyboard.press("Enter")
        changed = "before => document.getElementById('task').dataset.assignment !== before"
        page.wait_for_function(changed, arg=before)


def look(walk: Walk) -> None:
    """See the leaderboard once a snapshot holds what the judge said; one person's ratings wait."""
    board = f"{walk.address}/studies/small-talk/"
    while (answer := walk.page.goto(f"{board}?raters=judge:stand-in")) and not answer.ok:
        walk.page.wait_for_timeout(1000)
    walk.page.goto(board)
    walk.take("9-leaderboard")


def take(page: Page, name: str, *, full: bool = False) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)  # Plotly draws after the network is quiet
    page.screenshot(path=WALK / f"{name}.png", full_page=full)


if __name__ == "__main__":
    main()
