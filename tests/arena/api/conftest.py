"""A judge who submits over the API."""

import pytest

from arena.models import Rater
from tests.factories import make_rater


@pytest.fixture
def judge() -> Rater:
    return make_rater(kind=Rater.Kind.JUDGE, name="Judge Judy")
