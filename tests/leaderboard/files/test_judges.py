"""What a bundle says of the judges: how each was asked, and nothing that is secret."""

import hashlib
import io
import json

import pytest

from judging.models import Judge
from judging.panels.services import create_panel
from leaderboard.files.bundle.archive import JUDGES, Reader
from leaderboard.files.bundle.making import make
from leaderboard.files.bundle.recomputing import recompute
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.files.test_bundle import rebuilt
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


@pytest.fixture
def packed():
    made = HandMade("Alpha", "Beta")
    factories.make_price()
    strict = factories.make_judge(
        slug="strict",
        api_key_env="SECRET_JUDGE_API_KEY",
        protocol="multi-role",
        options={"top_p": 0.5, "user": "account-7"},
        wording={"debate": "Own words. $query $answers $earlier $item $notice $verdict"},
    )
    other = factories.make_judge(slug="other", model="unpriced", temperature=None)
    create_panel("both", "Both", "majority", [strict, other])
    for rater in (
        strict.rater,
        made.judge("elsewhere"),
        Judge.objects.get(endpoint__model="unpriced").panels.get().rater,
    ):
        made.rate("Alpha", "Beta", 3, rater=rater)
    services.refresh(made.study)
    file = io.BytesIO()
    make(made.study, file)
    return file


def test_every_judge_is_there_as_it_was_set_up_and_no_secret(packed):
    content = Reader(packed).read(JUDGES)
    for secret in (b"127.0.0.1", b"SECRET_JUDGE", b"account-7"):
        assert secret not in content
    found = {one["judge"]: one for one in json.loads(content)["judges"]}
    assert list(found) == ["both", "elsewhere", "other", "strict"]
    assert (found["both"]["kind"], found["both"]["members"]) == ("panel", ["other", "strict"])
    assert found["elsewhere"]["kind"] == "ratings from elsewhere"
    strict = found["strict"]
    assert (strict["endpoint"], strict["model"], strict["temperature"]) == ("openai", "loopback", 0)
    assert (strict["options"], strict["options_withheld"]) == ({"top_p": 0.5}, ["user"])
    assert strict["parameters"]["roles"], "defaults of the protocol stand there too"
    assert strict["prices"] == [
        {"model": "loopback", "currency": "USD", "prompt": "2.000000", "completion": "8.000000"}
    ]
    assert found["other"]["prices"] == [{"model": "unpriced", "currency": None}]
    assert "Own words." in json.dumps(strict["wording"])
    digest = hashlib.sha256(json.dumps(strict["wording"], sort_keys=True).encode()).hexdigest()
    assert (
        digest == strict["prompt_hash"] == Judge.objects.get(endpoint__model="loopback").current_prompt_hash()
    )


def test_words_that_a_judge_was_not_asked_in_are_not_given(packed):
    Judge.objects.filter(endpoint__model="loopback").update(prompt_hash="0" * 64)
    Judge.objects.filter(endpoint__model="unpriced").update(protocol="of another version")
    file = io.BytesIO()
    make(Judge.objects.get(endpoint__model="loopback").rater.comparisons.get().study, file)
    found = {one["judge"]: one for one in Reader(file).json(JUDGES)["judges"]}
    assert (found["strict"]["prompt_hash"], found["strict"]["wording"]) == ("0" * 64, None)
    assert (found["other"]["wording"], found["other"]["prices"]) == (None, [])


def test_a_bundle_of_the_version_without_judges_is_read(packed):
    def without_judges(name, content):
        return None if name == JUDGES else content

    older = rebuilt(packed, without_judges, manifest=lambda listed: listed.update(version=1))
    assert recompute(Reader(older)).verdict.is_equal
