"""What pages of single answers say in words is what their tables say, in small studies too."""

import re
from contextlib import suppress

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from leaderboard.answers.asked import NoOpinionsError
from leaderboard.answers.requirements import table as checks
from leaderboard.answers.requirements.content import Asked as AskedOfChecks
from leaderboard.answers.requirements.content import Figures, drfr, seal
from leaderboard.answers.requirements.reading import Requirement, Said, gathered
from leaderboard.answers.requirements.report import as_text as checks_report
from leaderboard.answers.scores import table as scores
from leaderboard.answers.scores.content import Asked, as_printed, of_contestants, scored
from leaderboard.answers.scores.content import seal as seal_scores
from leaderboard.answers.scores.reading import ScoreRow, ScoreRows
from leaderboard.answers.scores.report import as_text as scores_report
from leaderboard.snapshots.reading import Choice
from leaderboard.stats.requirements import NO, UNKNOWN, YES
from leaderboard.stats.sides import UNSCORED

NAMES = ("Ada", "Bob", "Cleo", "Dan", "Eve", "Finn")
PEOPLE = Choice("people", "People", frozenset({1, 2}), False)


@st.composite
def said_of_models(draw, values, lost):
    """{model: [what each rater said of its answer to each prompt]}; equal, random, or with gaps."""
    models = NAMES[: draw(st.integers(1, 6))]
    prompts, raters = draw(st.integers(1, 15)), draw(st.integers(1, 2))
    kind = draw(st.sampled_from(("equal", "by model", "random", "gaps")))
    chosen = st.sampled_from(values)
    same = draw(chosen)
    found = {}
    for name in models:
        own = same if kind == "equal" else draw(chosen)
        each = st.sampled_from((*values, *lost)) if kind == "gaps" else chosen
        found[name] = [
            [own if kind in ("equal", "by model") else draw(each) for _ in range(raters)]
            for _ in range(prompts)
        ]
    return found


def scores_of(said):
    rows = tuple(
        ScoreRow(rater, 0, hash((name, prompt)), prompt, name, 0, 1.0, 5.0, value, None, "", None, None, None)
        for name, own in said.items()
        for prompt, of_prompt in enumerate(own)
        for rater, value in enumerate(of_prompt, start=1)
        if value != "absent"
    )
    if not rows:
        return None
    return scored(ScoreRows("s", rows, (PEOPLE,)).arrays(), Asked("people"))


def content_of_scores(said):
    found = scores_of(said)
    if found is None:
        return None
    of_everybody = found.by_rater()
    return {"parameters": {"raters": "people"}, **of_contestants(found, PEOPLE), **of_everybody}


def checks_of(said):
    asked = [
        Requirement(prompt, prompt, f"p{prompt}", 0, ("Style",), True, "", "", "")
        for prompt in range(len(next(iter(said.values()))))
    ]
    rows = [
        Said(rater, 0, NAMES.index(name) * 100 + prompt, name, prompt, value, None)
        for name, own in said.items()
        for prompt, of_prompt in enumerate(own)
        for rater, value in enumerate(of_prompt, start=1)
        if value != "absent"
    ]
    if not rows:
        return None
    return gathered("s", asked, rows, (PEOPLE,))


def content_of_checks(said):
    found = checks_of(said)
    return None if found is None else Figures(found, AskedOfChecks("people")).by(PEOPLE)


def told_apart(said, one, other):
    """By Student's t for paired prompts."""
    first, second = (np.array([np.mean(each) for each in said[name]]) for name in (one, other))
    if len(first) < 6 or np.allclose(first, second):
        return False
    return bool(np.ptp(first - second) < 1e-9 or ttest_rel(first, second).pvalue < 0.05)


def has_everything(said):
    """Whether all raters say the same of each answer, and nothing is missing."""
    each = [{*of_prompt} for own in said.values() for of_prompt in own]
    return all(len(own) == 1 for own in each) and not set().union(*each) & {None, "absent", UNKNOWN, UNSCORED}


def subject(sentence, names):
    """The models that a sentence begins with, of those in the table."""
    whole = re.match(r"(Both|All (\w+)) models here ", sentence)
    if whole:
        assert ["Both", "three", "four", "five", "six"].index(whole[2] or whole[1]) + 2 == len(names)
        return names
    some = re.match(r"(\d+) models ", sentence)
    own = re.split(" score| meet", sentence)[0]
    return names[: int(some[1])] if some else [name for name in names if name in own]


def check_lead(rows, figure, shown, verdict, said):
    """What is said of a lead against the rows of the table, and against the opinions where all are there."""
    known = [each for each in rows if each[figure] is not None]
    compared = [each for each in known if each.get("component") == known[0].get("component")]
    best = known[0]["rank"]  # of the models that a reader may see
    first = [each["contestant"] for each in compared if each["rank"] == best]
    behind = [each["contestant"] for each in compared if each["rank"] != best]
    assert subject(verdict[0], [each["contestant"] for each in known]) == first
    assert "score alike" in verdict[0] or all(shown(each) in verdict[0] for each in compared[: len(first)])
    assert bool(re.search("most requirements|highest", verdict[0])) == bool(behind)
    assert not re.search("They|[Tt]heir lead", verdict[1]) or len(first) > 1
    told = re.findall("told apart from|(?:Its|Their) lead is|few prompts cannot tell", verdict[1])
    assert len(told) == bool(behind)
    if told == ["told apart from"]:
        named = re.search("told apart from ([^.]*)", verdict[1])[1]
        listed = re.split(", | and ", named)
        assert listed == [name for name in behind if name in listed] or named == "5 other models"
    alone = best not in (1, None) and len(compared) == len(known)
    assert (" of the models shown" in verdict[0]) == (bool(behind) and alone)
    if said and has_everything(said):
        clear = all(told_apart(said, one, other) for one in first for other in behind)
        assert (told in (["Its lead is"], ["Their lead is"])) == (clear and bool(behind))


def prompts_said(notes):
    found = re.match(r"Only (\d+) prompts?:", next(iter(notes), ""))
    return int(found[1]) if found else 0


@given(said=said_of_models((1, 3, 4, 5), (None, "absent")))
@settings(max_examples=40, deadline=None)
def test_sentences_about_scores_say_what_their_table_says(said):
    content = content_of_scores(said)
    if content is None:
        return
    rows, verdict = content["contestants"], scores.verdict(content)
    notes = [*scores.notes(content)]
    assert prompts_said(notes) == len(
        {number for own in said.values() for number, each in enumerate(own) if {1, 3, 4, 5} & {*each}}
    )
    lost = sum(each.count(None) for own in said.values() for each in own)
    assert bool(lost) == ("held no score" in verdict[1])
    assert not lost or f"{lost} repl" in verdict[1]
    if all(each["mean"] is None for each in rows):
        assert verdict[0] == "No answer has a score."
        return
    check_lead(rows, "mean", lambda each: scores.points(each["mean"]), verdict, said)
    with suppress(NoOpinionsError):
        shown = seal_scores(content)
        own = shown["contestants"], "mean", lambda each: scores.points(each["mean"])
        if any(each["mean"] is not None for each in shown["contestants"]):
            check_lead(*own, scores.verdict(shown), {})
    apart = {each["contestant"] for each in rows if each["n"] and each["component"] != rows[0]["component"]}
    assert bool(apart) == any(note.startswith("No prompt connects") for note in notes)
    for sentence in scores.agreement_sentences(content):
        ends = re.search(r"\((−?[\d.]+)(?:–| to )(−?[\d.]+)\)", sentence)
        low, high = (float(end.replace("−", "-")) for end in ends.groups()) if ends else (-1.0, 1.0)
        assert low > 0 or high < 0 or ": " not in sentence


@given(said=said_of_models((YES, NO), (UNKNOWN, UNSCORED, "absent")))
@settings(max_examples=40, deadline=None)
def test_sentences_about_requirements_say_what_their_table_says(said):
    content = content_of_checks(said)
    if content is None:
        return
    rows, verdict = content["contestants"], checks.verdict(content)
    if all(each["drfr"] is None for each in rows):
        assert verdict == ("No requirement has an answer that counts.", "")
        return
    check_lead(rows, "drfr", lambda each: f"{100 * each['drfr']:.1f}%", verdict, said)
    counted = re.search(r"(\d+) of (\d+) requirements? of (\d+) answers?", verdict[1]).groups()
    assert [*map(int, counted)] == [
        sum(own[name] for own in rows) for name in ("counted", "questions", "texts")
    ]
    with suppress(NoOpinionsError):
        shown = seal(content)
        own = shown["contestants"], "drfr", lambda each: f"{100 * each['drfr']:.1f}%"
        if any(each["drfr"] is not None for each in shown["contestants"]):
            check_lead(*own, checks.verdict(shown), {})
    prompts = {each["prompt"] for each in content["questions"]}
    assert prompts_said(checks.notes(content)) == len(prompts)


def without_intervals(text):
    return "These numbers give no interval." in text


@given(said=said_of_models((1, 3, 4, 5), (None, "absent")))
@settings(max_examples=30, deadline=None)
def test_the_command_of_scores_speaks_of_intervals_only_where_it_prints_some(said):
    found = scores_of(said)
    if found is not None:
        told = scores_report(as_printed("s", found, (), None))
        means = told.partition("\n\n")[2].partition("\n\n")[0]
        assert without_intervals(told) == (" to " not in means)


@given(said=said_of_models((YES, NO), (UNKNOWN, UNSCORED, "absent")))
@settings(max_examples=30, deadline=None)
def test_the_command_of_requirements_speaks_of_intervals_only_where_it_prints_some(said):
    found = checks_of(said)
    if found is not None:
        told = drfr(found)
        ends = [own["low"] for each in told["raters"][0]["contestants"] for own in each["sets"].values()]
        assert without_intervals(checks_report(told)) == (not any(end is not None for end in ends))
