"""What the page says of judges, from contents by hand."""

import pytest

from leaderboard.trust.table import rows, verdict


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
        "parameters": {"gold": "labels", "subsets": dict.fromkeys(map(str, range(subsets)), 50)},
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
    assert verdict(content(None))[0].startswith("No judge has rated enough")


def test_a_rule_that_does_better_than_every_judge_on_one_subset():
    judged = content({"judge": "one", "alike": []}, subsets=2)
    (rule,) = judged["baselines"]
    _, then = verdict(judged)
    assert then == ""
    rule["subsets"]["1"] = part(0.95)
    _, then = verdict(judged)
    assert then == "On 1, always choosing the shorter answer (95.0%) does better than every judge."


def test_a_part_has_a_leader_of_its_own():
    """A judge whose interval reaches chance is counted, too."""
    first, then = verdict(content({"judge": "one", "alike": []}, subsets=2), "hard")
    assert first == (
        "Two is right in 70.0% of its ratings (60.0–80.0%) on hard, but cannot be told apart from 1 other."
    )
    assert then == "1 judge is not clearly better or worse than a random answer."


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


def test_what_people_say_together_is_not_shown_as_what_a_judge_says():
    """Their agreement is not that in both orders, and their number is no share."""
    judged = content(None, people={"accuracy": 0.95, "agreement": 0.9, "alpha": 0.8, "people": 3})
    (people,) = (row for row in rows(judged) if row.name == "One person")
    assert people.share == 0.95
    assert [people.number(name) for name in ("agreement", "alpha", "people")] == [None, None, None]
