"""The operators' table of judges, and what closing a study ends."""

import pytest
from django.test import Client
from django.urls import reverse

from arena.models import Comparison, Membership, Rater, Role, Study
from judging.models import JudgeRun
from leaderboard.judges.operating import lines
from leaderboard.refreshing.services import refresh
from tests import factories as make
from tests.leaderboard.quality.rated import rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged(client: Client) -> Study:
    """Five pairs by a person and by two judges, one of which gave one of them no rating and has a run."""
    study = make.make_study()
    person = make.make_member(study)
    Membership.objects.filter(rater=person).update(role=Role.OPERATOR)
    client.force_login(person.user)
    asked = make.make_judge(name="Asked")
    other = make.make_rater(kind=Rater.Kind.JUDGE, name="Imported")
    contestants = [make.make_contestant(study=study) for _ in range(2)]
    for number, rating in enumerate((1, 3, 4, 6, 8)):
        prompt = make.make_prompt(study=study)
        first, second = (make.make_completion(prompt=prompt, contestant=each) for each in contestants)
        pair = make.make_pair(prompt=prompt, first=first, second=second)
        rate(pair, person, rating)
        rate(pair, asked.rater, rating if number else 5)
        rate(pair, other, 9 - rating)
    silent = Comparison.objects.filter(rater=asked.rater).order_by("pk").first()
    Comparison.objects.filter(pk=silent.pk).update(status="unscored", rating=None, reason="refused")
    make.make_run(study=study, judge=asked, state="running")
    return study


def test_each_judge_has_a_line(judged: Study, client: Client) -> None:
    refresh(judged)
    asked, imported = lines(judged)
    assert (asked.rater.name, asked.rated, asked.not_rated, asked.run.state) == ("Asked", 4, 1, "running")
    assert (imported.rated, imported.not_rated, imported.run) == (5, 0, None)
    # By hand: the same ratings, and the mirror image of all.
    assert (asked.agreement.value, asked.agreement.pairs) == ("1.00", 4)
    assert (imported.agreement.value, imported.agreement.pairs) == ("−1.00", 5)
    page = client.get(reverse("operate-judges", args=[judged.slug])).content.decode()
    assert "too few pairs (4)" in page


def test_judges_of_single_answers_have_a_line(judged: Study) -> None:
    completion = judged.comparisons.first().pair.first
    scorer = make.make_rater(kind=Rater.Kind.JUDGE, name="Scorer")
    make.make_score(completion=completion, rater=scorer)
    make.make_answer(completion=completion, rater=scorer)
    make.make_answer(completion=completion, rater=scorer, reason="unparsable")
    found = next(line for line in lines(judged) if line.rater == scorer)
    assert (found.rated, found.not_rated) == (2, 1)


def test_closing_says_which_runs_end(judged: Study, client: Client) -> None:
    state = reverse("operate-state", args=[judged.slug])
    assert "1 judge run will be cancelled" in client.get(state).content.decode()
    JudgeRun.objects.update(state="finished")
    assert "will be cancelled" not in client.get(state).content.decode()
