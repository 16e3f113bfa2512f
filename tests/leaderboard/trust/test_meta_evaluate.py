import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError
from scipy.stats import ttest_rel
from statsmodels.stats.multitest import multipletests

from arena.models import RaterGroup
from leaderboard.snapshots.canonical import FORM
from leaderboard.trust.measures import MEASURES, OVER_MODELS, OVER_PROTOCOLS
from leaderboard.trust.table import cells
from tests import factories
from tests.leaderboard.reading import printed
from tests.leaderboard.trust.studies import Judging

pytestmark = pytest.mark.django_db


def run(study, *options):
    return printed("meta_evaluate", study.slug, *options, "--rounds=50")


def found(study, *options):
    return json.loads(run(study, *options, "--format=json"))


def judge_named(content, slug):
    return next(each for each in content["judges"] if each["judge"] == slug)


def baselines(content):
    return {each["baseline"]: each for each in content["baselines"]}


@pytest.fixture
def made():
    """Four pairs in two subsets: right are 1 2 and 1 2."""
    made = Judging()
    for gold, subset in (("first", "plain"), ("second", "plain"), ("first", "hard"), ("second", "hard")):
        made.pair(gold, subset)
    made.judge("good", "121=", "122 ", model="M", protocol="vanilla")
    made.judge("poor", "1111", "122?", model="M", protocol="cot")
    return made


def test_figures_by_hand(made):
    content = found(made.study)
    assert content["study"] == made.study.slug
    good = judge_named(content, "good")
    assert (good["model"], good["protocol"]) == ("M", "vanilla")
    assert good["subsets"]["plain"]["accuracy"] == 1
    assert {
        "n": 2,
        "asked": 3,
        "scored": 3,
        "both": 1,
        "accuracy": 0.5,
        "accuracy_bounds": [0.5, 0.5],
        "agreement": 0,
        "both_right": 0,
        "hedging": pytest.approx(1 / 3, abs=1e-6),
        "unscored": 0,
    }.items() <= good["subsets"]["hard"].items()
    assert good["average"]["accuracy"] == 0.75
    poor = judge_named(content, "poor")["subsets"]["hard"]
    # 1 and nothing right of three; the unscored one is left out.
    assert (poor["asked"], poor["scored"], poor["unscored"]) == (4, 3, 0.25)
    assert poor["accuracy"] == pytest.approx(1 / 3, abs=1e-6)
    assert content["lead"]["judge"] == "good"
    assert content["lead"]["next"]["judge"] == "poor"
    # On hard pairs 1/2 beside 1/3: two pairs tell nothing apart.
    hard = content["leads"]["hard"]
    assert (hard["judge"], hard["accuracy"], hard["alike"]) == ("good", 0.5, ["poor"])
    assert hard["next"]["difference"] == pytest.approx(1 / 6, abs=1e-6)
    assert content["matrix"] is None


def test_contents_have_the_keys_that_are_declared(made):
    content = found(made.study, "--matrix")
    assert set(content) == {"study", "parameters", "judges", "baselines", "lead", "leads", "matrix"}
    wanted = {key for each in MEASURES for key in each.keys} | {"accuracy_bounds", "confusion"}
    for judge in content["judges"]:
        assert set(judge["subsets"]["plain"]) == wanted
        assert {"groups", "average"} < set(judge)
    matrix = content["matrix"]
    assert {"cells", "halves", "average", "best", "correlations", "differences", "difficulty"} < set(matrix)
    for rows, measures in (("over_models", OVER_MODELS), ("over_protocols", OVER_PROTOCOLS)):
        keys = {key for each in measures for key in each.keys}
        for row in matrix[rows]:
            assert set(row["average"]) - {"p"} == keys
            assert set(row["subsets"]) == {"plain", "hard"}


def test_measures_that_come_or_go_have_another_form():
    """Stored tables of another form are made again; without that they would lack a new measure."""
    keys = ",".join(each.key for each in MEASURES)
    assert (FORM, keys) == (
        14,
        "accuracy,n,agreement,alpha,both_right,hedging,unscored,kappa,precision,recall,f1,"
        "first,longer,people,asked,scored,both",
    ), "raise FORM in leaderboard/snapshots/canonical.py, and write both here"


def test_every_key_is_in_the_documents_of_the_api():
    said = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
    assert [each.key for each in MEASURES if f"`{each.key}`" not in said] == []


def test_subsets_that_are_no_part_of_averages(made):
    """Their own figures stay; means, leads, differences, halves and sums are of the others."""
    every, few = (found(made.study, "--matrix", *option) for option in ((), ("--without=hard",)))
    assert (every["parameters"]["averaged"], few["parameters"]["averaged"]) == (["plain", "hard"], ["plain"])
    for one, other in zip(every["judges"], few["judges"], strict=True):
        assert other["subsets"] == one["subsets"]
        assert (one["average"]["n"], other["average"]["n"]) == (4, 2)
        assert other["average"].items() <= one["subsets"]["plain"].items()
    assert few["lead"] == every["leads"]["plain"]
    assert few["matrix"]["differences"][0]["subsets"] == ["plain"]
    for rows in ("over_models", "over_protocols"):
        for row in few["matrix"][rows]:
            assert row["average"] == row["subsets"]["plain"]
    text = run(made.study, "--without=hard")
    assert "Mean of plain, percent." in text
    for option, wrong in (
        ("other", 'no subset is called "other"; there are: plain, hard'),
        ("hard,plain", "no subset"),
    ):
        with pytest.raises(CommandError, match=wrong):
            run(made.study, f"--without={option}")


@pytest.mark.parametrize(
    ("option", "accuracy"),
    [("--unscored=wrong", 1 / 4), ("--ties=tie", 1 / 3), ("--as-published=llmbar", 1 / 4)],
)
def test_rules(made, option, accuracy):
    poor = judge_named(found(made.study, option), "poor")
    assert poor["subsets"]["hard"]["accuracy"] == pytest.approx(accuracy, abs=1e-6)


def test_baselines_need_no_judge(made):
    made.pair("first", "plain", "same", "size")
    content = found(made.study, "--judges=good")
    assert [each["judge"] for each in content["judges"]] == ["good"]
    own = baselines(content)
    assert set(own) == {"always first", "always second", "longer", "shorter", "constant", "random"}
    assert own["longer"]["subsets"]["plain"]["accuracy"] == 0.5
    assert own["constant"]["subsets"]["plain"]["accuracy"] == pytest.approx(2 / 3, abs=1e-6)
    assert own["random"]["average"]["accuracy"] == 0.5


def test_subsets_without_an_answer_are_left_out_of_means(made):
    made.pair("first", "later")
    content = found(made.study)
    assert content["parameters"]["not_asked"] == ["later"]
    assert judge_named(content, "good")["average"]["accuracy"] == 0.75
    assert "No judge was asked about later." in run(made.study)
    made.judge("new", "    1", "    1")
    assert judge_named(found(made.study), "good")["average"]["accuracy"] is None
    assert found(made.study, "--judges=good")["parameters"]["not_asked"] == ["later"]


def test_an_order_free_judge_has_no_agreement(made):
    made.judge("scorer", "1221", "1221", order_free=True)
    own = judge_named(found(made.study), "scorer")
    assert own["subsets"]["plain"]["agreement"] is None
    assert own["average"]["alpha"] is None
    published = judge_named(found(made.study, "--as-published=llmbar"), "scorer")
    assert published["subsets"]["plain"]["agreement"] == 1


def test_matrix_by_hand(made):
    made.judge("other", "2222", "2222", model="N", protocol="vanilla")
    matrix = found(made.study, "--matrix")["matrix"]
    assert (matrix["models"], matrix["protocols"], matrix["base"]) == (
        ["M", "N"],
        ["vanilla", "cot"],
        "vanilla",
    )
    models = {row["model"]: row["subsets"] for row in matrix["over_protocols"]}
    protocols = {row["protocol"]: row["subsets"] for row in matrix["over_models"]}
    gains = {model: [row[part]["gain"] for part in ("plain", "hard")] for model, row in models.items()}
    assert gains == {"M": [-0.25, pytest.approx(-1 / 6, abs=1e-6)], "N": [None, None]}
    assert [protocols["vanilla"][part]["optimum"] for part in ("plain", "hard")] == [1, 0.5]
    assert [protocols["vanilla"][part]["average"] for part in ("plain", "hard")] == [0.75, 0.5]
    assert matrix["halves"] == {"strong": ["M"], "weak": ["N"]}
    # The plain pairs: 1, 1 and 0 of three judges, the best first; 1, a half and 1.
    plain = matrix["difficulty"]["plain"]
    assert plain["counts"] == [0, 0, 0, 0, 0, 0, 1, 0, 1, 0]
    assert (plain["strong"], plain["weak"], plain["strong_better"]) == (1, 0.5, 1)
    (difference,) = matrix["differences"]
    assert (difference["judge"], difference["base"]) == ("poor", "good")
    assert difference["difference"] == pytest.approx((-0.25 - 1 / 6) / 2, abs=1e-6)
    # The base of another model is compared with the judge that was named.
    named = found(made.study, "--base=other")["matrix"]
    assert [(each["judge"], each["base"]) for each in named["differences"]] == [
        ("good", "other"),
        ("poor", "good"),
    ]


def test_protocols_over_models():
    """Means, bests, and Student's paired t over models with Holm's correction, from the cells alone."""
    made = Judging()
    for number in range(8):
        made.pair("first", "plain" if number < 5 else "hard")
    said = {
        "vanilla": ("11112112", "11222112", "12212212"),
        "cot": ("11111112", "11112212", "11122212"),
        "swap": ("11121111", "12222212", "22212212"),
    }
    for protocol, verdicts in said.items():
        for model, own in zip("MNO", verdicts, strict=True):
            made.judge(f"{model}-{protocol}", own, own, model=model, protocol=protocol)
    matrix = found(made.study, "--matrix")["matrix"]
    means = {(each["model"], each["protocol"]): each["average"] for each in matrix["cells"]}
    by_protocol = {protocol: [means[model, protocol] for model in "MNO"] for protocol in said}
    wanted = [ttest_rel(by_protocol[protocol], by_protocol["vanilla"]).pvalue for protocol in ("cot", "swap")]
    rows = {row["protocol"]: row["average"] for row in matrix["over_models"]}
    assert [rows[protocol]["p"] for protocol in ("cot", "swap")] == pytest.approx(wanted, abs=1e-5)
    corrected = multipletests(wanted, method="holm")[1]
    assert [rows[protocol]["p_adjusted"] for protocol in ("cot", "swap")] == pytest.approx(
        corrected, abs=1e-5
    )
    assert (rows["vanilla"]["difference"], rows["vanilla"]["p_adjusted"]) == (None, None)
    for protocol, own in by_protocol.items():
        assert rows[protocol]["average"] == pytest.approx(np.mean(own), abs=2e-6)
        low, high = (rows[protocol][f"average_{end}"] for end in ("low", "high"))
        assert low < rows[protocol]["average"] < high
    models = {row["model"]: row["average"] for row in matrix["over_protocols"]}
    for model, own in models.items():
        assert own["average"] == pytest.approx(np.mean([means[model, each] for each in said]), abs=2e-6)
        assert own["gain"] == pytest.approx(own["optimum"] - own["base"], abs=2e-6)
    assert matrix["halves"] == {"strong": ["M"], "weak": ["O"]}
    text = run(made.study, "--matrix")
    assert "Each protocol over models, mean of the subsets; percent, points, p and alpha" in text


def test_two_judges_in_one_cell(made):
    """The first by name stands in the matrix, and is the base unless another is named."""
    made.judge("late", "1211", "1211", model="M", protocol="vanilla")
    matrix = found(made.study, "--matrix")["matrix"]
    (vanilla,) = [row for row in matrix["over_models"] if row["protocol"] == "vanilla"]
    assert vanilla["subsets"]["hard"]["optimum"] == 0.5
    assert [(each["judge"], each["base"]) for each in matrix["differences"]] == [
        ("late", "good"),
        ("poor", "good"),
    ]
    named = found(made.study, "--base=late")["matrix"]["differences"]
    assert [(each["judge"], each["base"]) for each in named] == [("good", "late"), ("poor", "late")]


def test_of_two_judges_of_a_cell_the_first_that_has_rated_counts():
    made = Judging()
    made.pair("first")
    made.judge("mute", "?", "?", model="M", protocol="P")
    for slug in ("ready", "spare"):
        made.judge(slug, "1" if slug == "ready" else "2", "1", model="M", protocol="P")
    content = found(made.study, "--matrix")
    (row,) = content["matrix"]["over_protocols"]
    assert row["average"]["average"] == 1
    assert [cell.judge for cell in cells(content)] == ["ready"]


def test_judges_without_model_and_protocol_are_cells_alone():
    made = Judging()
    made.pair("first")
    made.judge("alone", "1", "1")
    matrix = found(made.study, "--matrix")["matrix"]
    assert ([each["judge"] for each in matrix["cells"]], matrix["over_protocols"]) == (["alone"], [])


def test_right_answers_by_people():
    made = Judging()
    for _ in range(5):
        made.pair("")
    # 1 by two of three; undecided; a majority of ties; rated by one alone; 2 by both
    for verdicts in ("11=12", "12= 2", "2    "):
        made.person(verdicts)
    made.judge("good", "1   2", "1   1")
    content = found(made.study, "--gold=people")
    used = content["parameters"]
    assert (used["instances"], used["ties_left_out"], used["too_few_people"]) == (2, 2, 1)
    assert judge_named(content, "good")["average"]["accuracy"] == 0.75
    assert judge_named(content, "good")["subsets"].keys() == {"all"}
    (people,) = [each for each in content["baselines"] if each["baseline"] == "people"]
    # By the majority of the others, where it has a side: 2 is wrong beside 1 1; 1 and 2 beside each other are
    # both wrong; 2 and 2 are both right.
    assert people["subsets"]["all"]["accuracy"] == 0.4
    # On all four pairs that several rated two agree: 1 of 3, 0 of 1, 1 of 1, 1 of 1.
    assert (people["subsets"]["all"]["n"], people["subsets"]["all"]["agreement"]) == (4, 0.5)
    three = found(made.study, "--gold=people", "--least=3")["parameters"]
    assert (three["instances"], three["too_few_people"]) == (1, 4)


def test_right_answers_by_a_group(made):
    group = RaterGroup.objects.create(slug="experts", name="Experts")
    for verdicts in ("2222", "2222"):
        made.person(verdicts).groups.add(group)
    made.person("1111")
    content = found(made.study, "--gold=group:experts")
    assert judge_named(content, "good")["subsets"]["plain"]["accuracy"] == 0.5
    assert content["parameters"]["gold"] == "group:experts"


def test_people_beside_labels(made):
    made.person("1211")
    made.person("12 2")
    content = found(made.study)
    people = baselines(content)["people"]["subsets"]
    assert (people["plain"]["accuracy"], people["plain"]["agreement"]) == (1, 1)
    # One pair of the two has two people, one of whom is right.
    assert (people["hard"]["n"], people["hard"]["accuracy"]) == (1, 0.5)
    assert judge_named(content, "good")["subsets"]["plain"]["people"] == 1
    assert judge_named(content, "good")["subsets"]["hard"]["people"] is None


def test_left_out_raters_repeats_and_training_do_not_count(made):
    lost = made.judge("lost", "2222", "2222")
    factories.make_comparison(pair=made.pairs[0], rater=lost, points=3, rating=1, repeat=1)
    training = factories.make_training_pairs(made.study)
    factories.make_comparison(pair=training[0], rater=lost, points=3, rating=1)
    content = found(made.study)
    assert content["parameters"]["instances"] == 4
    assert judge_named(content, "lost")["subsets"]["plain"]["confusion"]["first"]["first"] == 0
    made.study.memberships.create(rater=lost, left_out_at=made.study.created_at)
    assert [each["judge"] for each in found(made.study)["judges"]] == ["good", "poor"]


def test_pairs_of_one_prompt_are_drawn_together():
    """Six pairs of each of four prompts tell as much as one pair of each, of judges and of people."""
    wide, narrow = Judging(), Judging()
    for made, copies in ((wide, 6), (narrow, 1)):
        for number in range(4):
            made.pair(("first", "second")[number % 2])
            for _ in range(copies - 1):
                made.again()
        for slug, said in (("good", "1211"), ("poor", "1112")):
            made.judge(slug, *["".join(one * copies for one in said)] * 2)
        for said in ("1212", "1222", "1211"):
            made.person("".join(one * copies for one in said))
    one, other = (found(made.study, "--matrix") for made in (wide, narrow))
    assert (one["parameters"]["instances"], one["parameters"]["prompts"]) == (24, {"all": 4})
    assert other["parameters"]["prompts"] == {"all": 4}
    for each, alone in zip(one["judges"], other["judges"], strict=True):
        for name in ("low", "high", "kappa_low", "kappa_high", "people_low", "agreement_high"):
            assert each["average"][name] == alone["average"][name], name
    people, alone = (baselines(content)["people"]["average"] for content in (one, other))
    assert people["agreement_low"] == alone["agreement_low"]
    assert one["lead"]["next"]["mcnemar"] == other["lead"]["next"]["mcnemar"] == 1
    by_people = (found(made.study, "--gold=people")["judges"][0]["average"] for made in (wide, narrow))
    assert len({(each["low"], each["high"]) for each in by_people}) == 1


def test_text(made):
    made.person("1211")
    text = run(made.study, "--matrix", "--unscored=wrong")
    assert "4 pairs with a right answer by labels; not rated: wrong; ties half." in text
    lines = [line.split() for line in text.splitlines()]
    assert ["good", "100.0"] in [line[:2] for line in lines]
    assert "poor against good:" in text
    assert "Mean of the subsets" in text


def test_studies_without_anything_to_judge():
    made = Judging()
    made.pair("")
    with pytest.raises(CommandError, match=r"no judge has rated in this study\."):
        run(made.study)
    good = made.judge("good", "1", "1")
    with pytest.raises(CommandError, match=r"no pair of this study has a right answer \(gold label\)\."):
        run(made.study)
    made.person("=")
    made.person("=")
    with pytest.raises(CommandError, match="on no pair rated by 2 or more people a majority takes a side"):
        run(made.study, "--gold=people")
    made.pair("first")
    with pytest.raises(CommandError, match=r"these judges have rated no pair with a right answer\."):
        run(made.study, f"--judges={good.slug}")


def test_a_panel_is_no_further_judge(made):
    """It has figures of its own, and changes none that count judges."""
    before = found(made.study, "--matrix")["matrix"]
    panel = made.judge("both", "1212", "1212")
    panel.derived_from = ["good", "poor"]
    panel.save()
    content = found(made.study, "--matrix")
    after = content["matrix"]
    assert (after["difficulty"], after["average"]) == (before["difficulty"], before["average"])
    assert [each["judge"] for each in content["judges"] if each.get("panel")] == ["both"]
    assert judge_named(content, "both")["average"]["accuracy"] == 1
    assert [each["judge"] for each in after["cells"]] == ["both", "good", "poor"]
