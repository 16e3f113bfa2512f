"""The texts of a pair in a real browser: formulas and code of its prompt, as written and back, everywhere."""

from typing import Any

import pytest
from django.urls import reverse

from arena.models import Comparison, Completion, Membership, Pair, Prompt, Role, Study
from tests import factories as make
from tests.browser.conftest import Visitor
from tests.browser.watching import SIZES, check_accessible
from tests.leaderboard.quality.rated import rated_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ASKED = "Is $x^2$ **even**?\n  Say so.\n\n[Answer]: yes-or-no"
PROMPTS = {
    "formulas": (
        ASKED,
        r"\[\begin{pmatrix} 1 & 2 & 3 & 4 & 5 & 6 & 7 & 8 & 9 & 10 & 11 & 12 \end{pmatrix}\]",
    ),
    "code": ("```python\ndef add(item, to=[]):\n    return [*to, item]  # " + "x" * 200 + "\n```", "`x`"),
    "a table": ("Which?", "| a | b |" + " c |" * 30 + "\n" + "|--:" * 32 + "|\n" + "|12 000" * 32 + "|\n"),
    "right to left": (
        "\u0627\u0643\u062a\u0628 `rain` \u0639\u0646 \u0627\u0644\u0645\u0637\u0631\n- $x$",
        "",
    ),
    "very long": ("# Report\n\n" + "Nobody liked its colour. " * 4_000, "1. one\n2. two"),
    "long": ("Nobody liked its colour.\n\n" * 60, ""),
    "hostile": (
        "<script>alert(1)</script> [x](javascript:alert(1))\n\n" + "> " * 300 + "deep",
        r"$\href{a}{b}$",
    ),
}


def raw_and_rendered(page: Any, place: str) -> list[str]:
    """Which forms of the texts inside a place are on the screen, without repetition."""
    forms = f"[...document.querySelectorAll('{place} [data-form]')]"
    seen: list[str] = page.evaluate(f"{forms}.filter(e => e.checkVisibility()).map(e => e.dataset.form)")
    return sorted(set(seen))


def test_the_prompt_is_formatted_and_shown_as_written_by_a_key(visitor: Visitor) -> None:
    Prompt.objects.update(turns=[ASKED], input="```\ngiven\n```")
    visitor.rate()
    page = visitor.page
    assert page.is_visible(".prompt-text math")
    assert "\n\u00a0\u00a0Say so.\n" in page.inner_text(".prompt-text")
    assert raw_and_rendered(page, ".prompt") == raw_and_rendered(page, ".responses") == ["rendered"]
    page.keyboard.press("r")
    assert raw_and_rendered(page, ".prompt") == raw_and_rendered(page, ".responses") == ["raw"]
    assert page.inner_text(".prompt-text pre >> nth=0") == ASKED
    visitor.press_for_next("s")
    assert raw_and_rendered(page, ".prompt") == ["raw"]
    page.keyboard.press("r")
    assert page.is_visible(".prompt-text math")
    page.keyboard.press("p")
    assert page.inner_text(".prompt-preview").startswith("Is $x^2$ **even**?")
    assert visitor.complaints == []


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_fits_and_is_accessible(visitor: Visitor, name: str) -> None:
    asked, given = PROMPTS[name]
    Prompt.objects.update(turns=[asked], input=given)
    visitor.rate()
    if visitor.page.is_visible(".prompt-preview"):
        visitor.page.keyboard.press("p")
    assert visitor.page.is_visible(".prompt-text")
    wider = "e => [...e.querySelectorAll('.prompt-text > *')].some(e => e.scrollWidth > e.clientWidth + 1)"
    for width, height in SIZES.values():
        visitor.shown_at(width, height)
        assert not visitor.page.eval_on_selector(".prompt", wider)
    check_accessible(visitor.page)
    assert visitor.complaints == []


@pytest.mark.parametrize("width", [390, 360])
def test_equal_texts_are_a_tie_by_one_tap_on_a_phone(visitor: Visitor, width: int) -> None:
    Completion.objects.update(digest="0" * 64)
    visitor.shown_at(width, 780)
    visitor.rate()
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
    tools = visitor.page.locator(".answer-tools")
    assert tools.evaluate("e => e.scrollWidth <= e.clientWidth")
    boxes = visitor.page.locator(".answer-tools .button:visible, .answer-submit")
    tops = boxes.evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(r => (r.top + r.bottom) / 2)"
    )
    assert len(tops) == 5
    assert max(tops) - min(tops) < 4
    check_accessible(visitor.page)
    before = visitor.assignment
    visitor.page.click("text=Call it a tie")
    visitor.page.wait_for_function("before => task.dataset.assignment !== before", arg=before)
    visitor.settle()
    assert Comparison.objects.get().rating in (4, 5)


def test_equal_texts_are_a_tie_without_a_script(visitor: Visitor, plain_page: Any) -> None:
    Completion.objects.update(digest="0" * 64)
    plain_page.goto(visitor.server + reverse("rate-study", args=[visitor.study.slug]))
    assert plain_page.is_hidden("text=Call it a tie")
    plain_page.click("label:has([name=rating][value='7'])")
    plain_page.click(".answer-tie")
    plain_page.wait_for_selector(".task-status:has-text('1 done')")
    assert Comparison.objects.get().rating in (4, 5)


def test_a_training_pair_is_shown_as_written_too(visitor: Visitor) -> None:
    (pair,) = make.make_training_pairs(visitor.study, 1)
    Prompt.objects.filter(pk=pair.prompt_id).update(turns=[ASKED])
    Pair.objects.filter(pk=pair.pk).update(explanation="Because of $x^2$:\n\n- it is **even**")
    page = visitor.page
    visitor.visit("training-pair", visitor.study.slug, "1", "1")
    page.wait_for_selector(".task-view:not([hidden])")
    page.keyboard.press("r")
    assert raw_and_rendered(page, ".prompt") == ["raw"]
    page.click("text=As written")
    assert page.is_visible(".prompt-text math")
    page.keyboard.press("p")
    assert not page.is_visible(".prompt-text")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_selector(".verdict-why math")
    assert page.is_visible(".verdict-why li strong")
    check_accessible(page)
    assert visitor.complaints == []


def test_a_pair_to_settle_is_shown_as_written_and_called_a_tie(visitor: Visitor) -> None:
    study = rated_study(prompts=2, slug="quality", name="Rated study")
    Membership.objects.create(study=study, rater=visitor.rater, role=Role.OPERATOR)
    Completion.objects.update(digest="0" * 64)
    Prompt.objects.update(turns=[ASKED])
    Study.objects.update(points=5)
    page = visitor.page
    pair = Pair.objects.filter(prompt__study=study).first()
    assert pair
    page.goto(visitor.server + reverse("operate-dispute", args=[study.slug, pair.pk]))
    page.click("main form button")
    page.wait_for_selector(".task-view:not([hidden])")
    page.keyboard.press("r")
    assert raw_and_rendered(page, ".prompt") == ["raw"]
    page.keyboard.press("t")
    page.wait_for_selector("text=All ratings")
    assert Comparison.objects.get(purpose="adjudication").rating == 3
    assert page.is_visible(".prompt-text math")
    assert page.locator("[data-tie]").count() == 0
    page.click("text=As written")
    assert raw_and_rendered(page, ".prompt") == ["raw"]
    check_accessible(page)
    assert visitor.complaints == []
