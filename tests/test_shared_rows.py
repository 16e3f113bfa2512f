"""Rows that the tests of a module share: each test finds them as they were made."""

from copy import deepcopy

import pytest

from arena.models import Study
from tests.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(shared_rows: None) -> Study:
    return make_study(slug="shared")


@pytest.mark.parametrize("turn", ["first", "second"])
def test_no_test_sees_what_another_one_wrote(shared: Study, turn: str) -> None:
    own = deepcopy(shared)
    assert (own.slug, list(Study.objects.all())) == ("shared", [own])
    own.slug = turn
    own.save()
    make_study(slug=f"more of the {turn}")
    assert Study.objects.count() == 2
    assert shared.slug == "shared"
