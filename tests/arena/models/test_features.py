"""What the table of features refuses."""

import math
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from tests import factories as make
from tests.arena.models.test_models import refused

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"variant": "ours"}, "completion_feature_variant_known"),
        ({"value": math.inf}, "completion_feature_finite"),
        ({"value": -1e13}, "completion_feature_finite"),
    ],
)
def test_a_feature_refuses(values: dict[str, Any], rule: str) -> None:
    refused(lambda: make.make_feature(**values), rule)


def test_a_feature_is_a_number() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make.make_feature(value=math.nan)  # NULL on SQLite, greater than any number on PostgreSQL


def test_one_value_of_a_name_and_variant_from_a_source() -> None:
    answer = make.make_feature().completion
    make.make_feature(completion=answer, source="another")
    make.make_feature(completion=answer, variant="released")
    refused(lambda: make.make_feature(completion=answer, value=0.25), "completion_feature_unique")
