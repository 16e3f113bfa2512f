"""A signed-in rater before a real browser, and what the browser complains about."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import TransactionTestCase
from django.urls import reverse
from django.utils import timezone

from arena.models import Rater, Study
from tests import emptying
from tests import factories as make

_UNTIL = """async () => {
  const outbox = await import("/static/annotation/outbox.js");
  const screen = await import("/static/annotation/screen.js");
  for (let tries = 0; !(CONDITION); tries += 1) {
    if (tries > 1500) throw new Error("waited 30 s for: CONDITION");
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}"""


def wait_until(page: Any, condition: str) -> None:
    """Wait until something holds of the modules ``outbox`` and ``screen`` of the rating page."""
    page.evaluate(_UNTIL.replace("CONDITION", condition))


@dataclass
class Visitor:
    """A rater with an open browser page. complaints: what the console and the page reported."""

    page: Any
    server: str
    study: Study
    rater: Rater
    complaints: list[str] = field(default_factory=list)

    def visit(self, name: str, *arguments: str) -> None:
        self.page.goto(self.server + reverse(name, args=arguments))

    def rate(self) -> None:
        """Open the rating page of the study and wait until its keys work."""
        self.visit("rate-study", self.study.slug)
        self.page.wait_for_selector(".needs-script:not([hidden])", state="attached")

    @property
    def assignment(self) -> str:
        """The id of the pair on screen; empty where there is none."""
        return str(self.page.eval_on_selector("#task", "task => task.dataset.assignment || ''"))

    def press_for_next(self, key: str) -> None:
        """Press a key that brings another pair, and wait for it."""
        before = self.assignment
        self.page.keyboard.press(key)
        self.page.wait_for_function(
            "before => (document.getElementById('task').dataset.assignment || '') !== before", arg=before
        )

    def settle(self) -> None:
        """Wait until every answer has arrived and the next pair, if there is one, is held ready."""
        wait_until(self.page, "outbox.waiting().length === 0 && screen.isSettled()")

    def expect(self, text: str) -> None:
        """Wait until the pair on screen, or what stands in its place, says this."""
        self.page.wait_for_function(
            "text => document.getElementById('task').innerText.includes(text)", arg=text
        )

    def sign_in(self) -> None:
        sign_in(self.page, self.server, self.rater.user)

    def shown_at(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})


def sign_in(page: Any, server: str, user: User | None) -> None:
    client = make.make_client(user)
    session = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": server}])


@pytest.fixture(scope="module")
def lasting_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """All tests of a module see the same committed rows: for boards that are made once and only looked at."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: None)
        yield
        emptying.empty("default")


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make.make_small_study(
        prompts=4, contestants=3, name="A study", slug="a-study", guidelines="Look for **facts**."
    )


@pytest.fixture
def visitor(live_server: Any, page: Any, study: Study) -> Visitor:
    rater = make.make_member(study)
    study.memberships.update(guidelines_read_at=timezone.now())
    found = Visitor(page, live_server.url, study, rater)
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("console", lambda line: found.complaints.append(line.text) if line.type == "error" else None)
    found.sign_in()
    return found


def is_complaint(entry: Any) -> bool:
    """Whether a line of the console is one. htmx tells of polls that were under way when a page was left."""
    return entry.type in ("error", "warning") and not entry.text.startswith("htmx:send")


@pytest.fixture
def problems(page: Any) -> list[str]:
    """What the console complains about, and requests that leave this host."""
    found: list[str] = []
    page.on("console", lambda entry: found.append(entry.text) if is_complaint(entry) else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("http://localhost", "http://127.0.0.1", "data:", "blob:"))
            else found.append(request.url)
        ),
    )
    return found
