"""How people score and check single answers, as operators see it."""

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Completion, Membership
from leaderboard.quality.page import history
from leaderboard.quality.texts import texts_table
from tests import factories as make

pytestmark = pytest.mark.django_db


def test_agreement_speed_and_who_is_apart(client: Client) -> None:
    study = make.make_small_study(prompts=12, contestants=1, tasks=["score", "check"])
    raters = {name: make.make_member(study, name=name) for name in ("Ann", "Bob", "Cleo", "Hasty", "Out")}
    Membership.objects.filter(rater=raters["Out"]).update(left_out_at=timezone.now())
    for completion in Completion.objects.filter(prompt__study=study):
        questions = [make.make_question(prompt=completion.prompt) for _ in range(2)]
        for name, rater in raters.items():
            value, seconds, said = {"Hasty": (5, 1, "no"), "Out": (1, 50, "no")}.get(name, (3, 50, "yes"))
            make.make_score(rater=rater, completion=completion, value=value, seconds=seconds)
            for number, question in enumerate(questions):
                unknown = number and name == "Ann"
                make.make_answer(
                    rater=rater,
                    completion=completion,
                    question=question,
                    value="unknown" if unknown else said,
                    seconds=seconds / 2,
                )
    make.make_score(rater=raters["Ann"], completion=completion, turn=1, lowest=1, highest=10, value=9)
    table = texts_table(study)
    lines = {line.rater.name: line for line in table.lines}
    ann, hasty = lines["Ann"].figures, lines["Hasty"].figures
    # By hand: the others of Ann are 3, 3 and 5, those of Hasty all 3; who is left out counts for nobody.
    assert (ann.scores, ann.apart.absolute, ann.apart.signed) == pytest.approx((12, 2 / 3, -2 / 3))
    assert (hasty.apart.absolute, hasty.apart.signed) == (2.0, 2.0)
    assert (ann.checked, ann.unknown.value) == (24, 0.5)
    assert (ann.agreement.share.n, ann.agreement.share.value) == (12, 1.0)
    assert (hasty.agreement.share.n, hasty.agreement.share.value) == (24, 0.0)
    # An answer counts once for its score and once for its two checks.
    assert (ann.pace.n, ann.pace.median, hasty.pace.below.count) == (24, 50.0, 24)
    assert [remark.key for remark in lines["Hasty"].remarks] == ["agreement", "speed"]
    assert not lines["Bob"].remarks
    assert table.lines[0].rater.name == "Hasty"
    client.force_login(make.make_user(is_staff=True))
    page = client.get(reverse("operate-raters", args=[study.slug])).content.decode()
    assert "often faster than 3 s" in page
    assert "No ratings of pairs" not in page
    assert page.count('data-label="Cannot tell"') == len(lines) + 1  # for phones
    one = client.get(reverse("operate-rater", args=[study.slug, raters["Hasty"].pk])).content.decode()
    assert "agrees with others less than people here do" in one
    assert "has not rated in this study yet" not in one


def test_nobody_has_done_anything_yet(client: Client) -> None:
    study = make.make_small_study(tasks=["check"])
    client.force_login(make.make_user(is_staff=True))
    assert (
        "No ratings by people yet"
        in client.get(reverse("operate-raters", args=[study.slug])).content.decode()
    )


def test_days_count_each_score_and_each_checked_answer_once() -> None:
    study = make.make_small_study(prompts=2, contestants=1, tasks=["compare", "score", "check"])
    rater = make.make_member(study)
    texts = list(Completion.objects.filter(prompt__study=study))
    first, second = (datetime(2026, 3, day, 12, tzinfo=UTC) for day in (4, 5))
    make.make_comparison(
        pair=make.make_pair(prompt=study.prompts.first()), rater=rater, created_at=first, seconds=40
    )
    for completion in texts:
        make.make_score(rater=rater, completion=completion, created_at=second, seconds=10)
        for _ in range(2):
            question = make.make_question(prompt=completion.prompt)
            said = {"completion": completion, "question": question, "seconds": 15}
            make.make_answer(rater=rater, created_at=second, **said)
            make.make_answer(rater=rater, created_at=second, purpose="check", repeat=1, **said)
    days = history(study, rater).days
    assert [(each.day, each.opinions, each.seconds) for each in days] == [
        ("4 Mar 2026", 1, 40),
        ("5 Mar 2026", 4, 20),  # of 10, 10, 30 and 30 seconds
    ]


def test_disagreements_are_for_studies_that_compare(client: Client) -> None:
    client.force_login(make.make_user(is_staff=True))
    for tasks, shown in ((["compare", "check"], True), (["score"], False)):
        study = make.make_small_study(tasks=tasks)
        page = client.get(reverse("operate-raters", args=[study.slug])).content.decode()
        assert (reverse("operate-disagreements", args=[study.slug]) in page) is shown
