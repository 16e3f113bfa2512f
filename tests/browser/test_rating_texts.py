"""Twelve texts scored and checked by keyboard alone, with a reload, an undo and a lost connection."""

import pytest
from django.db.models import Count

from arena.models import Answer, Assignment, Question, Score, Study
from tests import factories as make
from tests.browser.conftest import Visitor
from tests.browser.watching import check_accessible

pytestmark = pytest.mark.browser
KEYS = {"y": "yes", "n": "no", "u": "unknown"}


@pytest.fixture
def study(transactional_db: None) -> Study:
    study = make.make_small_study(
        prompts=3, contestants=4, name="Twelve texts", slug="twelve", tasks=["score", "check"]
    )
    for prompt in study.prompts.all():
        for number in range(3):
            make.make_question(prompt=prompt, text=f"Does the text meet requirement {number}? " * 3)
    return study


class AtTheKeyboard:
    """A rater who remembers what was said, by assignment."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.keys = visitor.page.keyboard
        self.scores: dict[str, float] = {}
        self.checks: dict[str, list[str]] = {}

    @property
    def kind(self) -> str:
        return str(self.visitor.page.eval_on_selector("#task", "task => task.dataset.kind || ''"))

    def choose(self) -> None:
        """Answer all that is on screen, without submitting it."""
        number = len(self.scores) + len(self.checks)
        if self.kind == "score":
            self.scores[self.visitor.assignment] = number % 5 + 1
            self.keys.press(str(number % 5 + 1))
        else:
            said = [list(KEYS)[(number + place) % 3] for place in range(3)]
            self.checks[self.visitor.assignment] = [KEYS[key] for key in said]
            for key in said:
                self.keys.press(key)

    def answer(self) -> str:
        """Answer and submit what is on screen, and return its id."""
        answered = self.visitor.assignment
        self.choose()
        self.visitor.press_for_next("Enter" if self.kind == "score" else "Space")
        return answered

    def answer_until(self, texts: int) -> None:
        """Answer until so many texts are checked, and the next one is on screen."""
        while len(self.checks) < texts:
            self.visitor.settle()
            self.answer()
        self.visitor.settle()


def test_twelve_texts_by_keyboard_alone(visitor: Visitor) -> None:
    page, person = visitor.page, AtTheKeyboard(visitor)
    page.on("dialog", lambda dialog: dialog.accept())  # whether to leave with answers unsent
    visitor.rate()
    check_accessible(page)
    person.answer_until(3)

    # Arrows reach what keys reach.
    person.scores[visitor.assignment] = 2
    person.keys.press("ArrowRight")
    person.keys.press("ArrowRight")
    visitor.press_for_next("Enter")
    visitor.settle()
    check_accessible(page)
    person.checks[visitor.assignment] = ["no", "yes", "unknown"]
    for key in ("y", "ArrowUp", "n", "y", "ArrowLeft"):
        person.keys.press(key)
    visitor.press_for_next("Enter")
    visitor.settle()

    # Nothing is sent while something lacks an answer.
    person.answer()
    visitor.settle()
    before = visitor.assignment
    person.keys.press("y")
    person.keys.press("Enter")
    person.keys.press("Space")
    assert visitor.assignment == before
    page.reload()
    page.wait_for_selector(".needs-script:not([hidden])", state="attached")
    assert page.eval_on_selector("[data-answered]", "each => each.textContent") == "1 of 3 answered"

    # What was chosen outlasts a reload; and the last check comes back by undo, as it was.
    person.keys.press("ArrowUp")
    checked = person.answer()
    visitor.settle()
    assert person.kind == "score"
    visitor.press_for_next("u")
    assert visitor.assignment == checked
    visitor.expect("You have checked this answer")
    changed = "no" if person.checks[checked][0] != "no" else "yes"
    person.checks[checked][0] = changed
    person.keys.press(changed[0])
    visitor.press_for_next("Enter")
    person.answer_until(8)

    # A score cannot come back once its requirements are open.
    person.answer()
    visitor.settle()
    assert person.kind == "check"
    assert page.is_disabled("button[name=undo]")
    before = visitor.assignment
    page.keyboard.press("Control+z")
    visitor.settle()
    assert visitor.assignment == before
    person.answer_until(10)

    # The connection is lost with requirements on screen: they and the text held ready are answered.
    person.answer()
    visitor.settle()
    stored = Score.objects.count()
    page.context.set_offline(True)
    person.answer()
    person.answer()
    visitor.expect("You are offline")
    page.wait_for_selector("#outbox:visible")
    assert Score.objects.count() == stored
    page.context.set_offline(False)
    page.wait_for_selector("#answer")
    assert person.kind == "check"

    person.answer_until(12)
    visitor.expect("You are done, thank you")
    visitor.expect("You scored 12 answers and checked 12 answers of Twelve texts.")

    scores = Score.objects.current().filter(rater=visitor.rater)
    assert dict(scores.values_list("assignment__public_id", "value")) == person.scores
    said: dict[str, list[str]] = {}
    for answer in Answer.objects.current().order_by("question__position").select_related("assignment"):
        assert answer.assignment is not None
        assert answer.value is not None
        said.setdefault(answer.assignment.public_id, []).append(answer.value)
    assert said == person.checks
    assert len(said) == len(person.scores) == 12
    assert Answer.objects.filter(is_current=False).count() == 1
    states = Assignment.objects.order_by().values_list("state").annotate(n=Count("pk"))
    assert dict(states) == {"submitted": 24}
    assert not scores.filter(seconds=None).exists()


def test_on_a_phone_one_requirement_is_on_screen_and_nothing_jumps(visitor: Visitor) -> None:
    page = visitor.page
    visitor.shown_at(390, 844)
    Study.objects.update(tasks=["check"])
    visitor.rate()
    shown = page.locator(".check:visible")
    places = []
    for number in range(3):
        assert shown.count() == 1
        assert page.inner_text("[data-step]") == f"{number + 1} of 3"
        places.append(shown.locator("label").first.bounding_box()["y"])
        shown.locator("label").first.click()
    assert len(set(places)) == 1
    page.click("[data-move='-1']")
    assert page.inner_text("[data-step]") == "2 of 3"
    before = visitor.assignment
    page.click(".answer-submit")
    page.wait_for_function(
        "before => document.getElementById('task').dataset.assignment !== before", arg=before
    )
    visitor.settle()
    # What lacks an answer is pointed at, though it was not on screen.
    page.click("[data-move='1']")
    page.click(".answer-submit")
    assert page.inner_text("[data-step]") == "1 of 3"


def test_a_long_scale_is_written(visitor: Visitor) -> None:
    Study.objects.update(tasks=["score"], score_lowest=0, score_highest=100)
    visitor.rate()
    keys = visitor.page.keyboard
    keys.type("87")
    visitor.press_for_next("Enter")
    visitor.settle()
    assert Score.objects.get().value == 87
    check_accessible(visitor.page)


def test_what_was_changed_meanwhile_is_asked_again(visitor: Visitor, study: Study) -> None:
    Study.objects.update(tasks=["check"])
    page, person = visitor.page, AtTheKeyboard(visitor)
    visitor.rate()
    person.choose()
    Question.objects.filter(position=1).update(text="Is it another requirement?")
    page.keyboard.press("Space")  # another text may come up for a moment only, or not at all
    page.wait_for_selector("#refusals:visible")
    refusal = page.inner_text("#refusals")
    assert "What is asked was changed while your page was open. Look again and answer anew." in refusal
    assert not Answer.objects.exists()

    # What was chosen for the old wording of the next text is not kept for the new one.
    visitor.settle()
    person.choose()
    Question.objects.filter(position=2).update(text="Is this one new, too?")
    page.reload()
    page.wait_for_selector(".needs-script:not([hidden])", state="attached")
    assert page.eval_on_selector("[data-answered]", "each => each.textContent") == "0 of 3 answered"
