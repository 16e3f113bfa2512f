"""What the tests of the leaderboard's rooms share."""

from copy import deepcopy

import pytest

from tests import factories
from tests.leaderboard.rows import few_rounds


@pytest.fixture(autouse=True, scope="module")
def rounds(request):
    """Snapshots with a bootstrap of few rounds: ROUNDS of the module, or 10."""
    with few_rounds(getattr(request.module, "ROUNDS", 10)):
        yield


@pytest.fixture
def made(shared):
    """The study that a module makes once (its fixture ``shared``), as a copy that a test may change."""
    return deepcopy(shared)


@pytest.fixture
def staff(client):
    client.force_login(factories.make_user(is_staff=True))
    return client
