"""What the page says of judges, from contents by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.gold import Judged
from leaderboard.stats.gold_averages import accuracies
from leaderboard.trust.table import best_table, noise_of_ranks, notes, rows, verdict


def part(accuracy, low=None, high=None, **more):
    return {"accuracy": accuracy, "low": low, "high": high, **more}


def entry(average, **subsets):
    named = {"0": average, "1": average, **subsets}
    return {"average": average, "subsets": named, "groups": {}}


def content(lead, *, people=None, subsets=1):
    baselines = [{"baseline": "shorter", **entry(part(0.7))}]
    if people:
        baselines.append({"baseline": "people", **entry(people)})
    return {
        "parameters": {
            "gold": "labels",
            "subsets": dict.fromkeys(map(str, range(subsets)), 50),
            "averaged": [*map(str, range(subsets))],
        },
        "judges": [
            {
                "judge": "one",
                "label": "One",
                "model": "",
                "protocol": "",
                **entry(part(0.9, 0.85, 0.95), hard=part(0.6, 0.45, 0.75)),
            },
            {
                "judge": "two",
                "label": "Two",
                "model": "",
                "protocol": "",
                **entry(part(0.88), hard=part(0.7, 0.6, 0.8)),
            },
        ],
        "baselines": baselines,
        "lead": lead,
        "leads": {"hard": {"judge": "two", "alike": ["one"]}},
    }


def over(difference, low, high):
    return {"difference": difference, "low": low, "high": high}


def test_a_clear_lead():
    lead = {
        "judge": "one",
        "alike": [],
        "next": {"judge": "two", **over(0.02, 0.005, 0.035)},
        "baseline": {"baseline": "shorter", **over(0.2, 0.1, 0.3)},
    }
    people = {"accuracy": 0.95, "agreement": 0.9}
    first, then = verdict(content(lead, people=people))
    assert first == "One is right in 90.0% of its ratings (85.0–95.0%)."
    assert then == (
        "Its lead of 2.0 points over Two is more than noise (0.5 to 3.5). Always choosing the shorter answer "
        "is right in 70.0%. A person is right in 95.0%. Two people agree in 90.0%."
    )


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (over(0.02, -0.01, 0.05), "Its lead of 2.0 points over Two may be noise (−1.0 to 5.0)."),
        (over(0.02, None, None), "Its lead of 2.0 points over Two has no interval."),
        (over(0.0, -0.01, 0.01), "It has no lead over Two."),
    ],
)
def test_no_clear_lead(difference, words):
    first, then = verdict(
        content({"judge": "one", "alike": [], "next": {"judge": "two", **difference}}, subsets=2)
    )
    assert first.endswith(", on average over 2 subsets.")
    assert then == words


def test_a_baseline_that_is_not_beaten_and_nobody_in_front():
    lead = {"judge": "one", "alike": [], "baseline": {"baseline": "shorter", **over(0.2, -0.1, 0.5)}}
    _, then = verdict(content(lead))
    assert then == ("Always choosing the shorter answer is right in 70.0%, which it does not surely beat.")
    lead["baseline"] = {"baseline": "shorter", **over(-0.2, -0.3, -0.1)}
    assert verdict(content(lead))[1].endswith("is right in 70.0%, surely more often than it.")
    lead["baseline"] = {"baseline": "shorter", **over(-0.2, None, None)}
    assert verdict(content(lead))[1].endswith("is right in 70.0%, more often than it.")
    lead["equal"] = ["two"]
    assert verdict(content(lead))[1].endswith("is right in 70.0%, more often than they are.")
    assert verdict(content(None))[0] == "No judge has rated pairs with a right answer."
    assert (
        verdict(content(None, subsets=2))[0]
        == "No judge has rated pairs of every subset with a right answer."
    )


def test_a_rule_that_does_better_than_every_judge_on_one_subset():
    judged = content({"judge": "one", "alike": []}, subsets=2)
    (rule,) = judged["baselines"]
    _, then = verdict(judged)
    assert then == ""
    rule["subsets"]["1"] = part(0.95)
    _, then = verdict(judged)
    assert then == "On 1, always choosing the shorter answer (95.0%) is right more often than every judge."


def test_a_part_has_a_leader_of_its_own():
    """A judge whose interval reaches chance is counted, too."""
    first, then = verdict(content({"judge": "one", "alike": []}, subsets=2), "hard")
    assert first == (
        "Two is right in 70.0% of its ratings (60.0–80.0%) on hard, but cannot be told apart from 1 other."
    )
    assert then == "1 judge is not clearly better or worse than a random answer."


def test_judges_that_are_right_as_often_are_named_together():
    lead = {
        "judge": "one",
        "equal": ["two"],
        "alike": ["two"],
        "next": {"judge": "two", **over(0.0, -0.1, 0.1)},
    }
    assert verdict(content(lead)) == ("One and Two are each right in 90.0%.", "")
    lead["alike"] = ["two", "three"]
    assert verdict(content(lead))[0].endswith("right in 90.0%, but cannot be told apart from 1 other.")


def test_a_rule_without_a_judge_that_never_rated_is_not_better_than_judges():
    judged = content({"judge": "one", "alike": []}, subsets=2)
    for each in judged["judges"]:
        each["subsets"]["1"] = part(None)
    assert verdict(judged)[1] == ""


@pytest.mark.parametrize(
    ("random", "said"), [(0.5, "1 judge is clearly worse"), (0.4, "1 judge is not clearly")]
)
def test_chance_is_what_a_random_answer_gets(random, said):
    """Where only a tie is right about a tie, that is less than half."""
    judged = content({"judge": "one", "alike": []})
    judged["judges"].append(judged["judges"][0] | {"judge": "four", **entry(part(0.4, 0.3, 0.49))})
    judged["baselines"].append({"baseline": "random", **entry(part(random))})
    assert verdict(judged)[1].startswith(said)
    judged |= {"baselines": [], "parameters": judged["parameters"] | {"ties": "tie"}}
    assert verdict(judged)[1] == "", "sealed, the share of ties would tell right answers"


def test_judges_that_are_right_as_often_on_a_subset_are_all_its_best():
    judged = content({"judge": "one", "alike": []})
    judged["leads"]["hard"] = {"judge": "one", "equal": ["two"], "alike": ["two"]}
    row = {"subset": "hard", "judge": "one", "accuracy": 0.6, "base": None, "base_accuracy": None}
    judged["matrix"] = {"best": [row], "differences": [{"judge": "two", "base": "one"}]}
    assert best_table(judged).rows == (("hard", "One", 60, "", None), ("hard", "Two", 60, "One", 60))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_the_headline_names_all_that_are_first_in_the_table(rights):
    """From what judges said, through the numbers, to the sentence and the order of rows."""
    judges = [[Judged(np.ones(4, dtype=int), np.array([[1] * n + [-1] * (4 - n)] * 2))] for n in rights]
    averages = [each.estimate[0] for each in accuracies(judges, 10, 1)]
    best = [number for number, share in enumerate(averages) if share == max(averages)]
    lead = {"judge": str(best[0]), "equal": [str(each) for each in best[1:]], "alike": []}
    judged = content(lead) | {
        "judges": [
            {
                "judge": str(number),
                "label": f"Judge {number}",
                "model": "",
                "protocol": "",
                **entry(part(share)),
            }
            for number, share in enumerate(averages)
        ],
        "baselines": [],
    }
    first, _ = verdict(judged)
    named = {f"Judge {number}" for number in best}
    assert {row.name for row in rows(judged) if row.name in first} == named


@pytest.mark.parametrize(
    ("prompts", "said"),
    [({"hard": 50}, ""), ({"hard": 9}, "Fewer than 30 prompts: "), (None, "")],
)
def test_few_prompts_are_few_whatever_they_have_of_pairs(prompts, said):
    used = {
        "sealed": False,
        "subsets": {"hard": 50},
        "averaged": ["hard", "easy"],
        "ties_left_out": 0,
        "too_few_people": 0,
    }
    told = list(notes({"parameters": used | ({"prompts": prompts} if prompts else {})}))
    assert [each.startswith(said) for each in told] == ([True] if said else [])
    several = used | {"subsets": {"hard": 5, "easy": 50}}
    assert list(notes({"parameters": several})) == [
        "Fewer than 30 pairs in hard: take the numbers as a hint."
    ]


@pytest.mark.parametrize(
    ("tied", "alone", "why"),
    [
        (3, 0, "3 pairs: most said tie or they were divided on 3."),
        (0, 1, "1 pair: fewer than 2 rated 1."),
        (3, 1, "4 pairs: most said tie or they were divided on 3 and fewer than 2 rated 1."),
    ],
)
def test_pairs_without_a_right_answer_and_why(tied, alone, why):
    used = {"sealed": False, "subsets": {"hard": 50}, "averaged": ["hard"], "least": 2, "ties": "half"}
    told = list(notes({"parameters": used | {"ties_left_out": tied, "too_few_people": alone}}))
    assert told == [f"People gave no right answer to {why}"]


@pytest.mark.parametrize(("prompts", "cautions"), [({"a": 300, "b": 99}, True), ({"a": 100}, False)])
def test_ranks_of_judges_on_few_prompts_carry_a_caution(prompts, cautions):
    used = {"subsets": dict.fromkeys(prompts, 600), "prompts": prompts}
    assert bool(noise_of_ranks({"parameters": used})) is cautions


def test_judges_worse_than_a_random_answer_are_counted_apart():
    judged = content({"judge": "one", "alike": []}, subsets=2)
    judged["judges"].append(judged["judges"][0] | {"judge": "three", **entry(part(0.2, 0.1, 0.3))})
    judged["judges"].append(judged["judges"][0] | {"judge": "four", **entry(part(0.4, 0.3, 0.49))})
    assert verdict(judged)[1] == "2 judges are clearly worse than a random answer."
    judged["judges"].append(judged["judges"][0] | {"judge": "five", **entry(part(0.5, 0.4, 0.6))})
    assert verdict(judged)[1] == (
        "2 judges are clearly worse than a random answer. "
        "1 judge is not clearly better or worse than a random answer."
    )
    judged["judges"].append(judged["judges"][-1] | {"judge": "both", "label": "Both (panel)", "panel": True})
    assert verdict(judged)[1].endswith(
        ". 1 judge and Both (panel) are not clearly better or worse than a random answer."
    )


def test_what_people_say_together_is_not_shown_as_what_a_judge_says():
    """Their agreement is not that in both orders, and their number is no share."""
    judged = content(None, people={"accuracy": 0.95, "agreement": 0.9, "alpha": 0.8, "people": 3})
    (people,) = (row for row in rows(judged) if row.name == "One person")
    assert people.figures["accuracy"] == 0.95
    assert [people.figures[name] for name in ("agreement", "alpha", "people")] == [None, None, None]
