"""What the tests of estimators share."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _no_garbage_collected() -> Iterator[None]:
    """By statsmodels after each correction: going through all that the suite holds outlasts the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gc.collect", lambda: 0)
        yield
