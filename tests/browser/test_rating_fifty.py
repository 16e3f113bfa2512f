"""Fifty pairs by keyboard alone, through all that goes wrong on a bad day, and exactly the right rows."""

from statistics import median
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db.models import Count

from arena.models import Assignment, Comparison, Completion, Flag, Study
from tests import factories as make
from tests.browser.conftest import Visitor
from tests.browser.watching import check_accessible

pytestmark = pytest.mark.browser
PAIRS = 52
"""Fifty that are rated, one that is skipped and one that is flagged."""

TIMER = """
window.times = [];
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || document.querySelector("dialog[open]")) {
    return;
  }
  const began = performance.now();
  const before = document.getElementById("task");
  const look = () => {
    if (document.getElementById("task") === before) {
      setTimeout(look, 1);
    } else {
      requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - began)));
    }
  };
  look();
}, true);
"""
"""Milliseconds from Enter until the next pair was painted."""


@pytest.fixture
def study(transactional_db: None) -> Study:
    text = "A paragraph with **bold** words and `code`.\n\n" * 20
    study = make.make_small_study(prompts=PAIRS, contestants=2, name="Fifty pairs", slug="fifty")
    for completion in Completion.objects.all():
        completion.turns = [f"{completion.turns[0]}\n\n{text}"]
        completion.save(update_fields=["turns"])
    return study


class AtTheKeyboard:
    """A rater at the keyboard who remembers what was answered. said: rating by assignment."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.keys = visitor.page.keyboard
        self.said: dict[str, int] = {}
        self.times: list[float] = []
        visitor.page.on("dialog", lambda dialog: dialog.accept())  # whether to leave with answers unsent

    def open(self) -> None:
        self.visitor.rate()
        self.visitor.page.evaluate(f"() => {{ {TIMER} }}")
        self.visitor.settle()

    def reload(self) -> None:
        self.times += self.visitor.page.evaluate("window.times")
        self.visitor.page.reload()
        self.visitor.page.wait_for_selector(".needs-script:not([hidden])", state="attached")
        self.visitor.page.evaluate(f"() => {{ {TIMER} }}")

    def rate(self) -> str:
        """Rate the pair on screen, and return its id."""
        assignment = self.visitor.assignment
        assert assignment
        rating = len(self.said) % 8 + 1
        self.keys.press(str(rating))
        self.said[assignment] = rating
        self.visitor.press_for_next("Enter")
        return assignment

    def rate_until(self, total: int) -> None:
        while len(self.said) < total:
            self.visitor.settle()
            self.rate()
        self.visitor.settle()


def test_fifty_pairs_by_keyboard_alone(visitor: Visitor, capsys: Any) -> None:
    page = visitor.page
    person = AtTheKeyboard(visitor)
    person.open()
    person.rate_until(5)

    skipped = visitor.assignment
    visitor.press_for_next("s")
    person.rate_until(9)

    flagged = visitor.assignment
    person.keys.press("f")
    person.keys.press("1")
    visitor.press_for_next("Enter")
    person.rate_until(13)

    # The last one again, otherwise.
    revised = person.rate()
    visitor.settle()
    visitor.press_for_next("u")
    assert visitor.assignment == revised
    person.keys.press("8" if person.said[revised] != 8 else "1")
    person.said[revised] = 8 if person.said[revised] != 8 else 1
    visitor.press_for_next("Enter")
    person.rate_until(18)

    # A reload in the middle of a pair.
    person.keys.press("3")
    person.reload()
    assert page.evaluate("() => document.querySelector('[name=rating]:checked').value") == "3"
    person.rate_until(20)

    # The connection is lost: the pair on screen and the one held ready are rated all the same.
    page.context.set_offline(True)
    person.rate()
    person.rate()
    visitor.expect("You are offline")
    page.wait_for_selector("#outbox:visible")
    assert Comparison.objects.current().count() == 20
    page.context.set_offline(False)
    page.wait_for_selector("#answer")
    person.rate_until(28)

    # And lost once more, until the page is loaded again while an answer waits.
    loads: list[str] = []

    def lose_until_loaded(route: Any) -> None:
        if route.request.is_navigation_request():
            loads.append(route.request.url)
        if route.request.method == "POST" and not loads:
            route.abort()
        else:
            route.continue_()

    page.route(page.url, lose_until_loaded)
    person.rate()
    person.reload()
    page.unroute(page.url)
    person.rate_until(33)

    # Signed out, and in again.
    Session.objects.all().delete()
    person.rate()
    page.wait_for_selector("#outbox a:visible")
    check_accessible(page)
    visitor.sign_in()
    page.wait_for_selector("#outbox", state="hidden")
    person.rate_until(40)

    # The server stores answers whose replies are lost.
    lost: list[str] = []

    def lose(route: Any) -> None:
        if route.request.method == "POST" and len(lost) < 3:
            lost.append(route.fetch().text())
            route.abort()
        else:
            route.continue_()

    page.route(page.url, lose)
    person.rate_until(45)
    page.unroute(page.url)
    assert len(lost) == 3

    person.rate_until(50)
    visitor.expect("You are done, thank you")
    visitor.expect("You rated 50 pairs of Fifty pairs and skipped 2.")
    check_accessible(page)
    person.times += page.evaluate("window.times")

    current = Comparison.objects.current().filter(rater=visitor.rater)
    stored = dict(current.values_list("assignment__public_id", "rating"))
    assert len(person.said) == 50
    assert stored == person.said
    assert {flagged, skipped}.isdisjoint(stored)
    again = Comparison.objects.values("assignment__public_id").annotate(n=Count("pk")).filter(n__gt=1)
    assert list(again.values_list("assignment__public_id", "n")) == [(revised, 2)]
    assert Comparison.objects.filter(is_current=False).count() == 1
    states = Assignment.objects.order_by().values_list("state").annotate(n=Count("pk"))
    assert dict(states) == {"submitted": 50, "skipped": 2}
    assert Flag.objects.get().assignment.public_id == flagged
    assert not current.filter(seconds=None).exists()
    assert Comparison.objects.values("pair").distinct().count() == 50

    with capsys.disabled():
        print(
            f"\nFrom Enter to the next pair on screen: median {median(person.times):.0f} ms, "
            f"90 % under {sorted(person.times)[int(0.9 * len(person.times))]:.0f} ms, "
            f"{sum(time < 100 for time in person.times)} of {len(person.times)} under 100 ms."
        )
