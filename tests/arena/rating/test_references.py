"""Reference answers before raters: by the study's choice, as text, and without their authors."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from arena.models import Prompt, Reference, Study
from tests import factories as make

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script> and **bold**"


@pytest.fixture
def study() -> Study:
    study = make.make_small_study(prompts=1, contestants=2, slug="rivers")
    prompt = study.prompts.get()
    Reference.objects.create(prompt=prompt, author="Secret-Author", turns=[HOSTILE])
    Reference.objects.create(prompt=prompt, author="blank", turns=[" "])
    return study


def page(browser: Client, **shown: Any) -> str:
    Study.objects.update(**shown)
    return browser.get(reverse("rate-study", args=["rivers"])).content.decode()


def test_references_are_hidden_until_the_study_shows_them(browser: Client) -> None:
    html = page(browser)
    assert 'class="reference"' not in html
    assert "alert(1)" not in html
    assert "Open or fold the reference" not in html


@pytest.mark.parametrize(("choice", "opened"), [("demand", ""), ("beside", " open")])
def test_they_are_folded_or_open_and_shown_as_answers_are(browser: Client, choice: str, opened: str) -> None:
    html = page(browser, show_references=choice)
    assert f'<details class="reference"{opened}>' in html
    assert html.count("<strong>bold</strong>") == 1
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>alert(1)" not in html
    assert "Secret-Author" not in html
    assert "Reference 1" not in html
    assert "<kbd>O</kbd></dt><dd>Open or fold the reference" in html


def test_several_are_numbered_with_their_turns_and_without_any_nothing_is_shown(
    browser: Client,
) -> None:
    Reference.objects.create(prompt=Prompt.objects.get(), author="another", turns=["One", "Two"])
    html = page(browser, show_references="beside")
    assert html.index("Reference 1") < html.index("Reference 2") < html.index("Answer to turn 2")
    Reference.objects.all().delete()
    assert "reference-text" not in page(browser, show_references="beside")


def test_whoever_settles_a_pair_sees_them_too(study: Study) -> None:
    Study.objects.update(show_references="demand")
    prompt = study.prompts.get()
    pair = make.make_pair(prompt=prompt, first=prompt.completions.first(), second=prompt.completions.last())
    client = make.make_client(make.make_user(is_staff=True))
    address = reverse("operate-dispute", args=["rivers", pair.pk])
    assert '<details class="reference">' in client.post(address, follow=True).content.decode()
