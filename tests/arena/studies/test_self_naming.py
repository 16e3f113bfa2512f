"""The page about answers that tell who wrote them."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from arena.models import Completion, Study, StudyEvent
from arena.texts.self_naming import find_names
from tests import factories as make


@pytest.fixture
def naming(study: Study) -> Study:
    """The study with three more answers, two of which tell."""
    prompt = make.make_prompt(study=study)
    koala, rook = (make.make_contestant(study=study, name=name) for name in ("Koala (13B)", "Rook 7B"))
    make.make_completion(
        prompt=prompt, contestant=koala, turns=["<b>Hi</b>, I am Koala & glad.", "Koala again."]
    )
    make.make_completion(prompt=prompt, contestant=rook, turns=["I was made by OpenAI. " + "long " * 100])
    make.make_completion(prompt=make.make_prompt(study=study), contestant=rook, turns=["Hello."])
    find_names(study)
    return study


def test_the_page_shows_names_in_their_context(naming: Study, signed_in: Callable[[str], Client]) -> None:
    page = signed_in("operator").get(f"/operate/{naming.slug}/names/").content.decode()
    assert "&lt;b&gt;Hi&lt;/b&gt;, I am <mark>Koala</mark> &amp; glad." in page
    assert "<mark>Koala</mark> again." in page
    assert "made by <mark>OpenAI</mark>. long" in page
    assert "2 of " in page
    assert re.search(r"Koala \(13B\)</th>\s*<td[^>]*>1</td>\s*<td[^>]*>1</td>", page)
    assert re.search(r"Rook 7B</th>\s*<td[^>]*>1</td>\s*<td[^>]*>2</td>", page)
    assert page.count('name="naming"') == 3
    assert 'value="show" aria-describedby="naming-show-meaning" required checked' in page
    assert "is left out" not in page


def test_a_choice_is_recorded_once(naming: Study, signed_in: Callable[[str], Client]) -> None:
    client = signed_in("operator")
    naming.refresh_from_db()
    revision = naming.revision
    for said in ("Saved", "Nothing was changed"):
        page = client.post(f"/operate/{naming.slug}/names/", {"naming": "exclude"}, follow=True)
        assert said in page.content.decode()
    assert "Every answer by Koala (13B) is left out" in page.content.decode()
    naming.refresh_from_db()
    assert (naming.naming, naming.revision) == ("exclude", revision)
    event = StudyEvent.objects.get(study=naming)
    assert event.kind == "naming"
    assert event.by is not None
    assert event.note == "Leave them out. Before: Show them as they are."


def test_names_can_be_looked_for_again(naming: Study, signed_in: Callable[[str], Client]) -> None:
    Completion.objects.filter(prompt__study=naming).update(telling=[])
    client = signed_in("operator")
    address = f"/operate/{naming.slug}/names/"
    assert "We found no such name in" in client.get(address).content.decode()
    for words in ("2 tell who wrote them (2 new).", "2 tell who wrote them."):
        assert words in client.post(address, {"look": "1"}, follow=True).content.decode()
    empty = make.make_study()
    assert "No answers yet." in signed_in("staff").get(f"/operate/{empty.slug}/names/").content.decode()
