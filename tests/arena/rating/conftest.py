"""A rater of the file's own ``study`` who may begin, and their browser."""

import pytest
from django.test import Client
from django.utils import timezone

from arena.models import Membership, Rater, Study
from tests import factories as make


@pytest.fixture
def rater(study: Study) -> Rater:
    rater = make.make_member(study)
    Membership.objects.update(guidelines_read_at=timezone.now())
    return rater


@pytest.fixture
def browser(rater: Rater) -> Client:
    return make.make_client(rater.user)
