import json

import numpy as np
import pytest
from django.core.management import CommandError
from scipy import stats

from arena.models import Completion, CompletionFeature, Rater
from tests import factories
from tests.leaderboard.answers.features.studies import measured_study, study_of_turns
from tests.leaderboard.reading import printed

pytestmark = pytest.mark.django_db

TWO = {"Ada": [1, 2], "Bob": [3, 0]}
SAID = {"p1": {("Ada", "Bob"): [1, 4]}}


def run(study, *options):
    return printed("correlate", study.slug, *options)


def found(study, feature="entropy", key="people", *options):
    return json.loads(run(study, f"--feature={feature}", f"--with={key}", *options, "--format=json"))


def test_four_answers_by_hand():
    """Entropy 1 and 3, then 2 and 0; a person rates 1 of 8 and 4 of 8 for the first: 1 and 1/7 of a side."""
    content = found(measured_study(TWO, SAID))
    (own,) = content["features"]
    assert content["parameters"] == {"feature": "entropy", "with": "people", "level": 95.0}
    assert (own["opinions"], own["correlation"]["n"], own["correlation"]["prompts"]) == (4, 4, 2)
    # Deviations of entropy -.5 1.5 .5 -1.5 by 1 -1 1/7 -1/7: -12/7, over the root of 5 times 100/49.
    assert own["correlation"]["pearson"] == pytest.approx(-12 / 7 / (5 * 100 / 49) ** 0.5, abs=1e-6)
    # The lower entropy is Ada's, who is preferred, then Bob's, who is not. Bob writes the longer answers.
    pairs = own["pairs"]
    assert [pairs[name]["value"] for name in ("feature", "length", "ahead")] == [0.5, 0.0, 0.5]
    assert [(each["contestant"], each["mean"]) for each in own["standings"]] == [("Ada", 1.5), ("Bob", 1.5)]
    assert own["order"]["kendall"] is None  # both means are the same
    assert own["contestants"][0]["correlation"]["reason"] == "fewer than 3 answers"


def test_two_opinions_of_one_answer_count_as_their_mean():
    said = {"p1": {("Ada", "Bob"): [1, 4]}, "p2": {("Ada", "Bob"): [8, None]}}
    (own,) = found(measured_study(TWO, said))["features"]
    assert (own["opinions"], own["pairs"]["ties"], own["pairs"]["feature"]["n"]) == (6, 1, 1)


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_imported_features_give_the_correlations_of_scipy_with_their_sign(variant):
    """Values of both variants, one the opposite of the other in sign, against a person's preferences."""
    rng = np.random.default_rng(4)
    values = {name: rng.normal(size=12).round(3).tolist() for name in ("Ada", "Bob")}
    ratings = rng.integers(1, 9, size=12).tolist()
    study = measured_study(values, {"p": {("Ada", "Bob"): ratings}})
    for each in CompletionFeature.objects.all():
        factories.make_feature(completion=each.completion, variant="released", value=-(each.value**3))
    (own,) = found(study, "entropy", "people", f"--variant={variant}")["features"]
    assert own["feature"]["variant"] == variant
    x = np.concatenate([values["Ada"], values["Bob"]])
    x = x if variant == "paper" else -(x**3)
    liked = (9 - 2 * np.array(ratings)) / 7
    expected = [
        test(x, np.concatenate([liked, -liked])).statistic
        for test in (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    ]
    told = [own["correlation"][name] for name in ("pearson", "spearman", "kendall")]
    assert told == pytest.approx(expected, abs=1e-6)
    alone = own["contestants"][0]["correlation"]
    assert alone["pearson"] == pytest.approx(stats.pearsonr(x[:12], liked).statistic, abs=1e-6)
    assert alone["pearson_low"] < alone["pearson"] < alone["pearson_high"]


def test_variants_and_sources_stay_apart():
    study = measured_study(TWO, SAID)
    text = Completion.objects.first()
    factories.make_feature(completion=text, variant="released")
    factories.make_feature(completion=text, source="other")
    factories.make_feature(completion=text, turn=1, source="one turn")
    told = [(each["feature"]["variant"], each["feature"]["source"]) for each in found(study)["features"]]
    assert told == [("paper", ""), ("paper", "other"), ("released", "")]
    (own,) = found(study, "entropy", "people", "--variant=paper", "--source=other")["features"]
    assert own["correlation"]["n"] == 1


def test_text_scores_make_pairs_of_answers_to_one_prompt():
    scores = {"judge": {"Ada": [5, 2], "Bob": [1, 2], "Cleo": [3, 4]}}
    study = measured_study({"Ada": [1, 2], "Bob": [3, 0], "Cleo": [2, 1]}, scores=scores)
    (own,) = found(study, key="scores:judge")["features"]
    pairs = own["pairs"]
    # The first prompt's order is that of entropy; of the second, one pair is even and one of two is right.
    assert (pairs["feature"]["n"], pairs["ties"]) == (5, 1)
    assert pairs["feature"]["value"] == pytest.approx(4 / 5)
    assert (own["order"], own["correlation"]["n"]) == (None, 6)


def test_a_bound_is_called_one_and_the_sum_is_computed_for_each_model():
    study = measured_study({"Ada": [1, 2, 4], "Bob": [30, 20, 10]}, {"p": {("Ada", "Bob"): [1, 2, 3]}})
    for each in list(CompletionFeature.objects.all()):
        factories.make_feature(completion=each.completion, name="logprob_variance", value=each.value)
        factories.make_feature(
            completion=each.completion, name="entropy_low", variant="bounds", value=each.value
        )
    text = run(study, "--feature=entropy_low", "--with=people")
    assert "Entropy (at least) (bounds)" in text
    assert "A bound: the value itself is not known." in text
    (own,) = found(study, "entropy_variance_sum")["features"]
    assert own["feature"]["computed"]
    # Ada: 0, 2/3 and 2; Bob: 2, 1 and 0.
    assert [(each["contestant"], each["mean"]) for each in own["standings"]] == [
        ("Ada", pytest.approx(8 / 9, abs=1e-6)),
        ("Bob", 1.0),
    ]


def test_models_stand_by_their_means_beside_the_order_of_pairs():
    features = {"Ada": [1, 1.5], "Bob": [3, 2], "Cleo": [2, 1.6]}
    said = {"judge": {("Ada", "Bob"): [1, 2], ("Bob", "Cleo"): [3, 2], ("Ada", "Cleo"): [1, 1]}}
    study = measured_study(features, said)
    (own,) = found(study, key="judge:judge")["features"]
    assert [each["contestant"] for each in own["standings"]] == ["Ada", "Cleo", "Bob"]
    # Pairs say Ada, Bob, Cleo: one of three pairs of models stands the other way.
    assert (own["order"]["n"], own["order"]["kendall"]) == (3, pytest.approx(1 / 3, abs=1e-6))
    assert "that of pairs by Judge: +0.333 (3 models)" in run(
        study, "--feature=entropy", "--with=judge:judge"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--feature=entropy", "--with=people", "--variant=released"), r"there are paper\.$"),
        (
            ("--feature=mean_logprob", "--with=people"),
            "no answer has both mean_logprob and an opinion of people",
        ),
    ],
)
def test_what_cannot_be_shown(options, message):
    study = measured_study({**TWO, "Cleo": [None, None]}, SAID)
    unrated = Completion.objects.filter(contestant__name="Cleo").first()
    factories.make_feature(completion=unrated, name="mean_logprob")
    with pytest.raises(CommandError, match=message):
        run(study, *options)


def test_who_does_not_count():
    study = measured_study(TWO, {**SAID, "p2": {("Ada", "Bob"): [8, 8]}})
    out = Rater.objects.get(slug="p2")
    study.memberships.create(rater=out, left_out_at=study.created_at)
    (own,) = found(study)["features"]
    assert own["opinions"] == 4
    study.contestants.filter(name="Bob").update(retired_at=study.created_at)
    (own,) = found(study)["features"]
    assert (own["correlation"]["n"], own["pairs"]["feature"]["n"]) == (2, 0)


def correlated(variant, sign):
    """A study of one model whose better answers have higher values of entropy, or lower ones."""
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 6, size=24).tolist()
    study = measured_study({"Ada": [None] * 24}, scores={"judge": {"Ada": scores}})
    for text, score in zip(Completion.objects.order_by("pk"), scores, strict=True):
        value = 10 + sign * score + float(rng.normal())
        factories.make_feature(completion=text, variant=variant, value=value)
    return study


@pytest.mark.parametrize(
    ("variant", "sign", "expected", "said", "unsaid"),
    [
        ("paper", -1, False, "Expected of better answers: lower.", "against what is expected"),
        ("paper", 1, False, "Better answers clearly have higher values here, against what", "not known"),
        ("released", 1, None, "higher or lower values is not known, so none are called", "Expected of"),
        ("released", -1, None, "higher or lower values is not known, so none are called", "against what"),
    ],
)
def test_what_is_expected_is_that_of_the_variant_and_never_hides_what_the_study_says(
    variant, sign, expected, said, unsaid
):
    study = correlated(variant, sign)
    text = run(study, "--feature=entropy", "--with=scores:judge")
    assert said in text
    assert unsaid not in text
    (own,) = found(study, "entropy", "scores:judge")["features"]
    assert own["feature"]["higher_is_better"] is expected
    assert np.sign(own["correlation"]["spearman_low"]) == np.sign(own["correlation"]["spearman_high"]) == sign


def two_turns(**study):
    rng = np.random.default_rng(7)
    values, scores = rng.normal(size=(2, 8, 2)).round(3), rng.integers(1, 11, size=(2, 8, 2))
    names = ("Ada", "Bob")
    made = study_of_turns(
        dict(zip(names, values.tolist(), strict=True)),
        dict(zip(names, scores.tolist(), strict=True)),
        **study,
    )
    return made, values, scores


def test_features_of_turns_are_held_against_scores_of_the_same_turns():
    study, values, scores = two_turns()
    told = {each["feature"]["turn"]: each for each in found(study, key="scores:judge")["features"]}
    parts = {"all": (values, scores)} | {str(n + 1): (values[..., n], scores[..., n]) for n in (0, 1)}
    assert list(told) == list(parts)
    for turn, (x, y) in parts.items():
        own = told[turn]["correlation"]
        assert (own["n"], own["prompts"], told[turn]["opinions"]) == (x.size, 8, x.size)
        expected = [
            test(x.ravel(), y.ravel()).statistic
            for test in (stats.pearsonr, stats.spearmanr, stats.kendalltau)
        ]
        assert [own[name] for name in ("pearson", "spearman", "kendall")] == pytest.approx(expected, abs=1e-6)
        ada = told[turn]["contestants"][0]["correlation"]
        assert ada["pearson"] == pytest.approx(stats.pearsonr(x[0].ravel(), y[0].ravel()).statistic, abs=1e-6)
    # Pairs are of the same turn of a prompt: eight of each, and those of both together.
    pairs = {turn: own["pairs"]["feature"]["n"] + own["pairs"]["ties"] for turn, own in told.items()}
    assert pairs == {"all": 16, "1": 8, "2": 8}
    assert {own["pairs"]["length"]["value"] for own in told.values()} == {0.5}  # Ada and Bob write the same
    text = run(study, "--feature=entropy", "--with=scores:judge", "--turn=2")
    assert "Entropy, turn 2 (paper)" in text
    assert "all turns" not in text


def test_whole_answers_keep_their_own_scores_and_pairs():
    study, _, _ = two_turns()
    text = Completion.objects.first()
    factories.make_feature(completion=text, value=3)
    judge = Rater.objects.get(slug="judge")
    # Without scores of whole answers, the mean of those of its turns counts.
    own = found(study, "entropy", "scores:judge", "--turn=0")["features"][0]
    assert (own["feature"]["turn"], own["opinions"]) == ("0", 2)
    factories.make_score(completion=text, rater=judge, value=4, highest=10)
    own = found(study, "entropy", "scores:judge", "--turn=0")["features"][0]
    assert (own["opinions"], own["correlation"]["n"]) == (1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--with=scores:judge", "--turn=3"),
            "there are paper of all turns; paper of turn 1; paper of turn 2",
        ),
        (("--with=people",), "features of single turns, and pairs are of whole answers.; those who did: sco"),
    ],
)
def test_what_turns_do_not_have(options, message):
    study, _, _ = two_turns()
    with pytest.raises(CommandError, match=message):
        run(study, "--feature=entropy", *options)
