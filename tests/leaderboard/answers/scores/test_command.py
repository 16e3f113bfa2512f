import json
import re

import pytest
from django.core.management import CommandError

from arena.models import Score
from tests import factories
from tests.arena.data.test_reference_data import WILDBENCH, check_stored
from tests.leaderboard.answers.scores.studies import scored_study, wildbench
from tests.leaderboard.reading import printed

pytestmark = pytest.mark.django_db

TWO = {"judge-a": {"Ada": [5, 3, 4], "Bob": [2, 1, None]}, "judge-b": {"Ada": [4, 4, 4], "Bob": [1, 1, 3]}}


def run(study, *options):
    return printed("scores", study.slug, *options)


def found(study, *options):
    return json.loads(run(study, *options, "--format=json"))


def test_two_judges_on_real_texts(judge_data):
    study = wildbench(judge_data)
    check_stored(study, judge_data, WILDBENCH)
    content = found(study)
    (both,) = content["agreement"]
    assert [both[name] for name in ("texts", "pearson", "spearman", "kendall")] == [
        6133,
        0.855789,
        0.838188,
        0.743526,
    ]
    best = content["raters"][0]["contestants"][0]
    assert (best["contestant"], best["rank"], best["n"], best["mean"]) == (
        "Qwen1.5-72B-Chat-greedy",
        1,
        1023,
        7.796676,
    )
    assert best["mean_low"] < best["mean"] < best["mean_high"]
    assert content["people"] is None


def test_figures_by_hand():
    content = found(scored_study(TWO))
    assert set(content) == {"study", "parameters", "raters", "agreement", "people"}
    own = content["raters"][0]
    assert own["rater"] == "judge:judge-a"
    ada, bob = own["contestants"]
    assert (ada["contestant"], ada["mean"], ada["n"], ada["counts"]) == ("Ada", 4.0, 3, [0, 0, 1, 1, 1])
    assert (bob["mean"], bob["n"], bob["unscored"], bob["prompts"]) == (1.5, 2, 1, 2)
    # Ada leads by 3 and by 2 where both have a score: half of the mean lead above the average of the two.
    assert (ada["above_average"], bob["above_average"]) == (1.25, -1.25)
    (both,) = content["agreement"]
    assert (both["texts"], both["difference"]) == (5, pytest.approx(0.2))
    assert both["pearson"] == 0.866025


def test_the_table():
    text = run(scored_study(TWO))
    assert "scores of single answers from 1 to 5" in text
    assert "judge:judge-a and judge:judge-b        5" in text


def test_a_model_that_was_compared_with_no_other_has_no_rank():
    study = scored_study({"judge": {"Ada": [5, 4], "Bob": [2, 1], "Cleo": [None, None, 5]}})
    rows = found(study)["raters"][0]["contestants"]
    assert [(each["contestant"], each["rank"], each["above_average"]) for each in rows] == [
        ("Ada", 1, 1.5),
        ("Bob", 2, -1.5),
        ("Cleo", None, None),
    ]
    text = run(study)
    assert "No prompt connects Cleo with the models above, so it is not compared with them." in text
    assert re.search(r"^Cleo +– +5\.0000", text, re.MULTILINE)
    only = run(scored_study({"judge-b": {"Ada": [5, 4]}}))
    assert re.search(r"^Ada +– +4\.5000", only, re.MULTILINE)


def test_people_have_a_ceiling_and_only_the_raters_asked_for_are_shown():
    study = scored_study(
        {f"p{number}": {"Ada": [5, 4, 3, number], "Bob": [1, 2, 2, number]} for number in (1, 2, 3)}
        | {"judge": {"Ada": [5, 4, 4, 2], "Bob": [1, 2, 3, 2]}}
    )
    content = found(study)
    assert [each["rater"] for each in content["raters"]] == ["people", "judge:judge"]
    assert (content["raters"][0]["raters"], content["raters"][0]["n"]) == (3, 24)
    assert (content["people"]["people"], content["people"]["entries"]) == (3, 24)
    assert content["people"]["pearson"] > 0.5
    assert "one person and the others" in run(study)
    only = found(study, "--raters=judge:judge")
    assert ([each["rater"] for each in only["raters"]], only["agreement"]) == (["judge:judge"], [])


def test_turns_apart_and_scales_stretched():
    study = scored_study({"judge": {"Ada": [1, 5], "Bob": [2, 4]}})
    of_ada = Score.objects.filter(completion__contestant__name="Ada").order_by("pk")
    Score.objects.update(turn=1)
    factories.make_score(
        completion=of_ada[0].completion, rater=of_ada[0].rater, turn=2, value=10, lowest=1, highest=10
    )
    content = found(study)
    assert (content["parameters"]["highest"], content["parameters"]["other_scales"]) == (5, 1)
    assert content["raters"][0]["contestants"][0]["mean"] == pytest.approx((1 + 5 + 5) / 3)
    assert "Stretched from another scale: 1 score." in run(study)
    assert found(study, "--turn=1")["raters"][0]["mean"] == 3
    with pytest.raises(CommandError, match="turn 3 has no scores; those that have: 1, 2"):
        run(study, "--turn=3")


def test_who_does_not_count():
    study = scored_study(TWO)
    study.memberships.create(
        rater=Score.objects.get(pk=Score.objects.order_by("pk").first().pk).rater,
        left_out_at=study.created_at,
    )
    study.contestants.filter(name="Bob").update(retired_at=study.created_at)
    content = found(study)
    assert [each["rater"] for each in content["raters"]] == ["judge:judge-b"]
    assert [each["contestant"] for each in content["raters"][0]["contestants"]] == ["Ada"]
