import json

import pytest
from django.core.management import CommandError
from django.utils import timezone

from tests import factories
from tests.leaderboard.answers.requirements.studies import Checking, infobench
from tests.leaderboard.reading import printed

pytestmark = pytest.mark.django_db
RATE = {"questions", "met", "unanswered", "drfr", "low", "high"}


def run(study, *options):
    return printed("drfr", study.slug, *options)


def found(study, *options):
    return json.loads(run(study, *options, "--format=json"))


def only(study, *options):
    (rater,) = found(study, *options)["raters"]
    (model,) = rater["contestants"]
    return model


def drfr(study, *options):
    return only(study, *options)["sets"][""]["drfr"]


def test_published_answers_give_published_shares(reference_data):
    study = infobench(reference_data / "infobench" / "easy_set.gpt-4.jsonl")
    content = found(study)
    assert set(content) == {"study", "parameters", "raters"}
    assert content["raters"][0]["rater"] == "judge:checker"
    model = content["raters"][0]["contestants"][0]
    assert set(model) == {"contestant", "sets", "labels", "domains", "all_met"}
    assert all(set(own) == RATE for own in (*model["sets"].values(), *model["labels"].values()))
    whole = model["sets"][""]
    assert (whole["met"], whole["questions"], whole["drfr"]) == (610, 690, 0.884058)
    assert model["sets"]["Easy_set"] == whole
    assert whole["low"] < whole["drfr"] < whole["high"]
    assert {name: own["drfr"] for name, own in model["labels"].items()} == {
        "Content": 0.87234,
        "Format": 0.940120,
        "Linguistic": 0.875,
        "Number": 0.75,
        "Style": 0.826923,
    }
    assert "88.4058" in run(study)


def test_a_broken_judge_has_bounds(reference_data):
    study = infobench(reference_data / "infobench" / "invalid_answers.qwen2.5-7b.jsonl")
    assert drfr(study, "--missing=no") == 0.325843
    assert drfr(study) == 0.935484
    assert "32.58 to 97.75" in run(study)


def test_the_korean_set_counts_as_published(judge_data):
    study = infobench(judge_data / "infobench" / "ko_easy.gpt-4.jsonl")
    assert [drfr(study, f"--missing={rule}") for rule in ("no", "exclude", "script")] == [
        0.821739,
        0.827737,
        0.826531,
    ]


def test_figures_by_hand():
    made = Checking()
    made.prompt(["Format"], ["Content", "Style"], subset="easy", category="Arts: Film")
    made.prompt(["Content"], subset="hard", domain="Law")
    made.judge("good", ["yn", "y?"], ["y", "u"])
    content = found(made.study)
    ada, bob = content["raters"][0]["contestants"]
    assert (ada["contestant"], bob["contestant"]) == ("Ada", "Bob")
    assert {"questions": 3, "met": 2, "unanswered": 0, "drfr": 0.666667}.items() <= ada["sets"][""].items()
    assert {"questions": 2, "met": 1, "unanswered": 1, "drfr": 1}.items() <= bob["sets"][""].items()
    assert ada["labels"]["Content"]["drfr"] == 0.5
    assert ada["labels"]["Style"]["questions"] == 1
    assert {name: own["met"] for name, own in ada["domains"].items()} == {"Arts": 1, "Law": 1}
    assert ada["sets"]["hard"]["drfr"] == 1
    assert (ada["all_met"], bob["all_met"]) == (0.5, None)


def test_several_people_count_by_majority_and_who_is_left_out_not_at_all():
    made = Checking(models=["Ada"])
    made.prompt(["A"], ["B"], ["C"])
    made.rater("p1", ["yyn"])
    made.rater("p2", ["yny"])
    third = made.rater("p3", ["nyn"])
    whole = only(made.study, "--raters=people")["sets"][""]
    assert (whole["questions"], whole["met"]) == (3, 2)
    made.study.memberships.create(rater=third, left_out_at=timezone.now())
    # Where one says yes and the other no, the majority cannot tell.
    whole = only(made.study)["sets"][""]
    assert (whole["questions"], whole["met"]) == (1, 1)


def test_answers_to_an_older_wording_and_about_retired_models_do_not_count():
    made = Checking()
    prompt = made.prompt(["A"], ["B"])
    made.judge("j", ["yy", "yn"])
    prompt.questions.filter(position=2).update(is_current=False)
    assert [each["sets"][""]["questions"] for each in found(made.study)["raters"][0]["contestants"]] == [1, 1]
    factories.make_question(prompt=prompt, position=2)
    own = found(made.study)["raters"][0]["contestants"][1]["sets"][""]
    assert (own["questions"], own["unanswered"]) == (2, 1)


def test_a_study_without_answers():
    with pytest.raises(CommandError, match="nobody has checked an answer against its requirements yet"):
        run(factories.make_study())
